//! What the reader of a record should be warned of, each with what to do about it.

use super::run::Outcome;
use super::streams::{Common, StreamPlan};
use super::tables::Tables;
use kit::ending::Ending;
use kit::stream::DRAIN;
use kit::warnings::List;
use record::{Instrument, Warning};
use schema::rrul::plan::Switch;
use schema::rrul::{Estimate, Plan, Summary};
use std::collections::BTreeSet;
use std::time::Duration;
use units::TrafficClass;

/// A path without a single reply for this long, and for this many of the longest round trips, was cut.
const STILL: Duration = Duration::from_secs(2);
const STILL_ROUND_TRIPS: u32 = 2;
/// The specification's limit on the distance of the server.
const FAR_MS: f64 = 80.0;

/// A load that counts for less than this many seconds says little.
const LEAST_LOADED_S: f64 = 5.0;
/// Probes and calls that take more than this share of what the path carries load it themselves.
const HEAVY: f64 = 0.25;
/// A load by UDP below this share of its rate is not the load that was planned.
const SLOW: f64 = 0.95;
/// A call without more than this share of its datagrams is not the call that was planned.
const UNSENT: f64 = 0.01;

/// All warnings of a run.
pub fn warnings(
    plan: &Plan,
    outcome: &Outcome,
    instrument: &Instrument,
    summary: &Summary,
) -> Vec<Warning> {
    let mut list = List::default();
    endings(&mut list, outcome);
    missing(&mut list, plan, outcome, summary);
    server(&mut list, outcome);
    list.instrument(instrument, &outcome.tables.cpu, &summary.lab);
    standstill(&mut list, outcome);
    path(&mut list, outcome, summary);
    without_ecn(&mut list, plan, summary);
    heavy(&mut list, summary);
    if matches!(outcome.ending, Ending::Complete) {
        short(&mut list, summary);
    }
    list.0
}

/// How the run and its streams ended.
fn endings(list: &mut List, outcome: &Outcome) {
    list.ending(&outcome.ending, "the figures are of the time before");
    for failure in &outcome.failures {
        list.add(
            "stream_failed",
            failure.clone(),
            "the other streams were measured; run again",
        );
    }
}

/// What was planned and did not take place.
fn missing(list: &mut List, plan: &Plan, outcome: &Outcome, summary: &Summary) {
    let (streams, samples) = (&outcome.tables.streams, &outcome.tables.samples);
    let rates = &summary.throughput_mbps;
    for (direction, rate) in [("down", rates.down), ("up", rates.up)] {
        let load = |s: &schema::tables::Stream| s.is_load() && s.direction == direction;
        if streams.iter().any(load) && rate.is_none_or(|rate| rate <= 0.0) {
            list.add(
                "no_load",
                format!("no load went {direction}: the path was not full"),
                "see whether a firewall lets TCP, and UDP for QUIC and UDP, through to the server's port, and run again",
            );
        }
    }
    let is = |kind: &str, id| streams.iter().any(|s| s.id == id && s.kind == kind);
    let answered = |kind: &str| {
        let mut answered = samples.iter().filter(|sample| sample.rtt_ns.is_some());
        answered.any(|sample| is(kind, sample.stream))
    };
    let silent = |kind: &str| streams.iter().any(|s| s.kind == kind) && !answered(kind);
    unheard(list, outcome);
    few_pages(list, summary);
    unsent(list, outcome);
    udp_load(list, outcome);
    if matches!(outcome.ending, Ending::Complete) {
        slow_senders(list, plan, &outcome.tables.streams);
    }
    if silent("udp_rr") {
        list.add(
            "udp_unanswered",
            "no UDP probe was answered: UDP does not pass to the server's port".to_owned(),
            "let UDP through to the same port as TCP, and run again",
        );
    }
    if silent("icmp_rr") {
        list.add(
            "echo_unanswered",
            "no ICMP echo was answered: a firewall does not let it through".to_owned(),
            "the load was measured; let ICMP through for round trips beside it",
        );
    }
    if silent("tcp_connect") {
        list.add(
            "echo_unanswered",
            "no attempt to connect was answered: a firewall drops them".to_owned(),
            "the load was measured; run as root, so that ICMP may be used for round trips beside it",
        );
    }
}

