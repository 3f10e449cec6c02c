//! Tables `transfers`, `windows`, `round_trips`, `events` and `segments`: bulk transfers, and what their senders did.
//!
//! Every transfer is in the page with its figures. What it did from moment to moment is there for at most
//! [`MOST_COURSES`] of them, chosen so that the extremes are among them ([`choose`]).

mod course;
mod rows;
mod sequence;
mod strokes;

use crate::number::{seconds, short};
use crate::view::each;
use course::{Course, Courses};
use record::{Record, Run};
use schema::btc::tables::Transfer as TransferRow;
use serde::Serialize;
use std::collections::BTreeSet;
pub(super) use strokes::difference;

/// The most transfers of which a page shows what happened from moment to moment.
const MOST_COURSES: usize = 12;
/// The most transfers in a page.
const MOST_TRANSFERS: usize = 4_000;

/// The transfers of a run.
#[derive(Serialize)]
pub(crate) struct Btc {
    pub(crate) transfers: Vec<Transfer>,
    /// How many there were; more than `transfers` when they are too many for a page.
    transfers_total: usize,
    courses: Vec<Course>,
}

/// The figures of one transfer.
#[expect(clippy::struct_field_names, reason = "named as in the tables")]
#[derive(Clone, Serialize)]
pub(crate) struct Transfer {
    transfer: u16,
    pub(crate) tool: String,
    repeat: u32,
    direction: String,
    /// When its first segment left.
    start_s: f64,
    seconds: Option<f64>,
    segments: u64,
    bytes: u64,
    pub(crate) throughput_mbps: Option<f64>,
    sent_packets: u64,
    retransmits: u64,
    lost: u64,
    loss_pct: Option<f64>,
    reordered: Option<u64>,
    duplicates: Option<u64>,
    timeouts: Option<u64>,
    recoveries: Option<u64>,
    marked: Option<u64>,
    violations: Option<u64>,
    cc: String,
    outcome: String,
    reason: Option<String>,
    #[serde(skip)]
    start_ns: u64,
}

impl From<TransferRow> for Transfer {
    fn from(row: TransferRow) -> Self {
        Self {
            transfer: row.transfer,
            tool: row.tool.into_owned(),
            repeat: row.repeat,
            direction: row.direction.into_owned(),
            start_s: seconds(row.start_ns),
            seconds: row.seconds.map(short),
            segments: row.segments,
            bytes: row.bytes,
            throughput_mbps: row.throughput_mbps.map(short),
            sent_packets: row.sent_packets,
            retransmits: row.retransmits,
            lost: row.lost,
            loss_pct: row.loss_pct.map(short),
            reordered: row.reordered,
            duplicates: row.duplicates,
            timeouts: row.timeouts,
            recoveries: row.recoveries,
            marked: row.marked,
            violations: row.violations,
            cc: row.cc.into_owned(),
            outcome: row.outcome.into_owned(),
            reason: row.reason,
            start_ns: row.start_ns,
        }
    }
}

impl Transfer {
    /// Octets of payload in a segment; null when none was acknowledged.
    fn segment_bytes(&self) -> Option<f64> {
        (self.segments > 0).then(|| self.bytes as f64 / self.segments as f64)
    }
}

/// Reads the tables; `None` when the record is not of bulk transfers.
pub(crate) fn read(record: &Record, run: &Run) -> Result<Option<Btc>, record::Error> {
    if !matches!(run.test.as_str(), "btc" | "sim-btc") {
        return Ok(None);
    }
    let mut transfers = Vec::new();
    let mut total = 0;
    each(record, |row: TransferRow| {
        total += 1;
        if transfers.len() < MOST_TRANSFERS {
            transfers.push(Transfer::from(row));
        }
    })?;
    if transfers.is_empty() {
        // A run that was killed: its transfers are what the other tables tell of them.
        transfers = rows::unfinished(record)?;
        total = transfers.len();
    }
    transfers.sort_by_key(|transfer| transfer.transfer);
    let courses = Courses::read(record, &choose(&transfers))?;
    Ok((total > 0).then_some(Btc {
        transfers,
        transfers_total: total,
        courses,
    }))
}

