//! What a run of `isobath mbm` is to do.

use crate::Direction;
use mbm::diagnostic::{Setup, Test};
use mbm::model::{Model, RunLength};
use mbm::sequential::{Hypotheses, Rule, Ruling, Sprt};
use mbm::target::Target;
use packet::UDP_HEADERS;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::{Dscp, Ecn, Span, TrafficClass};

/// Octets of the longest packet by TCP: the kernel's longest segment and the headers of IPv4 and TCP.
const LONGEST_BY_TCP: u32 = 32_767 + 40;
/// Octets of payload that a datagram of a test has at least: its own header, and the totals of a report.
pub const SHORTEST_PAYLOAD: u32 = 96;
/// The longest time limit of one test.
const LONGEST: Duration = Duration::from_secs(24 * 3_600);

/// The largest window of a test, in packets: a sender keeps the state of each, so this bounds its memory.
const LARGEST_WINDOW: u32 = 1 << 18;

/// What carries the packets of a test.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Carrier {
    /// Datagrams sent on schedule, whatever is lost.
    #[default]
    Udp,
    /// The kernel's TCP, as in the thesis; slows down for losses.
    Tcp,
}

/// The most streams side by side.
const MOST_STREAMS: u16 = 64;

const fn one() -> u16 {
    1
}

/// A run, as it is agreed on and recorded.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Plan {
    /// The name of the target, where it has one.
    pub name: Option<String>,
    /// What the application needs: rate, round trip and packet length (RFC 8337).
    pub target: Target,
    /// The model by which a run length follows from the target.
    pub model: Model,
    /// Chance that a path with the target's loss rate fails.
    pub alpha: f64,
    /// Chance that one with four times that rate passes.
    pub beta: f64,
    /// When counts of packets and losses become a verdict.
    pub rule: Rule,
    /// The tests, in the order in which they are made.
    pub tests: Vec<Test>,
    /// What carries the packets: datagrams, or segments of the kernel's TCP.
    #[serde(default)]
    pub carrier: Carrier,
    /// Streams side by side, each of the whole target, with bursts at the same instants (RFC 8337 section 6.4).
    #[serde(default = "one")]
    pub streams: u16,
    /// Which way the path is tested.
    pub direction: Direction,
    /// DSCP of the packets.
    pub class: Dscp,
    /// Whether packets can be marked instead of dropped.
    pub ecn: bool,
    /// A test that knows nothing after this time is inconclusive.
    pub timeout: Span,
    /// Seed of what is random in an emulated network.
    pub seed: u64,
}

impl Plan {
    /// The plan of a record, which may have more fields.
    ///
    /// # Errors
    /// When it is of another version.
    pub fn of_record(kept: &serde_json::Value) -> serde_json::Result<Self> {
        Deserialize::deserialize(kept)
    }

    /// What is wrong with it, if anything.
    ///
    /// # Errors
    /// One line for whoever made it.
    pub fn check(&self) -> Result<(), String> {
        self.ruling()?;
        if self.tests.is_empty() {
            return Err("there is no test to make".to_owned());
        }
        if self.tests.contains(&Test::Passive) {
            return Err(
                "the passive test sends nothing - run 'isobath mbm passive' on a record".to_owned(),
            );
        }
        if self.timeout.0 > LONGEST {
            return Err("a test has at most 24h".to_owned());
        }
        if !(1..=MOST_STREAMS).contains(&self.streams) {
            return Err(format!("there are 1 to {MOST_STREAMS} streams at once"));
        }
        if self.carrier == Carrier::Tcp {
            self.check_tcp()?;
        }
        let (mtu, least) = (self.target.mtu(), SHORTEST_PAYLOAD + UDP_HEADERS[1]);
        if mtu < least {
            return Err(format!(
                "packets of {mtu} octets are too short for a measurement - use --mtu {least} or more"
            ));
        }
        Ok(())
    }

    /// What TCP cannot carry of it.
    fn check_tcp(&self) -> Result<(), String> {
        let setup = self.setup(self.target.rtt());
        for test in &self.tests {
            setup.by_tcp(*test).map_err(|error| error.to_string())?;
        }
        if self.streams > 1 {
            return Err("concurrent streams need --carrier udp".to_owned());
        }
        if self.ecn {
            return Err(
                "whether TCP uses ECN is the system's to say (net.ipv4.tcp_ecn) - leave --ecn out, or use --carrier udp".to_owned(),
            );
        }
        if self.target.mtu() > LONGEST_BY_TCP {
            return Err(format!(
                "TCP has no segments of {} octets here - use --mtu {} or less",
                self.target.mtu(),
                LONGEST_BY_TCP
            ));
        }
        Ok(())
    }

    /// What is wrong with making its tests over a path of this round trip.
    ///
    /// # Errors
    /// One line for whoever wants to.
    pub fn check_path(&self, path_rtt: Duration) -> Result<(), String> {
        let setup = self.setup(path_rtt);
        let window = self.target.test_window(path_rtt).max(setup.scan().to);
        let burst = self.target.window();
        if window.max(burst) > LARGEST_WINDOW {
            return Err(format!(
                "windows of up to {} packets - a test has at most {LARGEST_WINDOW}: lower the rate or the round trip",
                window.max(burst)
            ));
        }
        Ok(())
    }

    /// Results that it comes to: one of each stream of each test.
    pub fn results(&self) -> usize {
        self.tests.len() * usize::from(self.streams)
    }

    /// The run length that the model asks for.
    ///
    /// # Errors
    /// When the model has none for this target.
    pub fn run_length(&self) -> Result<RunLength, String> {
        self.model
            .run_length(&self.target)
            .map_err(|error| error.to_string())
    }

    /// When losses are few enough, or too many.
    ///
    /// # Errors
    /// When the errors allowed are no shares, or the model has no run length.
    pub fn ruling(&self) -> Result<Ruling, String> {
        let run = self.run_length()?;
        let asked = Hypotheses::for_run_length(run.packets, self.alpha, self.beta);
        let sprt = Sprt::new(asked).map_err(|error| error.to_string())?;
        Ok(Ruling::new(self.rule, sprt))
    }

    /// How tests are set up over a path with this round trip.
    pub const fn setup(&self, path_rtt: Duration) -> Setup<'_> {
        Setup::new(&self.target, path_rtt)
    }

    /// Octets of UDP payload that make a packet of the target's length.
    pub fn payload(&self, v6: bool) -> usize {
        self.target
            .mtu()
            .saturating_sub(UDP_HEADERS[usize::from(v6)]) as usize
    }

    /// How packets are marked when they leave.
    pub const fn class(&self) -> TrafficClass {
        TrafficClass {
            dscp: self.class,
            ecn: if self.ecn { Ecn::Ect0 } else { Ecn::NotEct },
        }
    }
}
