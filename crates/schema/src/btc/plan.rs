//! What a run is to do, as data: it is what `run.json` keeps as `plan`.

use crate::Direction;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::random::SplitMix64;
use std::time::Duration;
use transport::Options;
use units::{Dscp, Rate, Span};

/// Pause between two rounds: what the one left on the path shall not meet the other.
pub const PAUSE: Duration = Duration::from_millis(500);
/// A segment and its header must fit into a UDP datagram.
const LARGEST_MSS: u16 = 65_483;
/// By so much the header of IPv6 is longer than that of IPv4.
const LONGER: u16 = 20;
/// Transfers at once.
const MOST_PARALLEL: u16 = 64;
const MOST_REPEATS: u32 = 10_000;
/// No transfer lasts longer.
pub const LONGEST: Duration = Duration::from_secs(3_600);
/// Datagrams that are traced at once at each end: some 70 MB there.
pub const MOST_TRACED: u64 = 1_000_000;
/// What a far end sends unasked: an initial window above this is no congestion control.
const LARGEST_INITIAL_WINDOW: u32 = 1_000;
/// Segments that one end may keep for a session, all transfers together: what a far end remembers of segments that wait
/// for others is a client's doing.
const LARGEST_WINDOW: u32 = 1 << 20;
const SHORTEST_RTO: Duration = Duration::from_millis(1);

/// A run of `btc`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Plan {
    /// How the sender learns what arrived.
    pub mode: Mode,
    /// The hop at which packets end, where ICMP errors are the acknowledgements; without it they end at a port at which nobody
    /// listens.
    #[serde(default)]
    pub hop: Option<u8>,
    /// Where the data goes.
    pub direction: Direction,
    /// How much is sent.
    pub limit: Limit,
    /// Transfers at once.
    pub parallel: u16,
    /// How often the whole is done.
    pub repeat: u32,
    /// Whether each transfer has a twin of the kernel's.
    pub compare: bool,
    /// What carries each repetition, where that is not the same for all: ours beyond the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// What the kernel's transfers send at most, data alone; null without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Rate>,
    /// The rules of the sender and the receiver.
    pub options: Options,
    /// Class of the data and of the acknowledgements.
    pub class: Dscp,
    /// A transfer of which nothing is heard for so long is given up.
    pub patience: Span,
    /// Whether packets are traced at both ends.
    #[serde(default)]
    pub trace: bool,
    /// Seed of all that is random: the order of the pairs, and the emulated links.
    pub seed: u64,
}

/// How the sender learns what arrived.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// From the far end's acknowledgements.
    Cooperative,
    /// From ICMP errors, which any host and router sends; the receiver is emulated here.
    Icmp,
    /// From nothing but the identifiers that come back: every packet is answered, and the receiver is emulated here.
    OneWay,
}

/// How much is sent.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// As much as can be in this time.
    Duration(Span),
    /// This many full segments.
    Segments(u32),
}

/// What carries a transfer.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// The kernel's TCP.
    Kernel,
    /// Our own sender and receiver, over UDP.
    Ours,
}

/// Transfers that run at once.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Round {
    /// Which repetition it belongs to, from 0.
    pub repeat: u32,
    /// What carries its transfers.
    pub tool: Tool,
    /// Number of its first transfer.
    pub first: u16,
}

impl Tool {
    /// As tables say it: `kernel` or `ours`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Ours => "ours",
        }
    }
}

impl Limit {
    /// The longest that a transfer takes which ends by time.
    pub const fn duration(self) -> Option<Duration> {
        match self {
            Self::Duration(span) => Some(span.0),
            Self::Segments(_) => None,
        }
    }
}

impl Plan {
    /// The plan that a record keeps, beside options of the command line.
    ///
    /// # Errors
    /// When it is of another version.
    pub fn of_record(kept: &serde_json::Value) -> serde_json::Result<Self> {
        Deserialize::deserialize(kept)
    }

    /// Shortens the default segment, which fills a packet of 1,500 octets by IPv4, for the longer header of IPv6, and shares
    /// the default receive window among the transfers.
    pub fn fit(&mut self, peer: std::net::SocketAddr) {
        if self.options.receive_window == Options::default().receive_window {
            self.options.receive_window /= u32::from(self.parallel.max(1));
        }
        let is_v6 = peer.ip().to_canonical().is_ipv6();
        if is_v6 && self.options.mss == Options::default().mss {
            self.options.mss -= LONGER;
        }
    }

