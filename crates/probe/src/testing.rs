//! Paths of packets for tests: queues that are exact to the packet, and clocks that are not.
//!
//! Each link is a first-in first-out queue that probes share with cross traffic of its own. Its unfinished work follows
//! Lindley's recursion over the merged arrivals of both, so every delay is exact. Only the approach to a train is
//! played: a link that was left alone for long starts empty again, some thousand packets of cross traffic before the train.

use crate::riders::{Offered, Riders};
use crate::train::{Arrival, Estimator, Passage, Step, Train};
use proptest::prelude::*;
use stats::random::SplitMix64;
use std::time::Duration;
use units::Instant;

/// Octets of packets of cross traffic, all equally likely: seven of 40, four of 576, one of 1,500.
pub(crate) const MIX: &[u32] = &[40, 576, 40, 576, 40, 1_500, 40, 576, 40, 40, 576, 40];

/// When packets of cross traffic come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Arrivals {
    /// As regularly as their sizes let them, from a moment that the seed determines.
    Constant,
    /// Independently of each other.
    Poisson,
    /// From eight sources, each of which sends a quarter of the time: bursts and pauses have Pareto's distribution, with
    /// infinite variance.
    OnOff,
}

/// One stream of cross traffic.
#[derive(Clone, Debug)]
struct Source {
    next_ns: f64,
    octets: u32,
    /// Packets that the burst still has.
    burst: f64,
    rate: f64,
}

/// A link and its queue.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// Bits that it carries in a nanosecond.
    rate: f64,
    arrivals: Arrivals,
    sizes: &'static [u32],
    sources: Vec<Source>,
    now_ns: f64,
    /// How long it takes to carry what it holds.
    work_ns: f64,
    most_ns: f64,
    random: SplitMix64,
}

impl Link {
    /// A link of `capacity_bps`, of which packets of `sizes` take the share `load`; it holds 200 ms.
    pub(crate) fn new(
        capacity_bps: f64,
        load: f64,
        arrivals: Arrivals,
        sizes: &'static [u32],
        seed: u64,
    ) -> Self {
        let count = if arrivals == Arrivals::OnOff { 8 } else { 1 };
        let rate = capacity_bps / 1e9;
        let source = Source {
            next_ns: 0.0,
            octets: 0,
            burst: 0.0,
            rate: rate * load / f64::from(count),
        };
        let mut link = Self {
            rate,
            arrivals,
            sizes,
            sources: Vec::new(),
            now_ns: 0.0,
            work_ns: 0.0,
            most_ns: 200e6,
            random: SplitMix64::new(seed),
        };
        for _ in 0..if load > 0.0 { count } else { 0 } {
            let mut source = source.clone();
            source.next_ns = link.random.unit() * 12_000.0 / source.rate;
            source.octets = link.size();
            link.sources.push(source);
        }
        link
    }

    /// The same, that holds no more than takes `most` to carry.
    pub(crate) fn holding(self, most: Duration) -> Self {
        let most_ns = most.as_nanos() as f64;
        Self { most_ns, ..self }
    }

    fn size(&mut self) -> u32 {
        let chosen = self.random.below(self.sizes.len());
        self.sizes.get(chosen).copied().unwrap_or(1_500)
    }

    fn mean_bits(&self) -> f64 {
        let all: u32 = self.sizes.iter().sum();
        f64::from(all) * 8.0 / self.sizes.len() as f64
    }

    /// From Pareto's distribution of shape 1.5 with this mean, held below a thousand times of it.
    fn pareto(&mut self, mean: f64) -> f64 {
        let unit = 1.0 - self.random.unit();
        (mean / 3.0 / unit.powf(1.0 / 1.5)).min(1_000.0 * mean)
    }

    /// Time from a packet of cross traffic to the next of its source.
    fn pause(&mut self, source: &mut Source) -> f64 {
        let [own, mean] = [f64::from(source.octets) * 8.0, self.mean_bits()];
        match self.arrivals {
            Arrivals::Constant => own / source.rate,
            Arrivals::Poisson => self.random.exponential(mean / source.rate),
            Arrivals::OnOff => {
                let at_peak = own / (4.0 * source.rate);
                source.burst -= 1.0;
                if source.burst > 0.0 {
                    return at_peak;
                }
                source.burst = self.pareto(10.0).ceil();
                at_peak + self.pareto(10.0 * mean / source.rate * 0.75)
            }
        }
    }

    /// The time within which a queue forgets how it began: that of 5,000 packets of cross traffic.
    fn memory_ns(&self) -> f64 {
        let rate: f64 = self.sources.iter().map(|source| source.rate).sum();
        5_000.0 * self.mean_bits() / rate.max(self.rate * 0.01)
    }

    /// Plays what happens until `at_ns`.
    fn advance(&mut self, at_ns: f64) {
        let skipped = at_ns - self.memory_ns() - self.now_ns;
        if skipped > 0.0 {
            self.now_ns += skipped;
            self.work_ns = 0.0;
            for source in &mut self.sources {
                source.next_ns += skipped;
            }
        }
        while let Some(first) = self.first().filter(|&first| self.next(first) <= at_ns) {
            let mut source = self.sources[first].clone();
            self.enter(source.next_ns, source.octets);
            source.next_ns += self.pause(&mut source);
            source.octets = self.size();
            self.sources[first] = source;
        }
    }

