//! What a browser says it has seen: somebody else's words, so all of it is bounded and checked before it becomes rows.

use crate::call::CallEnd;
use crate::page_loads;
use kit::sampler::BIN;
use rrul::streams::{Kind, StreamPlan};
use rrul::tables::Tables;
use schema::rrul::Plan;
use schema::tables::{Sample, Series};
use serde::Deserialize;
use std::time::Duration;

/// Probes, and bins of a stream: several times what a run has.
const MOST_SAMPLES: usize = 10_000;
const MOST_BINS: usize = 1_000;
/// Characters of the browser's name, and of what it says went wrong.
const LONGEST_AGENT: usize = 300;
const LONGEST_FAILURE: usize = 200;
const MOST_FAILURES: usize = 20;
/// Octets that no stream carries in a bin: 800 Gbit/s.
const MOST_OCTETS: u64 = 10_000_000_000;

/// What a browser has found, in milliseconds after the run's start by its own clock.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Findings {
    /// How the browser calls itself.
    pub(crate) agent: String,
    /// Whether the page was out of sight for a while: browsers then let it do less.
    #[serde(default)]
    pub(crate) hidden: bool,
    samples: Vec<Asked>,
    down: Vec<Received>,
    /// Streams to the server, and when each was open.
    up: Vec<(u16, f64)>,
    /// Its end of the call, where there was one.
    #[serde(default)]
    call: Option<Call>,
    /// Its loads of a page.
    #[serde(default)]
    pub(crate) pages: Vec<page_loads::Load>,
    #[serde(default)]
    failures: Vec<String>,
}

/// A call as a browser knows it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    /// When each datagram was sent, by number; null: it was not.
    sent: Vec<Option<f64>>,
    /// Numbers of those that came, and when.
    heard: Vec<(u32, f64)>,
}

/// A probe: when it left, how long its reply took, and when the server had it by the server's clock; null without a reply.
#[derive(Debug, Deserialize)]
struct Asked(f64, Option<f64>, Option<f64>);

/// A stream from the server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Received {
    stream: u16,
    opened: f64,
    /// Octets in each tenth of a second since the run's start.
    bins: Vec<u64>,
}

impl Findings {
    /// Reads what a browser sends.
    ///
    /// # Errors
    /// One line, when it is no finding of this plan's streams.
    pub(crate) fn read(text: &str, plan: &Plan, streams: &[StreamPlan]) -> Result<Self, String> {
        let mut found: Self = serde_json::from_str(text)
            .map_err(|error| format!("these are no findings: {error}"))?;
        found.agent = plain(&found.agent, LONGEST_AGENT);
        found.failures.truncate(MOST_FAILURES);
        for failure in &mut found.failures {
            *failure = plain(failure, LONGEST_FAILURE);
        }
        let is = |id: u16, kind| streams.iter().any(|s| s.id == id && s.kind == kind);
        let call = found.call.as_ref();
        let is_right = found.samples.len() <= MOST_SAMPLES
            && call.is_none_or(|call| call.sent.len().max(call.heard.len()) <= MOST_SAMPLES)
            && call.is_none_or(|_| streams.iter().any(|s| s.kind == Kind::CallUp))
            && found.down.iter().all(|of| {
                is(of.stream, Kind::Down)
                    && of.bins.len() <= MOST_BINS
                    && of.bins.iter().all(|octets| *octets <= MOST_OCTETS)
            })
            && found.up.iter().all(|(id, _)| is(*id, Kind::Up))
            && page_loads::are_right(&found.pages)
            && found.times().all(|ms| is_within(ms, plan.total()));
        if is_right {
            Ok(found)
        } else {
            Err("these findings are not of this run".to_owned())
        }
    }

    fn times(&self) -> impl Iterator<Item = f64> {
        let asked = self.samples.iter();
        let asked = asked.flat_map(|Asked(sent, rtt, far)| [Some(*sent), *rtt, *far]);
        let opened = self.down.iter().map(|of| of.opened);
        let opened = opened.chain(self.up.iter().map(|(_, at)| *at));
        let call = self.call.iter().flat_map(|call| {
            let heard = call.heard.iter().map(|(_, at)| *at);
            call.sent.iter().flatten().copied().chain(heard)
        });
        let pages = page_loads::times(&self.pages);
        asked.flatten().chain(opened).chain(call).chain(pages)
    }