    /// What can be found wrong before the run.
    ///
    /// # Errors
    /// In one line what cannot be.
    pub fn check(&self) -> Result<(), String> {
        check_options(&self.options)?;
        check_limit(self.limit)?;
        if !(1..=MOST_PARALLEL).contains(&self.parallel) {
            return Err(format!("--parallel is 1 to {MOST_PARALLEL}"));
        }
        let rounds = u64::from(self.repeat) * if self.compare { 2 } else { 1 };
        let transfers = rounds * u64::from(self.parallel);
        if self.repeat == 0 || self.repeat > MOST_REPEATS || transfers > u64::from(u16::MAX) {
            return Err(format!(
                "--repeat is 1 to {MOST_REPEATS}, and a run has at most {} transfers",
                u16::MAX
            ));
        }
        if self.mode == Mode::Icmp
            && (self.direction == Direction::Down || self.compare || self.parallel > 1)
        {
            return Err(
                "--icmp is one transfer from here - leave out --reverse, --compare and --parallel"
                    .to_owned(),
            );
        }
        let is_kernels = !self.tools.is_empty() && self.tools.iter().all(|t| *t == Tool::Kernel);
        if self.pace.is_some() && (self.direction == Direction::Down || !is_kernels) {
            return Err("--pace is for the kernel's transfers from here - add --tools kernel, and leave out --reverse".to_owned());
        }
        if self.mode == Mode::OneWay && self.direction == Direction::Down {
            return Err("--one-way needs the sender here - leave out --reverse".to_owned());
        }
        Ok(())
    }

    /// The rounds in their order: of every pair which one comes first is decided by the seed.
    pub fn rounds(&self) -> Vec<Round> {
        let mut chance = SplitMix64::new(self.seed);
        let mut rounds = Vec::new();
        for repeat in 0..self.repeat {
            let own = usize::try_from(repeat).map_or(None, |at| self.tools.get(at));
            let mut tools = vec![own.copied().unwrap_or(Tool::Ours)];
            if self.compare {
                tools.push(Tool::Kernel);
                chance.shuffle(&mut tools);
            }
            for tool in tools {
                let first = rounds.len() * usize::from(self.parallel);
                rounds.push(Round {
                    repeat,
                    tool,
                    first: u16::try_from(first).unwrap_or(u16::MAX),
                });
            }
        }
        rounds
    }

    /// What tables call a transfer by `tool`.
    pub const fn label(&self, tool: Tool) -> &'static str {
        match self.mode {
            Mode::Icmp => "icmp",
            Mode::Cooperative | Mode::OneWay => tool.label(),
        }
    }

    /// Datagrams of one transfer that are traced at each end.
    pub fn traced(&self) -> u64 {
        if self.trace {
            MOST_TRACED / u64::from(self.parallel.max(1))
        } else {
            0
        }
    }

    /// The receiver's rules where it is not the emulated one: to a sender that uses identifiers alone, it answers each packet.
    pub fn receiver_options(&self) -> Options {
        let mut options = self.options.clone();
        if self.mode == Mode::OneWay {
            options.delayed_ack.every = 1;
        }
        options
    }
}

/// What a far end refuses of the transfers of a round together.
///
/// # Errors
/// When their receive windows are more than one end keeps for a session.
pub fn check_windows<'a>(options: impl Iterator<Item = &'a Options>) -> Result<(), String> {
    let all: u64 = options
        .map(|options| u64::from(options.receive_window))
        .sum();
    if all > u64::from(LARGEST_WINDOW) {
        return Err(format!(
            "receive windows of {all} segments - this server keeps {LARGEST_WINDOW} for a session"
        ));
    }
    Ok(())
}

/// What both ends refuse of a transfer's limit.
///
/// # Errors
/// In one line what cannot be.
pub fn check_limit(limit: Limit) -> Result<(), String> {
    match limit {
        Limit::Segments(0) => Err("a transfer has at least one segment".to_owned()),
        Limit::Duration(span) if span.0.is_zero() || span.0 > LONGEST => {
            Err(format!("a transfer lasts at most {} s", LONGEST.as_secs()))
        }
        _ => Ok(()),
    }
}