/// Loads by UDP of which nothing came, or that were not what was planned.
fn udp_load(list: &mut List, outcome: &Outcome) {
    let tables = &outcome.tables;
    let loads = || tables.streams.iter().filter(|s| s.kind == "udp_load");
    let of = |streams: Vec<&schema::tables::Stream>| {
        let names: Vec<_> = streams.iter().map(|stream| stream.name.as_str()).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    // What came up is counted at the far end, whose side may be missing.
    let is_known = |s: &schema::tables::Stream| s.direction == "down" || !outcome.far.is_empty();
    let is_silent = |s: &&schema::tables::Stream| is_known(s) && s.total_bytes.unwrap_or(0) == 0;
    if let Some(names) = of(loads().filter(is_silent).collect()) {
        list.add(
            "udp_load_unheard",
            format!("nothing of the load by UDP arrived: {names}"),
            "let UDP through to the same port as TCP, and run again",
        );
    }
    if tables.overflows > 0 {
        list.add(
            "udp_load_overflow",
            format!(
                "{} datagrams of the load by UDP found no room in this host: they are not the path's loss, which is not told",
                tables.overflows
            ),
            "raise net.core.rmem_max to 4194304, or take a lower rate",
        );
    }
}

/// Loads by UDP that their hosts did not send at their rates.
fn slow_senders(list: &mut List, plan: &Plan, streams: &[schema::tables::Stream]) {
    let common = Common {
        families: &[],
        cc: None,
    };
    let slow = StreamPlan::all(plan, &common)
        .into_iter()
        .filter_map(|planned| {
            let stream = streams.iter().find(|stream| stream.id == planned.id)?;
            let rate = planned.rate.filter(|_| stream.kind == "udp_load")?;
            let seconds = planned.stop.saturating_sub(planned.start).as_secs_f64();
            let [sent, rate] = [
                stream.sent_bytes? as f64 * 8e-6 / seconds,
                rate.as_bps() as f64 * 1e-6,
            ];
            let name = &stream.name;
            (sent < SLOW * rate).then(|| format!("{name} sent {sent:.2} of {rate:.2} Mbit/s"))
        });
    let slow: Vec<_> = slow.collect();
    if !slow.is_empty() {
        list.add(
            "udp_load_slow",
            format!("a host could not send a load by UDP at its rate: {}", slow.join(", ")),
            "loss is told of what was sent; take a rate that the host's interface carries, or close other programs on that host",
        );
    }
}

/// Pages, calls and look-ups of which nothing came.
fn unheard(list: &mut List, outcome: &Outcome) {
    let tables = &outcome.tables;
    if !tables.pages.is_empty() && tables.pages.iter().all(|load| load.load_ns.is_none()) {
        let reason = tables.pages.iter().find_map(|load| load.error.as_deref());
        list.add(
            "pages_failed",
            format!("no page was loaded: {}", reason.unwrap_or("none was finished")),
            "the other figures are of the run; try again with a smaller --page or a longer --duration",
        );
    }
    let heard = |stream: &schema::tables::Stream| {
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
            list.add(
                code,
                format!("{what}: {}", names.join(", ")),
                "see whether a firewall lets UDP through, both ways, to the server's port",
            );
        }
    }
}

/// Means of pages that say little.
fn few_pages(list: &mut List, summary: &Summary) {
    let Some(web) = &summary.web else { return };
    // As the summary chooses whose figures are the run's.
    let loader = web.by_loader.get("chromium");
    let Some(pages) = loader.or_else(|| web.by_loader.values().next()) else {
        return;
    };
    let phases = [
        ("idle", pages.idle_ms, pages.idle_mean_ms),
        ("under load", pages.loaded_ms, pages.loaded_mean_ms),
    ];
    for (when, loads, mean) in phases {
        let Some((loads, mean)) = loads.zip(mean) else {
            continue;
        };
        if let Some(why) = is_vague(loads.n, &mean) {
            let (loads, mean) = (loads.n, mean.mean / 1e3);
            list.add(
                "pages_few",
                format!("the mean time of a page {when}, {mean:.1} s, is that of {loads} that finished{why}"),
                "take the pages' part of the score as a hint; use a longer --duration or a smaller --page",
            );
        }
    }
}

