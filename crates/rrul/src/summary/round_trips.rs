//! Round trips: how long, and how many never came back.

use super::view::{View, is_latency};
use far_ends::address::FarEnd;
use schema::rrul::{Beside, Latency, Phases, Shares};
use schema::tables::Stream;
use std::collections::BTreeMap;
use std::ops::Range;

impl View<'_> {
    /// Round trips of the wanted streams, idle and loaded.
    pub(super) fn phases(&self, wanted: &dyn Fn(&Stream) -> bool) -> Phases {
        Phases {
            idle: self.round_trips(&self.idle, wanted),
            loaded: self.round_trips(&self.loaded, wanted),
        }
    }

    pub(super) fn latency(&self) -> Latency {
        let all = self.phases(&is_latency);
        let udp = || {
            self.tables
                .streams
                .iter()
                .filter(|stream| is_latency(stream))
        };
        let by_class = udp().map(|stream| {
            let alike = |other: &Stream| is_latency(other) && other.class == stream.class;
            (stream.class.clone().into_owned(), self.phases(&alike))
        });
        let by_family = udp().map(|stream| {
            let alike = |other: &Stream| is_latency(other) && other.family == stream.family;
            (format!("v{}", stream.family), self.phases(&alike))
        });
        Latency {
            of: udp().next().map(|stream| stream.kind.clone().into_owned()),
            idle: all.idle,
            loaded: all.loaded,
            by_class: by_class.collect(),
            by_family: by_family.collect(),
        }
    }

    /// Of each far end beside the servers.
    pub(super) fn beside(&self) -> BTreeMap<String, Beside> {
        let all = self.tables.streams.iter();
        let beside = all.filter(|stream| stream.kind == "beside");
        let figures = |stream: &Stream| {
            let alone = |other: &Stream| other.id == stream.id;
            let repeats = FarEnd::parse(&stream.name)
                .and_then(Result::ok)
                .is_some_and(|far_end| far_end.protocol.is_reliable());
            Beside {
                rtt_ms: self.phases(&alone),
                loss_pct: if repeats {
                    Shares::default()
                } else {
                    self.loss(&alone)
                },
            }
        };
        beside
            .map(|stream| (stream.name.clone(), figures(stream)))
            .collect()
    }

    /// Share of the wanted streams' requests that were never answered.
    pub(super) fn loss(&self, wanted: &dyn Fn(&Stream) -> bool) -> Shares {
        Shares {
            idle: self.loss_during(&self.idle, wanted),
            loaded: self.loss_during(&self.loaded, wanted),
        }
    }

    fn loss_during(&self, when: &Range<u64>, wanted: &dyn Fn(&Stream) -> bool) -> Option<f64> {
        let (sent, lost) = self.requests(when, wanted);
        (sent > 0).then(|| lost as f64 / sent as f64 * 100.0)
    }

    /// How many requests of the wanted streams were sent, and how many of them never answered.
    pub(super) fn requests(
        &self,
        when: &Range<u64>,
        wanted: &dyn Fn(&Stream) -> bool,
    ) -> (u64, u64) {
        let during = || {
            self.samples(wanted)
                .filter(|sample| when.contains(&sample.t_ns))
        };
        let lost = during().filter(|sample| sample.lost);
        (during().count() as u64, lost.count() as u64)
    }
}
