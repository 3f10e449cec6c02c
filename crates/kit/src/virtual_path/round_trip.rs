//! How long a packet and its answer take over a path, and what follows from that.

use super::{FULL_PACKET, Path};
use ::path::Spec;
use anyhow::bail;
use lab::profiles;
use std::time::Duration;
use units::Span;

/// Octets of an acknowledgement.
const ACK: u64 = 52;
/// Who asks gives up when nothing was answered for so long.
pub const PATIENCE: Duration = Duration::from_secs(300);

impl Path {
    /// The time that a packet takes there and back, alone on the path, without chance.
    pub fn round_trip(&self) -> Duration {
        let ways = self.links.iter().map(|link| {
            let delays = link.up.base_delay().saturating_add(link.down.base_delay());
            let there = packet_time(&link.up, FULL_PACKET);
            let back = packet_time(&link.down, ACK);
            delays.saturating_add(there).saturating_add(back)
        });
        ways.fold(Duration::ZERO, Duration::saturating_add)
    }

    /// Whether anything can be answered before those who ask give up.
    ///
    /// # Errors
    /// When nothing can.
    pub fn check_round_trip(&self) -> anyhow::Result<()> {
        let round_trip = self.round_trip();
        if round_trip >= PATIENCE {
            bail!(
                "the RTT of this path is {}, and a run is aborted after {} without a reply - use shorter delays or higher rates",
                Span(round_trip).words(),
                Span(PATIENCE).words()
            );
        }
        Ok(())
    }

    /// Whether time goes on while packets and answers cross: who answers at once would never let it.
    ///
    /// # Errors
    /// When the path takes no time.
    pub fn check_takes_time(&self) -> anyhow::Result<()> {
        if self.round_trip().is_zero() {
            bail!(
                "the RTT of this path is zero, so the simulation would never advance - give a link a rate or a delay"
            );
        }
        Ok(())
    }
}

/// How long a link of limited rate takes to send so many octets.
pub fn packet_time(link: &Spec, octets: u64) -> Duration {
    let rate = profiles::rate(link);
    rate.map_or(Duration::ZERO, |rate| rate.time_for(octets))
}
