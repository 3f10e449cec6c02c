//! When what took place in a Flent run.
//!
//! Flent's tests of load run their round trips for `TOTAL_LENGTH` and the load for `LENGTH` in the middle of it; the
//! shoulders are idle. A test without load is idle throughout, and one without shoulders loaded throughout. The time line
//! begins at `T0`, the first value of any series.
//!
//! The loaded figures leave out the first seconds of the load, in which TCP looks for the path's rate, as those of
//! `isobath rrul` do.

use crate::data::{DataFile, Key};
use crate::naming::OWN;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;

/// Left out of the loaded figures at the start of the load: the settling time of Isobath's plans, in seconds.
const SETTLE_S: f64 = 2.0;
/// Loads shorter than this many settling times are not cut.
const SHORTEST_LOAD: f64 = 2.0;
/// Longest run that is believed: a year, in seconds.
const MAX_LENGTH_S: f64 = 366.0 * 86_400.0;
/// A clock's time zone is at most 14 hours off; in seconds.
const MAX_ZONE_S: f64 = 14.0 * 3_600.0;

/// Start and end in seconds on the time line.
pub(crate) type Span = [f64; 2];

/// When what took place.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Times {
    /// Where the time line begins; `None` when the file does not tell.
    pub(crate) start: Option<Timestamp>,
    /// The time zone was guessed, or unknown and taken for UTC.
    pub(crate) zone_guessed: bool,
    /// `LENGTH`, seconds.
    pub(crate) length: Option<f64>,
    /// `TOTAL_LENGTH`, or what the time line says; seconds.
    pub(crate) total: f64,
    /// `STEP_SIZE`, or what the time line says; seconds.
    pub(crate) step: Option<f64>,
    pub(crate) idle: Option<Span>,
    pub(crate) load: Option<Span>,
    pub(crate) loaded: Option<Span>,
}

impl Times {
    pub(crate) fn of(file: &DataFile, has_load: bool) -> Self {
        let seconds = |key: &str| file.metadata.get(key).and_then(length);
        let last = file.x_values.last().copied().unwrap_or(0.0);
        let length = seconds("LENGTH");
        let total = seconds("TOTAL_LENGTH").unwrap_or_else(|| last.clamp(0.0, MAX_LENGTH_S));
        let mut times = Self {
            length,
            total,
            step: seconds("STEP_SIZE").or_else(|| step(&file.x_values)),
            ..Self::default()
        };
        times.place(file, has_load);
        times.find_start(file);
        times
    }

    /// Finds the phases.
    fn place(&mut self, file: &DataFile, has_load: bool) {
        let whole = Some([0.0, self.total]);
        if !has_load {
            self.idle = whole;
            return;
        }
        let own = |key: &str| file.metadata.get(OWN)?.get(key).and_then(length);
        let length = self.length.unwrap_or(self.total).min(self.total);
        let before = own("load_start_s").unwrap_or((self.total - length) / 2.0);
        let before = before.clamp(0.0, self.total - length);
        let idle = own("idle_end_s").map_or(before, |end| end.min(before));
        self.idle = (idle > 0.0).then_some([0.0, idle]);
        self.load = Some([before, before + length]);
        let is_short = length < SHORTEST_LOAD * SETTLE_S;
        let settled = before + if is_short { 0.0 } else { SETTLE_S };
        self.loaded = Some([own("loaded_start_s").unwrap_or(settled), before + length]);
    }

    /// Finds where the time line begins on the calendar.
    fn find_start(&mut self, file: &DataFile) {
        let first_raw = (file.raw_values.values().flatten())
            .filter_map(|point| point.get(Key::T))
            .min_by(f64::total_cmp);
        let text = |key: &str| file.metadata.get(key).and_then(Value::as_str);
        let said = ["T0", "TIME"].into_iter().filter_map(text);
        let found = said.into_iter().find_map(|text| calendar(text, first_raw));
        if let Some((start, guessed)) = found {
            self.start = Some(start);
            self.zone_guessed = guessed;
        } else {
            self.start = first_raw.and_then(timestamp);
        }
    }
}

