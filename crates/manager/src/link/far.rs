//! The end that is dialled.
//!
//! Each peer that dials has a key of its own, and the key says which peer it is; one that calls itself by another name is refused. A
//! peer that is linked already is linked anew, for one that was restarted comes back before its old session is known to be dead.

use super::{Agreed, Answer, Opening, Ready, STREAM, Setup, Side, VERSION, raw, watch};
use crate::config::{CarrierKind, Config, PeerTable};
use crate::engine::{Handle, Keys};
use crate::service;
use crate::way::Way;
use kit::log::Log;
use kit::mailbox;
use kit::mailbox::{HELLO, Mailboxes};
use serde_json::Value;
use session::{Control, Error, Event, Service, Session};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use sys::clock;
use sys::udp::UdpSocket;

/// Who has been welcomed must say within this time what it wants.
const SETUP: Duration = Duration::from_secs(10);

/// What a manager does for those that dial it.
pub(crate) struct Acceptor {
    pub config: Arc<Config>,
    pub engine: Handle,
    pub desk: service::Handle,
    pub mailboxes: Mailboxes,
    /// The socket on the shared port.
    pub socket: Arc<UdpSocket>,
    /// The newest session of each peer.
    pub newest: Mutex<HashMap<usize, Arc<Session>>>,
    pub log: Log,
}

impl Service for Acceptor {
    fn serve(&self, mut control: Control, session: Arc<Session>) {
        // Whatever goes wrong here the near end finds out, and dials again.
        let _ = match control.recv(SETUP) {
            Ok(Opening::Manager(setup)) => self.link(&mut control, &session, &setup),
            Err(error) => Err(error),
        };
    }

    fn note(&self, event: &Event<'_>) {
        self.log.note(event);
    }

    fn host_facts(&self) -> Value {
        serde_json::json!({ "manager": self.config.name })
    }
}

impl Acceptor {
    fn link(
        &self,
        control: &mut Control,
        session: &Arc<Session>,
        setup: &Setup,
    ) -> Result<(), Error> {
        let side = match self.side(setup, session.proven) {
            Ok(side) => side,
            Err(reason) => return self.refuse(control, session, reason),
        };
        let mailbox = self.mailboxes.open(session.id, STREAM, 0);
        let from = match mailbox.wait_for_peer(session, clock::now() + HELLO) {
            Ok(from) => from,
            Err(reason) => return self.refuse(control, session, reason),
        };
        if let Some(route) = self.config.inside(from.address.ip().to_canonical()) {
            let address = from.address;
            let reason = format!(
                "your address {address} lies in route {route} here - connect from an address outside the overlay"
            );
            return self.refuse(control, session, reason);
        }
        let way = side.way(setup, session, &from);
        let ready = Ready {
            mtu: self.config.mtu,
            by_udp: way.as_ref().err().cloned().flatten(),
            raw: way.is_ok(),
        };
        let (socket, way) = match way {
            Ok(socket) => (Ok(socket), Way::Raw),
            Err(reason) => {
                let socket = self.socket.beside(from.address, from.local);
                (socket, Way::Udp(reason))
            }
        };
        let agreed = Agreed {
            session: session.id,
            keys: Keys::of_server(&session.overlay_keys, &session.keys),
            mtu: setup.mtu,
            way,
        };
        self.replace(side.index, session);
        let joined = socket.and_then(|socket| side.join(socket, from.address, agreed));
        let joint = match joined {
            Ok(joint) => joint,
            Err(error) => return self.refuse(control, session, error.to_string()),
        };
        let said = control.send(&Answer::Ready(ready));
        let reason = match &said {
            Ok(()) => watch(control, &side, &joint, &|| session.is_closed()),
            Err(error) => error.to_string(),
        };
        side.leave(session.id);
        side.note(reason);
        said
    }

    fn refuse(&self, control: &mut Control, to: &Session, reason: String) -> Result<(), Error> {
        self.log.refused(to.peer, &reason);
        control.send(&Answer::Refused(reason))
    }

    /// The peer whose key was `proven`, by its place in the file.
    fn side(&self, setup: &Setup, proven: Option<usize>) -> Result<Side<'_>, String> {
        if setup.version != VERSION {
            let (theirs, ours) = (setup.version, VERSION);
            return Err(format!(
                "overlay version {theirs} there and {ours} here - update the older one"
            ));
        }
        let (index, peer) = caller(&self.config, &setup.name, proven)?;
        Ok(Side {
            config: &self.config,
            peer,
            index,
            engine: &self.engine,
            desk: &self.desk,
        })
    }

    /// Ends the session that the peer had before.
    fn replace(&self, peer: usize, session: &Arc<Session>) {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = newest.insert(peer, Arc::clone(session)) {
            before.close();
        }
    }
}

