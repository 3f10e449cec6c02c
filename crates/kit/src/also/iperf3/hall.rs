//! Who is there, and who waits for which streams.

use super::streams::Connection;
use far_ends::iperf3::COOKIE;
use std::net::{IpAddr, TcpStream};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};
use units::source;

/// Tests at once, all told and of one source ([`units::source`]).
const MOST_TESTS: usize = 32;
const MOST_FROM_ONE: usize = 16;
/// Connections that have not shown a cookie yet, all told and from one source.
const MOST_PENDING: usize = 256;
const MOST_PENDING_FROM_ONE: usize = 128;

/// A stream with its number: they are counted as they are accepted.
pub(super) type Numbered = (u64, Connection);

/// The tests of a server.
#[derive(Default)]
pub(super) struct Hall {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    pending: Vec<IpAddr>,
    tests: Vec<IpAddr>,
    waiting: Vec<Waiting>,
}

/// A test whose streams are to come.
struct Waiting {
    cookie: [u8; COOKIE],
    /// Where datagrams come from; none where connections are waited for.
    datagrams_of: Option<IpAddr>,
    /// Streams that are still to come.
    left: usize,
    streams: Sender<Numbered>,
}

impl Hall {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection has come from `client`; none where too many have.
    pub(super) fn greet(&self, client: IpAddr) -> Option<Pending<'_>> {
        let source = source(client);
        let mut state = self.lock();
        let from_there = state.pending.iter().filter(|other| **other == source);
        let has_room =
            state.pending.len() < MOST_PENDING && from_there.count() < MOST_PENDING_FROM_ONE;
        has_room.then(|| {
            state.pending.push(source);
            Pending { hall: self, source }
        })
    }

    /// Hands a connection to the test that waits for it; gives it back where none does.
    pub(super) fn join(
        &self,
        cookie: &[u8; COOKIE],
        number: u64,
        socket: TcpStream,
    ) -> Option<TcpStream> {
        let mut state = self.lock();
        let mut waiting = state.waiting.iter_mut();
        let test = waiting.find(|test| test.datagrams_of.is_none() && test.cookie == *cookie);
        let Some(test) = test else {
            return Some(socket);
        };
        if test.left > 0 {
            test.left -= 1;
            // A test that has ended needs no streams.
            let _ = test.streams.send((number, Connection::Tcp(socket)));
        }
        None
    }

    /// Hands the stream of datagrams that `open` opens to the test that waits for one from `source`.
    pub(super) fn join_by_address(
        &self,
        source: IpAddr,
        number: u64,
        open: impl FnOnce() -> Option<Connection>,
    ) {
        let mut state = self.lock();
        let mut waiting = state.waiting.iter_mut();
        let test = waiting.find(|test| test.datagrams_of == Some(source) && test.left > 0);
        if let Some((test, connection)) = test.and_then(|test| Some((test, open()?))) {
            test.left -= 1;
            let _ = test.streams.send((number, connection));
        }
    }

    /// A test of `client` begins; none where there are too many.
    pub(super) fn enter(&self, client: IpAddr) -> Option<Seat<'_>> {
        let source = source(client);
        let mut state = self.lock();
        let from_there = state.tests.iter().filter(|other| **other == source);
        let has_room = state.tests.len() < MOST_TESTS && from_there.count() < MOST_FROM_ONE;
        has_room.then(|| {
            state.tests.push(source);
            Seat {
                hall: self,
                client,
                source,
            }
        })
    }

    /// Waits for so many streams of the test. Of those that wait for datagrams from one address there is one at a time: none while
    /// there is another.
    pub(super) fn wait(
        &self,
        cookie: &[u8; COOKIE],
        datagrams_of: Option<IpAddr>,
        count: usize,
        streams: &Sender<Numbered>,
    ) -> Option<Place<'_>> {
        let mut state = self.lock();
        let mut others = state.waiting.iter();
        if datagrams_of.is_some() && others.any(|other| other.datagrams_of == datagrams_of) {
            return None;
        }
        state.waiting.push(Waiting {
            cookie: *cookie,
            datagrams_of,
            left: count,
            streams: streams.clone(),
        });
        Some(Place {
            hall: self,
            cookie: *cookie,
        })
    }
}

/// A connection that has not shown what it is.
pub(super) struct Pending<'a> {
    hall: &'a Hall,
    source: IpAddr,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        leave(&mut self.hall.lock().pending, self.source);
    }
}

/// A test that goes on.
pub(super) struct Seat<'a> {
    hall: &'a Hall,
    /// Its address.
    pub(super) client: IpAddr,
    source: IpAddr,
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        leave(&mut self.hall.lock().tests, self.source);
    }
}

/// Takes one of `source` out.
fn leave(there: &mut Vec<IpAddr>, source: IpAddr) {
    if let Some(at) = there.iter().position(|other| *other == source) {
        there.swap_remove(at);
    }
}

/// A test whose streams are waited for.
pub(super) struct Place<'a> {
    hall: &'a Hall,
    cookie: [u8; COOKIE],
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.hall.lock();
        let cookie = self.cookie;
        state.waiting.retain(|waiting| waiting.cookie != cookie);
    }
}
