//! How two managers agree: what they say on the control connection of their session.
//!
//! ```text
//! near: manager    which version of this, and its name
//!   ...   the near end sends requests by UDP until the far end has seen its address
//! far:  ready      or refused, with the reason; and whether packets go without UDP (`raw`)
//!   ...   packets; the connection stays, and its end is the session's
//! both: long       a word of so many octets came: packets of that length pass
//! both: told       probes of the other that arrived, of channels that are told
//! both: service    what their estimation services have to say to each other
//! ```
//!
//! Each end says the way that packets take, every 10 s, that it is there; who hears nothing for 35 s ends the session. The near end dials again.

pub(crate) mod far;
pub(crate) mod near;
mod raw;
pub mod told;

use super::config::{Config, PeerTable};
use super::engine::{Command, Handle, Joined, Keys};
use super::machine::Session;
use super::service::{self, Words};
use super::way::Way;
use mgrp::peer;
use mgrp::transaction::Arrival;
use serde::{Deserialize, Serialize};
use session::{Control, Error};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;
use sys::clock;
use sys::udp::UdpSocket;
use told::Line;
use units::Instant;

/// The version of what is said here and of packets.
const VERSION: u16 = 1;
/// The stream by whose requests the far end learns where datagrams come from.
const STREAM: u16 = 0;
/// How long a silent peer is believed to be there.
const SILENCE: Duration = Duration::from_secs(35);
/// An arrival waits this long at most before it is told.
const TELL: Duration = Duration::from_millis(10);
/// Lines of the services that may wait to be said; what has no room is not said.
const MOST_WORDS: usize = 512;
/// What waits in a socket before it is taken or sent.
const BUFFER: usize = 4 << 20;

/// The first line of the near end.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Opening {
    Manager(Setup),
}

#[derive(Debug, Deserialize, Serialize)]
struct Setup {
    version: u16,
    name: String,
    /// Octets of the longest packet outside that it wants.
    mtu: u16,
    /// Whether packets are to go without UDP; an older version never says so.
    #[serde(default)]
    raw: bool,
    /// Why not, where its file says that they are to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by_udp: Option<String>,
}

/// The answer of the far end.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Ready(Ready),
    Refused(String),
}

#[derive(Debug, Deserialize, Serialize)]
struct Ready {
    /// Octets of the longest packet outside that it wants.
    mtu: u16,
    /// Why UDP carries, where the near end asked for another way; an older version does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by_udp: Option<String>,
    #[serde(default)]
    raw: bool,
}

/// A peer, and what a session with it is made of.
struct Side<'a> {
    config: &'a Config,
    peer: &'a PeerTable,
    index: usize,
    engine: &'a Handle,
    desk: &'a service::Handle,
}

/// What the two ends of a session have agreed upon.
struct Agreed {
    session: u64,
    keys: Keys,
    mtu: u16,
    way: Way,
}

impl Side<'_> {
    /// Hands a session over to the engine.
    fn join(
        &self,
        socket: UdpSocket,
        address: SocketAddr,
        agreed: Agreed,
    ) -> Result<Joint, sys::Error> {
        // With the system's default a burst may be lost here instead of on the path.
        let _ = socket.set_buffers(BUFFER, BUFFER);
        socket.ignore_path_mtu()?;
        let carrier = agreed.way.carrier(address);
        let config = self.config.of_session(self.peer, carrier);
        let heard = Arc::new(AtomicU64::new(clock::now().as_nanos()));
        let long = Arc::new(AtomicU16::new(0));
        let (arrivals, waiting) = told::channel();
        let joined = Box::new(Joined {
            socket,
            keys: agreed.keys,
            session: Session {
                config: peer::Config {
                    session: agreed.session,
                    mtu: config.mtu.min(agreed.mtu),
                    ..config
                },
                address,
                way: agreed.way,
                arrivals,
            },
            heard: Arc::clone(&heard),
            long: Arc::clone(&long),
        });
        let peer = self.index;
        self.engine.tell(Command::Join { peer, joined });
        let (words, said) = mpsc::sync_channel(MOST_WORDS);
        let session = agreed.session;
        self.desk.tell(service::Command::Linked {
            peer,
            session,
            words,
        });
        Ok(Joint {
            session,
            heard,
            long,
            waiting,
            words: said,
        })
    }

    fn leave(&self, session: u64) {
        let peer = self.index;
        self.desk.tell(service::Command::Unlinked { peer, session });
        self.engine.tell(Command::Leave { peer, session });
    }

    fn note(&self, reason: String) {
        let peer = self.index;
        self.engine.tell(Command::Note { peer, reason });
    }
}

/// What the thread of a session's control connection shares with the engine.
struct Joint {
    session: u64,
    /// When the peer was heard last.
    heard: Arc<AtomicU64>,
    /// Octets of its longest word that it has not been told of; 0 for none. All that came since then were as long or shorter.
    long: Arc<AtomicU16>,
    /// Its probes that are to be told to it.
    waiting: Receiver<Arrival>,
    /// What the service here says to the peer's.
    words: Receiver<Words>,
}

/// Waits for the end of a session, and tells the peer what arrived meanwhile; why it ended.
fn watch(
    control: &mut Control,
    side: &Side<'_>,
    joint: &Joint,
    is_over: &dyn Fn() -> bool,
) -> String {
    loop {
        match control.recv::<Line>(TELL) {
            Ok(Line::Told(rows)) => {
                let arrivals = rows.into_iter().map(Arrival::from).collect();
                let peer = side.index;
                side.engine.tell(Command::Told { peer, arrivals });
            }
            Ok(Line::Long(octets)) => {
                let peer = side.index;
                let session = joint.session;
                side.engine.tell(Command::Long {
                    peer,
                    session,
                    octets,
                });
            }
            Ok(Line::Service(words)) => {
                let peer = side.index;
                side.desk.tell(service::Command::Heard { peer, words });
            }
            // Something of a later version.
            Err(Error::Timeout { .. } | Error::Malformed { .. }) => {}
            Err(error) => return error.to_string(),
        }
        let octets = joint.long.swap(0, Ordering::Relaxed);
        if octets > 0
            && let Err(error) = control.send(&Line::Long(octets))
        {
            return error.to_string();
        }
        while let Some(line) = told::next_line(&joint.waiting) {
            if let Err(error) = control.send(&line) {
                return error.to_string();
            }
        }
        for words in joint.words.try_iter() {
            if let Err(error) = control.send(&Line::Service(words)) {
                return error.to_string();
            }
        }
        let last = Instant::from_nanos(joint.heard.load(Ordering::Relaxed));
        if clock::now().since(last) > SILENCE {
            return format!("nothing came for {} s", SILENCE.as_secs());
        }
        if is_over() {
            return "the session was ended".to_owned();
        }
    }
}
