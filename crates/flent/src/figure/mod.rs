//! Flent's plots, drawn from data files: those of Flent, and those that a record was exported as.
//!
//! People know Flent's plots by name and by sight. So a plot has Flent's name, shows the series that Flent shows there, in
//! its order and colours, and has its axes scaled by its rule ([`scale`]). What is not the same, and why:
//!
//! - A smoothed line ends where its data end. Flent's falls towards zero there, since it takes what is missing for zero.
//! - CDFs and boxes of the load take in what the file says was loaded. Flent leaves out 5 s at both ends, whatever was idle.
//!
//! A plot is a value ([`catalogue`]): which series, in which order, on which axis. [`lines`], [`cdf`] and [`boxes`] make
//! panels of it; the crate `plots` draws them.

mod boxes;
mod catalogue;
mod cdf;
mod lines;
mod points;
mod scale;

pub use catalogue::Plot;

use crate::error::Error;
use crate::import::{Imported, Source};
use catalogue::{Kind, Pick, Spec};
use plots::{Figure, Panel, Side, Stroke};

/// Colours of series, in their order: `ColorBrewer`'s Dark2, which Flent uses.
const COLOURS: [&str; 8] = [
    "#1b9e77", "#d95f02", "#7570b3", "#e7298a", "#66a61e", "#e6ab02", "#a6761d", "#666666",
];
/// Dashes of lines by file, in points: the first file has solid ones.
const DASHES: [&[f64]; 4] = [&[], &[3.7, 1.6], &[2.0, 4.0], &[8.0, 4.0, 2.0, 4.0]];
/// Most characters of a name in a legend.
const MAX_LABEL: usize = 30;

/// What can be chosen of how a plot looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Width and height in inches.
    pub size_in: (f64, f64),
    /// Whether axes of y begin at zero.
    pub from_zero: bool,
}

/// The plots of a test, the one that is drawn unless another is asked for first.
pub fn plots_of(test: &str) -> Vec<Plot> {
    catalogue::plots(test)
}

/// Draws the plot of that name of one or several files; the first one's test decides what plots there are.
///
/// # Errors
/// [`Error::NoPlot`], and [`Error::NothingToDraw`] when no file has a series of that plot.
pub fn draw(files: &[Imported], plot: &str, look: Look) -> Result<Figure, Error> {
    let sources: Vec<&Source> = files.iter().map(Imported::source).collect();
    let nothing = || Error::NothingToDraw {
        plot: plot.to_owned(),
    };
    let first = sources.first().ok_or_else(nothing)?;
    let test = first.text("NAME").unwrap_or_default();
    let all = catalogue::plots(&test);
    let found = all.iter().find(|one| one.name == plot);
    let found = found.ok_or_else(|| Error::NoPlot {
        plot: plot.to_owned(),
        plots: all
            .iter()
            .map(|plot| plot.name)
            .collect::<Vec<_>>()
            .join(", "),
        test: test.clone(),
    })?;
    let panels = panels(&sources, &all, found, look);
    if panels.is_empty() {
        return Err(nothing());
    }
    let title = first.text("TITLE").filter(|_| sources.len() == 1);
    let lines = [
        Some(catalogue::describe(&test)),
        Some(found.description.to_owned()),
        title,
    ];
    Ok(Figure {
        title: lines.into_iter().flatten().collect(),
        foot: foot(first),
        panels,
        size_in: look.size_in,
    })
}

/// The panels of a plot that have something to show.
fn panels(sources: &[&Source], all: &[Plot], plot: &Plot, look: Look) -> Vec<Panel> {
    let panel = match &plot.kind {
        Kind::Lines(spec) => lines::panel(sources, spec, look),
        Kind::Cdf(spec) => cdf::panel(sources, spec, look),
        Kind::Boxes(spec) => Some(boxes::panel(sources, spec, look)),
        Kind::Panels(names) => {
            let each = names
                .iter()
                .filter_map(|name| all.iter().find(|one| one.name == *name));
            let mut panels: Vec<Panel> = each
                .flat_map(|one| panels(sources, all, one, look))
                .collect();
            lines::share_time(&mut panels);
            return panels;
        }
    };
    panel
        .into_iter()
        .filter(|panel| !panel.marks.is_empty())
        .collect()
}

/// Who measured, when and how long, in Flent's small print.
fn foot(source: &Source) -> String {
    let text = |key| source.text(key).unwrap_or_else(|| "-".to_owned());
    let seconds = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |s| format!("{s:.2}s"));
    format!(
        "Local/remote: {}/{} - Time: {} - Length/step: {}/{}",
        text("LOCAL_HOST"),
        text("HOST"),
        text("TIME"),
        seconds(source.times.length),
        seconds(source.times.step)
    )
}

/// One series of one file in a plot.
struct Drawn<'a> {
    source: &'a Source,
    /// Number of the file.
    file: usize,
    name: &'a str,
    /// Its name in the plot, without the file's.
    label: String,
    pick: &'a Pick,
    stroke: Stroke,
}

impl Drawn<'_> {
    /// Its name in the legend: with that of its file, if there are several.
    fn legend(&self, files: usize) -> String {
        if files == 1 {
            return self.label.clone();
        }
        format!("{} - {}", self.label, file_label(self.source))
    }

    fn unit(&self) -> String {
        crate::import::unit(self.source, self.name).unwrap_or_default()
    }
}

/// What a file is called beside others: by its title, else by its time.
fn file_label(source: &Source) -> String {
    let label = source.text("TITLE").or_else(|| source.text("TIME"));
    label.unwrap_or_default().chars().take(MAX_LABEL).collect()
}

/// All series of a plot in all files, with their colours: one a series; where there is only one, one a file.
fn series<'a>(sources: &[&'a Source], spec: &'a Spec) -> Vec<Drawn<'a>> {
    let mut all = Vec::new();
    for (file, source) in sources.iter().enumerate() {
        let found: Vec<_> = spec
            .series
            .iter()
            .flat_map(|pick| pick.find(source))
            .collect();
        let is_single = found.len() == 1;
        let mut colour = if is_single { file } else { 0 };
        for (name, label, pick) in found {
            all.push(Drawn {
                source,
                file,
                name,
                label,
                pick,
                stroke: stroke(pick, &mut colour, file),
            });
        }
    }
    all
}

/// A mean is a thick black line; it takes no colour.
fn stroke(pick: &Pick, colour: &mut usize, file: usize) -> Stroke {
    let dashes = DASHES[file % DASHES.len()].to_vec();
    if pick.is_mean {
        return Stroke {
            colour: "black".to_owned(),
            width_pt: 2.0,
            dashes,
        };
    }
    *colour += 1;
    Stroke {
        colour: COLOURS[(*colour - 1) % COLOURS.len()].to_owned(),
        width_pt: 1.0,
        dashes,
    }
}

/// What an axis of y is called: as the plot says, else by the unit of the first series on it.
fn axis_label(spec: &Spec, series: &[Drawn<'_>], side: Side) -> String {
    let said = match side {
        Side::Left => spec.left,
        Side::Right => spec.right,
    };
    let first = series.iter().find(|one| one.pick.side == side);
    let unit = || first.map(Drawn::unit).unwrap_or_default();
    said.map_or_else(unit, str::to_owned)
}

#[cfg(test)]
mod tests;