/// The peer whose key was `proven`; why not, if it calls itself by another `name`.
fn caller<'a>(
    config: &'a Config,
    name: &str,
    proven: Option<usize>,
) -> Result<(usize, &'a PeerTable), String> {
    let ours = &config.name;
    let found = proven.and_then(|index| Some((index, config.peers.get(index)?)));
    let (index, peer) = found.ok_or_else(|| format!("'{ours}' knows no peer by this key"))?;
    if peer.name != name {
        return Err(format!(
            "the key is that of '{}' - print this manager's own at '{ours}' with 'isobath manager up --config FILE --show-key NAME'",
            peer.name
        ));
    }
    if peer.endpoint.is_some() {
        return Err(format!(
            "'{ours}' dials this manager itself - remove the endpoint at one end"
        ));
    }
    Ok((index, peer))
}

impl Side<'_> {
    /// A way without UDP, where both ends want it and something came by it; else why not, where one of them does.
    fn way(
        &self,
        setup: &Setup,
        session: &Session,
        from: &mailbox::Peer,
    ) -> Result<UdpSocket, Option<String>> {
        let name = &self.config.name;
        match (setup.raw, self.peer.carrier) {
            (true, CarrierKind::Raw) => {}
            (true, CarrierKind::Udp) => {
                return Err(Some(format!(
                    "the file of '{name}' does not say carrier = \"raw\""
                )));
            }
            (false, CarrierKind::Raw) => {
                let peer = &self.peer.name;
                let silent = || format!("the file of '{peer}' does not say carrier = \"raw\"");
                return Err(Some(setup.by_udp.clone().unwrap_or_else(silent)));
            }
            (false, CarrierKind::Udp) => return Err(None),
        }
        let socket = raw::open(from.local, from.address)
            .map_err(|reason| Some(format!("'{name}' cannot: {reason}")))?;
        if !raw::hears(&socket, session.id, &session.keys.to_server) {
            let reason = format!("no packet of IP protocol 254 arrives at '{name}'");
            return Err(Some(reason));
        }
        raw::answer(&socket, session.id, &session.keys.to_client);
        Ok(socket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_says_which_peer_it_is_that_dials() {
        let key = session::Identity::generate().unwrap().key();
        let text = format!(
            "name = \"m5\"\naddresses = [\"10.99.0.5/24\"]\nlisten = \"[::]:4890\"\n\
             [[peer]]\nname = \"m3\"\nroutes = [\"10.99.0.3\"]\n\
             [[peer]]\nname = \"m4\"\nroutes = [\"10.99.0.4\"]\n\
             [[peer]]\nname = \"m6\"\nroutes = [\"10.99.0.6\"]\nendpoint = \"192.0.2.6\"\nkey = \"{key}\"\n"
        );
        let config = Config::parse(&text).unwrap();
        let found = |name, proven| caller(&config, name, proven).map(|(index, _)| index);
        assert_eq!(found("m3", Some(0)), Ok(0));
        assert_eq!(found("m4", Some(1)), Ok(1));
        for (name, proven, part) in [
            ("m3", Some(1), "the key is that of 'm4'"),
            ("m7", Some(0), "the key is that of 'm3'"),
            ("m6", Some(2), "dials this manager itself"),
            ("m3", None, "knows no peer by this key"),
            ("m3", Some(9), "knows no peer by this key"),
        ] {
            let line = found(name, proven).unwrap_err();
            assert!(line.contains(part), "{line}");
        }
    }

    #[test]
    fn the_keys_of_peers_differ_and_one_can_be_revoked() {
        let identity = session::Identity::generate().unwrap();
        let file = |more: &str| {
            let text = format!(
                "name = \"m5\"\naddresses = [\"10.99.0.5/24\"]\nlisten = \"[::]:4890\"\n\
                 [[peer]]\nname = \"m3\"\nroutes = [\"10.99.0.3\"]\n{more}\n\
                 [[peer]]\nname = \"m4\"\nroutes = [\"10.99.0.4\"]\n"
            );
            Config::parse(&text).unwrap().keys(&identity)
        };
        let (before, after) = (file(""), file("key_number = 2"));
        assert_eq!(before, file("key_number = 1"));
        assert_ne!(before[0].1, before[1].1);
        assert_ne!(before[0].1, after[0].1);
        assert_eq!(before[1], after[1]);
        assert_ne!(before[0].1, identity.key());
    }
}
