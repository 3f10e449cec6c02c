//! Which request goes next, and over which connection.
//!
//! - HTTP/1.1: at most six connections to a host, kept for the next request; a free one takes the most urgent
//!   request that waits for its host. Of images at most ten are under way on the whole page, six to a host, and only
//!   one while the head's style sheets and scripts are missing. These are the rules of Chromium
//!   (`ClientSocketPool`, `ResourceScheduler`).
//! - HTTP/2: one connection to a host takes all requests at once; the server goes by their priorities
//!   (RFC 9218).
//!
//! Calls: a `handle_*` for what has happened, then [`Queue::poll`] until it has no more to do.

use crate::model::PageModel;
use crate::result::{Kind, Protocol};
use std::collections::BTreeSet;

/// To one host with HTTP/1.1.
const MAX_TO_HOST: usize = 6;
/// In all; also what a server takes.
const MAX_CONNECTIONS: usize = 256;
/// Images under way: on the page, to one host, and while the head is incomplete.
const MAX_IMAGES: usize = 10;
const MAX_IMAGES_TO_HOST: usize = 6;
const MAX_IMAGES_BLOCKED: usize = 1;

/// What is to be done.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Step {
    /// Open a connection to the host.
    Open(u16),
    /// Send the request for the object over the connection.
    Send {
        /// The object.
        object: u16,
        /// The connection's number, as it was given to [`Queue::handle_open`].
        connection: u16,
    },
}

/// Requests that wait, and connections.
#[derive(Debug)]
pub(super) struct Queue<'a> {
    model: &'a PageModel,
    protocol: Protocol,
    hosts: Vec<Host>,
    /// Images that are held back, by urgency.
    held: BTreeSet<(u8, u16)>,
    images: usize,
}

#[derive(Clone, Debug, Default)]
struct Host {
    /// Requests that may be sent, by urgency.
    waiting: BTreeSet<(u8, u16)>,
    idle: Vec<u16>,
    open: usize,
    opening: usize,
    images: usize,
}

/// Urgency in the sense of RFC 9218 section 4.1, as Chromium gives it: 0 is the most urgent.
pub(super) const fn urgency(kind: Kind) -> u8 {
    match kind {
        Kind::Document | Kind::Style | Kind::Font => 0,
        Kind::Script | Kind::Fetch => 1,
        Kind::Image | Kind::Other => 3,
    }
}

impl<'a> Queue<'a> {
    pub(super) fn new(model: &'a PageModel, protocol: Protocol) -> Self {
        Self {
            hosts: vec![Host::default(); model.hosts().len()],
            held: BTreeSet::new(),
            images: 0,
            model,
            protocol,
        }
    }

    /// `object` is wanted.
    pub(super) fn handle_found(&mut self, object: u16) {
        let (host, kind) = self.facts(object);
        let entry = (urgency(kind), object);
        if self.is_limited(kind) {
            self.held.insert(entry);
        } else if let Some(host) = self.hosts.get_mut(host) {
            host.waiting.insert(entry);
        }
    }

    /// The connection to `host` that [`Step::Open`] asked for is there.
    pub(super) fn handle_open(&mut self, host: u16, connection: u16) {
        if let Some(host) = self.hosts.get_mut(usize::from(host)) {
            host.opening = host.opening.saturating_sub(1);
            host.open += 1;
            host.idle.push(connection);
        }
    }

    /// It could not be had. Returns the objects that fail with it: all that wait for the host when no other
    /// connection is there or under way.
    pub(super) fn handle_open_failed(&mut self, host: u16) -> Vec<u16> {
        let Some(host) = self.hosts.get_mut(usize::from(host)) else {
            return Vec::new();
        };
        host.opening = host.opening.saturating_sub(1);
        if host.open + host.opening > 0 {
            return Vec::new();
        }
        let failed = std::mem::take(&mut host.waiting);
        let failed: Vec<u16> = failed.into_iter().map(|(_, object)| object).collect();
        for object in &failed {
            self.leave(*object);
        }
        failed
    }

    /// `object` is there or has failed; whether `connection` can be used again.
    pub(super) fn handle_end(&mut self, object: u16, connection: u16, is_usable: bool) {
        let (host, _) = self.facts(object);
        self.leave(object);
        let Some(host) = self.hosts.get_mut(host) else {
            return;
        };
        match (self.protocol, is_usable) {
            (Protocol::Http1, true) => host.idle.push(connection),
            (Protocol::Http1, false) => host.open = host.open.saturating_sub(1),
            (Protocol::H2, true) => {}
            (Protocol::H2, false) => host.lose(connection),
        }
    }

    /// The next thing to do, if any; `is_blocked` as [`super::page::Page::is_blocked`] says.
    pub(super) fn poll(&mut self, is_blocked: bool) -> Option<Step> {
        self.admit(is_blocked);
        let protocol = self.protocol;
        let most = match protocol {
            Protocol::Http1 => (MAX_CONNECTIONS / self.hosts.len().max(1)).clamp(1, MAX_TO_HOST),
            Protocol::H2 => 1,
        };
        let mut hosts = (0_u16..).zip(&mut self.hosts);
        hosts.find_map(|(number, host)| host.step(number, protocol, most))
    }

    /// Lets held images go as far as the limits allow.
    fn admit(&mut self, is_blocked: bool) {
        let most = if is_blocked {
            MAX_IMAGES_BLOCKED
        } else {
            MAX_IMAGES
        };
        let held: Vec<_> = self.held.iter().copied().collect();
        for entry in held {
            if self.images >= most {
                return;
            }
            let (host, _) = self.facts(entry.1);
            let host = self.hosts.get_mut(host);
            if let Some(host) = host.filter(|host| host.images < MAX_IMAGES_TO_HOST) {
                host.images += 1;
                host.waiting.insert(entry);
                self.images += 1;
                self.held.remove(&entry);
            }
        }
    }

