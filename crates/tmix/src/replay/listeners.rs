//! Where connections come in.

use super::tuples::Tuples;
use session::Slot;
use socket2::{SockAddr, Socket};
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use sys::poll::Bell;
use sys::{Error, Handle, clock, handle};
use units::Instant;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 65_535;

/// A connection that has come in, and which it is.
pub struct Arrival {
    pub socket: Socket,
    pub number: u32,
    pub accepted: Instant,
    /// Its place among the connections that a session may have.
    pub slot: Option<Slot>,
    /// Whether it has said so itself.
    pub introduced: bool,
}

/// The listeners of a host.
pub enum Listeners {
    /// Ports of its own, where a connection is known by its pair of ports.
    Own(Vec<Socket>),
    /// Somebody else's, who hands over connections that have been asked for their number.
    Handed(Handed),
}

/// See [`Listeners::Handed`].
pub struct Handed {
    queue: Receiver<Arrival>,
    bell: Arc<Bell>,
}

/// The other end of [`Handed`].
pub struct Handover {
    queue: Sender<Arrival>,
    bell: Arc<Bell>,
}

impl Listeners {
    /// Listens on the ports of `tuples`.
    ///
    /// # Errors
    /// When a port cannot be listened on.
    pub fn own(tuples: &Tuples) -> Result<Self, Error> {
        let listeners = tuples.listeners().map(|address| {
            listen(&address.into()).map_err(|e| Error::io("listen on", address.to_string(), e))
        });
        Ok(Self::Own(listeners.collect::<Result<_, _>>()?))
    }

    /// Listeners that somebody else keeps.
    ///
    /// # Errors
    /// When the kernel has no descriptor for the bell.
    pub fn handed() -> Result<(Self, Handover), Error> {
        let bell = Arc::new(Bell::new()?);
        let (sender, queue) = std::sync::mpsc::channel();
        let handover = Handover {
            queue: sender,
            bell: Arc::clone(&bell),
        };
        Ok((Self::Handed(Handed { queue, bell }), handover))
    }

    /// What to watch: who connects is at the listener of this place.
    pub fn watched(&self) -> Vec<Handle<'_>> {
        match self {
            Self::Own(listeners) => listeners.iter().map(handle).collect(),
            Self::Handed(handed) => vec![handle(&*handed.bell)],
        }
    }

    /// The next that has come in at `place`, where connections are those of `tuples`; strangers are turned away.
    pub fn next(&self, place: usize, tuples: Option<&Tuples>) -> Option<Arrival> {
        match self {
            Self::Own(listeners) => accept(listeners.get(place)?, place, tuples?),
            Self::Handed(handed) => {
                // Rung before the look: whoever comes in between rings again.
                handed.bell.calm();
                handed.queue.try_recv().ok()
            }
        }
    }
}

impl Handover {
    /// Hands `arrival` over.
    pub fn hand(&self, arrival: Arrival) {
        // Nobody is there only when the run is over.
        if self.queue.send(arrival).is_ok() {
            self.bell.ring();
        }
    }
}

fn accept(listener: &Socket, place: usize, tuples: &Tuples) -> Option<Arrival> {
    loop {
        let (socket, peer) = match sys::tcp::accept_nonblocking(listener) {
            Ok(accepted) => accepted,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            // The rest waits for the next event.
            Err(_) => return None,
        };
        let accepted = clock::now();
        if let Some(number) = whose(&peer, place, tuples) {
            return Some(Arrival {
                socket,
                number,
                accepted,
                slot: None,
                introduced: false,
            });
        }
    }
}

fn whose(peer: &SockAddr, place: usize, tuples: &Tuples) -> Option<u32> {
    let port = tuples.listeners().nth(place)?.port();
    tuples.whose(peer.as_socket()?, port)
}

fn listen(address: &SockAddr) -> io::Result<Socket> {
    let socket = sys::tcp::nonblocking(address.domain())?;
    socket.set_reuse_address(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)?;
    Ok(socket)
}
