//! A path of four numbers, and the lab in which it can be had.

use lab::Topology;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::time::Duration;
use units::{Rate, Span};

/// Octets of a full packet, and of the data in it (docs/btc.md: what is compared is as long as TCP's with time stamps).
const PACKET: f64 = 1_500.0;
const MSS: f64 = 1_448.0;
/// Mathis's constant for a loss at the end of each period of growth: the square root of 3/2.
pub(super) const PERIODIC: f64 = 1.224_744_871_391_589;
/// A cell from which so much flows needs the machine for itself.
const HEAVY_MBPS: f64 = 40.0;
/// What a receiver offers, as a multiple of what pipe and queue hold: slow start reaches twice that before it hears of a loss.
const OFFERED: f64 = 3.0;
/// The least that it offers, in segments.
const LEAST_OFFERED: u32 = 64;
/// What pipe and queue together, and the queue alone, must hold: less is no place for a window.
const LEAST_WINDOW: f64 = 4.0;
const LEAST_QUEUE: f64 = 2.0;

/// A path: rate, round trip, random loss towards the receiver, queue.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Cell {
    /// Rate of the slow link, both ways.
    pub(super) rate: Rate,
    /// Round trip without queues and transmission, half of it each way.
    pub(super) rtt: Span,
    /// Share of data packets lost at random, behind the queue.
    pub(super) loss: f64,
    /// What the queue holds, as a multiple of rate x round trip.
    pub(super) queue: f64,
}

impl Cell {
    /// Octets under way at the full rate.
    fn pipe(&self) -> f64 {
        self.rate.as_bps() as f64 / 8.0 * self.rtt.0.as_secs_f64()
    }

    /// Octets that the queue holds.
    fn queue_bytes(&self) -> f64 {
        (self.pipe() * self.queue).round()
    }

    /// Segments that the receivers offer to both tools, so that neither is held back by it and both know the same limit.
    pub(super) fn window(&self) -> u32 {
        let segments = OFFERED * (self.pipe() + self.queue_bytes()) / PACKET;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and a conversion that saturates serves"
        )]
        let segments = segments.ceil() as u32;
        segments.max(LEAST_OFFERED)
    }

    /// Whether there is room for a window.
    pub(super) fn is_possible(&self) -> bool {
        let queue = self.queue_bytes() / PACKET;
        queue >= LEAST_QUEUE && self.pipe() / PACKET + queue >= LEAST_WINDOW
    }

    /// What may flow, by the rate and by the loss (Mathis et al. 1997), in Mbit/s.
    pub(super) fn expected_mbps(&self) -> f64 {
        self.rate.as_mbps().min(model_mbps(self.rtt.0, self.loss))
    }

    /// Whether it needs the machine for itself.
    pub(super) fn is_heavy(&self) -> bool {
        self.expected_mbps() >= HEAVY_MBPS
    }

    /// The time in which so many packets are lost at random; none without loss.
    pub(super) fn time_for_losses(&self, losses: f64) -> Option<Duration> {
        let packets = self.expected_mbps() * 1e6 / 8.0 / PACKET;
        (self.loss > 0.0).then(|| Duration::from_secs_f64(losses / (packets * self.loss)))
    }

    /// Its name, as part of a file's.
    pub(super) fn name(&self) -> String {
        format!(
            "{}mbit-{}ms-{}pct-{}bdp",
            self.rate.as_mbps(),
            millis(self.rtt),
            per_cent(self.loss),
            self.queue
        )
    }

    /// The lab with this path between its client and its server, as TOML; acknowledgements are lost with probability
    /// `ack_loss`.
    pub(super) fn toml(&self, ack_loss: f64) -> String {
        let delay = format!(
            "{{ kind = \"delay\", delay = \"{}ms\" }}",
            millis(self.rtt) / 2.0
        );
        let rate = format!(
            "{{ kind = \"rate\", rate = \"{}bit\", queue = {{ kind = \"fifo\", bytes = \"{}B\" }} }}",
            self.rate.as_bps(),
            self.queue_bytes()
        );
        let loss = |share: f64| format!("{{ kind = \"loss\", probability = {share:?} }}");
        format!(
            "summary = \"{self}\"\nclient = \"client\"\nserver = \"server\"\nhosts = [\"client\", \"server\"]\nipv6 = false\n\n\
             [[link]]\nbetween = [\"client\", \"server\"]\nup = [{rate}, {}, {delay}]\ndown = [{rate}, {}, {delay}]\n",
            loss(self.loss),
            loss(ack_loss)
        )
    }

    /// The same, read.
    ///
    /// # Errors
    ///
    /// When the numbers are such that there is no path of this kind.
    pub(super) fn topology(&self, ack_loss: f64) -> Result<Topology, lab::Error> {
        Topology::parse(&self.toml(ack_loss), &self.name())
    }
}

