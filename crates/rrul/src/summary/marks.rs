//! What became of the marks: DSCP and ECN as sent against as arrived.

use super::super::streams::ecn_name;
use super::view::View;
use schema::rrul::{EcnFigures, Marks, TcpEcn, TcpMarks};
use schema::tables::{Series, Stream};
use std::collections::BTreeMap;
use units::{Ecn, TrafficClass};

impl View<'_> {
    pub(super) fn marks(&self) -> BTreeMap<String, Marks> {
        let name = |octet: u8| TrafficClass::from_octet(octet).dscp.to_string();
        let mut marks = self.arrived(&name);
        for (id, octet) in &self.tables.class_seen {
            if let Some(stream) = self.streams.get(id) {
                let class = marks.entry(stream.class.clone().into_owned()).or_default();
                *class.up.entry(name(*octet)).or_default() += 1;
            }
        }
        marks
    }

    pub(super) fn ecn(&self) -> EcnFigures {
        let name = |octet: u8| ecn_name(Ecn::from_bits(octet)).to_owned();
        let sent = self.arrived(&name);
        let capable = || {
            let fields = sent.iter().filter(|(field, _)| field.starts_with("ECT"));
            fields.flat_map(|(_, marks)| marks.up.iter().chain(&marks.down))
        };
        let total: u64 = capable().map(|(_, count)| count).sum();
        let share = |wanted: &str| {
            let count: u64 = capable()
                .filter(|(field, _)| *field == wanted)
                .map(|(_, count)| count)
                .sum();
            (total > 0).then(|| count as f64 / total as f64 * 100.0)
        };
        EcnFigures {
            ce_pct: share("CE"),
            bleached_pct: share("Not-ECT"),
            sent: if total > 0 { sent } else { BTreeMap::new() },
            tcp: TcpEcn {
                down: self.tcp_marks("down"),
                up: self.tcp_marks("up"),
            },
        }
    }

    /// What the ends of the load streams over TCP of `direction` counted in the whole run.
    fn tcp_marks(&self, direction: &str) -> Option<TcpMarks> {
        let is_tcp = |stream: &&Stream| stream.kind == "tcp_load";
        self.load(direction).find(is_tcp)?;
        let told: Vec<bool> = self.load(direction).filter_map(|s| s.ecn_agreed).collect();
        let count = |streams: usize| u32::try_from(streams).unwrap_or(u32::MAX);
        let ce_segments = self.last_counts(direction, true, |row| row.ce_segs_in);
        let arrived = self.last_counts(direction, true, |row| row.data_segs_in);
        let share = ce_segments.zip(arrived.filter(|arrived| *arrived > 0));
        Some(TcpMarks {
            streams: count(told.len()),
            agreed: count(told.iter().filter(|agreed| **agreed).count()),
            ce_segments,
            ce_pct: share.map(|(marked, all)| marked as f64 / all as f64 * 100.0),
            echoed_segments: self.last_counts(direction, false, |row| row.echoed_segs_out),
        })
    }

    /// The last value of a cumulative counter of each load stream over TCP of `direction`, at its receiver or its sender, all together.
    pub(super) fn last_counts(
        &self,
        direction: &str,
        at_receiver: bool,
        counter: fn(&Series) -> Option<u64>,
    ) -> Option<u64> {
        let mut last: BTreeMap<u16, u64> = BTreeMap::new();
        for row in self.all_bins(direction, at_receiver) {
            let stream = self.streams.get(&row.stream);
            let is_tcp = stream.is_none_or(|stream| stream.kind == "tcp_load");
            if let Some(count) = counter(row).filter(|_| is_tcp) {
                let last = last.entry(row.stream).or_default();
                *last = count.max(*last);
            }
        }
        (!last.is_empty()).then(|| last.values().sum())
    }

    /// Counts what datagrams arrived with, by what they were sent with; `name` says what of the octet.
    fn arrived(&self, name: &dyn Fn(u8) -> String) -> BTreeMap<String, Marks> {
        let mut counts: BTreeMap<[Option<u8>; 3], u64> = BTreeMap::new();
        for sample in &self.tables.samples {
            let key = [
                Some(sample.tos_sent),
                sample.tos_seen_far,
                sample.tos_seen_near,
            ];
            *counts.entry(key).or_default() += 1;
        }
        let mut marks: BTreeMap<String, Marks> = BTreeMap::new();
        for ([sent, far, near], count) in counts {
            let mark = marks.entry(name(sent.unwrap_or_default())).or_default();
            for (seen, counts) in [(far, &mut mark.up), (near, &mut mark.down)] {
                if let Some(octet) = seen {
                    *counts.entry(name(octet)).or_default() += count;
                }
            }
        }
        marks.retain(|_, mark| !mark.up.is_empty() || !mark.down.is_empty());
        marks
    }
}