    fn next(&self, source: usize) -> f64 {
        self.sources[source].next_ns
    }

    fn first(&self) -> Option<usize> {
        (0..self.sources.len()).min_by(|&one, &other| self.next(one).total_cmp(&self.next(other)))
    }

    /// A packet comes; when it is through, unless it is dropped.
    fn enter(&mut self, at_ns: f64, octets: u32) -> Option<f64> {
        self.work_ns = (self.work_ns - (at_ns - self.now_ns)).max(0.0);
        self.now_ns = at_ns;
        let own = f64::from(octets) * 8.0 / self.rate;
        if self.work_ns + own > self.most_ns {
            return None;
        }
        self.work_ns += own;
        Some(at_ns + self.work_ns)
    }

    fn carry(&mut self, at_ns: f64, octets: u32) -> Option<f64> {
        self.advance(at_ns);
        self.enter(at_ns, octets)
    }
}

/// Links one after the other between two hosts.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    links: Vec<Link>,
    /// The least time between two packets that the sender's host sends.
    pub(crate) host_ns: f64,
    /// Standard deviation of what the receiver's stamps are off.
    pub(crate) noise_ns: f64,
    /// Rate of riders that would have competed.
    pub(crate) riders_bps: f64,
    random: SplitMix64,
}

impl Path {
    pub(crate) fn new(links: impl IntoIterator<Item = Link>) -> Self {
        Self {
            links: links.into_iter().collect(),
            host_ns: 0.0,
            noise_ns: 0.0,
            riders_bps: 0.0,
            random: SplitMix64::new(77),
        }
    }

    /// From the normal distribution of mean 0 (G. E. P. Box and M. E. Muller, 1958).
    fn noise(&mut self) -> f64 {
        let [radius, turn] = [1.0 - self.random.unit(), self.random.unit()];
        self.noise_ns * (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * turn).cos()
    }

    /// What comes of a train that leaves at `at`.
    pub(crate) fn carry(&mut self, train: &Train, at: Instant) -> Passage {
        let [mut asked, mut sent] = [at.as_nanos() as f64; 2];
        let mut arrivals = Vec::new();
        for (number, probe) in (0..).zip(&train.probes) {
            if number > 0 {
                asked += probe.gap.as_nanos() as f64;
                sent = asked.max(sent + self.host_ns);
            }
            let through = self
                .links
                .iter_mut()
                .try_fold(sent, |at_ns, link| link.carry(at_ns, probe.octets));
            let Some(through) = through else { continue };
            arrivals.push(Arrival {
                number,
                sent_ns: whole(sent),
                arrived_ns: whole(through + AHEAD.as_nanos() as f64 + 10e6 + self.noise()),
                back: None,
            });
        }
        let lasted = Duration::from_nanos(whole(sent - at.as_nanos() as f64));
        let octets = whole(self.riders_bps * lasted.as_secs_f64() / 8.0);
        Passage {
            sent: u32::try_from(train.probes.len()).unwrap(),
            octets: train.octets(),
            lasted,
            arrivals,
            riders: Riders {
                packets: 1,
                octets,
                competing_octets: octets,
                ..Riders::default()
            },
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times of a test are positive and short"
)]
fn whole(ns: f64) -> u64 {
    ns.round() as u64
}

/// When a test begins.
pub(crate) const START: Instant = Instant::from_millis(5_000);

/// The receiver's clock is ahead by this.
const AHEAD: Duration = Duration::from_secs(77);

/// Lets an estimator that began at [`START`] have its trains until it is done; also, when that was, and how many octets it
/// sent.
pub(crate) fn run<E: Estimator>(
    mut estimator: E,
    mut carry: impl FnMut(&Train, Instant) -> Passage,
) -> (E::Estimate, Instant, u64) {
    let (mut now, mut octets) = (START, 0);
    // Enough for any of them.
    for _ in 0..100_000 {
        match estimator.next() {
            Step::Done(estimate) => return (estimate, now, octets),
            Step::Train(train, not_before) => {
                let at = now.max(not_before);
                let passage = carry(&train, at);
                octets += train.octets();
                let last = passage.arrivals.iter().map(|arrival| arrival.arrived_ns);
                let arrived = last.max().map_or(at, |ns| Instant::from_nanos(ns) - AHEAD);
                now = arrived.max(at + passage.lasted) + Duration::from_millis(10);
                estimator.handle(&passage, now);
            }
        }
    }
    panic!("it does not end");
}

/// Passages that no path makes: whatever stamps, numbers and riders.
pub(crate) fn nonsense() -> impl Strategy<Value = Passage> {
    let stamp = prop_oneof![any::<u64>(), 0_u64..1_000_000, Just(u64::MAX)];
    let arrival = (0_u32..60, stamp.clone(), stamp);
    let arrivals = prop::collection::vec(arrival, 0..60);
    (arrivals, any::<u32>(), any::<u64>(), any::<u64>()).prop_map(
        |(arrivals, sent, lasted, octets)| Passage {
            sent,
            octets: u64::from(sent) * 100,
            lasted: Duration::from_nanos(lasted),
            arrivals: arrivals
                .into_iter()
                .map(|(number, sent_ns, arrived_ns)| Arrival {
                    number,
                    sent_ns,
                    arrived_ns,
                    back: None,
                })
                .collect(),
            riders: Riders {
                packets: 1,
                octets,
                competing_octets: octets,
                beside_octets: octets,
                offered: Some(Offered {
                    octets,
                    at_ns: lasted,
                }),
            },
        },
    )
}

/// One cell of a grid: a link, what it has left, and whether it is found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) capacity_mbps: f64,
    pub(crate) load: f64,
    /// The figure that was found, where it was.
    pub(crate) found_bps: Option<f64>,
}

