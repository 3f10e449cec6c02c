//! Virtual time for a stream: a sender, a path, a receiver that keeps counters, and acknowledgements that come back.

use isobath_mbm::diagnostic::{
    AqmLimits, Decider, QueueLimits, Setup, Test, judge_rounds, judge_scan,
};
use isobath_mbm::loss::Ledger;
use isobath_mbm::model::Model;
use isobath_mbm::sequential::{ALPHA, BETA, Hypotheses, Rule, Ruling, Sprt};
use isobath_mbm::stream::{Ack, Burst, Keeping, Stream};
use isobath_mbm::target::{NamedTarget, Target};
use isobath_mbm::verdict::{Judge, Observation, Verdict};
use path::{Assigned, Element, Family, Packet, Pipeline, Spec};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use units::{Dscp, Ecn, FlowId, Instant};

/// Packets in the target's window.
pub(crate) const WINDOW: u32 = 11;
/// The target's run length.
pub(crate) const RUN_LENGTH: u64 = 363;
/// The rate at which a window is drained in just less than a target round trip, in bit/s: 11 packets of 1,500 octets in 50 ms.
pub(crate) const RATE: u64 = 2_640_100;
/// Half of the target round trip, less what the bottleneck takes for one packet: 12,000 bits.
const ONE_WAY: Duration = Duration::from_nanos((50_000_000 - 12_000_000_000_000 / RATE) / 2);
const TICK: Duration = Duration::from_millis(20);

/// RFC 8337 section 9: a window of 11 packets, a run length of 363.
pub(crate) fn target() -> Target {
    NamedTarget::find("video-rfc8337").unwrap().target
}

/// A path that passes every test, but only just.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bed {
    /// What is asked of it.
    pub(crate) target: fn() -> Target,
    /// Delay each way.
    pub(crate) one_way: Duration,
    /// Rate of the bottleneck, bit/s.
    pub(crate) rate: u64,
    /// Packets that may wait in its queue, the one in transmission apart.
    pub(crate) queue: u32,
    /// Share of packets that are lost by chance.
    pub(crate) loss: f64,
    /// Whether the bottleneck is a policer of that rate: tokens for so many packets, and hardly a queue.
    pub(crate) policer: Option<u32>,
    /// Whether each acknowledgement holds the link as long as a packet does, so that half of its rate is left.
    pub(crate) half_duplex: bool,
    pub(crate) seed: u64,
}

impl Bed {
    pub(crate) const fn passing() -> Self {
        Self {
            target,
            one_way: ONE_WAY,
            rate: RATE,
            queue: WINDOW - 1,
            loss: 0.0,
            policer: None,
            half_duplex: false,
            seed: 1,
        }
    }

    fn path(&self) -> Pipeline<u64> {
        #[derive(serde::Deserialize)]
        struct File {
            path: Spec,
        }
        let rate = self.rate / if self.half_duplex { 2 } else { 1 };
        let link = match self.policer {
            Some(packets) => format!(
                "{{ kind = 'token_bucket', rate = '{}bit', burst = '{}B', queue = {{ kind = 'fifo', packets = 1 }} }}",
                self.rate,
                packets * 1_500
            ),
            None => format!(
                "{{ kind = 'rate', rate = '{}bit', queue = {{ kind = 'fifo', packets = {} }} }}",
                rate, self.queue
            ),
        };
        let text = format!(
            "path = [{link}, {{ kind = 'loss', probability = {} }}, {{ kind = 'delay', delay = '{}ns' }}]",
            self.loss,
            self.one_way.as_nanos()
        );
        let file: File = toml::from_str(&text).unwrap();
        let no_trace = |name: &str| Err(format!("no trace {name}").into());
        file.path
            .build(self.seed, &no_trace, &Assigned::default())
            .unwrap()
    }

    /// Round trip of a full packet over the idle path.
    fn round_trip(&self) -> Duration {
        let octets = u64::from((self.target)().mtu());
        2 * self.one_way + Duration::from_nanos(octets * 8_000_000_000 / self.rate)
    }

    /// Runs `test`.
    pub(crate) fn run(&self, test: Test) -> Verdict {
        World::new(self, test).run()
    }
}

struct World {
    test: Test,
    target: Target,
    stream: Box<dyn Stream>,
    path: Pipeline<u64>,
    out: VecDeque<Packet<u64>>,
    wake: Option<Instant>,
    ledger: Ledger,
    judge: Judge,
    keeping: Keeping,
    seen: Observation,
    acks: BTreeMap<(Instant, u64), Ack>,
    spans: Spans,
    one_way: Duration,
    path_rtt: Duration,
    now: Instant,
    tick: Instant,
}

/// How long each burst took to leave and to arrive.
struct Spans {
    /// Packets in a burst.
    packets: u64,
    bursts: BTreeMap<u64, [Option<Instant>; 4]>,
}

impl Spans {
    fn note(&mut self, seq: u64, at: Instant, place: usize) {
        let times = self.bursts.entry(seq / self.packets).or_default();
        times[place].get_or_insert(at);
        times[place + 1] = Some(at);
    }