/// Why a mean of `n` loads says little, if it does: there is a single one, or its 95 % interval is wider than itself.
fn is_vague(n: u64, mean: &Estimate) -> Option<String> {
    match mean.ci95 {
        _ if n < 2 => Some(String::new()),
        Some([low, high]) if high - low > mean.mean => Some(format!(
            ", and its 95 % interval is {:.1} to {:.1} s",
            low / 1e3,
            high / 1e3
        )),
        _ => None,
    }
}

/// Calls whose senders did not keep their pace.
fn unsent(list: &mut List, outcome: &Outcome) {
    let (sent, unsent) = outcome.tables.calls_sent();
    if unsent as f64 > UNSENT * (sent + unsent) as f64 {
        list.add(
            "calls_held_up",
            format!(
                "{unsent} of {} datagrams of calls were not sent: their moment had passed before their host got to it",
                sent + unsent
            ),
            "the figures of the calls are without them; close other programs on both hosts, and run again",
        );
    }
}

/// Probes and calls that load the path before the load does.
fn heavy(list: &mut List, summary: &Summary) {
    let (datagrams, load) = (&summary.datagrams_mbps, &summary.throughput_mbps);
    let ways = [
        ("down", datagrams.down, load.wire_down),
        ("up", datagrams.up, load.wire_up),
    ];
    for (way, rates, load) in ways {
        let Some(((idle, loaded), load)) = rates.idle.zip(rates.loaded).zip(load) else {
            continue;
        };
        let carried = load + loaded;
        if idle > HEAVY * carried {
            list.add(
                "probes_load_path",
                format!(
                    "probes and calls alone take {idle:.2} Mbit/s {way}, {:.0} % of the {carried:.2} Mbit/s that this path carries: the idle figures are not those of an idle path",
                    100.0 * idle / carried
                ),
                "take a plan with fewer of them, such as --plan rrul_be",
            );
        }
    }
}

/// A load of which hardly anything counts.
fn short(list: &mut List, summary: &Summary) {
    let (Some(_), Some([from, to])) = (summary.phases.load, summary.phases.loaded) else {
        return;
    };
    let seconds = to - from;
    if seconds < LEAST_LOADED_S {
        list.add(
            "short_load",
            format!(
                "only {seconds:.1} s of the load count: before that TCP looks for the path's rate"
            ),
            "give a longer --duration where the far end takes it (ndt7: 10 s at most); the specification's example has 60 s",
        );
    }
}

/// What the far end could not keep up with.
fn server(list: &mut List, outcome: &Outcome) {
    let refused: u64 = outcome.far.iter().map(|far| far.refused).sum();
    let rows_lost: u64 = outcome.far.iter().map(|far| far.rows_lost).sum();
    if refused > 0 {
        list.add(
            "server_refused",
            format!(
                "the server did not answer {refused} datagrams above its limit: they count as lost"
            ),
            "use a plan with fewer probes or longer gaps, or a server with a key",
        );
    }
    if rows_lost > 0 {
        list.add(
            "server_rows_lost",
            format!("the server kept no more rows after a while: {rows_lost} are missing"),
            "use a shorter run or fewer streams",
        );
    }
}