/// Of which transfers the course is shown: the first ones, the slowest and the fastest of each tool, with their partners,
/// then whatever comes next.
fn choose(transfers: &[Transfer]) -> Vec<&Transfer> {
    let tools: BTreeSet<&str> = transfers.iter().map(|t| t.tool.as_str()).collect();
    let mut wanted: Vec<u32> = transfers.iter().map(|t| t.repeat).take(1).collect();
    for tool in tools {
        let speed = |t: &&Transfer| t.throughput_mbps.unwrap_or(0.0);
        let of_tool = || transfers.iter().filter(|t| t.tool == tool);
        let slowest = of_tool().min_by(|a, b| speed(a).total_cmp(&speed(b)));
        let fastest = of_tool().max_by(|a, b| speed(a).total_cmp(&speed(b)));
        wanted.extend(slowest.into_iter().chain(fastest).map(|t| t.repeat));
    }
    wanted.extend(transfers.iter().map(|t| t.repeat));
    let mut chosen: Vec<&Transfer> = Vec::new();
    for repeat in wanted {
        for transfer in transfers.iter().filter(|t| t.repeat == repeat) {
            let is_new = chosen.iter().all(|c| c.transfer != transfer.transfer);
            if is_new && chosen.len() < MOST_COURSES {
                chosen.push(transfer);
            }
        }
        if chosen.len() >= MOST_COURSES {
            break;
        }
    }
    chosen.sort_by_key(|t| t.transfer);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::RecordWriter;
    use schema::btc::tables::{SegmentRow, WindowRow};
    use serde_json::json;

    fn transfer(number: u16, tool: &'static str, throughput_mbps: f64) -> Transfer {
        Transfer::from(TransferRow {
            transfer: number,
            tool: tool.into(),
            repeat: u32::from(number) / 2,
            throughput_mbps: Some(throughput_mbps),
            ..TransferRow::default()
        })
    }

    fn read_back(fill: impl FnOnce(&mut RecordWriter)) -> Btc {
        let dir = tempfile::tempdir().unwrap();
        let run = Run::new("btc", "2026-11-21T07:29:11Z".parse().unwrap(), json!({}));
        let mut writer = RecordWriter::create(dir.path(), &run).unwrap();
        fill(&mut writer);
        writer.flush().unwrap();
        read(&Record::open(dir.path()).unwrap(), &run)
            .unwrap()
            .unwrap()
    }

    fn window(t_ns: u64) -> WindowRow {
        WindowRow {
            t_ns,
            transfer: 3,
            cwnd: 10.0,
            ..WindowRow::default()
        }
    }

    #[test]
    fn the_course_of_a_transfer_begins_with_it() {
        let btc = read_back(|writer| {
            let transfer = TransferRow {
                transfer: 3,
                tool: "ours".into(),
                start_ns: 2_000_000_000,
                segments: 10,
                bytes: 14_480,
                ..TransferRow::default()
            };
            let acks = (1..=10).map(|ack| SegmentRow {
                t_ns: 2_000_000_000 + ack * 10_000_000,
                transfer: 3,
                end: "sender".into(),
                kind: "ack".into(),
                ack: Some(ack),
                ..SegmentRow::default()
            });
            writer.append(&[transfer]).unwrap();
            writer.append(&[window(2_500_000_000)]).unwrap();
            writer.append(&acks.collect::<Vec<_>>()).unwrap();
        });
        let value = serde_json::to_value(&btc).unwrap();
        let course = &value["courses"][0];
        assert_eq!(course["cwnd_segments"]["t_s"], json!([0.5]));
        // Nine segments in the first tenth of a second, the tenth at its end.
        assert_eq!(course["goodput_mbps"]["v"], json!([1.0426, 0.11584]));
        assert_eq!(course["rtt"], json!(null));
    }

    #[test]
    fn a_run_that_was_killed_has_the_transfers_that_its_rows_tell_of() {
        let btc = read_back(|writer| {
            writer
                .append(&[window(900_000_000), window(700_000_000)])
                .unwrap();
        });
        let [only] = btc.transfers.as_slice() else {
            panic!("{} transfers", btc.transfers.len());
        };
        assert_eq!((only.transfer, only.start_ns), (3, 700_000_000));
        assert_eq!(btc.courses.len(), 1);
    }

    #[test]
    fn the_slowest_and_the_fastest_are_shown_with_their_partners() {
        let rate = |i: u16| match i {
            60 => 1.0,
            91 => 99.0,
            _ => 10.0,
        };
        let tools = ["ours", "kernel"];
        let all: Vec<Transfer> = (0..100)
            .map(|i| transfer(i, tools[usize::from(i % 2)], rate(i)))
            .collect();
        let chosen: Vec<u16> = choose(&all).iter().map(|t| t.transfer).collect();
        assert_eq!(chosen.len(), MOST_COURSES);
        for wanted in [0, 1, 60, 61, 90, 91] {
            assert!(chosen.contains(&wanted), "{wanted} in {chosen:?}");
        }
    }
}
