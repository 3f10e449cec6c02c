//! Table `samples`: round trips, one-way delays and losses, by stream and by class.

use super::clock::{ClockError, value_ns};
use super::{each, marks};
use crate::distribution::{Blocks, Curve, Figures, sorted};
use crate::envelope::{Envelope, Line};
use crate::grid::{Counts, Grid};
use crate::phases::{Phase, Phases};
use record::{Record, Run};
use schema::tables::{Sample, Stream};
use serde::Serialize;
use std::collections::BTreeMap;

/// Losses are counted in bins of this width, or wider ones when the run is long.
pub(crate) const LOSS_BIN_NS: u64 = 100_000_000;
pub(crate) const MOST_LOSS_BINS: usize = 600;
/// Most datagrams of a stream and phase that are looked at for bursts: an hour at 10 ms, with room.
const MOST_BAD: usize = 1 << 20;
/// A stream that says nothing for longer than this, and than its last value, has a gap.
const SILENCE_NS: u64 = 1_000_000_000;

/// What probes found.
#[derive(Serialize)]
pub(crate) struct Probes {
    /// By stream, in the order of their numbers.
    pub(crate) streams: Vec<Probe>,
    /// Streams of a kind, class and direction taken together.
    pub(crate) classes: Vec<Class>,
}

/// One stream of probes.
#[derive(Serialize)]
pub(crate) struct Probe {
    /// As `streams[].id`.
    stream: u16,
    /// Round trip, or of one-way streams the one-way delay, in ms.
    line_ms: Line,
    /// Start of each bin in which any were lost, and how many.
    lost: Counts,
    /// The same for those that came too late.
    late: Counts,
    idle: Option<Found>,
    loaded: Option<Found>,
    #[serde(skip)]
    pub(crate) blocks: BTreeMap<Phase, Blocks>,
}

/// What a stream found in one phase.
#[derive(Serialize)]
struct Found {
    sent: u64,
    lost: u64,
    late: u64,
    ms: Option<Figures>,
    owd_up_ms: Option<Figures>,
    owd_down_ms: Option<Figures>,
    /// Bursts: how many datagrams in a row were lost or late, and how often that happened.
    bursts: Vec<(u64, u64)>,
}

/// Streams of one kind, class and direction.
#[expect(clippy::struct_field_names, reason = "named as in the tables")]
#[derive(Serialize)]
pub(crate) struct Class {
    pub(crate) kind: String,
    pub(crate) class: String,
    pub(crate) direction: String,
    idle: Option<Spread>,
    loaded: Option<Spread>,
}

#[derive(Serialize)]
struct Spread {
    ms: Figures,
    curve: Curve,
}

#[derive(Default)]
struct Tally {
    sent: u64,
    lost: u64,
    late: u64,
    up: Blocks,
    down: Blocks,
    bad: Vec<u64>,
}

struct Collected {
    line: Envelope,
    counts: Grid<&'static str>,
    blocks: BTreeMap<Phase, Blocks>,
    tallies: BTreeMap<Phase, Tally>,
    last: Option<(u64, u64)>,
}

impl Default for Collected {
    fn default() -> Self {
        Self {
            line: Envelope::default(),
            counts: Grid::new(LOSS_BIN_NS, MOST_LOSS_BINS),
            blocks: BTreeMap::new(),
            tallies: BTreeMap::new(),
            last: None,
        }
    }
}

impl Collected {
    fn see(&mut self, row: &Sample, clock: ClockError) {
        let at = (row.t_ns, row.t_ns);
        if row.lost {
            self.counts.add(&"lost", at, 1.0);
            self.line.gap(row.t_ns);
        }
        if row.late {
            self.counts.add(&"late", at, 1.0);
        }
        let Some(value) = value_ns(row, clock) else {
            return;
        };
        if let Some((before, patience)) = self.last
            && row.t_ns.saturating_sub(before) > SILENCE_NS.saturating_add(patience)
        {
            self.line.gap(row.t_ns);
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates; a delay is not below 0"
        )]
        let patience = value as u64;
        self.last = Some((row.t_ns, patience));
        self.line.push(row.t_ns, value / 1e6);
    }

    fn count(&mut self, row: &Sample, clock: ClockError, (phase, share): (Phase, f64)) {
        let tally = self.tallies.entry(phase).or_default();
        tally.sent += 1;
        tally.lost += u64::from(row.lost);
        tally.late += u64::from(row.late);
        if (row.lost || row.late) && tally.bad.len() < MOST_BAD {
            tally.bad.push(row.seq);
        }
        let error = clock.at(row.t_ns);
        if let Some(owd) = row.owd_up_ns {
            tally.up.push(share, (owd as f64 - error) / 1e6);
        }
        if let Some(owd) = row.owd_down_ns {
            tally.down.push(share, (owd as f64 + error) / 1e6);
        }
        if let Some(value) = value_ns(row, clock) {
            self.blocks
                .entry(phase)
                .or_default()
                .push(share, value / 1e6);
        }
    }

    fn found(&mut self, phase: Phase) -> Option<Found> {
        let tally = self.tallies.get_mut(&phase)?;
        tally.bad.sort_unstable();
        Some(Found {
            sent: tally.sent,
            lost: tally.lost,
            late: tally.late,
            ms: self.blocks.get(&phase).and_then(Figures::of_blocks),
            owd_up_ms: Figures::of_blocks(&tally.up),
            owd_down_ms: Figures::of_blocks(&tally.down),
            bursts: bursts(&tally.bad),
        })
    }

    fn probe(mut self, stream: u16) -> Probe {
        Probe {
            stream,
            idle: self.found(Phase::Idle),
            loaded: self.found(Phase::Loaded),
            lost: self.counts.counts(&"lost"),
            late: self.counts.counts(&"late"),
            line_ms: self.line.line(),
            blocks: self.blocks,
        }
    }
}