/// What both ends refuse of a transfer's rules: the far end has only a client's word for them.
///
/// # Errors
/// In one line what cannot be.
pub fn check_options(options: &Options) -> Result<(), String> {
    if !(1..=LARGEST_MSS).contains(&options.mss) {
        return Err(format!("option mss is 1 to {LARGEST_MSS}"));
    }
    if !(1..=LARGEST_INITIAL_WINDOW).contains(&options.initial_window) {
        return Err(format!(
            "option initial_window is 1 to {LARGEST_INITIAL_WINDOW}"
        ));
    }
    if options.max_window == Some(0) || options.receive_window == 0 {
        return Err("a window is at least 1 segment".to_owned());
    }
    if options.receive_window > LARGEST_WINDOW {
        return Err(format!(
            "option receive_window is at most {LARGEST_WINDOW} segments"
        ));
    }
    if options.rto_min.0 < SHORTEST_RTO || options.rto_initial.0 < SHORTEST_RTO {
        return Err("a retransmission timeout is at least 1 ms".to_owned());
    }
    if options.rto_max < options.rto_min || options.dup_thresh == 0 {
        return Err("option rto_max is at least rto_min, and dup_thresh at least 1".to_owned());
    }
    if options.delayed_ack.every == 0 {
        return Err("option delayed_ack.every is at least 1".to_owned());
    }
    let cubic = options.cubic;
    if !(0.1..1.0).contains(&cubic.beta) || !(0.001..1_000.0).contains(&cubic.c) {
        return Err("option cubic.beta is 0.1 to 1, and cubic.c 0.001 to 1000".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds btc/segment-size.
    #[test]
    fn a_packet_by_ipv6_is_no_longer_than_one_by_ipv4() {
        let fitted = |peer: &str, mss: u16| {
            let mut plan = plan();
            plan.options.mss = mss;
            plan.fit(peer.parse().unwrap());
            plan.options.mss
        };
        assert_eq!(fitted("[fd77::2]:4890", 1_448), 1_428);
        assert_eq!(fitted("[::ffff:10.77.0.2]:4890", 1_448), 1_448);
        assert_eq!(fitted("10.77.0.2:4890", 1_448), 1_448);
        // What was asked for is what is sent.
        assert_eq!(fitted("[fd77::2]:4890", 1_200), 1_200);
    }

    #[test]
    fn the_window_of_a_session_is_shared_by_its_transfers() {
        let mut plan = Plan {
            parallel: 64,
            ..plan()
        };
        plan.fit("10.77.0.2:4890".parse().unwrap());
        assert_eq!(plan.options.receive_window, (1 << 20) / 64);
        let windows = |count| check_windows(std::iter::repeat_n(&plan.options, count));
        assert_eq!(windows(64), Ok(()));
        assert!(windows(65).is_err());
    }

    fn plan() -> Plan {
        Plan {
            mode: Mode::Cooperative,
            hop: None,
            direction: Direction::Up,
            limit: Limit::Segments(725),
            parallel: 2,
            repeat: 8,
            compare: true,
            tools: Vec::new(),
            pace: None,
            options: Options::default(),
            class: Dscp::CS0,
            patience: Span(Duration::from_secs(30)),
            trace: false,
            seed: 7,
        }
    }

    #[test]
    fn the_order_of_pairs_follows_from_the_seed_and_each_pair_is_whole() {
        let rounds = plan().rounds();
        assert_eq!(rounds, plan().rounds());
        assert_ne!(rounds, Plan { seed: 8, ..plan() }.rounds());
        for (repeat, pair) in rounds.chunks(2).enumerate() {
            assert_eq!(pair[0].repeat as usize, repeat);
            assert_ne!(pair[0].tool, pair[1].tool);
        }
        let first: Vec<_> = rounds.iter().map(|round| round.first).collect();
        assert_eq!(first[..3], [0, 2, 4]);
    }

    /// Holds btc/tightly-specified, btc/smaller-segments.
    #[test]
    fn a_plan_survives_its_record() {
        let json = serde_json::to_value(plan()).unwrap();
        assert_eq!(json["limit"]["segments"], 725);
        assert_eq!(serde_json::from_value::<Plan>(json).unwrap(), plan());
    }

    /// Holds btc/friendly, btc/cap-options.
    #[test]
    fn what_no_congestion_control_does_is_refused() {
        let with = |change: fn(&mut Options)| {
            let mut plan = plan();
            change(&mut plan.options);
            plan.check()
        };
        assert_eq!(with(|_| {}), Ok(()));
        assert!(with(|options| options.initial_window = 1_000_000).is_err());
        assert!(with(|options| options.rto_min = Span(Duration::ZERO)).is_err());
        assert!(with(|options| options.mss = 0).is_err());
        assert!(with(|options| options.cubic.beta = f64::NAN).is_err());
        assert!(with(|options| options.delayed_ack.every = 0).is_err());
        assert!(with(|options| options.receive_window = 1 << 20).is_ok());
        assert!(with(|options| options.receive_window = (1 << 20) + 1).is_err());
        assert!(with(|options| options.receive_window = 1 << 31).is_err());
    }
}
