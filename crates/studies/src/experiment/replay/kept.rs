//! Which vectors are played: those whose connections are over soon enough to be played to their end by every model.
//!
//! Some connections last for minutes because they wait, and a run cannot. Cut at its end, they would have sent less the more
//! of their structure is kept, and the models would be compared under unequal loads. So the vectors that were drawn are
//! *rehearsed*: the control plays them once, over a link that limits nothing, and that run is not counted. What is over
//! within the experiment's `longest` is kept, and all runs play that and nothing else, with as much time and more after the last start.
//!
//! Figures are those of a window, and a connection that begins at its end sends more of its octets after it the longer a model
//! takes. So what is kept is played once *around*: the starts of the window's last part come before it, too, in the warm-up. What
//! these connections bring into the window is what their likes take out of it, and every model carries the same octets in it.

use super::{CONTROL, Extent, Hour, Replays};
use crate::experiment::Bench;
use crate::experiment::pool::{self, Outcome};
use anyhow::{Context as _, ensure};
use kit::pool::child;
use kit::pool::child::OWNER;
use record::Record;
use schema::replay::tables::Connection;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tmix::trace::{Format, Input, Output};
use vectors::{Side, Vector};

/// What was drawn, below the folder of records; the run that rehearses it; and what that leaves.
const DRAWN: &str = "drawn.parquet";
const REHEARSAL: &str = "rehearsal";
const KEPT: &str = "kept.json";

/// Connections, and what their applications sent.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Count {
    pub(super) connections: u64,
    /// Octets of both ends.
    pub(super) octets: u64,
}

impl Count {
    fn enter(&mut self, vector: &Vector) {
        self.connections += 1;
        let octets = Side::BOTH.map(|side| vector.body.bytes(side));
        self.octets = octets.into_iter().fold(self.octets, u64::saturating_add);
    }
}

/// What was drawn, what of it is kept, and what every run plays: the same once around.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Kept {
    pub(super) drawn: Count,
    pub(super) short: Count,
    pub(super) played: Count,
}

impl Kept {
    /// As it was written down.
    pub(super) fn known(bench: &Bench<'_>) -> Option<Self> {
        serde_json::from_str(&bench.read(KEPT)?).ok()
    }
}

/// Draws, rehearses and keeps, as far as that has not been done; whether there is something to play.
pub(super) fn prepare(replays: &Replays, bench: &Bench<'_>) -> anyhow::Result<bool> {
    let extent = replays.extent(bench.scale);
    if replays.is_simulated() {
        // Nothing has to be left out.
        for hour in replays.hours(bench.scale) {
            let seed = hour.seed(bench.seed);
            draw(replays, bench, &hour.vectors(), extent.starts, seed)?;
        }
        return Ok(!bench.is_interrupted());
    }
    if Kept::known(bench).is_some() {
        return Ok(true);
    }
    draw(replays, bench, DRAWN, extent.period(), bench.seed)?;
    let length = extent.period() + extent.longest;
    let times = [length, Duration::ZERO, extent.longest];
    let job = replays.job(
        bench,
        CONTROL,
        REHEARSAL,
        DRAWN,
        times,
        &replays.uncaptured(bench, 0),
    );
    pool::run(bench, &[job]);
    if bench.is_interrupted() {
        return Ok(false);
    }
    let Outcome::Complete(record) = pool::outcome(bench, REHEARSAL) else {
        let what = "the rehearsal does not count, so nobody knows which connections to play";
        bench.display.say(what);
        return Ok(false);
    };
    let kept = keep(&record, extent, bench)?;
    bench.write(KEPT, &serde_json::to_string_pretty(&kept)?)?;
    Ok(kept.played.connections > 0)
}

/// Draws vectors that start within `period`, once, into the file `name`.
fn draw(
    replays: &Replays,
    bench: &Bench<'_>,
    name: &str,
    period: Duration,
    seed: u64,
) -> anyhow::Result<()> {
    let made = bench.folder(name);
    if made.exists() || bench.is_interrupted() {
        return Ok(());
    }
    let draft = draft(bench)?;
    let period = period.as_millis();
    let text = format!(
        "trace synth {}{} --share {} --duration {period}ms --seed {seed} --quiet --out",
        replays.mix,
        // What is played to its end must begin as well.
        if replays.is_simulated() {
            ""
        } else {
            " --cold"
        },
        replays.share()
    );
    let words = text.split_whitespace().map(str::to_owned);
    let arguments: Vec<String> = words.chain([draft.display().to_string()]).collect();
    let mut command = child::command(&arguments, []);
    command.env(OWNER, bench.mark).current_dir(bench.dir);
    let ended = child::run(command, bench.interrupt, &|_| {})?;
    if bench.is_interrupted() {
        return Ok(());
    }
    let said = ended.said.unwrap_or_default();
    ensure!(ended.exit_status == Some(0), "no vectors: {said}");
    fs::rename(&draft, &made).context("no vectors")
}

