//! The end that dials, and dials again.

use super::{Agreed, Answer, Opening, Ready, STREAM, Setup, Side, VERSION, raw, watch};
use crate::config::{CarrierKind, Config};
use crate::engine::{Handle, Keys};
use crate::keepalive;
use crate::service;
use crate::way::Way;
use kit::control::until_answered;
use kit::hello;
use session::wire::Probe;
use session::{AccessKey, Client, Error, OverlayKeys, connect};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::clock;
use sys::udp::{RecvBatch, UdpSocket};
use units::Instant;

/// How long the far end may take to welcome.
const WELCOME: Duration = Duration::from_secs(10);
/// The rest between two attempts, at first and at most: it doubles with each that fails.
const REST: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(8)];
/// How often `stop` is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(50);

/// Keeps a session with the peer number `index`, as long as there is an engine.
pub(crate) fn keep(
    config: &Config,
    index: usize,
    (engine, desk): (&Handle, &service::Handle),
    stop: &AtomicBool,
) {
    let Some(peer) = config.peers.get(index) else {
        return;
    };
    let Some((endpoint, key)) = peer.dial() else {
        return;
    };
    let side = Side {
        config,
        peer,
        index,
        engine,
        desk,
    };
    let mut rest = REST[0];
    while !stop.load(Ordering::Relaxed) {
        let is_over = || stop.load(Ordering::Relaxed);
        match side.dial(endpoint, &key) {
            Ok(dialled) => {
                side.note(dialled.carry(&side, &is_over));
                rest = REST[0];
            }
            Err(reason) => {
                side.note(reason);
                rest = (rest * 2).min(REST[1]);
            }
        }
        pause(clock::now() + rest, &is_over);
    }
}

fn pause(until: Instant, is_over: &dyn Fn() -> bool) {
    while clock::now() < until && !is_over() {
        clock::sleep_until(until.min(clock::now() + LOOK));
    }
}

/// A peer that has said that it is ready.
struct Dialled {
    client: Client,
    /// By which packets go.
    socket: UdpSocket,
    way: Way,
    mtu: u16,
}

impl Side<'_> {
    fn dial(&self, endpoint: &str, key: &AccessKey) -> Result<Dialled, String> {
        if self.peer.carrier == CarrierKind::Udp {
            return self.meet(endpoint, key, &Way::Udp(None));
        }
        let met = self.meet(endpoint, key, &Way::Raw)?;
        if met.is_deaf() {
            let reason = "packets of IP protocol 254 arrive there and none comes back".to_owned();
            return self.meet(endpoint, key, &Way::Udp(Some(reason)));
        }
        Ok(met)
    }

    fn meet(&self, endpoint: &str, key: &AccessKey, wanted: &Way) -> Result<Dialled, String> {
        let said = |error: Error| error.to_string();
        let mut client = connect(endpoint, None, Some(key), WELCOME).map_err(unmet)?;
        if let Some(route) = self.config.inside(client.peer.ip().to_canonical()) {
            return Err(format!(
                "{} lies in route {route} - give an address outside the overlay",
                client.peer
            ));
        }
        let socket = hello::connected(&client).map_err(|error| error.to_string())?;
        let dialer = Arc::clone(&client.dialer);
        let local = socket.local_addr().ok().map(|own| own.ip());
        let way = match wanted {
            Way::Raw => raw::open(local, client.peer).map_err(Some),
            Way::Udp(reason) => Err(reason.clone()),
        };
        let setup = Setup {
            version: VERSION,
            name: self.config.name.clone(),
            mtu: self.config.mtu,
            raw: way.is_ok(),
            by_udp: way.as_ref().err().cloned().flatten(),
        };
        let opening = Opening::Manager(setup);
        client.control.send(&opening).map_err(said)?;
        let hello = || {
            hello::ask(&socket, &dialer, STREAM, Probe::LEN);
            if let Ok(way) = &way {
                keepalive::say(way, dialer.session(), &dialer.keys().to_server);
            }
        };
        match until_answered(&mut client, hello) {
            Ok(Answer::Ready(ready)) => Ok(Dialled::new(client, socket, way, ready)),
            Ok(Answer::Refused(reason)) => Err(reason),
            Err(broken) => Err(broken.reason().unwrap_or_else(|error| error.to_string())),
        }
    }
}

/// Why there was no welcome.
fn unmet(error: Error) -> String {
    match error {
        Error::RefusedKey { peer } | Error::Certificate { peer } => format!(
            "the key is not one of {peer}'s for this manager - print it there with 'isobath manager up --config FILE --show-key NAME'"
        ),
        other => other.to_string(),
    }
}

impl Dialled {
    fn new(
        client: Client,
        socket: UdpSocket,
        way: Result<UdpSocket, Option<String>>,
        ready: Ready,
    ) -> Self {
        let (socket, way) = match way {
            Ok(way) if ready.raw => (way, Way::Raw),
            Ok(_) => {
                let older = || "an older version is there".to_owned();
                (socket, Way::Udp(Some(ready.by_udp.unwrap_or_else(older))))
            }
            Err(reason) => (socket, Way::Udp(reason)),
        };
        Self {
            client,
            socket,
            way,
            mtu: ready.mtu,
        }
    }

    /// Whether the far end's packets do not come the way that is agreed upon.
    fn is_deaf(&self) -> bool {
        let dialer = &self.client.dialer;
        let key = &dialer.keys().to_client;
        self.way == Way::Raw && !raw::hears(&self.socket, dialer.session(), key)
    }

    /// Carries packets until the session ends; why it did.
    fn carry(self, side: &Side<'_>, is_over: &dyn Fn() -> bool) -> String {
        let Self {
            mut client,
            socket,
            way,
            mtu,
        } = self;
        // Answers to the requests are no packets.
        let mut batch = RecvBatch::new(16, raw::ROOM);
        while socket.recv(&mut batch).is_ok_and(|count| count > 0) {}
        let overlay = OverlayKeys::from(client.welcome.data_key);
        let agreed = Agreed {
            session: client.dialer.session(),
            keys: Keys::of_client(&overlay, client.dialer.keys()),
            mtu,
            way,
        };
        let session = agreed.session;
        match side.join(socket, client.peer, agreed) {
            Ok(joint) => {
                let reason = watch(&mut client.control, side, &joint, is_over);
                side.leave(session);
                reason
            }
            Err(error) => error.to_string(),
        }
    }
}
