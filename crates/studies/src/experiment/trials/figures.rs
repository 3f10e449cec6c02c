//! What the trials look like: T's figures, drawn from the cells' runs.

use super::found::{Found, find};
use crate::trial::figures::{Trial, accuracy, losses, throughput};
use crate::trial::plan::Probes;
use report::experiment::{Axis, Experiment, Figure, Kind, Series};

const PATHLOADS: [Probes; 2] = [Probes::Pathload, Probes::PathloadFast];
/// The tools whose first runs are drawn second by second (T figures 5.3, 5.4, 5.10).
const STACKED: [Probes; 2] = [Probes::Pk2, Probes::PathloadFast];

/// Adds all that there is to draw.
pub(super) fn add(experiment: Experiment, found: &[Found]) -> Experiment {
    let cells = |probes: &[Probes]| {
        let cells = probes
            .iter()
            .flat_map(|probes| [false, true].map(|riding| find(found, *probes, riding, 1.0)));
        cells.flatten().collect::<Vec<&Found>>()
    };
    let of_first = |probes: &[Probes], draw: fn(&Trial<'_>) -> Option<Figure>| {
        let cells = cells(probes).into_iter();
        cells
            .filter_map(|found| draw(&first(found)?))
            .collect::<Vec<_>>()
    };
    let mut figures = of_first(&STACKED, throughput);
    figures.extend(source(
        "source-trains",
        "regular trains",
        &cells(&[Probes::None, Probes::Pk1, Probes::Pk2, Probes::Pk3]),
    ));
    figures.extend(source(
        "source-pathload",
        "pathload",
        &cells(&[Probes::None, Probes::Pathload, Probes::PathloadFast]),
    ));
    figures.extend(completions(&cells(&PATHLOADS)));
    figures.extend(of_first(&PATHLOADS, accuracy));
    let ratios = found
        .iter()
        .filter(|one| one.cell.riding && PATHLOADS.contains(&one.cell.probes));
    figures.extend(ratios.filter_map(|one| {
        let name = format!(
            "{}: where trains lose probes, ratio {}",
            one.cell.probes.name(),
            one.cell.ratio
        );
        losses(&format!("losses-{}", id(one)), &name, &one.tenths())
    }));
    figures.into_iter().fold(experiment, Experiment::figure)
}

/// The cell's first run.
fn first(found: &Found) -> Option<Trial<'_>> {
    let run = found.runs.first()?;
    Some(Trial {
        id: id(found),
        name: format!("{}, riding {}", found.name(), found.cell.word()),
        summary: &run.summary,
        tables: &run.tables,
    })
}

fn id(found: &Found) -> String {
    let ratio = (found.cell.ratio * 100.0).round();
    format!("{}-{}-{ratio}", found.cell.probes.name(), found.cell.word())
}

/// How near to its rate the application was.
fn source(id: &str, beside: &str, cells: &[&Found]) -> Option<Figure> {
    let target = cells.iter().find_map(|found| found.source())?.target_mbps;
    let mut figure = Figure::new(id, format!("What the application reads beside {beside}"))
        .caption("Distribution of the seconds of all runs; dashed with riding on.")
        .how_to("The best curve is a vertical line at the rate at which the application writes.")
        .how_to("To the left of it are seconds in which packets were lost or waited, to the right those in which they caught up.")
        .x(Axis::new("read in a second", "Mbit/s").range(0.0, 2.0 * target))
        .y(Axis::new("share of seconds", "%").range(0.0, 100.0));
    for found in cells {
        let series = Series::cdf(found.cell.probes.name(), found.source_mbps());
        figure = figure.series(series.variant(format!("riding {}", found.cell.word())));
    }
    Some(figure)
}

/// How long estimations took; those that came to no end hold the curve down.
fn completions(cells: &[&Found]) -> Option<Figure> {
    let mut figure = Figure::new("completion-times", "How long estimations take")
        .caption("Share of all estimations that were completed within a time; those of the runs of a cell together. Dashed with riding on.")
        .how_to("A curve ends at the share that was completed at all: after 60 s the others were given up.")
        .how_to("Farther to the left is sooner, higher is more often.")
        .x(Axis::new("time", "s").range(0.0, 60.0))
        .y(Axis::new("completed", "%").range(0.0, 100.0));
    for found in cells {
        let (times, all) = (found.times_s(), found.rows().len());
        let share = |place: usize| (place + 1) as f64 * 100.0 / all as f64;
        let points = times
            .iter()
            .enumerate()
            .map(|(place, time)| (*time, share(place)));
        let ends = [(0.0, 0.0)].into_iter().chain(points);
        let last = times.len() as f64 * 100.0 / all.max(1) as f64;
        let series = Series::new(
            found.cell.probes.name(),
            Kind::Step,
            ends.chain([(60.0, last)]),
        );
        figure = figure.series(series.variant(format!("riding {}", found.cell.word())));
    }
    cells
        .iter()
        .any(|found| !found.rows().is_empty())
        .then_some(figure)
}
