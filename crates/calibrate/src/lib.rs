//! `isobath lab calibrate`: what this machine can emulate, generate and time.
//!
//! A lab on a small machine is slower and less punctual than the same lab on a large one. Whoever reads a
//! measurement made in a lab should know by how much, so five figures are taken by the means that the measurements
//! themselves use:
//!
//! | figure | how |
//! |---|---|
//! | `tcp_gbps` | one kernel TCP connection (cubic) through the lab `wire`: 1 ms each way, no rate limit, MTU-sized packets |
//! | `packets_per_s` | small datagrams through the same, as many as come out at the far end |
//! | `connections_per_s` | TCP connections opened and closed through the same |
//! | `delay_error_us` | one-way delay over a link of 5 ms, between the kernel's stamps, less those 5 ms |
//! | `pacer_error_ns` | gaps of 100 us on loopback, between the kernel's stamps, against the plan |
//!
//! All five depend on what else the machine does meanwhile, so it is asked before and watched during the steps
//! ([`machine`]), and the figures of a busy one come with a warning.

mod connections;
mod delay;
pub mod machine;
mod measurement;
mod pacing;
mod packets;
pub mod scorecard;
mod tcp;

pub use measurement::Calibration;

use lab::{Network, Topology, profiles};
use serde::{Deserialize, Serialize};
use stats::Distribution;
use std::net::SocketAddr;
use std::time::Duration;

/// What a record calls this.
pub const TEST: &str = "lab calibrate";
/// The lab in which speed is measured.
pub const WIRE: &str = "wire";
/// The lab in which punctuality is measured: a link that only delays, by [`delay::DELAY`].
const DELAY_LINE: &str = r#"
    summary = "5 ms each way"
    client = "near"
    server = "far"
    hosts = ["near", "far"]
    [[link]]
    between = ["near", "far"]
    up = [{ kind = "delay", delay = "5ms" }]
    down = [{ kind = "delay", delay = "5ms" }]
"#;
/// Port of every far end here; a lab has nobody else on it.
const PORT: u16 = 4_890;

/// What came out. A figure that was not taken (the run was interrupted) is null.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Summary {
    /// TCP payload that arrived, in 10^9 bits per second.
    pub tcp_gbps: Option<f64>,
    /// Processor time of the three threads that carried it.
    pub tcp_cpu_pct: Option<tcp::Cpu>,
    /// Datagrams that arrived per second.
    pub packets_per_s: Option<f64>,
    /// Datagrams among them that the emulator or the kernel lost.
    pub packets_lost_pct: Option<f64>,
    /// One-way delay less the emulated one.
    pub delay_error_us: Option<Distribution>,
    /// |gap - planned gap|.
    pub pacer_error_ns: Option<Distribution>,
    /// Processor time of the thread that paced.
    pub pacer_cpu_pct: Option<f64>,
    /// Connections opened and closed per second.
    pub connections_per_s: Option<f64>,
}

/// Processor time in percent of the time that passed.
fn percent(used: Duration, passed: Duration) -> f64 {
    100.0 * used.as_secs_f64() / passed.as_secs_f64().max(1e-9)
}

/// The two labs, up.
pub struct Bench {
    wire: Network,
    line: Network,
}

/// The steps, in order, and how long each takes.
pub const STEPS: [(Step, Duration); 5] = [
    (Step::Delay, Duration::from_secs(5)),
    (Step::Pacer, Duration::from_secs(3)),
    (Step::Tcp, Duration::from_secs(5)),
    (Step::Packets, Duration::from_secs(2)),
    (Step::Connections, Duration::from_secs(2)),
];

/// One figure to be taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Step {
    /// One-way delay over a link that only delays.
    Delay,
    /// Gaps between paced datagrams.
    Pacer,
    /// Throughput of one TCP connection.
    Tcp,
    /// Small datagrams as fast as they are taken.
    Packets,
    /// TCP connections opened and closed.
    Connections,
}

impl Step {
    /// What it is doing, for a progress bar.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delay => "delay",
            Self::Pacer => "pacer",
            Self::Tcp => "TCP",
            Self::Packets => "packets",
            Self::Connections => "connections",
        }
    }
}

impl Bench {
    /// Brings both labs up. Before any other thread is started, as [`Network::up`] demands.
    ///
    /// # Errors
    /// When this machine cannot make labs.
    pub fn up() -> Result<Self, lab::Error> {
        Ok(Self {
            wire: Network::up(profiles::find(WIRE)?, 1)?,
            line: Network::up(Topology::parse(DELAY_LINE, "calibrate")?, 1)?,
        })
    }

    /// Takes one figure for about `time`, or until `abort` says so.
    ///
    /// # Errors
    /// When the system refuses a socket or a thread, or nothing arrived.
    pub fn measure(
        &self,
        step: Step,
        time: Duration,
        summary: &mut Summary,
        abort: &(dyn Fn() -> bool + Sync),
    ) -> anyhow::Result<()> {
        match step {
            Step::Delay => {
                summary.delay_error_us = Some(delay::measure(&self.line, time, abort)?);
            }
            Step::Pacer => {
                let (errors, cpu) = pacing::measure(time, abort)?;
                summary.pacer_error_ns = Some(errors);
                summary.pacer_cpu_pct = Some(cpu);
            }
            Step::Tcp => {
                let (gbps, cpu) = tcp::measure(&self.wire, time, abort)?;
                summary.tcp_gbps = Some(gbps);
                summary.tcp_cpu_pct = Some(cpu);
            }
            Step::Packets => {
                let (rate, lost) = packets::measure(&self.wire, time, abort)?;
                summary.packets_per_s = Some(rate);
                summary.packets_lost_pct = Some(lost);
            }
            Step::Connections => {
                summary.connections_per_s = Some(connections::measure(&self.wire, time, abort)?);
            }
        }
        Ok(())
    }
}

/// The far host of a lab and a port there.
fn far(network: &Network) -> anyhow::Result<SocketAddr> {
    let server = &network.topology().server;
    let address = network.address(server, false);
    let address = address.ok_or_else(|| anyhow::anyhow!("the host '{server}' has no address"))?;
    Ok(SocketAddr::new(address, PORT))
}
