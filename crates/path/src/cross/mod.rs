//! Other people's packets on a link.
//!
//! A link that others use too delays and drops by what they send. [`Shared`] is a [`Link`] into whose queue a [`Source`]
//! puts packets of its own. They are made up inside of the element, in virtual time: they cost the kernel nothing, come
//! from no host and go to none, and are exactly known. When they leave the link they are gone; while they wait they are
//! packets like others to the queue and its management.
//!
//! # Time
//!
//! The source begins with the first packet that comes to the link, as a recorded link does. Every packet of others comes at
//! its own logical time, before an own packet of the same instant, so calling late changes nothing. The element asks to
//! be called only while own packets are inside; what others do meanwhile is caught up with at the next call, and until
//! then the counters and the backlog are those of the last one. Others who would send to nobody's harm are not made up: ten
//! seconds after the last own packet came, and none is inside, the link stops, and the source goes on two seconds before
//! the next one comes.
//!
//! # Counters
//!
//! The counters of the element count own and others' packets together, so that they balance; [`Shared::others`] says how
//! many of those that entered and left were others'.

mod recording;
mod source;

pub use recording::Recording;
pub use source::{Pace, Schedule, Sent, Sizes, Source};

use crate::noted::Noted;
use crate::{Arrival, Count, Counters, Element, Family, Link, Others, Packet, Queue, Service};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use units::{Dscp, Ecn, Instant};

/// After this long without an own packet nothing is made up any more.
const ASLEEP_AFTER: Duration = Duration::from_secs(10);
/// So long before the next own packet it is again, for the queue to be as it would be.
const AWAKE_BEFORE: Duration = Duration::from_secs(2);

/// An own packet's body, and a mark that tells while it exists that it is inside, wherever it may be dropped.
pub struct Own<B> {
    body: B,
    _inside: Arc<()>,
}

/// A link that others use too.
pub struct Shared<B, S> {
    link: Link<Option<Own<B>>, S>,
    source: Source,
    others: Others,
    /// Own packets alone.
    noted: Noted,
    /// One reference here, and one in each own packet inside.
    inside: Arc<()>,
    last_own: Instant,
    wake: Option<Instant>,
    leaving: VecDeque<Packet<Option<Own<B>>>>,
}

impl<B: Send, S: Service> Shared<B, S> {
    /// The link that drains `queue` by `service`, and to which `source` sends too.
    pub fn new(service: S, queue: Box<dyn Queue<Option<Own<B>>>>, source: Source) -> Self {
        Self {
            link: Link::new(service, queue),
            source,
            others: Others::default(),
            inside: Arc::new(()),
            noted: Noted::default(),
            last_own: Instant::ZERO,
            wake: None,
            leaving: VecDeque::new(),
        }
    }

    fn has_own(&self) -> bool {
        Arc::strong_count(&self.inside) > 1
    }

    /// Does what is due up to `until`, others' packets among it; false when it stopped because nobody is there to see it.
    fn advance(&mut self, until: Instant, out: &mut VecDeque<Packet<B>>) -> bool {
        while let Some(at) = self.source.due().filter(|at| *at <= until) {
            self.step(None, at, out);
            if at > self.last_own + ASLEEP_AFTER && !self.has_own() {
                return false;
            }
            if let Some(packet) = self.other() {
                self.others.entered.put(packet.size);
                self.step(Some(packet), at, out);
            }
        }
        self.step(None, until, out);
        true
    }

    /// The next packet of the source.
    fn other(&mut self) -> Option<Packet<Option<Own<B>>>> {
        let sent = self.source.take()?;
        Some(Packet {
            size: sent.octets,
            flow: sent.flow,
            family: Family::V4,
            dscp: Dscp::CS0,
            ecn: Ecn::NotEct,
            at: sent.at,
            body: None,
        })
    }

    /// One call of the link; own packets that leave go on, others' are gone.
    fn step(
        &mut self,
        packet: Option<Packet<Option<Own<B>>>>,
        at: Instant,
        out: &mut VecDeque<Packet<B>>,
    ) {
        self.wake = self.link.process(packet, at, &mut self.leaving);
        for packet in self.leaving.drain(..) {
            match packet.body {
                Some(own) => out.push_back(Packet {
                    size: packet.size,
                    flow: packet.flow,
                    family: packet.family,
                    dscp: packet.dscp,
                    ecn: packet.ecn,
                    at: packet.at,
                    body: own.body,
                }),
                None => self.others.left.put(packet.size),
            }
        }
    }

    /// Brings the link to the arrival of an own packet.
    fn meet(&mut self, at: Instant, out: &mut VecDeque<Packet<B>>) {
        self.source.begin(at);
        if !self.advance(at, out) {
            self.source.skip_to(at - AWAKE_BEFORE);
        }
        self.last_own = at;
        self.advance(at, out);
    }

    fn enter(&mut self, packet: Packet<B>, out: &mut VecDeque<Packet<B>>) {
        let at = packet.at;
        self.noted.note(at, packet.size);
        self.meet(at, out);
        let own = Packet {
            size: packet.size,
            flow: packet.flow,
            family: packet.family,
            dscp: packet.dscp,
            ecn: packet.ecn,
            at,
            body: Some(Own {
                body: packet.body,
                _inside: Arc::clone(&self.inside),
            }),
        };
        self.step(Some(own), at, out);
    }
}

impl<B: Send, S: Service> Element<B> for Shared<B, S> {
    fn process(
        &mut self,
        packet: Option<Packet<B>>,
        now: Instant,
        out: &mut VecDeque<Packet<B>>,
    ) -> Option<Instant> {
        if let Some(packet) = packet {
            self.enter(packet, out);
        }
        self.advance(now, out);
        self.wake.filter(|_| self.has_own())
    }

    fn counters(&self) -> Counters {
        self.link.counters()
    }

    fn backlog(&self) -> Option<Count> {
        self.link.backlog()
    }

    fn watch(&mut self) {
        self.noted.watch();
    }

    fn take_arrivals(&mut self) -> Vec<Arrival> {
        self.noted.take()
    }

    fn others(&self) -> Others {
        self.others
    }
}
