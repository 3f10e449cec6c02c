//! Which slots were congested.

use super::Options;
use super::plan::Plan;
use crate::train::{Arrival, Passage};

/// Seconds, before and after, of which the least delay is what packets take without a queue.
const AROUND: usize = 5;

/// What the probes of a train met.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) plan: Plan,
    /// One for each slot of the plan.
    pub(super) probes: Vec<Probed>,
}

/// What became of the packets of one slot.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probed {
    pub(super) slot: u32,
    pub(super) lost: u32,
    /// The longest and the shortest delay, in nanoseconds of unsynchronised clocks.
    highest: Option<i64>,
    least: Option<i64>,
    /// Delay of the last packet that arrived, in this slot or shortly before it, ahead of the first that was lost.
    before_loss: Option<i64>,
}

impl Seen {
    /// What came of a plan; none when the sender did not keep its slots.
    pub(super) fn of(plan: Plan, passage: &Passage, options: &Options) -> Option<Self> {
        let packets = options.packets as usize;
        let mut delays: Vec<Option<i64>> = vec![None; plan.slots.len() * packets];
        for arrival in &passage.arrivals {
            let place = usize::try_from(arrival.number).ok()?;
            *delays.get_mut(place)? = Some(arrival.delay_ns());
        }
        if passage.sent as usize != delays.len() || !is_timed(&plan, passage, options) {
            return None;
        }
        let (mut probes, mut last) = (Vec::new(), Last::default());
        for (&slot, delays) in plan.slots.iter().zip(delays.chunks(packets)) {
            probes.push(Probed::of(slot, delays, &mut last, options.reach()));
        }
        Some(Self { plan, probes })
    }

    fn least(&self) -> Option<i64> {
        self.probes.iter().filter_map(|probed| probed.least).min()
    }

    /// The state of each slot of the plan.
    pub(super) fn states(
        &self,
        base: Option<i64>,
        full: Option<f64>,
        options: &Options,
    ) -> Vec<bool> {
        // A queue that empties within a slot says nothing of its neighbours: there, losses have another cause.
        let full = full.filter(|full| *full > options.slot.as_nanos() as f64);
        let limit = full.map(|full| full * (1.0 - options.alpha));
        let lossy = self.probes.iter().filter(|probed| probed.lost > 0);
        let lossy: Vec<u32> = lossy.map(|probed| probed.slot).collect();
        let states = self.probes.iter().map(|probed| {
            let waited = probed
                .highest
                .zip(base)
                .map(|(delay, base)| wait(delay, base));
            let long = waited.zip(limit).is_some_and(|(wait, limit)| wait > limit);
            probed.lost > 0 || long && is_near(&lossy, probed.slot, options.reach())
        });
        states.collect()
    }
}

/// Whether one of `slots`, which are in order, is at most `reach` from `slot`.
fn is_near(slots: &[u32], slot: u32, reach: u32) -> bool {
    let after = slots.partition_point(|&other| other < slot);
    let neighbours = slots.iter().skip(after.saturating_sub(1)).take(2);
    neighbours
        .copied()
        .any(|other| other.abs_diff(slot) <= reach)
}

/// The last packet that arrived.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    slot: u32,
    delay: Option<i64>,
}

impl Probed {
    fn of(slot: u32, delays: &[Option<i64>], last: &mut Last, reach: u32) -> Self {
        let mut probed = Self {
            slot,
            ..Self::default()
        };
        for delay in delays {
            if let Some(delay) = *delay {
                probed.arrive(delay);
                *last = Last {
                    slot,
                    delay: Some(delay),
                };
            } else {
                if probed.lost == 0 && last.slot.abs_diff(slot) <= reach {
                    probed.before_loss = last.delay;
                }
                probed.lost += 1;
            }
        }
        probed
    }

    fn arrive(&mut self, delay: i64) {
        self.highest = Some(self.highest.map_or(delay, |highest| highest.max(delay)));
        self.least = Some(self.least.map_or(delay, |least| least.min(delay)));
    }
}

/// How long a packet waited beyond the least delay, in nanoseconds.
fn wait(delay: i64, base: i64) -> f64 {
    (i128::from(delay) - i128::from(base)) as f64
}

/// Whether every packet that arrived left in its slot, as far as their stamps tell.
fn is_timed(plan: &Plan, passage: &Passage, options: &Options) -> bool {
    let slot = i128::try_from(options.slot.as_nanos()).unwrap_or(i128::MAX);
    let late = |arrival: &Arrival| {
        let place = arrival.number / options.packets;
        let planned = plan.slots.get(usize::try_from(place).ok()?)?;
        Some(i128::from(arrival.sent_ns) - i128::from(*planned) * slot)
    };
    let late = passage.arrivals.iter().filter_map(late);
    let (least, most) = late.fold((i128::MAX, i128::MIN), |(least, most), late| {
        (least.min(late), most.max(late))
    });
    let planned = plan.train(options).duration();
    let off = passage.lasted.abs_diff(planned);
    most.saturating_sub(least) <= slot && off <= options.slot
}

/// The least delay around each train, in nanoseconds.
pub(super) fn bases(seen: &[Seen]) -> Vec<Option<i64>> {
    let least: Vec<Option<i64>> = seen.iter().map(Seen::least).collect();
    let base = |train: usize| {
        let around = least.iter().skip(train.saturating_sub(AROUND));
        let count = AROUND + 1 + AROUND.min(train);
        around.take(count).flatten().min().copied()
    };
    (0..seen.len()).map(base).collect()
}

/// How long a packet waits in the full queue, in nanoseconds: the mean over all losses.
pub(super) fn full_queue(seen: &[Seen]) -> Option<f64> {
    let bases = bases(seen);
    let waits = seen.iter().zip(&bases).flat_map(|(seen, base)| {
        let delays = seen.probes.iter().filter_map(|probed| probed.before_loss);
        delays.filter_map(move |delay| base.map(|base| wait(delay, base)))
    });
    let (sum, count) = waits.fold((0.0, 0_u32), |(sum, count), wait| (sum + wait, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}
