//! What the reader of a record should be warned of, each with what to do about it.

use super::run::{Ending, Outcome};
use super::stream::{self, DRAIN};
use super::summary::Summary;
use super::tables::Tables;
use record::{Instrument, Warning};
use std::collections::BTreeSet;
use std::time::Duration;
use units::TrafficClass;

/// A host whose processors were busier than this under load, on average, could not have driven the test any faster.
const SATURATED_PCT: f64 = 95.0;
/// A host that lost more than this to its hypervisor was not there when it should have been.
const STOLEN_PCT: f64 = 10.0;
/// A host that had to wait for its quota in this share of all periods could not do what it wanted when it wanted.
const THROTTLED_PCT: f64 = 10.0;
/// A host that is later than this at every tenth look has not the time to measure (its probes wait as long).
const HOST_LATE_MS: f64 = 20.0;
/// An emulator later than this (99th percentile) has measured itself.
const EMULATOR_LATE_MS: f64 = 10.0;
/// A path without a single reply for this long, and for this many of the longest round trips, was cut.
const STILL: Duration = Duration::from_secs(2);
const STILL_ROUND_TRIPS: u32 = 2;
/// The specification's limit on the distance of the server.
const FAR_MS: f64 = 80.0;

/// All warnings of a run.
pub(crate) fn warnings(
    outcome: &Outcome,
    instrument: &Instrument,
    summary: &Summary,
) -> Vec<Warning> {
    let mut list = List::default();
    list.ending(outcome);
    list.missing(outcome, summary);
    list.server(outcome);
    list.processors(instrument);
    list.lateness(instrument);
    list.throttled(outcome);
    list.emulator(summary);
    list.standstill(outcome);
    list.path(outcome, summary);
    list.0
}

#[derive(Default)]
struct List(Vec<Warning>);

impl List {
    fn add(&mut self, code: &str, message: String, advice: &str) {
        self.0.push(Warning {
            code: code.to_owned(),
            message,
            advice: advice.to_owned(),
        });
    }

    /// How the run and its streams ended.
    fn ending(&mut self, outcome: &Outcome) {
        match &outcome.ending {
            Ending::Complete => {}
            Ending::Interrupted => self.add(
                "interrupted",
                "the run was interrupted: the figures are of the time before".to_owned(),
                "run it again to the end",
            ),
            Ending::Lost(reason) => self.add(
                "server_lost",
                format!("the server was lost ({reason}): the figures are of the time before"),
                "see whether 'isobath serve' still runs there, and run again",
            ),
        }
        for failure in &outcome.failures {
            self.add(
                "stream_failed",
                failure.clone(),
                "the other streams were measured; run again",
            );
        }
    }

    /// What was planned and did not take place.
    fn missing(&mut self, outcome: &Outcome, summary: &Summary) {
        let (streams, samples) = (&outcome.tables.streams, &outcome.tables.samples);
        let rates = &summary.throughput_mbps;
        for (direction, rate) in [("down", rates.down), ("up", rates.up)] {
            let load =
                |s: &record::tables::Stream| s.kind == "tcp_load" && s.direction == direction;
            if streams.iter().any(load) && rate.is_none_or(|rate| rate <= 0.0) {
                self.add(
                    "no_load",
                    format!("no TCP load went {direction}: the path was not full"),
                    "see whether a firewall lets TCP through to the server's port, and run again",
                );
            }
        }
        let udp = |id| streams.iter().any(|s| s.id == id && s.kind == "udp_rr");
        let has_udp = streams.iter().any(|stream| stream.kind == "udp_rr");
        self.unheard(outcome);
        let mut answered = samples.iter().filter(|sample| sample.rtt_ns.is_some());
        if has_udp && !answered.any(|sample| udp(sample.stream)) {
            self.add(
                "udp_unanswered",
                "no UDP probe was answered: UDP does not pass to the server's port".to_owned(),
                "let UDP through to the same port as TCP, and run again",
            );
        }
    }