/// Positive seconds that can be the length of a run.
fn length(value: &Value) -> Option<f64> {
    value.as_f64().filter(|s| (0.0..=MAX_LENGTH_S).contains(s))
}

/// The distance of the first two x values.
fn step(x_values: &[f64]) -> Option<f64> {
    let [first, second, ..] = x_values else {
        return None;
    };
    Some(second - first).filter(|step| *step > 0.0 && *step <= MAX_LENGTH_S)
}

/// Seconds since 1970 as a point of time.
pub(crate) fn timestamp(epoch_s: f64) -> Option<Timestamp> {
    if !(0.0..=1e11).contains(&epoch_s) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "between 0 and 10^17 us")]
    let us = (epoch_s * 1e6).round() as i64;
    Timestamp::from_microsecond(us).ok()
}

/// A time of the metadata, and whether its zone is a guess. Files of older versions have local time without a zone; then
/// the whole number of hours counts that brings it next to the first raw value.
fn calendar(text: &str, first_raw: Option<f64>) -> Option<(Timestamp, bool)> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some((time, false));
    }
    let local: DateTime = text.parse().ok()?;
    let utc = local.to_zoned(TimeZone::UTC).ok()?.timestamp();
    let apart = first_raw.map_or(0.0, |raw| raw - utc.as_microsecond() as f64 / 1e6);
    if apart.abs() > MAX_ZONE_S {
        return Some((utc, true));
    }
    #[expect(clippy::cast_possible_truncation, reason = "at most 14")]
    let hours = (apart / 3_600.0).round() as i64;
    let shifted = utc.checked_add(jiff::SignedDuration::from_hours(hours));
    Some((shifted.unwrap_or(utc), true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(metadata: &str) -> DataFile {
        DataFile {
            metadata: serde_json::from_str(metadata).unwrap(),
            x_values: vec![0.0, 0.2, 0.4],
            ..DataFile::default()
        }
    }

    #[test]
    fn the_load_is_in_the_middle() {
        let times = Times::of(&file(r#"{"LENGTH": 60, "TOTAL_LENGTH": 70}"#), true);
        assert_eq!(times.idle, Some([0.0, 5.0]));
        assert_eq!(times.load, Some([5.0, 65.0]));
        assert_eq!(times.loaded, Some([7.0, 65.0]));
    }

    #[test]
    fn a_run_without_load_is_idle_and_one_without_shoulders_loaded() {
        let file = file(r#"{"LENGTH": 3, "TOTAL_LENGTH": 3, "STEP_SIZE": 0.05}"#);
        let times = Times::of(&file, false);
        assert_eq!((times.idle, times.loaded), (Some([0.0, 3.0]), None));
        let times = Times::of(&file, true);
        assert_eq!((times.idle, times.loaded), (None, Some([0.0, 3.0])));
        assert_eq!(times.step, Some(0.05));
    }

    #[test]
    fn what_the_metadata_leaves_out_is_on_the_time_line() {
        let times = Times::of(&file(r#"{"TOTAL_LENGTH": null, "LENGTH": "x"}"#), false);
        assert_eq!((times.total, times.step), (0.4, Some(0.2)));
        assert_eq!(times.start, None);
    }

    #[test]
    fn local_time_is_moved_next_to_the_first_raw_value() {
        let raw = 1_795_261_929.5;
        let utc = "2026-11-21T11:52:09.123456Z".parse().unwrap();
        let at = |text| calendar(text, Some(raw));
        assert_eq!(at("2026-11-21T11:52:09.123456Z"), Some((utc, false)));
        assert_eq!(at("2026-11-21T13:52:09.123456"), Some((utc, true)));
        assert_eq!(at("2026-11-21T03:52:09.123456"), Some((utc, true)));
        assert_eq!(at("yesterday"), None);
    }
}
