//! `isobath flent`: Flent's command lines. What it runs is `isobath rrul`; what it reads, writes and draws are Flent's files
//! and plots.

mod args;
mod unequal;

pub(crate) use args::Args;

use anyhow::Context;
use args::{Asked, Format};
use flent::{Imported, Limits};
use kit::usage::{Usage, plain, print};
use record::Record;
use std::fs::File;
use std::path::{Path, PathBuf};

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    for warning in args.warnings()? {
        eprintln!("flent: {}", plain(&warning));
    }
    if args.list_tests {
        return list_tests();
    }
    let asked = args.asked();
    let files = read(&asked.inputs)?;
    let test = match files.first() {
        Some(file) => file.test(),
        None => args.test(&asked)?,
    };
    if args.list_plots {
        return list_plots(&test);
    }
    let output = Output::of(args, &test, files.is_empty())?;
    if !files.is_empty() {
        output.give(&files)?;
        return Ok(0);
    }
    measure(args, &asked, &test, &output)
}

fn list_tests() -> anyhow::Result<u8> {
    let tests = flent::TESTS.into_iter().map(|test| {
        let plan = rrul::catalogue::find(test);
        format!(
            "{test:22}{}",
            plan.map(|plan| plan.summary).unwrap_or_default()
        )
    });
    print(&tests.collect::<Vec<_>>().join("\n"))?;
    Ok(0)
}

fn list_plots(test: &str) -> anyhow::Result<u8> {
    let plots = flent::plots_of(test).into_iter();
    let plots = plots.map(|plot| format!("{:18}{}", plot.name, plot.description));
    print(&plots.collect::<Vec<_>>().join("\n"))?;
    Ok(0)
}

fn read(inputs: &[PathBuf]) -> anyhow::Result<Vec<Imported>> {
    let read = |path: &PathBuf| {
        let told = || path.display().to_string();
        let input = File::open(path)
            .context("cannot be opened - give the path of a Flent data file")
            .with_context(told)?;
        flent::import(input, &Limits::default()).with_context(told)
    };
    inputs.iter().map(read).collect()
}

/// Runs the test's plan, keeps its record and writes it as a data file.
fn measure(args: &Args, asked: &Asked, test: &str, output: &Output) -> anyhow::Result<u8> {
    let folder = args.data_folder();
    if !folder.is_dir() {
        let folder = folder.display();
        return Err(Usage::of(anyhow::anyhow!(
            "there is no folder {folder} for data files - make it, or name another with -D"
        )));
    }
    let measurement = args.measurement(asked, test)?;
    let measured = super::rrul::measure(&measurement)?;
    let (title, mut octets) = (args.title_extra.as_deref().unwrap_or_default(), Vec::new());
    let record = Record::open(&measured.dir)?;
    let exported = flent::export_titled(&record, Some(title), &mut octets)?;
    let path = folder.join(exported.file_name);
    super::report::write(&path, &octets)?;
    if let Some(note) = exported.note {
        eprintln!("flent: {}", plain(&note));
    }
    let is_told = matches!(output, Output::Scorecard | Output::Plot { .. });
    if is_told {
        super::rrul::report(&measurement, &measured)?;
        print(&format!("data file     {}", path.display()))?;
    } else {
        eprintln!(
            "flent: record {}, data file {}",
            measured.dir.display(),
            path.display()
        );
    }
    output.give(&[flent::import(&octets[..], &Limits::default())?])?;
    Ok(measured.status)
}

/// What is wanted of data files.
enum Output {
    /// Nothing but the scorecard of the run.
    Scorecard,
    /// A plot, drawn to a file.
    Plot {
        name: String,
        format: plots::Format,
        look: flent::Look,
        dpi: f32,
        out: PathBuf,
    },
    /// A text of each file, to a file or to stdout.
    Text(fn(&Imported) -> String, Option<PathBuf>),
}

impl Output {
    /// What the options ask for; `runs` is whether there will be a run.
    fn of(args: &Args, test: &str, runs: bool) -> anyhow::Result<Self> {
        let out = args.output.clone().filter(|out| out != Path::new("-"));
        match (args.format, &args.plot) {
            (Format::Csv, _) => Ok(Self::Text(flent::csv, out)),
            (Format::Default, None) if runs && out.is_none() => Ok(Self::Scorecard),
            (Format::Summary, _) | (Format::Default, None) => Ok(Self::Text(flent::summary, out)),
            (_, plot) => Self::plot(args, test, plot.as_deref(), out),
        }
    }

    fn plot(
        args: &Args,
        test: &str,
        plot: Option<&str>,
        out: Option<PathBuf>,
    ) -> anyhow::Result<Self> {
        let all = flent::plots_of(test);
        let usual = all.first().map_or("", |plot| plot.name);
        let name = plot.unwrap_or(usual);
        if all.iter().all(|plot| plot.name != name) {
            let names: Vec<_> = all.iter().map(|plot| plot.name).collect();
            return Err(Usage::of(anyhow::anyhow!(
                "test {test} has no plot '{name}' here - use one of: {}",
                names.join(", ")
            )));
        }
        let no_viewer = || {
            Usage::of(anyhow::anyhow!(
                "there is no viewer - name a file with -o, such as {name}.png"
            ))
        };
        let out = out.ok_or_else(no_viewer)?;
        Ok(Self::Plot {
            name: name.to_owned(),
            format: plots::Format::of(&out).map_err(Usage::of)?,
            look: args.look(),
            dpi: args.figure_dpi,
            out,
        })
    }

    fn give(&self, files: &[Imported]) -> anyhow::Result<()> {
        match self {
            Self::Scorecard => Ok(()),
            Self::Plot {
                name,
                format,
                look,
                dpi,
                out,
            } => {
                let figure = flent::draw(files, name, *look)?;
                super::report::write(out, &figure.render(*format, *dpi)?)?;
                print(&format!("figure        {}", out.display()))
            }
            Self::Text(text, out) => {
                let texts: String = files.iter().map(text).collect();
                match out {
                    Some(out) => super::report::write(out, texts.as_bytes()),
                    None => print(&texts),
                }
            }
        }
    }
}