    /// Pages, calls and look-ups of which nothing came.
    fn unheard(&mut self, outcome: &Outcome) {
        let tables = &outcome.tables;
        if !tables.pages.is_empty() && tables.pages.iter().all(|load| load.load_ns.is_none()) {
            let reason = tables.pages.iter().find_map(|load| load.error.as_deref());
            self.add(
                "pages_failed",
                format!("no page was loaded: {}", reason.unwrap_or("none was finished")),
                "the other figures are of the run; try again with a smaller --page or a longer --duration",
            );
        }
        let heard = |stream: &record::tables::Stream| {
            let mut samples = tables.samples.iter().filter(|s| s.stream == stream.id);
            samples.any(|sample| !sample.lost)
        };
        for (kind, code, what) in [
            ("voip", "calls_unheard", "no datagram of the call arrived"),
            ("dns", "dns_unanswered", "no look-up was answered"),
        ] {
            let silent = tables
                .streams
                .iter()
                .filter(|s| s.kind == kind && !heard(s));
            let names: Vec<&str> = silent.map(|stream| stream.name.as_str()).collect();
            // Calls up are heard at the far end, whose side may be missing.
            if !names.is_empty() && !outcome.far.is_empty() {
                self.add(
                    code,
                    format!("{what}: {}", names.join(", ")),
                    "see whether a firewall lets UDP through, both ways, to the server's port",
                );
            }
        }
    }

    /// What the far end could not keep up with.
    fn server(&mut self, outcome: &Outcome) {
        let refused: u64 = outcome.far.iter().map(|far| far.refused).sum();
        let rows_lost: u64 = outcome.far.iter().map(|far| far.rows_lost).sum();
        if refused > 0 {
            self.add(
                "server_refused",
                format!(
                    "the server did not answer {refused} datagrams above its limit: they count as lost"
                ),
                "use a plan with fewer probes or longer gaps, or a server with a key",
            );
        }
        if rows_lost > 0 {
            self.add(
                "server_rows_lost",
                format!("the server kept no more rows after a while: {rows_lost} are missing"),
                "use a shorter run or fewer streams",
            );
        }
    }

    fn processors(&mut self, instrument: &Instrument) {
        for cpu in &instrument.cpu {
            if cpu.mean_pct >= SATURATED_PCT {
                self.add(
                    "cpu_saturated",
                    format!(
                        "the {}'s processors were {:.0} % busy under load",
                        cpu.host, cpu.mean_pct
                    ),
                    "use a faster host or fewer streams: this run measured the host, not the path",
                );
            }
            if cpu.steal_pct >= STOLEN_PCT {
                self.add(
                    "cpu_stolen",
                    format!(
                        "the {}'s hypervisor took {:.0} % of its time",
                        cpu.host, cpu.steal_pct
                    ),
                    "use a host that is not shared: this run measured the host, not the path",
                );
            }
        }
    }

    /// A host whose quota of processor time is used up stands still until the next period, however short that is.
    fn throttled(&mut self, outcome: &Outcome) {
        for host in ["client", "server"] {
            let rows = outcome.tables.cpu.iter().filter(|row| row.host == host);
            let shares: Vec<f64> = rows.filter_map(|row| row.throttled_pct).collect();
            let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
            if mean >= THROTTLED_PCT {
                self.add(
                    "cpu_throttled",
                    format!("the {host} had used up its quota of processor time in {mean:.0} % of all periods"),
                    "give it more, or measure with fewer streams: this run measured the quota, not the path",
                );
            }
        }
    }

    /// A host that had not the processor time it needed woke up late, however idle its other processors were.
    fn lateness(&mut self, instrument: &Instrument) {
        for late in &instrument.lateness {
            if late.late_us.p90 >= HOST_LATE_MS * 1e3 {
                let host = late.of.split(' ').next().unwrap_or(&late.of);
                self.add(
                    "host_late",
                    format!(
                        "the {host} was {:.0} ms late (90th percentile): it did not get the processor time it needed",
                        late.late_us.p90 / 1e3
                    ),
                    "use a faster host, or one that does less: this run measured the host, not the path",
                );
            }
        }
    }

