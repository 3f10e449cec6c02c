//! What became of a measurement, by its record.

use super::found::{Failed, Failure, Made, Measurement};
use super::schedule::Planned;
use kit::pool::child::Ended;
use record::{Record, Status};
use schema::btc::plan::Tool;
use schema::btc::tables::Transfer;
use std::path::Path;
use std::time::Duration;

/// A measurement of which nothing has been heard for so long is ended.
pub(super) const PATIENCE: Duration = Duration::from_secs(180);

/// A measurement that `ended` so, with the record in `folder`, if there is one.
pub(super) fn of_record(planned: &Planned, folder: &Path, mut ended: Ended) -> Measurement {
    let record = Record::open(folder);
    let rows = record.as_ref().map(Record::rows::<Transfer>);
    let mut rows = rows.ok().and_then(Result::ok).unwrap_or_default();
    rows.sort_unstable_by_key(|row| row.transfer);
    let transfers: Vec<Made> = rows.iter().filter_map(made).collect();
    let run = record.as_ref().ok().map(Record::run);
    let warning = run.and_then(|run| run.warnings.first());
    ended.said = ended
        .said
        .or_else(|| warning.map(|warning| warning.message.clone()));
    let status = run.map(|run| run.status);
    Measurement {
        planned: planned.clone(),
        failure: judge(status, &rows, transfers.len(), &ended),
        transfers,
    }
}

/// A measurement that what carries the measurements did not let begin.
pub(super) fn without_record(planned: &Planned, class: &str, said: String) -> Measurement {
    Measurement {
        planned: planned.clone(),
        transfers: Vec::new(),
        failure: Some(failure(Failed::Infrastructure, class, said)),
    }
}

/// A transfer that came to its end.
fn made(row: &Transfer) -> Option<Made> {
    let seconds = row.seconds.filter(|seconds| *seconds > 0.0)?;
    let is_complete = &*row.outcome == "complete";
    is_complete.then_some(Made {
        tool: if &*row.tool == Tool::Ours.label() {
            Tool::Ours
        } else {
            Tool::Kernel
        },
        bytes_per_s: row.bytes as f64 / seconds,
        loss_pct: row.loss_pct?,
        seconds,
    })
}

fn failure(of: Failed, class: &str, said: String) -> Failure {
    Failure {
        of,
        class: class.to_owned(),
        said,
    }
}

/// What failed, if anything did. Without a transfer that began, what carries the measurements did.
fn judge(status: Option<Status>, rows: &[Transfer], made: usize, ended: &Ended) -> Option<Failure> {
    let said = ended.said.clone();
    let said = said.unwrap_or_else(|| format!("it ended with status {:?}", ended.exit_status));
    if status == Some(Status::Invalid) {
        return Some(failure(Failed::Instrument, "invalid", said));
    }
    if made == 2 {
        return None;
    }
    if ended.took > PATIENCE {
        return Some(failure(Failed::Transfer, "out of time", said));
    }
    match rows.iter().find(|row| &*row.outcome != "complete") {
        Some(row) => {
            let reason = row.reason.clone().unwrap_or(said);
            Some(failure(Failed::Transfer, &row.outcome, reason))
        }
        None if status.is_none() => {
            Some(failure(Failed::Infrastructure, "far end not reached", said))
        }
        None => Some(failure(Failed::Infrastructure, "not measured", said)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(said: &str) -> Ended {
        Ended {
            exit_status: Some(3),
            said: Some(said.to_owned()),
            took: Duration::from_secs(1),
        }
    }

    fn transfer(outcome: &'static str) -> Transfer {
        Transfer {
            tool: "ours".into(),
            direction: "up".into(),
            seconds: Some(2.0),
            end_ns: Some(2_000_000_000),
            segments: 725,
            bytes: 1_049_800,
            throughput_mbps: Some(4.2),
            sent_packets: 730,
            retransmits: 5,
            lost: 5,
            loss_pct: Some(0.7),
            cc: "reno".into(),
            outcome: outcome.into(),
            ..Transfer::default()
        }
    }

    #[test]
    fn a_transfer_is_what_its_row_says() {
        let made = made(&transfer("complete")).unwrap();
        assert!((made.bytes_per_s - 524_900.0).abs() < 1e-6 && made.tool == Tool::Ours);
        assert!(super::made(&transfer("stalled")).is_none());
    }

    /// Holds btc/cap-failures.
    #[test]
    fn what_carries_the_measurements_and_what_is_measured_fail_apart() {
        let of = |status, rows: &[Transfer], made| {
            judge(status, rows, made, &ended("no route")).map(|f| (f.of, f.class))
        };
        let both = [transfer("complete"), transfer("complete")];
        assert_eq!(of(Some(Status::Complete), &both, 2), None);
        let infrastructure = (Failed::Infrastructure, "far end not reached".to_owned());
        assert_eq!(of(None, &[], 0), Some(infrastructure));
        let stalled = [transfer("complete"), transfer("stalled")];
        assert_eq!(
            of(Some(Status::Complete), &stalled, 1),
            Some((Failed::Transfer, "stalled".to_owned()))
        );
        assert_eq!(
            of(Some(Status::Invalid), &both, 2).map(|f| f.0),
            Some(Failed::Instrument)
        );
    }
}