/// The lengths of runs of consecutive numbers, and how often each occurs.
fn bursts(ascending: &[u64]) -> Vec<(u64, u64)> {
    let mut lengths = BTreeMap::new();
    for burst in ascending.chunk_by(|a, b| a.checked_add(1) == Some(*b)) {
        *lengths.entry(burst.len() as u64).or_insert(0) += 1;
    }
    lengths.into_iter().collect()
}

/// Reads the table. Streams that are not in `streams` (the run was killed before it could write them) are added, as
/// far as their rows tell what they are.
pub(crate) fn read(
    record: &Record,
    run: &Run,
    phases: &Phases,
    streams: &mut Vec<Stream>,
) -> Result<(Probes, Vec<marks::Mark>), record::Error> {
    let clock = ClockError::of(run);
    let mut collected: BTreeMap<u16, Collected> = BTreeMap::new();
    let mut marks = marks::Marks::default();
    each(record, |row: Sample| {
        let of_stream = collected.entry(row.stream).or_insert_with(|| {
            if !streams.iter().any(|stream| stream.id == row.stream) {
                streams.push(guess(&row));
            }
            Collected::default()
        });
        of_stream.see(&row, clock);
        if let Some(at) = phases.at(row.t_ns) {
            of_stream.count(&row, clock, at);
        }
        marks.see(&row);
    })?;
    let found: Vec<Probe> = collected
        .into_iter()
        .map(|(id, of_stream)| of_stream.probe(id))
        .collect();
    let classes = classes(&found, streams);
    Ok((
        Probes {
            streams: found,
            classes,
        },
        marks.all(),
    ))
}

fn guess(row: &Sample) -> Stream {
    let kind = match (row.rtt_ns, row.owd_up_ns, row.owd_down_ns) {
        (None, Some(_), None) | (None, None, Some(_)) => "voip",
        (Some(_), None, None) => "tcp_rr",
        _ => "udp_rr",
    };
    let direction = match (kind, row.owd_up_ns) {
        ("voip", Some(_)) => "up",
        ("voip", None) => "down",
        _ => "both",
    };
    Stream {
        id: row.stream,
        name: format!("stream {}", row.stream),
        kind: kind.into(),
        direction: direction.into(),
        class: marks::dscp(row.tos_sent).into(),
        ..Stream::default()
    }
}

fn classes(probes: &[Probe], streams: &[Stream]) -> Vec<Class> {
    let mut groups: BTreeMap<(&str, &str, &str), Vec<&Probe>> = BTreeMap::new();
    for probe in probes {
        if let Some(stream) = streams.iter().find(|stream| stream.id == probe.stream) {
            // Far ends beside the servers have nothing in common.
            let kind = match &*stream.kind {
                "beside" => &*stream.name,
                kind => kind,
            };
            let key = (kind, &*stream.class, &*stream.direction);
            groups.entry(key).or_default().push(probe);
        }
    }
    let class = |((kind, class, direction), members): ((&str, &str, &str), Vec<&Probe>)| Class {
        kind: kind.to_owned(),
        class: class.to_owned(),
        direction: direction.to_owned(),
        idle: spread(&members, Phase::Idle),
        loaded: spread(&members, Phase::Loaded),
    };
    groups.into_iter().map(class).collect()
}

fn spread(members: &[&Probe], phase: Phase) -> Option<Spread> {
    let blocks: Vec<&Blocks> = members
        .iter()
        .filter_map(|probe| probe.blocks.get(&phase))
        .collect();
    let sorted = sorted(&blocks);
    Some(Spread {
        ms: Figures::of(&sorted, blocks.iter().map(|blocks| blocks.n()).sum())?,
        curve: Curve::of(&sorted),
    })
}

impl Probes {
    /// The blocks of all streams of one kind (and direction, where it is given) in one phase.
    pub(crate) fn blocks(&self, streams: &[Stream], kind: &str, phase: Phase) -> Vec<&Blocks> {
        let is_kind = |id: u16| {
            streams
                .iter()
                .any(|stream| stream.id == id && stream.kind == kind)
        };
        let probes = self.streams.iter().filter(|probe| is_kind(probe.stream));
        probes
            .filter_map(|probe| probe.blocks.get(&phase))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_are_runs_of_consecutive_numbers() {
        assert_eq!(bursts(&[1, 2, 3, 7, 9, 10]), [(1, 1), (2, 1), (3, 1)]);
        assert_eq!(bursts(&[u64::MAX]), [(1, 1)]);
        assert!(bursts(&[]).is_empty());
    }
}
