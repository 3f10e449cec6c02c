//! Connections that have not yet shown what they are: how many there may be, and which one makes room for the next.
//!
//! Nobody can be refused because strangers fill all places: a new connection always gets one, and where there is none, the
//! connection that is least likely to become anything is closed. That is one of the source with the most connections; of
//! those, one that has not said a word; of those, the oldest. Sources that have a session have places of their own, so
//! that strangers never cost a session its data streams.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Counts pending connections. Clones share the count.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    most: usize,
    most_per_source: usize,
    places: Arc<Mutex<Places>>,
}

#[derive(Debug, Default)]
struct Places {
    /// Number of the latest connection.
    last: u64,
    taken: HashMap<u64, Place>,
}

/// A pending connection.
#[derive(Debug)]
struct Place {
    source: IpAddr,
    /// Whether its source has a session.
    is_known: bool,
    has_spoken: bool,
    socket: Weak<TcpStream>,
}

/// One pending connection; no longer pending when dropped.
#[derive(Debug)]
pub(crate) struct Pending {
    gate: Gate,
    number: u64,
}

impl Gate {
    pub(crate) fn new(most: usize, most_per_source: usize) -> Self {
        Self {
            most,
            most_per_source,
            places: Arc::default(),
        }
    }

    /// Lets a connection from `peer` in, and closes another one if there are too many: the source of that. `is_known`: the new one's
    /// source has a session.
    pub(crate) fn enter(
        &self,
        peer: &SocketAddr,
        is_known: bool,
        socket: &Arc<TcpStream>,
    ) -> (Pending, Option<IpAddr>) {
        let source = units::source(peer.ip());
        let mut places = self.places();
        let closed = if places.count(|place| place.is_known == is_known && place.source == source)
            >= self.most_of_source(is_known)
        {
            places.make_room(|place| place.is_known == is_known && place.source == source)
        } else if places.count(|place| place.is_known == is_known) >= self.most {
            places.make_room(|place| place.is_known == is_known)
        } else {
            None
        };
        places.last += 1;
        let number = places.last;
        let place = Place {
            source,
            is_known,
            has_spoken: false,
            socket: Arc::downgrade(socket),
        };
        places.taken.insert(number, place);
        let gate = self.clone();
        (Pending { gate, number }, closed)
    }

    /// A session may open all its data streams at once.
    const fn most_of_source(&self, is_known: bool) -> usize {
        if is_known {
            self.most
        } else {
            self.most_per_source
        }
    }

    /// How many are pending now.
    pub(crate) fn pending(&self) -> usize {
        self.places().taken.len()
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Places {
    fn count(&self, which: impl Fn(&Place) -> bool) -> usize {
        self.taken.values().filter(|place| which(place)).count()
    }

    /// Closes one of these connections (see the module), and says whose.
    fn make_room(&mut self, which: impl Fn(&Place) -> bool) -> Option<IpAddr> {
        let mut of_source: HashMap<IpAddr, usize> = HashMap::new();
        for place in self.taken.values().filter(|place| which(place)) {
            *of_source.entry(place.source).or_default() += 1;
        }
        let these = self.taken.iter().filter(|(_, place)| which(place));
        let least_likely = these.max_by_key(|(number, place)| {
            let of_source = of_source.get(&place.source).copied();
            (of_source, !place.has_spoken, Reverse(**number))
        });
        let number = least_likely.map(|(number, _)| *number);
        let closed = number.and_then(|number| self.taken.remove(&number))?;
        if let Some(socket) = closed.socket.upgrade() {
            // Its thread wakes and ends.
            let _ = socket.shutdown(Shutdown::Both);
        }
        Some(closed.source)
    }
}

impl Pending {
    /// The connection has sent something.
    pub(crate) fn has_spoken(&self) {
        if let Some(place) = self.gate.places().taken.get_mut(&self.number) {
            place.has_spoken = true;
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.gate.places().taken.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// A gate, and who has come to it.
    struct Entrance {
        gate: Gate,
        listener: TcpListener,
    }

    /// Somebody at the gate.
    struct Guest {
        /// Keeps the connection.
        _near: TcpStream,
        socket: Arc<TcpStream>,
        pending: Pending,
        /// Whose connection was closed for it.
        closed: Option<IpAddr>,
    }

    impl Guest {
        fn is_closed(&self) -> bool {
            self.socket.set_nonblocking(true).unwrap();
            matches!(self.socket.peek(&mut [0]), Ok(0))
        }
    }

    impl Entrance {
        fn new(most: usize, most_per_source: usize) -> Self {
            Self {
                gate: Gate::new(most, most_per_source),
                listener: TcpListener::bind("127.0.0.1:0").unwrap(),
            }
        }

        fn enter(&self, source: u8, is_known: bool) -> Guest {
            let near = TcpStream::connect(self.listener.local_addr().unwrap()).unwrap();
            let socket = Arc::new(self.listener.accept().unwrap().0);
            let peer = SocketAddr::from(([192, 0, 2, source], 1));
            let (pending, closed) = self.gate.enter(&peer, is_known, &socket);
            Guest {
                _near: near,
                pending,
                closed,
                socket,
            }
        }
    }

    #[test]
    fn the_oldest_silent_one_of_the_busiest_source_makes_room() {
        let entrance = Entrance::new(4, 3);
        let (lone, first) = (entrance.enter(1, false), entrance.enter(2, false));
        first.pending.has_spoken();
        let (second, third) = (entrance.enter(2, false), entrance.enter(2, false));
        let fourth = entrance.enter(3, false);
        assert_eq!(fourth.closed, Some([192, 0, 2, 2].into()));
        assert_eq!((first.closed, third.closed), (None, None));
        assert!(second.is_closed(), "the oldest that has said nothing");
        assert!(!first.is_closed() && !third.is_closed() && !lone.is_closed());
        assert_eq!(entrance.gate.pending(), 4);
        drop((second, third));
        assert_eq!(
            entrance.gate.pending(),
            3,
            "a closed one is not counted twice"
        );
    }

    #[test]
    fn a_source_makes_room_for_itself() {
        let entrance = Entrance::new(9, 2);
        let other = entrance.enter(1, false);
        let guests: Vec<Guest> = (0..5).map(|_| entrance.enter(2, false)).collect();
        let closed: Vec<bool> = guests.iter().map(Guest::is_closed).collect();
        assert_eq!(closed, [true, true, true, false, false]);
        assert!(!other.is_closed());
    }

    #[test]
    fn strangers_never_close_what_a_session_opens() {
        let entrance = Entrance::new(2, 2);
        let known: Vec<Guest> = (0..2).map(|_| entrance.enter(1, true)).collect();
        let strangers: Vec<Guest> = (2..8).map(|source| entrance.enter(source, false)).collect();
        assert!(!known.iter().any(Guest::is_closed));
        assert_eq!(
            strangers.iter().filter(|guest| guest.is_closed()).count(),
            4
        );
    }
}
