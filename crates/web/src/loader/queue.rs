//! Which request goes next, and over which connection.
//!
//! - HTTP/1.1: at most six connections to a host, kept for the next request; a free one takes the most urgent
//!   request that waits for its host.
//! - HTTP/2 and HTTP/3: one connection to a host takes all requests at once, with their priorities (RFC 9218); what it makes of
//!   these is the server's to decide.
//! - Fonts and data from other hosts than the document's are asked for without credentials, and so over
//!   connections of their own (Fetch standard, "connection pool key").
//! - Images, and scripts below the head, may wait: while the head's style sheets and scripts are missing, at most two of
//!   them are under way on the whole page.
//!
//! These are Chromium's rules (`ClientSocketPool`, and the tight mode of `ResourceLoadScheduler`), and what
//! Chromium 156 has been seen to do with the pages of this crate.
//!
//! Calls: a `handle_*` for what has happened, then [`Queue::poll`] until it has no more to do.

#[cfg(test)]
mod tests;

use crate::model::PageModel;
use crate::result::Kind;
use std::collections::BTreeSet;
use units::HttpVersion;

/// To one host with HTTP/1.1.
const MAX_TO_HOST: usize = 6;
/// In all; also what a server takes.
const MAX_CONNECTIONS: usize = 256;
/// What may wait, while the head is incomplete.
const MAX_DELAYABLE: usize = 2;

/// What is to be done.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Step {
    /// Open a connection for the pool: [`host_of`] says to where.
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
    protocol: HttpVersion,
    /// Two for each host: with credentials and without.
    pools: Vec<Pool>,
    /// Requests that are held back, by urgency.
    held: BTreeSet<(u8, u16)>,
    /// Requests under way that could have waited.
    delayable: usize,
}

#[derive(Clone, Debug, Default)]
struct Pool {
    /// Requests that may be sent, by urgency.
    waiting: BTreeSet<(u8, u16)>,
    idle: Vec<u16>,
    open: usize,
    opening: usize,
}

/// Urgency in the sense of RFC 9218 section 4.1, as Chromium gives it: 0 is the most urgent.
pub(super) const fn urgency(kind: Kind) -> u8 {
    match kind {
        Kind::Document | Kind::Style | Kind::Font => 0,
        Kind::Script | Kind::Fetch => 1,
        Kind::Image | Kind::Other => 3,
    }
}

/// The host to which the connections of a pool lead.
pub const fn host_of(pool: u16) -> u16 {
    pool / 2
}

impl<'a> Queue<'a> {
    pub(super) fn new(model: &'a PageModel, protocol: HttpVersion) -> Self {
        Self {
            pools: vec![Pool::default(); 2 * model.hosts().len()],
            held: BTreeSet::new(),
            delayable: 0,
            model,
            protocol,
        }
    }

    /// `object` is wanted.
    pub(super) fn handle_found(&mut self, object: u16) {
        let entry = (self.urgency(object), object);
        if self.is_delayable(object) {
            self.held.insert(entry);
        } else if let Some(pool) = self.pool(object) {
            pool.waiting.insert(entry);
        }
    }

    /// The connection for `pool` that [`Step::Open`] asked for is there.
    pub(super) fn handle_open(&mut self, pool: u16, connection: u16) {
        if let Some(pool) = self.pools.get_mut(usize::from(pool)) {
            pool.opening = pool.opening.saturating_sub(1);
            pool.open += 1;
            pool.idle.push(connection);
        }
    }

    /// It could not be had. Returns the objects that fail with it: all that wait for the pool when no other
    /// connection is there or under way.
    pub(super) fn handle_open_failed(&mut self, pool: u16) -> Vec<u16> {
        let Some(pool) = self.pools.get_mut(usize::from(pool)) else {
            return Vec::new();
        };
        pool.opening = pool.opening.saturating_sub(1);
        if pool.open + pool.opening > 0 {
            return Vec::new();
        }
        let failed = std::mem::take(&mut pool.waiting);
        let failed: Vec<u16> = failed.into_iter().map(|(_, object)| object).collect();
        for object in &failed {
            self.leave(*object);
        }
        failed
    }

    /// `object` is there or has failed; whether `connection` can be used again.
    pub(super) fn handle_end(&mut self, object: u16, connection: u16, is_usable: bool) {
        let protocol = self.protocol;
        self.leave(object);
        let Some(pool) = self.pool(object) else {
            return;
        };
        match (protocol, is_usable) {
            (HttpVersion::Http1, true) => pool.idle.push(connection),
            (HttpVersion::Http1, false) => pool.open = pool.open.saturating_sub(1),
            (HttpVersion::H2 | HttpVersion::H3, true) => {}
            (HttpVersion::H2 | HttpVersion::H3, false) => pool.lose(connection),
        }
    }

    /// The next thing to do, if any; `is_blocked` as [`super::page::Page::is_blocked`] says.
    pub(super) fn poll(&mut self, is_blocked: bool) -> Option<Step> {
        self.admit(is_blocked);
        let protocol = self.protocol;
        let most = match protocol {
            HttpVersion::Http1 => (MAX_CONNECTIONS / self.pools.len().max(1)).clamp(1, MAX_TO_HOST),
            HttpVersion::H2 | HttpVersion::H3 => 1,
        };
        let mut pools = (0_u16..).zip(&mut self.pools);
        pools.find_map(|(number, pool)| pool.step(number, protocol, most))
    }

    /// Lets go what was held, as far as it may.
    fn admit(&mut self, is_blocked: bool) {
        while !is_blocked || self.delayable < MAX_DELAYABLE {
            let Some(entry) = self.held.pop_first() else {
                return;
            };
            self.delayable += 1;
            if let Some(pool) = self.pool(entry.1) {
                pool.waiting.insert(entry);
            }
        }
    }

    /// Makes room for another that may wait.
    fn leave(&mut self, object: u16) {
        if self.is_delayable(object) {
            self.delayable = self.delayable.saturating_sub(1);
        }
    }

    /// The document's own host needs no second pool.
    fn pool(&mut self, object: u16) -> Option<&mut Pool> {
        let own = self.model.object(0)?.host;
        let object = self.model.object(object)?;
        let is_apart = matches!(object.kind, Kind::Font | Kind::Fetch) && object.host != own;
        let number = 2 * usize::from(object.host) + usize::from(is_apart);
        self.pools.get_mut(number)
    }

    fn is_delayable(&self, object: u16) -> bool {
        let object = self.model.object(object);
        object.is_some_and(|object| match object.kind {
            Kind::Image => true,
            Kind::Script => object.place > 0,
            _ => false,
        })
    }

    /// Scripts below the head come after those in it, and before images.
    fn urgency(&self, object: u16) -> u8 {
        let kind = self.model.object(object).map(|object| object.kind);
        let later = kind == Some(Kind::Script) && self.is_delayable(object);
        urgency(kind.unwrap_or(Kind::Other)) + u8::from(later)
    }
}

impl Pool {
    /// Forgets a shared connection; all its requests fail, and the first says so.
    fn lose(&mut self, connection: u16) {
        let before = self.idle.len();
        self.idle.retain(|idle| *idle != connection);
        self.open = self.open.saturating_sub(before - self.idle.len());
    }

    fn step(&mut self, number: u16, protocol: HttpVersion, most: usize) -> Option<Step> {
        if let Some(&connection) = self.idle.last() {
            let (_, object) = self.waiting.pop_first()?;
            if protocol == HttpVersion::Http1 {
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
