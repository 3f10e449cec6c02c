//! The look-up of a page's host.

use super::names::octets;
use super::{Datagram, Says};
use units::Instant;
use web::dns::Family;
use web::names::host_name;
use web::{DNS_PATIENCE, Phase};

/// Addresses of both families are asked for at once, and again when an answer does not come: what the loader does on sockets.
#[derive(Debug)]
pub(super) struct LookUp {
    /// Number of the host.
    number: u32,
    name: String,
    begun: Option<Instant>,
    /// Times that questions were sent, and when they are sent again.
    tries: usize,
    until: Instant,
    /// Families whose answers are missing, and those to be asked for now.
    open: [bool; 2],
    due: [bool; 2],
    done: Option<Phase>,
    /// Nobody answers.
    has_failed: bool,
}

impl LookUp {
    /// Of the host with this number in the page's model.
    pub(super) fn new(number: u32, host: &str, token: u64) -> Self {
        Self {
            number,
            name: host_name(host, token),
            begun: None,
            tries: 0,
            until: Instant::FAR_FUTURE,
            open: [true; 2],
            due: [false; 2],
            done: None,
            has_failed: false,
        }
    }

    /// Begins at `now`, unless it has.
    pub(super) fn begin(&mut self, now: Instant) {
        if self.begun.is_none() {
            self.begun = Some(now);
            self.ask(now);
        }
    }

    fn ask(&mut self, now: Instant) {
        self.due = self.open;
        self.until = now + DNS_PATIENCE[self.tries.min(DNS_PATIENCE.len() - 1)];
        self.tries += 1;
    }

    /// When it took place, once it has.
    pub(super) const fn done(&self) -> Option<Phase> {
        self.done
    }

    /// When to look after it.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let is_open = self.begun.is_some() && self.done.is_none() && !self.has_failed;
        is_open.then_some(self.until)
    }

    /// Asks again when it is time, or gives up.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if self.next_due().is_some_and(|due| due <= now) {
            self.has_failed = self.tries >= DNS_PATIENCE.len();
            if !self.has_failed {
                self.ask(now);
            }
        }
    }

    /// Why it came to nothing, if it did.
    pub(super) fn failure(&self) -> Option<String> {
        let why = || format!("cannot look up {}: no answer", self.name);
        self.has_failed.then(why)
    }

    /// The next question in load number `load`.
    pub(super) fn poll(&mut self, load: u32) -> Option<Datagram> {
        let family = self.due.iter().position(|due| *due)?;
        self.due[family] = false;
        let [octets, answer] = octets(&self.name, [Family::V4, Family::V6][family]);
        Some(Datagram {
            sequence: self.sequence(load, family),
            octets,
            says: Says::Request { answer },
        })
    }

    /// An answer came; it may be another's.
    pub(super) fn handle_answer(&mut self, load: u32, sequence: u32, now: Instant) {
        let Some(begin) = self.begun.filter(|_| self.done.is_none()) else {
            return;
        };
        for family in 0..2 {
            if self.sequence(load, family) == sequence {
                self.open[family] = false;
            }
        }
        if self.open == [false; 2] {
            self.done = Some(Phase { begin, end: now });
        }
    }

    /// Names a question: no page has as many hosts.
    fn sequence(&self, load: u32, family: usize) -> u32 {
        let family = u32::from(family == 1);
        load.wrapping_shl(12).wrapping_add(self.number << 1) | family
    }
}