    fn emulator(&mut self, summary: &Summary) {
        let late = summary
            .lab
            .iter()
            .map(|link| link.emulator_late_p99_us / 1e3);
        let late = late.fold(0.0, f64::max);
        if late >= EMULATOR_LATE_MS {
            self.add(
                "emulator_late",
                format!("the emulated links were {late:.0} ms late (99th percentile)"),
                "'isobath lab calibrate' tells what this machine can emulate; use a slower lab",
            );
        }
        let unwritten: u64 = summary.lab.iter().map(|link| link.unwritten).sum();
        if unwritten > 0 {
            self.add(
                "emulator_lost",
                format!("the emulator could not hand {unwritten} packets back to the kernel"),
                "they are missing from what was delivered; run again on a quieter machine",
            );
        }
    }

    /// The longest time in which no UDP probe was answered, if that is no queue.
    fn standstill(&mut self, outcome: &Outcome) {
        let answered = outcome
            .tables
            .samples
            .iter()
            .filter(|s| s.owd_up_ns.is_some());
        let times = answered.filter_map(|s| Some((s.t_ns + s.rtt_ns?, s.rtt_ns?)));
        let (mut arrivals, rtts): (Vec<u64>, Vec<u64>) = times.unzip();
        // What stopped and did not come back has no second arrival: the end of the run stands for it.
        if matches!(outcome.ending, Ending::Complete) && !arrivals.is_empty() {
            let times = outcome.tables.series.iter().map(|row| row.t_ns);
            arrivals.extend(
                times
                    .max()
                    .map(|end| end.saturating_sub(stream::nanos(DRAIN))),
            );
        }
        arrivals.sort_unstable();
        // One request is in flight at a time, so a long queue alone makes gaps of one round trip.
        let longest = Duration::from_nanos(rtts.into_iter().max().unwrap_or_default());
        let least = STILL.max(longest * STILL_ROUND_TRIPS);
        let gaps = arrivals.windows(2).map(|pair| (pair[1] - pair[0], pair[0]));
        if let Some((gap, from)) = gaps
            .max()
            .filter(|(gap, _)| Duration::from_nanos(*gap) > least)
        {
            let seconds = |ns: u64| ns as f64 / 1e9;
            self.add(
                "path_stood_still",
                format!(
                    "no probe was answered for {:.1} s, from {:.1} s of the run on: the path was cut",
                    seconds(gap),
                    seconds(from)
                ),
                "the record has all of it; run again when the path is whole",
            );
        }
    }

    fn path(&mut self, outcome: &Outcome, summary: &Summary) {
        if let Some(idle) = summary.latency_ms.idle.filter(|idle| idle.p50 > FAR_MS) {
            self.add(
                "distance",
                format!(
                    "the server is {:.0} ms away: RRUL is specified for at most {FAR_MS:.0} ms",
                    idle.p50
                ),
                "read the figures as they are, or use a nearer server",
            );
        }
        if let Some(message) = changed_marks(&outcome.tables) {
            self.add(
                "dscp_changed",
                message,
                "classification does not survive this path",
            );
        }
    }
}

/// Which classes did not arrive as they were sent.
fn changed_marks(tables: &Tables) -> Option<String> {
    let dscp = |octet: u8| TrafficClass::from_octet(octet).dscp;
    let mut changed = BTreeSet::new();
    for sample in &tables.samples {
        for (way, seen) in [("up", sample.tos_seen_far), ("down", sample.tos_seen_near)] {
            let seen = seen.filter(|seen| dscp(*seen) != dscp(sample.tos_sent));
            changed.extend(seen.map(|seen| {
                format!(
                    "{} arrives as {} ({way})",
                    dscp(sample.tos_sent),
                    dscp(seen)
                )
            }));
        }
    }
    let handshakes = tables.streams.iter().filter_map(|stream| {
        let seen = dscp(*tables.class_seen.get(&stream.id)?).to_string();
        (seen != stream.class).then(|| format!("{} arrives as {seen} (up)", stream.class))
    });
    changed.extend(handshakes);
    let list: Vec<_> = changed.into_iter().collect();
    (!list.is_empty()).then(|| list.join(", "))
}
