//! How long the phase of idle pages must be.
//!
//! The figure that RRUL asks for first is idle page time over loaded page time, and the mean of one or two idle loads is worth
//! little. A phase of 8 s has a dozen loads of a near server, and none of one behind a satellite. So each way of loading the page is
//! tried once before the run, and the phase made long enough for five of each.

use super::Pages;
use super::pages::target;
use crate::Plan;
use crate::messages::{Near, Setup};
use crate::run::{ANSWER, Peer, ready};
use session::Client;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use sys::clock;
use units::{Dscp, Span};

/// So many idle loads make a mean.
const LEAST_LOADS: u32 = 5;
/// The phase is made no longer than this.
pub(crate) const MOST_IDLE: Duration = Duration::from_secs(60);
/// A rehearsed load that takes longer needs all of it.
pub(crate) const REHEARSED: Duration =
    Duration::from_secs(MOST_IDLE.as_secs() / LEAST_LOADS as u64);
/// What a session takes beside its run: to connect, to agree, to send the rows.
const SLACK: Duration = Duration::from_secs(20);
/// Loads are not all as fast as the one that was tried.
const MARGIN: f64 = 1.2;

/// The plan, with a phase of idle pages that is long enough for five loads by each way, as far as `most` allows for all of
/// the session. Plans whose pages are not followed by a load stay as they are: what lasts there was asked for.
///
/// # Errors
/// When the first far end cannot be heard or will not do it.
pub fn lengthen(
    mut plan: Plan,
    pages: &Pages<'_>,
    peer: &Peer,
    client: &mut Client,
    most: Duration,
    interrupt: &AtomicBool,
) -> anyhow::Result<Plan> {
    let ways = u32::try_from(pages.ways().len()).unwrap_or(u32::MAX);
    let total = plan.total() + REHEARSED * ways + SLACK;
    let Some(web) = plan.web.as_mut().filter(|_| !plan.load.is_empty()) else {
        return Ok(plan);
    };
    // A server that hardly has the time for the run has none for a rehearsal.
    let spare = most.saturating_sub(total);
    if web.before.0 < MOST_IDLE && !spare.is_zero() {
        let turn = rehearse(pages, peer, client, interrupt)?;
        let most = MOST_IDLE.min(web.before.0 + spare);
        web.before = Span(long_enough(turn, most).max(web.before.0));
    }
    Ok(plan)
}

/// How long the phase must be when one load by each way takes `turn`, pauses included: in whole seconds.
pub(crate) fn long_enough(turn: Duration, most: Duration) -> Duration {
    let needed = turn.mul_f64(MARGIN) * LEAST_LOADS;
    let more = u64::from(needed.subsec_nanos() > 0);
    Duration::from_secs(needed.as_secs() + more).min(most)
}

/// Loads the page once by each way, and tells how long that took with the pauses between.
fn rehearse(
    pages: &Pages<'_>,
    peer: &Peer,
    client: &mut Client,
    interrupt: &AtomicBool,
) -> anyhow::Result<Duration> {
    let ways = pages.ways();
    let family = if client.peer.is_ipv6() { 6 } else { 4 };
    let Some(address) = peer.address(family) else {
        return Ok(Duration::ZERO);
    };
    // For an origin on the server's clock, which it wants to be about now.
    let clock = client.control.measure_clock(1, ANSWER)?;
    let setup = Setup {
        origin_ns: clock.to_theirs(clock::now()).as_nanos(),
        total: Span(REHEARSED * u32::try_from(ways.len()).unwrap_or(u32::MAX)),
        streams: Vec::new(),
        page: Some(pages.model.clone()),
    };
    client.control.send(&Near::Setup(Box::new(setup)))?;
    ready(client)?;
    let target = target(peer, address, Dscp::CS0);
    let begun = clock::now();
    let mut pauses = Duration::ZERO;
    for way in ways {
        pages.load(way, &target, REHEARSED, interrupt);
        pauses += pages.pause;
    }
    Ok(clock::now().since(begun) + pauses)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds rrul/web-series.
    #[test]
    fn the_phase_of_idle_pages_has_room_for_five_loads_and_an_end() {
        let seconds = Duration::from_secs;
        let for_turn = |ms| long_enough(Duration::from_millis(ms), MOST_IDLE);
        assert_eq!(for_turn(900), seconds(6), "the plan's own 8 s are longer");
        assert_eq!(for_turn(5_000), seconds(30));
        assert_eq!(for_turn(12_200), MOST_IDLE);
        let short = long_enough(seconds(5), seconds(20));
        assert_eq!(short, seconds(20), "a server may allow no more");
    }
}