impl Display for Cell {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} Mbit/s, {} ms, {} % loss, {} BDP",
            self.rate.as_mbps(),
            millis(self.rtt),
            per_cent(self.loss),
            self.queue
        )
    }
}

/// Throughput of Reno under random loss of this share, in Mbit/s: MSS/RTT * C/sqrt(p), with C the square root of 3/2
/// (M. Mathis et al. 1997). Without loss there is no limit.
pub(super) fn model_mbps(rtt: Duration, loss: f64) -> f64 {
    MSS * 8e-6 / rtt.as_secs_f64() * PERIODIC / loss.sqrt()
}

pub(super) fn millis(span: Span) -> f64 {
    span.0.as_secs_f64() * 1e3
}

/// A share in per cent, without the noise of binary fractions.
pub(super) fn per_cent(share: f64) -> f64 {
    (share * 1e6).round() / 1e4
}

/// Whether `losses` are shares.
pub(super) fn check_shares(what: &str, losses: &[f64]) -> Result<(), String> {
    match losses.iter().find(|loss| !(0.0..1.0).contains(*loss)) {
        Some(loss) => Err(format!("{what} = {loss} - write shares from 0 to below 1")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_offered_is_no_limit_of_the_transfer() {
        // 10 Mbit/s x 50 ms are 62.5 kB, the queue twice that: 125 packets.
        assert_eq!(cell("10Mbit", "50ms", 0.0, 2.0).window(), 375);
        assert_eq!(cell("1Mbit", "5ms", 0.0, 4.0).window(), 64);
    }

    fn cell(rate: &str, rtt: &str, loss: f64, queue: f64) -> Cell {
        Cell {
            rate: rate.parse().unwrap(),
            rtt: rtt.parse().unwrap(),
            loss,
            queue,
        }
    }

    #[test]
    fn the_lab_of_a_cell_is_its_path() {
        let cell = cell("10Mbit", "25ms", 0.001, 0.5);
        let topology = cell.topology(0.25).unwrap();
        let link = &topology.links[0];
        assert_eq!(link.up.base_delay() + link.down.base_delay(), cell.rtt.0);
        assert_eq!(link.up.rate(), Some(cell.rate));
        let text = cell.toml(0.25);
        assert!(text.contains("bytes = \"15625B\""), "{text}");
        assert!(text.contains("probability = 0.001") && text.contains("probability = 0.25"));
        assert_eq!(cell.name(), "10mbit-25ms-0.1pct-0.5bdp");
    }

    #[test]
    fn cells_without_room_for_a_window_are_known() {
        assert!(!cell("1Mbit", "5ms", 0.0, 4.0).is_possible());
        assert!(
            !cell("1Mbit", "50ms", 0.0, 0.25).is_possible(),
            "a queue of one packet"
        );
        assert!(cell("10Mbit", "20ms", 0.0, 1.0).is_possible());
    }

    #[test]
    fn what_flows_is_bound_by_rate_and_by_loss() {
        assert!(cell("100Mbit", "20ms", 0.0, 1.0).is_heavy());
        let lossy = cell("100Mbit", "100ms", 0.01, 1.0);
        assert!(!lossy.is_heavy());
        // 1448 octets * 8 / 0.1 s * 1.22 / 0.1.
        assert!(
            (lossy.expected_mbps() - 1.4187).abs() < 1e-3,
            "{}",
            lossy.expected_mbps()
        );
    }
}