/// A place for a file that is not whole yet.
fn draft(bench: &Bench<'_>) -> anyhow::Result<PathBuf> {
    let draft = bench.folder("draft.parquet");
    fs::create_dir_all(draft.parent().unwrap_or(&draft))?;
    // What an interrupted run left; there may be nothing.
    let _ = fs::remove_file(&draft);
    Ok(draft)
}

/// Writes the vectors whose connections were over in time.
fn keep(rehearsal: &Record, extent: Extent, bench: &Bench<'_>) -> anyhow::Result<Kept> {
    let rows: Vec<Connection> = rehearsal.rows()?;
    let drawn = by_start(&bench.folder(DRAWN))?;
    let over = over(&rows, extent.longest);
    let mut kept = Kept::default();
    let mut short = Vec::new();
    for (number, vector) in (0..).zip(drawn) {
        kept.drawn.enter(&vector);
        if over.contains(&number) {
            kept.short.enter(&vector);
            short.push(vector);
        }
    }
    let draft = draft(bench)?;
    let mut output = Output::create(&draft, Format::Parquet, true)?;
    for vector in around(short, extent) {
        kept.played.enter(&vector);
        output.vector(vector)?;
    }
    output.finish()?;
    fs::rename(&draft, bench.folder(&Hour::FIRST.vectors())).context("no vectors")?;
    Ok(kept)
}

/// The vectors of a file, in the order by which a replay numbers them.
fn by_start(file: &Path) -> anyhow::Result<Vec<Vector>> {
    let vectors: Result<Vec<Vector>, _> = Input::open(file)?.collect();
    let mut vectors = vectors?;
    vectors.sort_by_key(|vector| vector.start);
    Ok(vectors)
}

/// The vectors of a period after the warm-up, and before them those that would start in it if the period came again and again.
fn around(vectors: Vec<Vector>, extent: Extent) -> Vec<Vector> {
    let pairs = vectors.into_iter().flat_map(|vector| {
        let start = vector.start + extent.warm_up;
        let before = start.checked_sub(extent.period());
        let before = before.map(|start| Vector {
            start,
            ..vector.clone()
        });
        before.into_iter().chain([Vector { start, ..vector }])
    });
    let mut all: Vec<Vector> = pairs.collect();
    all.sort_by_key(|vector| vector.start);
    all
}

/// The connections that were complete, and closed at both ends, within `longest` of when they were to be opened.
fn over(rows: &[Connection], longest: Duration) -> HashSet<u64> {
    let longest = u64::try_from(longest.as_nanos()).unwrap_or(u64::MAX);
    let in_time = rows.iter().filter(|row| {
        let took = row.closed_ns.map(|at| at.saturating_sub(row.planned_ns));
        row.end.as_ref() == "complete" && took.is_some_and(|took| took <= longest)
    });
    in_time.map(|row| row.connection).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(connection: u64, end: &'static str, planned: u64, closed: Option<u64>) -> Connection {
        let ns = |s: u64| s * 1_000_000_000;
        Connection {
            connection,
            planned_ns: ns(planned),
            started_ns: None,
            established_ns: None,
            first_byte_ns: None,
            last_byte_ns: None,
            closed_ns: closed.map(ns),
            initiator: "client".into(),
            source_port: None,
            destination_port: None,
            sequential: true,
            rtt_us: 0,
            min_rtt_us: None,
            request_bytes: 1,
            response_bytes: 1,
            received_by_acceptor: 1,
            received_by_initiator: 1,
            epochs: 1,
            end: end.into(),
            retransmits: None,
        }
    }

    #[test]
    fn the_end_of_a_period_is_played_before_its_beginning_too() {
        let s = Duration::from_secs;
        let extent = Extent {
            repeats: 1,
            starts: s(45),
            longest: s(14),
            warm_up: s(15),
            cool_down: Duration::ZERO,
        };
        let vector = |start| Vector {
            transport: vectors::Transport::Tcp,
            start: s(start),
            ids: [start; 2],
            windows: [0; 2],
            min_rtt: None,
            loss: [vectors::Loss::NONE; 2],
            mss: None,
            body: vectors::Body::Sequential {
                turns: Vec::new(),
                tail: None,
            },
        };
        let all = around([0, 14, 15, 29].map(vector).to_vec(), extent);
        let all: Vec<_> = all.iter().map(|v| (v.start.as_secs(), v.ids[0])).collect();
        assert_eq!(
            all,
            [(0, 15), (14, 29), (15, 0), (29, 14), (30, 15), (44, 29)]
        );
    }

    #[test]
    fn only_what_was_over_in_time_is_kept() {
        let rows = [
            row(0, "complete", 5, Some(20)),
            row(1, "complete", 5, Some(21)),
            row(2, "unfinished", 5, Some(6)),
            row(3, "complete", 5, None),
            row(4, "complete", 40, Some(41)),
        ];
        let over = over(&rows, Duration::from_secs(15));
        assert_eq!(over, HashSet::from([0, 4]));
    }
}