    /// Makes room for another image.
    fn leave(&mut self, object: u16) {
        let (host, kind) = self.facts(object);
        if self.is_limited(kind) {
            self.images = self.images.saturating_sub(1);
            if let Some(host) = self.hosts.get_mut(host) {
                host.images = host.images.saturating_sub(1);
            }
        }
    }

    /// A server that knows priorities needs no help.
    const fn is_limited(&self, kind: Kind) -> bool {
        matches!((self.protocol, kind), (Protocol::Http1, Kind::Image))
    }

    fn facts(&self, object: u16) -> (usize, Kind) {
        let object = self.model.object(object);
        object.map_or((usize::MAX, Kind::Other), |object| {
            (usize::from(object.host), object.kind)
        })
    }
}

impl Host {
    /// Forgets a shared connection; all its requests fail, and the first says so.
    fn lose(&mut self, connection: u16) {
        let before = self.idle.len();
        self.idle.retain(|idle| *idle != connection);
        self.open = self.open.saturating_sub(before - self.idle.len());
    }

    fn step(&mut self, number: u16, protocol: Protocol, most: usize) -> Option<Step> {
        if let Some(&connection) = self.idle.last() {
            let (_, object) = self.waiting.pop_first()?;
            if protocol == Protocol::Http1 {
                self.idle.pop();
            }
            return Some(Step::Send { object, connection });
        }
        let needs_more = self.waiting.len() > self.opening;
        (needs_more && self.open + self.opening < most).then(|| {
            self.opening += 1;
            Step::Open(number)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    /// A document, a style sheet and 20 images on one host.
    fn model() -> PageModel {
        let mut text = "name = 'm'\nsummary = ''\nhosts = ['a', 'b']\n".to_owned();
        for (kind, count) in [("document", 1), ("style", 1), ("image", 20)] {
            writeln!(
                text,
                "[[object]]\nkind = '{kind}'\nhost = 'a'\nsize = '10kB'\ncount = {count}"
            )
            .unwrap();
        }
        PageModel::parse(&text, "m").unwrap()
    }

    fn steps(queue: &mut Queue<'_>, is_blocked: bool) -> Vec<Step> {
        std::iter::from_fn(|| queue.poll(is_blocked)).collect()
    }

    #[test]
    fn http_1_opens_six_connections_and_sends_one_request_on_each() {
        let model = model();
        let mut queue = Queue::new(&model, Protocol::Http1);
        (1..22).for_each(|object| queue.handle_found(object));
        assert_eq!(steps(&mut queue, false), [Step::Open(0); 6]);
        queue.handle_open(0, 0);
        let first = Step::Send {
            object: 1,
            connection: 0,
        };
        assert_eq!(steps(&mut queue, false), [first], "the most urgent");
        queue.handle_end(1, 0, true);
        let next = Step::Send {
            object: 2,
            connection: 0,
        };
        assert_eq!(steps(&mut queue, false), [next]);
    }

    #[test]
    fn images_wait_for_the_head() {
        let model = model();
        let mut queue = Queue::new(&model, Protocol::Http1);
        (1..22).for_each(|object| queue.handle_found(object));
        assert_eq!(steps(&mut queue, true), [Step::Open(0); 2]);
        queue.handle_open(0, 0);
        queue.handle_open(0, 1);
        let sent = [(1, 1), (2, 0)].map(|(object, connection)| Step::Send { object, connection });
        assert_eq!(steps(&mut queue, true), sent);
        queue.handle_end(1, 1, true);
        let more = steps(&mut queue, false);
        assert_eq!(
            more[0],
            Step::Send {
                object: 3,
                connection: 1
            }
        );
        assert_eq!(more[1..], [Step::Open(0); 4], "six images to a host");
    }

    #[test]
    fn http_2_sends_everything_over_one_connection() {
        let model = model();
        let mut queue = Queue::new(&model, Protocol::H2);
        (1..22).for_each(|object| queue.handle_found(object));
        assert_eq!(steps(&mut queue, true), [Step::Open(0)]);
        queue.handle_open(0, 0);
        assert_eq!(steps(&mut queue, true).len(), 21);
        queue.handle_end(1, 0, true);
        queue.handle_found(0);
        let again = Step::Send {
            object: 0,
            connection: 0,
        };
        assert_eq!(steps(&mut queue, true), [again]);
    }

    #[test]
    fn a_host_that_cannot_be_reached_fails_all_that_waits_for_it() {
        let model = model();
        let mut queue = Queue::new(&model, Protocol::Http1);
        (1..5).for_each(|object| queue.handle_found(object));
        assert_eq!(steps(&mut queue, false).len(), 4);
        for _ in 0..3 {
            assert!(queue.handle_open_failed(0).is_empty());
        }
        assert_eq!(queue.handle_open_failed(0), [1, 2, 3, 4]);
        queue.handle_found(5);
        assert_eq!(
            steps(&mut queue, false),
            [Step::Open(0)],
            "and is tried anew"
        );
    }

    #[test]
    fn a_lost_connection_is_replaced() {
        let model = model();
        for protocol in [Protocol::Http1, Protocol::H2] {
            let mut queue = Queue::new(&model, protocol);
            queue.handle_found(1);
            queue.poll(false);
            queue.handle_open(0, 0);
            queue.poll(false);
            queue.handle_end(1, 0, false);
            queue.handle_found(2);
            assert_eq!(steps(&mut queue, false), [Step::Open(0)], "{protocol}");
        }
    }
}