impl Cell {
    fn available_bps(&self) -> f64 {
        self.capacity_mbps * 1e6 * (1.0 - self.load)
    }

    /// Relative, with its sign.
    pub(crate) fn error(&self) -> Option<f64> {
        Some(self.found_bps? / self.available_bps() - 1.0)
    }
}

/// Capacities and loads at which the estimators of available bandwidth are tried.
pub(crate) fn grid(mut found: impl FnMut(Path) -> Option<f64>, arrivals: Arrivals) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (seed, capacity_mbps) in (1..).zip([5.0, 20.0, 100.0, 500.0]) {
        for load in [0.0, 0.3, 0.6, 0.9] {
            let link = Link::new(capacity_mbps * 1e6, load, arrivals, MIX, seed);
            cells.push(Cell {
                capacity_mbps,
                load,
                found_bps: found(Path::new([link])),
            });
        }
    }
    cells
}

/// The quantiles 0.5 and 0.9 of the relative errors of cells with a figure, and the median error with its sign.
pub(crate) fn errors(cells: &[Cell]) -> [f64; 3] {
    let mut signed: Vec<f64> = cells.iter().filter_map(Cell::error).collect();
    let mut errors: Vec<f64> = signed.iter().map(|error| error.abs()).collect();
    signed.sort_unstable_by(f64::total_cmp);
    errors.sort_unstable_by(f64::total_cmp);
    let quantile = |sorted: &[f64], q| stats::quantile(sorted, q).unwrap_or(f64::NAN);
    [
        quantile(&errors, 0.5),
        quantile(&errors, 0.9),
        quantile(&signed, 0.5),
    ]
}

/// For whoever wants to see a grid.
pub(crate) fn print(name: &str, cells: &[Cell]) {
    for cell in cells {
        let error = cell.error().map(|error| 100.0 * error);
        println!(
            "{name}: {:3} Mbit/s, load {:.1}: {error:?} %",
            cell.capacity_mbps, cell.load
        );
    }
    println!("{name}: median, 90 %, signed median {:?}", errors(cells));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time in which a link at this load keeps a probe waiting, on average, in packets of 1,500 octets.
    fn waiting(load: f64, arrivals: Arrivals) -> f64 {
        let link = Link::new(12e6, load, arrivals, &[1_500], 3);
        let mut path = Path::new([link]);
        // A packet lasts a millisecond. Probes are small and rare: they see what any moment sees.
        let train = Train::periodic(20_000, 1, Duration::from_micros(17_300));
        let passage = path.carry(&train, START);
        let all: i64 = passage.arrivals.iter().map(Arrival::delay_ns).sum();
        all as f64 / 20_000.0 / 1e6 - 77_010.0
    }

    #[test]
    fn a_queue_waits_as_long_as_pollaczek_and_khinchin_say() {
        for load in [0.3_f64, 0.6, 0.8] {
            let expected = load / (2.0 * (1.0 - load));
            let found = waiting(load, Arrivals::Poisson);
            assert!((found / expected - 1.0).abs() < 0.1, "{found} {expected}");
        }
        assert!((waiting(0.5, Arrivals::Constant) - 0.25).abs() < 0.05);
        let bursts = waiting(0.6, Arrivals::OnOff);
        assert!(bursts > 1.5, "{bursts}");
    }

    #[test]
    fn a_full_queue_drops_and_an_idle_one_spaces_packets_by_its_rate() {
        let idle = Link::new(12e6, 0.0, Arrivals::Constant, MIX, 1);
        let train = Train::periodic(10, 1_500, Duration::ZERO);
        let passage = Path::new([idle.clone()]).carry(&train, START);
        let gaps = passage.arrivals.windows(2);
        assert!(
            gaps.clone()
                .all(|pair| pair[1].arrived_ns - pair[0].arrived_ns == 1_000_000)
        );
        let shallow = idle.holding(Duration::from_millis(4));
        let passage = Path::new([shallow]).carry(&train, START);
        assert_eq!(passage.arrivals.len(), 4);
    }
}