    /// Mean ratio of the two over the bursts but the last.
    fn stretch(&self) -> Option<f64> {
        let ratio = |times: &[Option<Instant>; 4]| {
            let sent = times[1]?.since(times[0]?).as_secs_f64();
            Some(times[3]?.since(times[2]?).as_secs_f64() / sent)
        };
        let whole = self.bursts.len().checked_sub(1)?;
        let ratios: Vec<f64> = self
            .bursts
            .values()
            .take(whole)
            .filter_map(ratio)
            .filter(|r| r.is_finite())
            .collect();
        (!ratios.is_empty()).then(|| ratios.iter().sum::<f64>() / ratios.len() as f64)
    }
}

impl World {
    fn new(bed: &Bed, test: Test) -> Self {
        let target = (bed.target)();
        let run = Model::Reference.run_length(&target).unwrap();
        let path_rtt = bed.round_trip();
        let setup = Setup::new(&target, path_rtt);
        let stream = setup.stream(test, Instant::ZERO).unwrap();
        let sprt = Sprt::new(Hypotheses::for_run_length(run.packets, ALPHA, BETA)).unwrap();
        let ruling = Ruling::new(Rule::Sequential, sprt);
        let options = setup.judge(test, ruling, Duration::from_secs(600));
        Self {
            test,
            keeping: Keeping::new(stream.shape(), target.rtt(), Duration::ZERO),
            stream,
            path: bed.path(),
            one_way: bed.one_way,
            path_rtt,
            out: VecDeque::new(),
            wake: None,
            ledger: Ledger::new(target.rtt()),
            judge: Judge::new(options, Instant::ZERO),
            seen: Observation::default(),
            acks: BTreeMap::new(),
            spans: Spans {
                packets: u64::from(target.window()),
                bursts: BTreeMap::new(),
            },
            now: Instant::ZERO,
            tick: Instant::ZERO,
            target,
        }
    }

    fn run(mut self) -> Verdict {
        for _ in 0..10_000_000 {
            self.deliver();
            self.acknowledge();
            while let Some(burst) = self.stream.poll(self.now) {
                self.send(&burst);
            }
            if let Some(verdict) = self.verdict() {
                return verdict;
            }
            let first_ack = self.acks.first_key_value().map(|((at, _), _)| *at);
            let times = [
                self.wake,
                self.stream.next_due(),
                first_ack,
                Some(self.tick),
            ];
            let next = times.into_iter().flatten().min().unwrap();
            self.now = next.max(self.now);
        }
        panic!("{} has no end", self.test);
    }

    fn send(&mut self, burst: &Burst) {
        self.keeping.left(burst, self.now, self.now);
        for seq in burst.first..burst.first + u64::from(burst.packets) {
            self.seen.sent += 1;
            self.spans.note(seq, self.now, 0);
            let packet = Packet {
                size: self.target.mtu(),
                flow: FlowId(0),
                family: Family::V4,
                dscp: Dscp::CS0,
                ecn: Ecn::NotEct,
                at: self.now,
                body: seq,
            };
            self.wake = self.path.process(Some(packet), self.now, &mut self.out);
        }
    }

    fn deliver(&mut self) {
        if self.wake.is_some_and(|wake| wake <= self.now) {
            self.wake = self.path.process(None, self.now, &mut self.out);
        }
        for packet in std::mem::take(&mut self.out) {
            let (seq, ce) = (packet.body, packet.ecn == Ecn::Ce);
            self.ledger.handle_arrival(seq, ce, packet.at);
            self.spans.note(seq, packet.at, 2);
            self.seen.arrived += 1;
            self.acks
                .insert((packet.at + self.one_way, seq), Ack { seq, ce });
        }
    }

    fn acknowledge(&mut self) {
        while let Some(((at, _), ack)) = self.acks.first_key_value() {
            if *at > self.now {
                return;
            }
            let (at, ack) = (*at, *ack);
            self.acks.remove(&(at, ack.seq));
            self.stream.handle_ack(ack, at);
        }
    }

    /// Judges once a tick, or at the end of the stream.
    fn verdict(&mut self) -> Option<Verdict> {
        if self.now < self.tick {
            return None;
        }
        self.tick = self.now + TICK;
        match self.test.decider() {
            Decider::Losses => {
                self.ledger.handle_timeout(self.now);
                self.seen.settled = *self.ledger.counts();
                self.seen.pattern = Some(self.keeping.report());
                self.seen.stretch = self.spans.stretch();
                self.judge.observe(&self.seen, self.now).cloned()
            }
            Decider::Scan if self.stream.is_done() => {
                let run = Model::Reference.run_length(&self.target).unwrap();
                let limits = QueueLimits::new(&Setup::new(&self.target, self.path_rtt), run);
                Some(judge_scan(self.test, &self.stream.scan()?, &limits))
            }
            Decider::Rounds if self.stream.is_done() => Some(judge_rounds(
                self.stream.rounds(),
                &AqmLimits::new(&self.target),
            )),
            _ => None,
        }
    }
}
