//! Under which of Flent's tests a record goes out.
//!
//! A plan that has the name of a test with a known layout keeps it. Any other goes by what its load is like:
//!
//! | load | test |
//! |---|---|
//! | none | `ping` |
//! | both directions, several classes | `rrul` |
//! | both directions, one class, one stream each way | `tcp_bidirectional` |
//! | both directions, one class | `rrul_be` |
//! | one direction, one stream | `tcp_upload`, `tcp_download` |
//! | one direction | `tcp_nup`, `tcp_ndown` |

use record::Run;
use schema::tables::Stream;
use std::collections::BTreeSet;

/// How a test names its series.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Layout {
    /// One series a class and direction, `TCP upload BK`; round trips `Ping (ms) UDP BK`; sums and means.
    Classes,
    /// The same with numbered streams, `TCP upload BE2`; round trips `Ping (ms) UDP BE1`.
    BestEffort,
    /// Loads as in [`BestEffort`](Self::BestEffort), round trips as in [`Classes`](Self::Classes).
    Unclassified,
    /// As [`Classes`](Self::Classes), but best effort and background are `CS0_BE` and `CS1_BK`.
    Selectors,
    /// One series a direction, `TCP upload`; round trips `Ping (ms) ICMP`.
    Single,
    /// One series a stream, `TCP upload::1`; round trips `Ping (ms) ICMP`; sum and mean.
    Numbered,
    /// Round trips `Ping (ms) UDP`.
    Ping,
}

/// The tests of Flent 2.1 whose layout is one of these and whose series are in the classes that we measure.
const KNOWN: &[(&str, Layout)] = &[
    ("rrul", Layout::Classes),
    ("rrul_be", Layout::BestEffort),
    ("rrul_cs8", Layout::Selectors),
    ("rrul_noclassification", Layout::Unclassified),
    ("rrul_up", Layout::Classes),
    ("http", Layout::Single),
    ("http-1up", Layout::Single),
    ("http-1down", Layout::Single),
    ("voip", Layout::Single),
    ("voip-1up", Layout::Single),
    ("tcp_1up", Layout::Single),
    ("tcp_1down", Layout::Single),
    ("tcp_upload", Layout::Single),
    ("tcp_download", Layout::Single),
    ("tcp_bidirectional", Layout::Single),
    ("tcp_nup", Layout::Numbered),
    ("tcp_ndown", Layout::Numbered),
    ("tcp_2up", Layout::Numbered),
    ("tcp_2down", Layout::Numbered),
    ("tcp_4up", Layout::Numbered),
    ("tcp_4down", Layout::Numbered),
    ("tcp_6up", Layout::Numbered),
    ("tcp_6down", Layout::Numbered),
    ("tcp_8up", Layout::Numbered),
    ("tcp_8down", Layout::Numbered),
    ("tcp_12up", Layout::Numbered),
    ("tcp_12down", Layout::Numbered),
    ("ping", Layout::Ping),
];

/// The tests of Flent whose names plans of ours keep.
pub const TESTS: [&str; KNOWN.len()] = {
    let mut names = [""; KNOWN.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = KNOWN[at].0;
        at += 1;
    }
    names
};

/// Where a record goes.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) test: String,
    pub(super) layout: Layout,
    /// What kind of probe stands for the ICMP round trips that this test of Flent has; `None` where it has UDP ones.
    pub(super) stand_in: Option<&'static str>,
    pub(super) note: Option<String>,
}

impl Target {
    /// Whether the test has series of sums and means.
    pub(super) fn has_sums(&self) -> bool {
        !matches!(self.layout, Layout::Single | Layout::Ping)
    }
}

/// Finds the test for a run with those streams.
pub(super) fn choose(run: &Run, streams: &[Stream]) -> Target {
    let plan = run.plan.get("name").and_then(serde_json::Value::as_str);
    let plan = plan.unwrap_or(&run.test);
    let known = KNOWN.iter().find(|(test, _)| *test == plan);
    let &(test, layout) = known.unwrap_or_else(|| by_load(streams));
    let stand_in = match layout {
        Layout::Single | Layout::Numbered => stand_in(streams),
        _ => None,
    };
    let mut notes = Vec::new();
    if known.is_none() {
        notes.push(format!("plan '{plan}' goes out as Flent's test '{test}'"));
    }
    if let Some(kind) = stand_in {
        notes.push(format!("'{ICMP}' holds round trips of {kind}, not of ICMP"));
    }
    if is_summed(layout, streams) {
        notes.push("streams that Flent has one series for are summed".to_owned());
    }
    Target {
        test: test.to_owned(),
        layout,
        stand_in,
        note: (!notes.is_empty()).then(|| notes.join("; ")),
    }
}

/// The series in which Flent's tests of plain TCP have their round trips.
pub(crate) const ICMP: &str = "Ping (ms) ICMP";

fn stand_in(streams: &[Stream]) -> Option<&'static str> {
    let has = |kind: &&str| streams.iter().any(|stream| stream.kind == *kind);
    ["udp_rr", "tcp_rr"].into_iter().find(has)
}

fn loads(streams: &[Stream]) -> impl Iterator<Item = &Stream> {
    streams.iter().filter(|stream| stream.kind == "tcp_load")
}

fn by_load(streams: &[Stream]) -> &'static (&'static str, Layout) {
    let count = |direction| {
        loads(streams)
            .filter(|stream| stream.direction == direction)
            .count()
    };
    let classes: BTreeSet<&str> = loads(streams).map(|stream| stream.class.as_ref()).collect();
    let test = match (count("up"), count("down"), classes.len()) {
        (0, 0, _) => "ping",
        (1, 0, _) => "tcp_upload",
        (0, 1, _) => "tcp_download",
        (_, 0, _) => "tcp_nup",
        (0, _, _) => "tcp_ndown",
        (1, 1, 1) => "tcp_bidirectional",
        (_, _, 1) => "rrul_be",
        (..) => "rrul",
    };
    let found = KNOWN.iter().find(|(known, _)| *known == test);
    found.unwrap_or(&KNOWN[0])
}

/// Whether several load streams share a series.
fn is_summed(layout: Layout, streams: &[Stream]) -> bool {
    let mut seen = BTreeSet::new();
    let named = super::series::load_names(layout, streams);
    named.into_iter().any(|(_, name)| !seen.insert(name))
}
