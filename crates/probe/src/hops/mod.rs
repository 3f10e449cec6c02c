//! Where on the path the queue is: traces to every hop, idle and under load.
//!
//! A probe that lives for k hops is answered by the k-th router. Its round trip crosses every link up to there, so when a
//! queue fills under load, the round trips to all hops *behind* that link rise, and those before it do not. A rise that
//! begins at hop k says that the queue is on the link between hops k - 1 and k. It does not say in which direction: the
//! answer comes back over the same link, through the queue of the other direction. One-way delays tell that, and traces
//! from both ends ([`between`]) narrow the link down when routers are silent.
//!
//! # What routers do, and what is done about it
//!
//! | routers | here |
//! |---|---|
//! | answer late or in batches, because answering is the least of their work | a hop's rise counts only as far as *every* later hop shows it: the least of its own and all later ones |
//! | answer rarely or never | a hop with fewer than [`LEAST_ANSWERS`] in either phase is passed over; the link then spans several hops |
//! | change with the path, or share its load | of each hop only the address that answers best in *both* phases counts |
//! | answer for the end from several hops | of hops with one address the first counts |
//!
//! The rise of a hop is the difference of its medians. The whole rise is that of the last hop that answers. Where it is
//! not beyond the noise there is no bottleneck, and [`Finding`] says why. Otherwise it is the first hop that has at
//! least half of it ([`SHARE`]): small rises elsewhere do not hide the link where most of the delay is.

mod link;
mod table;

pub use link::{Between, between};
pub use table::{Answers, Hop, table};

use core::net::IpAddr;

/// Answers from which the median of a hop's phase is taken, at least.
pub const LEAST_ANSWERS: usize = 5;
/// Least rise in milliseconds that is one: above what the timers and interrupts of routers and hosts add.
pub const LEAST_RISE_MS: f64 = 2.0;
/// Share of the whole rise that the bottleneck has, together with what is before it.
pub const SHARE: f64 = 0.5;

/// Whether a probe was sent while the path was loaded.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Phase {
    /// Before the load.
    Idle,
    /// Under load, settled.
    Loaded,
}

/// One probe of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// How many hops it was to live, from 1.
    pub ttl: u8,
    /// Who answered; `None` when nobody did.
    pub address: Option<IpAddr>,
    /// When it was sent.
    pub phase: Phase,
    /// Round trip in nanoseconds; `None` when nobody answered.
    pub rtt_ns: Option<u64>,
    /// Whether it was the other end that answered.
    pub is_end: bool,
}

/// The link behind whose queue everything waits under load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bottleneck {
    /// The first hop behind the queue, counted from where the trace was sent.
    pub hop: u8,
    /// The last hop before the queue that answers; 0 is the host that traced. Where it is not `hop` - 1, those between
    /// are silent, and the queue may be on any link between.
    pub before_hop: u8,
    /// Address of the hop before; `None` for the host that traced.
    pub before: Option<IpAddr>,
    /// Address of the first hop behind.
    pub at: IpAddr,
    /// By how much the median round trip rises on this link, milliseconds.
    pub rise_ms: f64,
}

/// What a trace says of the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Finding {
    /// It is here.
    Found(Bottleneck),
    /// Too few answers: no hop has [`LEAST_ANSWERS`] both idle and loaded.
    TooFewAnswers,
    /// The last hop that answers rises by no more than noise.
    NoRise {
        /// Its rise, milliseconds; negative when it falls.
        rise_ms: f64,
        /// What it would have to exceed, milliseconds.
        noise_ms: f64,
    },
}

impl Finding {
    /// The bottleneck, where there is one.
    pub const fn bottleneck(&self) -> Option<&Bottleneck> {
        match self {
            Self::Found(bottleneck) => Some(bottleneck),
            _ => None,
        }
    }
}

/// The traces of one direction: the hops, and what they say.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Every hop that was probed, from the nearest to the end.
    pub hops: Vec<Hop>,
    /// The hop at which the other end answered; `None` when it never did.
    pub end: Option<u8>,
    /// Where the bottleneck is.
    pub finding: Finding,
}

impl Trace {
    /// Of rows in any order. `None` when there are none.
    pub fn of(rows: &[Row]) -> Option<Self> {
        let hops = table(rows);
        let end = rows
            .iter()
            .filter(|row| row.is_end)
            .map(|row| row.ttl)
            .min();
        (!hops.is_empty()).then(|| Self {
            finding: find(&hops),
            hops,
            end,
        })
    }
}

/// A hop that can be compared between the phases.
struct Comparable {
    ttl: u8,
    address: IpAddr,
    rise_ms: f64,
    noise_ms: f64,
}

impl Comparable {
    fn of(hop: &Hop) -> Option<Self> {
        Some(Self {
            ttl: hop.ttl,
            address: hop.address?,
            rise_ms: hop.rise_ms()?,
            // What a tenth of idle round trips exceed anyway.
            noise_ms: hop.idle.rtt_ms.map(|idle| idle.p90 - idle.p50)?,
        })
    }
}

fn find(hops: &[Hop]) -> Finding {
    let mut hops: Vec<Comparable> = hops.iter().filter_map(Comparable::of).collect();
    let Some(last) = hops.last() else {
        return Finding::TooFewAnswers;
    };
    let (whole, noise_ms) = (last.rise_ms, last.noise_ms.max(LEAST_RISE_MS));
    if whole <= noise_ms {
        return Finding::NoRise {
            rise_ms: whole,
            noise_ms,
        };
    }
    // What a hop shows and no later hop does is the router's own.
    let mut shown = whole;
    for hop in hops.iter_mut().rev() {
        shown = shown.min(hop.rise_ms);
        hop.rise_ms = shown;
    }
    let mut before: Option<&Comparable> = None;
    for hop in &hops {
        if hop.rise_ms >= SHARE * whole {
            let risen_before = before.map_or(0.0, |before| before.rise_ms.max(0.0));
            return Finding::Found(Bottleneck {
                hop: hop.ttl,
                before_hop: before.map_or(0, |before| before.ttl),
                before: before.map(|before| before.address),
                at: hop.address,
                rise_ms: hop.rise_ms - risen_before,
            });
        }
        before = Some(hop);
    }
    Finding::TooFewAnswers
}

#[cfg(test)]
mod tests;