    /// The browser's end of the call.
    pub(crate) fn call(&mut self) -> Option<CallEnd> {
        let call = self.call.take()?;
        Some(CallEnd {
            sent: call.sent.iter().map(|at| at.map(nanos)).collect(),
            heard: call
                .heard
                .iter()
                .map(|(seq, at)| (*seq, nanos(*at)))
                .collect(),
        })
    }

    /// Octets of each stream from the server.
    pub(crate) fn received(&self) -> impl Iterator<Item = (u16, u64)> {
        let sum = |of: &Received| {
            of.bins
                .iter()
                .fold(0_u64, |sum, bin| sum.saturating_add(*bin))
        };
        self.down.iter().map(move |of| (of.stream, sum(of)))
    }

    /// Into the tables of a run; what went wrong is returned.
    pub(crate) fn enter(self, streams: &[StreamPlan], tables: &mut Tables) -> Vec<String> {
        for (id, at) in &self.up {
            tables.opened(*id, nanos(*at));
        }
        for received in &self.down {
            tables.opened(received.stream, nanos(received.opened));
            received.series().for_each(|row| tables.series(row));
        }
        let probe = streams.iter().find(|stream| stream.kind.is_of_browsers());
        for ((seq, asked), stream) in (0..).zip(&self.samples).zip(probe.into_iter().cycle()) {
            tables.sample(asked.sample(stream.id, seq));
        }
        if let Some(stream) = probe {
            tables.opened(stream.id, 0);
        }
        self.failures
    }
}

impl Received {
    fn series(&self) -> impl Iterator<Item = Series> {
        let width = kit::stream::nanos(BIN);
        (1..).zip(&self.bins).map(move |(number, octets)| Series {
            t_ns: number * width,
            bin_ns: width,
            stream: self.stream,
            direction: "down".into(),
            end: "client".into(),
            delivered_bytes: Some(*octets),
            ..Series::default()
        })
    }
}

impl Asked {
    fn sample(&self, stream: u16, seq: u64) -> Sample {
        let Self(sent, rtt, far) = self;
        let returned = rtt.map(|rtt| sent + rtt);
        Sample {
            t_ns: nanos(*sent),
            stream,
            seq,
            rtt_ns: rtt.map(nanos),
            owd_up_ns: far.map(|far| delay_ns(*sent, far)),
            owd_down_ns: far.zip(returned).map(|(far, back)| delay_ns(far, back)),
            lost: rtt.is_none(),
            clock: "user".into(),
            ..Sample::default()
        }
    }
}

/// Whether a time can be of a run that takes `total`: replies may come late, clocks be apart.
fn is_within(ms: f64, total: Duration) -> bool {
    let most = (total + total).as_secs_f64() * 1e3;
    ms.is_finite() && (-most..=most).contains(&ms)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "checked to be finite and short"
)]
fn delay_ns(from_ms: f64, to_ms: f64) -> i64 {
    ((to_ms - from_ms) * 1e6) as i64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be finite and short; what is before the start is at the start"
)]
fn nanos(ms: f64) -> u64 {
    (ms * 1e6) as u64
}

