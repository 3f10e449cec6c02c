//! Waiting for thousands of descriptors at once (epoll(7)).

use super::{Event, Interest};
use crate::Error;
use rustix::event::{EventfdFlags, Timespec, epoll, eventfd};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// Descriptors that are watched, each under a number of the caller's.
#[derive(Debug)]
pub struct Poll(OwnedFd);

/// Room for what one wait finds.
#[derive(Default)]
pub struct Events(Vec<epoll::Event>);

impl Events {
    /// Room for `most` of them.
    pub fn with_capacity(most: usize) -> Self {
        Self(Vec::with_capacity(most))
    }

    /// Whether nothing was found.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What was found, which is forgotten.
    pub fn drain(&mut self) -> impl Iterator<Item = Event> {
        self.0.drain(..).map(|event| told(&event))
    }
}

fn told(event: &epoll::Event) -> Event {
    let flags = event.flags;
    let gone = epoll::EventFlags::RDHUP | epoll::EventFlags::HUP | epoll::EventFlags::ERR;
    Event {
        number: event.data.u64(),
        readable: flags.contains(epoll::EventFlags::IN),
        writable: flags.contains(epoll::EventFlags::OUT),
        hung_up: flags.intersects(gone),
        failed: flags.contains(epoll::EventFlags::ERR),
    }
}

impl Interest {
    fn flags(self) -> epoll::EventFlags {
        let arrival = epoll::EventFlags::IN | epoll::EventFlags::ET;
        match self {
            Self::Read => epoll::EventFlags::IN,
            Self::Arrival => arrival,
            Self::Change => arrival | epoll::EventFlags::OUT | epoll::EventFlags::RDHUP,
        }
    }
}

impl Poll {
    /// Nothing is watched yet.
    ///
    /// # Errors
    /// When the kernel gives no descriptor for it.
    pub fn new() -> Result<Self, Error> {
        epoll::create(epoll::CreateFlags::CLOEXEC)
            .map(Self)
            .map_err(|e| Error::io("make", "an epoll descriptor", e))
    }

    /// Watches `what`, which errors call `name`, until it is closed.
    ///
    /// # Errors
    /// When the kernel cannot watch it.
    pub fn add(
        &self,
        what: &impl AsFd,
        number: u64,
        interest: Interest,
        name: &str,
    ) -> Result<(), Error> {
        let data = epoll::EventData::new_u64(number);
        epoll::add(&self.0, what, data, interest.flags()).map_err(|e| Error::io("watch", name, e))
    }

    /// Waits until something has happened, at most for `timeout` (less than a second); whether it has. A signal ends it early.
    pub fn wait(&self, events: &mut Events, timeout: Duration) -> bool {
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: timeout.subsec_nanos().into(),
        };
        let room = rustix::buffer::spare_capacity(&mut events.0);
        epoll::wait(&self.0, room, Some(&timeout)).is_ok() && !events.is_empty()
    }
}

/// By which one thread wakes another that waits in a [`Poll`] (eventfd(2)).
#[derive(Debug)]
pub struct Bell(OwnedFd);

impl Bell {
    /// A bell that nobody has rung.
    ///
    /// # Errors
    /// When the kernel gives no descriptor for it.
    pub fn new() -> Result<Self, Error> {
        eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map(Self)
            .map_err(|e| Error::io("make", "an event descriptor", e))
    }

    /// Rings: from now on it can be read.
    pub fn ring(&self) {
        // One that has been rung 2^64 times rings all the same.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Stops ringing.
    pub fn calm(&self) {
        // One that does not ring is calm already.
        let _ = rustix::io::read(&self.0, &mut [0_u8; 8][..]);
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    const SOON: Duration = Duration::from_millis(900);

    #[test]
    fn what_has_something_is_told_by_its_number_and_nothing_else() {
        let poll = Poll::new().unwrap();
        let sockets = [0; 2].map(|_| UdpSocket::bind("127.0.0.1:0").unwrap());
        for (number, socket) in (7..).zip(&sockets) {
            poll.add(socket, number, Interest::Read, "a socket")
                .unwrap();
        }
        let mut events = Events::with_capacity(2);
        assert!(!poll.wait(&mut events, Duration::ZERO));
        let to = sockets[1].local_addr().unwrap();
        sockets[0].send_to(b"x", to).unwrap();
        assert!(poll.wait(&mut events, SOON));
        let found: Vec<_> = events.drain().collect();
        let expected = Event {
            number: 8,
            readable: true,
            ..Event::default()
        };
        assert_eq!(found, [expected]);
        assert!(events.is_empty());
    }

    #[test]
    fn a_bell_wakes_whoever_waits_until_it_is_calmed() {
        let (poll, bell) = (Poll::new().unwrap(), Bell::new().unwrap());
        poll.add(&bell, 3, Interest::Read, "a bell").unwrap();
        let mut events = Events::with_capacity(1);
        bell.ring();
        for _ in 0..2 {
            assert!(poll.wait(&mut events, SOON));
            assert!(events.drain().all(|event| event.number == 3));
        }
        bell.calm();
        assert!(!poll.wait(&mut events, Duration::ZERO));
    }

    #[test]
    fn an_arrival_is_told_once() {
        let poll = Poll::new().unwrap();
        let bell = Bell::new().unwrap();
        poll.add(&bell, 0, Interest::Arrival, "a bell").unwrap();
        let mut events = Events::with_capacity(1);
        bell.ring();
        assert!(poll.wait(&mut events, SOON));
        events.drain().for_each(drop);
        assert!(!poll.wait(&mut events, Duration::ZERO));
    }
}
