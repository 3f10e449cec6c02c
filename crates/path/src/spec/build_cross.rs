//! From the description of other people's packets to their source.

use super::build::Site;
use super::{CrossSpec, Then};
use crate::random::scatter;
use crate::{Error, Pace, Recording, Schedule, Sizes, Source};
use std::time::Duration;
use units::Rate;

/// Where the seed of others' packets differs from that of the queue.
const APART: u64 = 0x0C05_5057_5241_FF1C;
/// So many copies of a recording fit into memory.
const MOST_COPIES: u32 = 1_000;
/// Rates up to here can be made up as fast as they are sent.
const FASTEST: Option<Rate> = Rate::from_bps(100_000_000_000);

impl Site<'_> {
    pub(super) fn source(&self, cross: &CrossSpec) -> Result<Source, Error> {
        self.check_rates(cross)?;
        let sizes = self.sizes(cross)?;
        let schedule = Schedule {
            rates: cross.rates.clone(),
            each: cross.each.map_or(Duration::ZERO, |each| each.0),
            repeats: cross.then == Then::Repeat,
        };
        let seed = scatter(self.seed ^ APART);
        Ok(Source::new(cross.pace, sizes, schedule, seed))
    }

    fn check_rates(&self, cross: &CrossSpec) -> Result<(), Error> {
        let recorded = cross.pace == Pace::Recorded;
        self.check(
            !cross.rates.is_empty() || recorded,
            "cross has no rates - write rates = [\"3Mbit\"], or pace = \"recorded\" with a recording",
        )?;
        let steps = cross.each.is_some_and(|each| !each.0.is_zero());
        self.check(
            cross.rates.len() < 2 || steps,
            "cross has several rates and no time for each - write each = \"45s\"",
        )?;
        self.check(
            cross.rates.iter().all(|rate| Some(*rate) <= FASTEST),
            "cross has a rate above 100 Gbit/s - write a lower one",
        )
    }

    fn sizes(&self, cross: &CrossSpec) -> Result<Sizes, Error> {
        self.check(
            cross.sizes.is_empty() || cross.recording.is_none(),
            "cross has both sizes and a recording, which has sizes of its own - leave one out",
        )?;
        self.check(
            cross.sizes.iter().all(|size| (20..=65_535).contains(size)),
            "cross has sizes that no packet has - write 20 to 65535 octets",
        )?;
        self.check(
            cross.pace != Pace::Recorded || cross.recording.is_some(),
            "cross is recorded and names no recording - write recording = \"web-page\" or a file",
        )?;
        let Some(name) = &cross.recording else {
            let full = vec![1_500];
            let sizes = if cross.sizes.is_empty() {
                full
            } else {
                cross.sizes.clone()
            };
            return Ok(Sizes::Mix(sizes));
        };
        self.check(
            (1..=MOST_COPIES).contains(&cross.copies),
            "cross has no copies of its recording, or too many - write 1 to 1000",
        )?;
        let recording: Recording = self.read(name)?;
        let recording = recording.times(cross.copies);
        let fits = recording
            .mean_rate()
            .is_some_and(|rate| Some(rate) <= FASTEST);
        self.check(
            fits,
            "the recording's rate is above 100 Gbit/s - write longer gaps",
        )?;
        Ok(Sizes::Recorded(recording))
    }
}