/// Foreign words in a record of ours: short, and nothing that moves a cursor.
pub(crate) fn plain(text: &str, most: usize) -> String {
    let plain = text.chars().filter(|c| !c.is_control());
    plain.take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call;
    use crate::plan::{Carrier, plan, streams};
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Findings, String> {
        let plan = plan(Carrier::Datagrams);
        Findings::read(text, &plan, &streams(&plan, 4))
    }

    #[test]
    fn what_a_browser_has_seen_becomes_rows() {
        let text = r#"{"agent": "Browser\u001b[2J/1", "samples": [[0.5, 20.25, 110.5], [40, null, null]],
            "down": [{"stream": 0, "opened": 4001.5, "bins": [0, 125000]}], "up": [[1, 4002]], "failures": ["x"]}"#;
        let found = read(text).unwrap();
        assert_eq!(found.agent, "Browser[2J/1");
        let all = streams(&plan(Carrier::WebSocket), 4);
        let mut tables = Tables::new(&all, None);
        assert_eq!(found.enter(&all, &mut tables), ["x"]);
        let [first, lost] = &tables.samples[..] else {
            panic!("{:?}", tables.samples)
        };
        assert_eq!((first.t_ns, first.rtt_ns), (500_000, Some(20_250_000)));
        // By clocks that are 100 ms apart.
        assert_eq!(
            (first.owd_up_ns, first.owd_down_ns),
            (Some(110_000_000), Some(-89_750_000))
        );
        assert!(lost.lost && lost.rtt_ns.is_none() && lost.seq == 1);
        let [empty, full] = &tables.series[..] else {
            panic!("{:?}", tables.series)
        };
        assert_eq!((empty.t_ns, empty.delivered_bytes), (100_000_000, Some(0)));
        assert_eq!(
            (full.t_ns, full.delivered_bytes),
            (200_000_000, Some(125_000))
        );
        assert_eq!(tables.streams[0].connected_ns, Some(4_001_500_000));
    }

    #[test]
    fn loads_of_a_page_become_rows_and_one_that_its_phase_cut_off_says_so() {
        let text = r#"{"agent": "", "samples": [], "down": [], "up": [], "pages": [
            {"started": 4000.5, "first_byte": 50, "loaded": 300, "error": null, "spent": 300, "objects": [
                {"object": 0, "found": 0, "connect": 20, "wait": 22, "receive": 1, "total": 51, "bytes": 18000, "status": 200},
                {"object": 5, "found": 60, "blocked": 2, "wait": 22, "receive": 4, "total": 30, "bytes": 28000}]},
            {"started": 20000, "spent": 900, "objects": [{"object": 0, "found": 0, "bytes": 0}]},
            {"started": 20900, "spent": 5, "error": "no\u0007 page", "objects": []}]}"#;
        let found = read(text).unwrap();
        let mut tables = Tables::new(&[], None);
        page_loads::enter(&found.pages, 9, "here", &mut tables);
        let [whole, cut, failed] = &tables.pages[..] else {
            panic!("{:?}", tables.pages)
        };
        assert_eq!(
            (whole.t_ns, whole.load_ns),
            (4_000_500_000, Some(300_000_000))
        );
        assert_eq!((whole.stream, whole.objects, whole.bytes), (9, 2, 46_000));
        assert_eq!(
            (&*whole.loader, &*whole.page, &whole.error),
            ("browser", "small", &None)
        );
        assert_eq!((cut.load_ns, cut.objects, cut.failed), (None, 0, 1));
        assert_eq!(cut.error.as_deref(), Some(rrul::summary::CUT_OFF));
        assert_eq!(failed.error.as_deref(), Some("no page"));
        let picture = &tables.objects[1];
        assert_eq!(
            (&*picture.kind, &*picture.path, picture.t_ns),
            ("image", "/5.gif", 4_060_500_000)
        );
    }

    #[test]
    fn what_cannot_be_of_this_run_is_refused() {
        for text in [
            "",
            "{}",
            r#"{"agent": "", "samples": [], "down": [], "up": [], "more": 1}"#,
            r#"{"agent": "", "samples": [[1e300, 1, 1]], "down": [], "up": []}"#,
            r#"{"agent": "", "samples": [], "down": [{"stream": 1, "opened": 0, "bins": []}], "up": []}"#,
            r#"{"agent": "", "samples": [], "down": [], "up": [[0, 1]]}"#,
            r#"{"agent": "", "samples": [], "down": [{"stream": 0, "opened": 0, "bins": [18446744073709551615]}], "up": []}"#,
            r#"{"agent": "", "samples": [], "down": [], "up": [], "call": {"sent": [1e300], "heard": []}}"#,
            r#"{"agent": "", "samples": [], "down": [], "up": [], "pages": [{"started": 0, "spent": -1, "objects": []}]}"#,
            r#"{"agent": "", "samples": [], "down": [], "up": [], "pages": [{"started": 0, "spent": 1, "objects": [{"object": 99, "found": 0, "bytes": 0}]}]}"#,
            r#"{"agent": "", "samples": [], "down": [], "up": [], "call": {"sent": [], "heard": [[4294967296, 1]]}}"#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_findings_panic(sent in any::<f64>(), rtt in any::<Option<f64>>(), far in any::<Option<f64>>(), seq in any::<u32>(), text in ".{0,40}") {
            let plan = plan(Carrier::Datagrams);
            let all = streams(&plan, 6);
            let told = serde_json::json!({ "agent": text, "samples": [[sent, rtt, far]], "down": [], "up": [],
                "call": { "sent": [sent, rtt], "heard": [[seq, sent]] } });
            if let Ok(mut found) = read(&told.to_string()) {
                let mut tables = Tables::new(&all, None);
                let end = found.call().unwrap();
                call::enter(&end, &end, &all, &mut tables);
                found.enter(&all, &mut tables);
                rrul::summary::summarise(&plan, &tables);
            }
            prop_assert!(read(&text).is_err());
        }
    }
}
