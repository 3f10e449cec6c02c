//! Bad behaviour, by name, each with its evidence: what a sum would hide.

use super::super::Plan;
use super::super::plan::Families;
use super::parts::share;
use schema::rrul::{CallFigures, Penalty, Summary};

/// A SYN that was lost is sent again after a second (RFC 6298 section 2.1).
const SLEW_MS: f64 = 900.0;
/// EF dominates from here on: two thirds.
const EF_DOMINATES: f64 = 2.0 / 3.0;
/// CS1 is treated as best effort when it gets this much of what best effort gets.
const CS1_LIKE_CS0: f64 = 0.8;
/// Like streams that share with a lower index than this are not alike.
const UNLIKE: f64 = 0.8;
/// Streams over IPv6 and IPv4 are roughly equal as long as one has no more than so many times what the other has.
const ROUGHLY_EQUAL: f64 = 1.5;
/// A queue that adds this much in one direction leaves a call no room (ITU-T G.114: 150 ms for all of the way).
const HUGE_MS: f64 = 100.0;
/// Hops whose answers fall to less than this share of the idle ones have lost their ICMP errors.
const ICMP_KEPT: f64 = 0.5;

/// All of it.
pub(crate) fn penalties(plan: &Plan, summary: &Summary) -> Vec<Penalty> {
    let mut list = List(Vec::new());
    list.slew(summary);
    list.classes(summary);
    list.unlike_streams(summary);
    list.unlike_versions(summary);
    list.one_way_delay(summary);
    list.icmp(summary);
    list.families(plan, summary);
    list.0
}

struct List(Vec<Penalty>);

impl List {
    fn add(&mut self, code: &str, message: String, evidence: &str) {
        self.0.push(Penalty {
            code: code.to_owned(),
            message,
            evidence: evidence.to_owned(),
        });
    }

    fn slew(&mut self, summary: &Summary) {
        if let Some(slew) = summary.slew_ms.filter(|slew| slew.max > SLEW_MS) {
            let message = format!(
                "a stream was connected {:.1} s late: its SYN was lost, or waited as long",
                slew.max / 1e3
            );
            self.add(
                "bad_slew",
                message,
                "slew_ms; column slew_ms of table streams",
            );
        }
    }

    fn classes(&mut self, summary: &Summary) {
        let rates = &summary.throughput_mbps;
        for (way, rates) in [("down", &rates.down_by_class), ("up", &rates.up_by_class)] {
            let evidence = format!("throughput_mbps.{way}_by_class");
            if rates.len() < 2 {
                continue;
            }
            if let Some(ef) = share(rates, "EF").filter(|ef| *ef >= EF_DOMINATES) {
                let message = format!("EF takes {:.0} % of the load {way}", ef * 100.0);
                self.add("ef_dominates", message, &evidence);
            }
            // "CS1 traffic being treated equally with other traffic".
            let both = rates.get("CS1").zip(rates.get("CS0"));
            if let Some((cs1, cs0)) = both.filter(|(cs1, cs0)| **cs1 >= **cs0 * CS1_LIKE_CS0) {
                let message =
                    format!("CS1 gets as much as best effort {way}: {cs1:.2} and {cs0:.2} Mbit/s");
                self.add("cs1_as_best_effort", message, &evidence);
            }
        }
    }

    fn unlike_streams(&mut self, summary: &Summary) {
        let fair = &summary.fairness;
        for (way, index) in [("down", fair.like_down), ("up", fair.like_up)] {
            if let Some(index) = index.filter(|index| *index < UNLIKE) {
                let message = format!("like streams {way} share unequally: index {index:.2}");
                self.add("unequal_streams", message, &format!("fairness.like_{way}"));
            }
        }
    }

    /// "TCP streams of different types not being roughly equal in bandwidth".
    fn unlike_versions(&mut self, summary: &Summary) {
        let fair = &summary.fairness;
        for (way, ratio) in [("down", fair.v6_over_v4_down), ("up", fair.v6_over_v4_up)] {
            let is_unequal = |ratio: &f64| ratio.max(1.0 / ratio) > ROUGHLY_EQUAL;
            if let Some(ratio) = ratio.filter(is_unequal) {
                let message = format!(
                    "a stream over IPv6 gets {ratio:.2} times as much {way} as one over IPv4"
                );
                let evidence = format!("fairness.v6_over_v4_{way}");
                self.add("unequal_versions", message, &evidence);
            }
        }
    }

    fn one_way_delay(&mut self, summary: &Summary) {
        for way in ["up", "down"] {
            let rises = summary
                .voip
                .values()
                .filter_map(|calls| rise(if way == "up" { &calls.up } else { &calls.down }));
            if let Some(rise) = rises.reduce(f64::max).filter(|rise| *rise > HUGE_MS) {
                let message = format!(
                    "the load adds {rise:.0} ms to the one-way delay {way} (95th percentile)"
                );
                self.add(
                    &format!("delay_{way}"),
                    message,
                    &format!("voip.*.{way}.loaded.delay_ms"),
                );
            }
        }
    }

    fn icmp(&mut self, summary: &Summary) {
        let Some(path) = &summary.bottleneck else {
            return;
        };
        for (way, trace) in [("up", &path.up), ("down", &path.down)] {
            // What the other end does not answer is no ICMP.
            let mut routers = trace.hops.iter().filter(|hop| !hop.is_end);
            let lost = routers.find(|hop| {
                let (idle, loaded) = (hop.answered_idle_pct, hop.answered_loaded_pct);
                idle.zip(loaded)
                    .is_some_and(|(idle, loaded)| idle > 0.0 && loaded < idle * ICMP_KEPT)
            });
            if let Some(hop) = lost {
                let message = format!(
                    "hop {} {way} answers {:.0} % of probes idle and {:.0} % under load: ICMP errors are lost",
                    hop.hop,
                    hop.answered_idle_pct.unwrap_or_default(),
                    hop.answered_loaded_pct.unwrap_or_default()
                );
                self.add(
                    "icmp_lost",
                    message,
                    &format!("bottleneck.{way}.hops; table hops"),
                );
            }
        }
    }

    fn families(&mut self, plan: &Plan, summary: &Summary) {
        if plan.families != Families::Both || summary.families.len() != 1 {
            return;
        }
        let missing = if summary.families.contains_key("v4") {
            "IPv6"
        } else {
            "IPv4"
        };
        self.add(
            if missing == "IPv6" {
                "ipv6_missing"
            } else {
                "ipv4_missing"
            },
            format!("there is no {missing}: all streams went over the other"),
            "families; path.families of run.json",
        );
    }
}

/// How much the load adds to a call's one-way delay: 95th percentile over the idle median.
fn rise(figures: &CallFigures) -> Option<f64> {
    let (idle, loaded) = (figures.idle.as_ref()?, figures.loaded.as_ref()?);
    Some(loaded.delay_ms?.p95 - idle.delay_ms?.p50)
}
