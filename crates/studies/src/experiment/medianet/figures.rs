//! Figures as T has them: of each mode what its typical run believed and what was true, streams and frames; and all modes in one.

use super::found::Found;
use crate::medianet::figures::{Course, from_zero};
use record::Record;
use report::experiment::{Axis, Experiment, Figure, Kind as Drawn, Series, Source};
use stats::interval;

/// Confidence of intervals.
const LEVEL: f64 = 0.95;

/// Adds all of them.
///
/// # Errors
/// When a record that was there cannot be read.
pub(super) fn add(mut experiment: Experiment, found: &[Found]) -> anyhow::Result<Experiment> {
    for (id, title, unit, place) in [
        ("decoded", "Frames decoded, mode by mode", "frames/s", 0),
        ("rate", "Streaming rate, mode by mode", "Mbit/s", 1),
        ("failed", "Frames that failed, mode by mode", "%", 2),
    ] {
        experiment = experiment.figure(modes(found, id, title, unit, place));
    }
    let mut is_first = true;
    for one in found {
        let Some((folder, _)) = &one.typical else {
            continue;
        };
        let record = Record::open(folder)?;
        let id = format!("{}-{}", one.mode.probes.name(), one.mode.riding());
        let run = Course::read(&record, one.mode.name(), id)?;
        if is_first {
            experiment = experiment.figure(run.cross());
            is_first = false;
        }
        experiment = run.all().into_iter().fold(experiment, Experiment::figure);
    }
    Ok(experiment)
}

/// A figure of every run, with the mean and T's.
fn modes(found: &[Found], id: &str, title: &str, unit: &str, place: usize) -> Figure {
    let names = found.iter().map(|one| one.mode.name());
    let (mut runs, mut means, mut intervals, mut paper) = (vec![], vec![], vec![], vec![]);
    for (x, one) in found.iter().enumerate() {
        let x = x as f64;
        paper.push((x, one.mode.paper[place]));
        let values = one.each(|summary| {
            let figures = [
                Some(summary.decoded_per_s),
                Some(summary.decoded_mbps),
                summary.failed_pct,
            ];
            figures[place].unwrap_or(f64::NAN)
        });
        runs.extend(values.iter().filter(|v| v.is_finite()).map(|v| (x, *v)));
        if let Some(mean) = one.figures()[place] {
            means.push((x, mean));
            let of = interval::mean(&values, LEVEL);
            intervals.push(of.map(|of| (of.low.max(0.0), of.high)));
        }
    }
    let mut mean = Series::new("here, all runs", Drawn::Bars, means).source(Source::Ours);
    mean.intervals = intervals;
    Figure::new(id, title)
        .caption("Modes are called by whether the streams ride (on, off) and by what estimates. Each small point is a run; the interval of the mean is at 95 % (Student's t).")
        .how_to("Good is high, but for frames that failed. T says that estimates help (the second to fifth mode against the first), that riding helps (on against off of the same estimator), and that on/pathload-fast does best.")
        .how_to("T's figures are of another network, buffer and pathload: look at the order first.")
        .x(Axis::of_categories("mode", names))
        .y(from_zero(&title.split(',').next().unwrap_or_default().to_lowercase(), unit))
        .series(mean)
        .series(Series::new("a run", Drawn::Points, runs).source(Source::Ours))
        .series(Series::new("T", Drawn::Points, paper).source(Source::Paper))
}