/// The longest time in which no UDP probe was answered, if that is no queue.
fn standstill(list: &mut List, outcome: &Outcome) {
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
                .map(|end| end.saturating_sub(kit::stream::nanos(DRAIN))),
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
        list.add(
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

fn path(list: &mut List, outcome: &Outcome, summary: &Summary) {
    if let Some(message) = too_far(summary) {
        list.add(
            "distance",
            message,
            "read the figures as they are, or use a nearer server",
        );
    }
    if let Some(message) = changed_marks(&outcome.tables) {
        list.add(
            "dscp_changed",
            message,
            "classification does not survive this path",
        );
    }
}

/// Load streams that were to be ECN-capable and are not.
fn without_ecn(list: &mut List, plan: &Plan, summary: &Summary) {
    if plan.tcp_ecn != Some(Switch::On) {
        return;
    }
    let ways = [("down", &summary.ecn.tcp.down), ("up", &summary.ecn.tcp.up)];
    for (way, marks) in ways {
        let Some(marks) = marks.as_ref().filter(|marks| marks.agreed < marks.streams) else {
            continue;
        };
        list.add(
            "ecn_refused",
            format!(
                "of {} load streams {way} {} are without ECN, which this host asks for: the server or the path does not let it through",
                marks.streams,
                marks.streams - marks.agreed
            ),
            "see whether net.ipv4.tcp_ecn of the server is 0, and what clears the flags of TCP on the way",
        );
    }
}

/// How far away the server is, if that is too far for the specification.
fn too_far(summary: &Summary) -> Option<String> {
    let idle = summary.latency_ms.idle.filter(|idle| idle.p50 > FAR_MS)?;
    Some(format!(
        "the server is {:.0} ms away: RRUL is specified for at most {FAR_MS:.0} ms",
        idle.p50
    ))
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

#[cfg(test)]
mod tests {
    use super::*;
    use record::Distribution;
    use schema::rrul::{LoaderFigures, WebFigures};

    /// Holds rrul/length.
    #[test]
    fn a_load_of_which_little_counts_is_warned_of() {
        let warned = |loaded: [f64; 2]| {
            let mut summary = Summary::default();
            summary.phases.load = Some([13.0, 16.0]);
            summary.phases.loaded = Some(loaded);
            let mut list = List::default();
            short(&mut list, &summary);
            list.0.len()
        };
        assert_eq!((warned([15.6, 16.0]), warned([15.6, 75.6])), (1, 0));
    }

    #[test]
    fn a_host_that_sends_less_by_udp_than_planned_is_told() {
        let plan = crate::catalogue::parse(
            "summary = 'test'
             duration = '10s'
             load = [{ direction = 'both', transport = 'udp', rate = '8Mbit' }]",
            "test",
        )
        .unwrap();
        let common = Common {
            families: &[4],
            cc: None,
        };
        let warned = |sent: [Option<u64>; 2]| {
            let streams = StreamPlan::all(&plan, &common).into_iter().zip(sent);
            let streams: Vec<_> = streams
                .map(|(stream, sent_bytes)| schema::tables::Stream {
                    id: stream.id,
                    name: stream.name.clone(),
                    kind: stream.label().into(),
                    sent_bytes,
                    ..schema::tables::Stream::default()
                })
                .collect();
            let mut list = List::default();
            slow_senders(&mut list, &plan, &streams);
            list.0
                .iter()
                .map(|warning| warning.message.clone())
                .collect::<Vec<_>>()
        };
        // Ten seconds at 1 MB/s.
        assert!(warned([Some(10_000_000), Some(9_600_000)]).is_empty());
        assert!(warned([None, None]).is_empty());
        let told = warned([Some(4_000_000), Some(10_000_000)]);
        assert!(
            told.len() == 1 && told[0].ends_with("sent 3.20 of 8.00 Mbit/s"),
            "{told:?}"
        );
    }

    #[test]
    fn means_of_pages_that_say_little_are_warned_of() {
        let of = |idle: &[f64], ci95| {
            let mut list = List::default();
            let of = Distribution::of(idle.iter().copied());
            let pages = LoaderFigures {
                idle_ms: of,
                idle_mean_ms: of.map(|of| Estimate {
                    mean: of.mean,
                    ci95,
                    ..Estimate::default()
                }),
                ..LoaderFigures::default()
            };
            let web = WebFigures {
                by_loader: [("native h2".to_owned(), pages)].into(),
                ..WebFigures::default()
            };
            let summary = Summary {
                web: Some(web),
                ..Summary::default()
            };
            few_pages(&mut list, &summary);
            list.0.into_iter().next().map(|warning| warning.message)
        };
        assert_eq!(of(&[790.0, 800.0, 810.0], Some([775.0, 825.0])), None);
        assert_eq!(of(&[], None), None, "another warning says so");
        assert!(of(&[800.0], None).is_some());
        let wide = of(&[1_268.0, 1_501.0], Some([-87.0, 2_856.0])).unwrap();
        assert!(
            wide.contains("1.4 s, is that of 2") && wide.ends_with("-0.1 to 2.9 s"),
            "{wide}"
        );
    }

    /// Holds rrul/distance.
    #[test]
    fn a_server_beyond_80_ms_is_warned_of_and_a_nearer_one_is_not() {
        let mut summary = Summary::default();
        assert_eq!(too_far(&summary), None);
        summary.latency_ms.idle = Distribution::of([80.0]);
        assert_eq!(too_far(&summary), None);
        summary.latency_ms.idle = Distribution::of([81.0]);
        assert!(too_far(&summary).unwrap().contains("81 ms away"));
    }
}
