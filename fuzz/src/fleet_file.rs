//! Fleet files: one that is read has a schedule, in which no run begins sooner than it was asked for.

use fleet::Moment;
use fleet::file::{FleetFile, MeasureSpec};
use fleet::schedule::Plan;

/// Hosts and measurements of a file whose day is planned: a fuzzer is quick with small ones.
const MOST_HOSTS: usize = 6;
const MOST_MEASURES: usize = 3;
/// Seconds between two runs of a pair.
const LEAST_INTERVAL: u64 = 60;

/// Runs the target on an input: a file.
pub fn run(octets: &[u8]) {
    let Ok(text) = std::str::from_utf8(octets) else {
        return;
    };
    let Ok(file) = FleetFile::parse(text, "fuzzed") else {
        return;
    };
    let is_quick = file.hosts.len() <= MOST_HOSTS
        && file.measures.len() <= MOST_MEASURES
        && file
            .measures
            .iter()
            .filter_map(MeasureSpec::interval)
            .all(|interval| interval.0.as_secs() >= LEAST_INTERVAL);
    let plan = Plan::new(file);
    if is_quick {
        let day = Moment::from_millis(1_764_000_000_000).day();
        let schedule = plan.of(day, Moment::default());
        assert!(schedule.runs.iter().all(|run| run.begins >= run.instant));
    }
}
