//! `isobath sim replay`: plays vectors over a simulated path.

use super::prepared::{Prepared, new_run};
use super::{Control, Simulation};
use crate::cli::replay::{Played, bar, nothing_to_play, reading, show};
use kit::ending::Interrupted;
use kit::options::Output;
use kit::usage::Usage;
use kit::virtual_path::Path;
use lab::profiles;
use schema::replay::plan::Plan;
use serde_json::json;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tmix::replay::quality::LeftOut;
use tmix::replay::{place, quality};
use tmix::simulated::{self, Context, Survey};
use units::Span;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 replayed; 3 could not be replayed; 130 interrupted, record kept (none while vectors are read)."
)]
pub(crate) struct Args {
    #[command(flatten)]
    played: Played,
    /// Congestion control of all connections.
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Control::Cubic)]
    cc: Control,
    /// Write the headers of all packets that leave the bottleneck to bottleneck.pcapng in the record, for
    /// 'isobath replay verify', Wireshark and the like; at most 4 GiB.
    #[arg(long)]
    capture: bool,
    /// Width of the bins in which packets are counted; a lab's are 100us.
    #[arg(long, value_name = "TIME", value_enum, default_value_t = Bins::Millisecond)]
    bins: Bins,
    #[command(flatten)]
    output: Output,
}

/// A width of bins.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Bins {
    #[value(name = "100us")]
    TenthOfMillisecond,
    #[value(name = "1ms")]
    Millisecond,
}

impl Bins {
    const fn width(self) -> Duration {
        match self {
            Self::TenthOfMillisecond => Duration::from_micros(100),
            Self::Millisecond => Duration::from_millis(1),
        }
    }
}

impl Simulation for Args {
    fn name(&self) -> &str {
        self.played.lab()
    }

    fn output(&self) -> &Output {
        &self.output
    }

    fn prepare<'a>(&'a self, interrupt: &'a AtomicBool) -> anyhow::Result<Prepared<'a>> {
        let control = self.cc.algorithm();
        let mut plan = self.played.plan()?;
        plan.capture = self.capture;
        plan.udp = true;
        plan.congestion_control = Some(control.name().to_owned());
        let survey = self.survey(&plan, interrupt)?;
        if survey.totals.parts() == 0 {
            return Err(nothing_to_play(&plan));
        }
        plan.forward = survey.totals.forward();
        let mut topology = profiles::find(self.name()).map_err(Usage::of)?;
        if let Some(rate) = plan.bottleneck {
            place::bottleneck(&mut topology, rate).map_err(Usage::of)?;
        }
        if self.capture && place::rate(&topology, plan.forward).is_none() {
            return Err(Usage::of(anyhow::anyhow!(
                "no link of this lab has a rate, so there is no bottleneck to capture at - leave --capture out"
            )));
        }
        let path =
            Path::of_topology(&topology, self.name(), plan.seed, false).map_err(Usage::of)?;
        let delays = &survey.delays;
        let hops = path.hops(delays, sim::tcp::link).map_err(Usage::of)?;
        let mut described = serde_json::to_value(&plan)?;
        described["forecast"] = serde_json::to_value(survey.forecast)?;
        described["bins"] = json!(Span(self.bins.width()));
        Ok(Prepared {
            run: new_run("sim-replay", described, &self.output, path.info()),
            notes: String::new(),
            simulate: Box::new(move |run, writer| {
                let bar = bar(self.output.quiet);
                let context = Context {
                    plan: &plan,
                    totals: &survey.totals,
                    congestion_control: control,
                    bins: self.bins.width(),
                    interrupt,
                    display: &|live| show(&bar, live),
                };
                let parts = survey.parts(&plan)?;
                let (outcome, work) = simulated::run(&context, parts, hops, writer)?;
                bar.finish_and_clear();
                let rate = place::rate(&topology, plan.forward);
                let summary = outcome
                    .figures
                    .summary(&plan, outcome.length, rate, outcome.truth);
                let left_out = LeftOut {
                    udp: 0,
                    packets: outcome.uncaptured,
                    rtts: !place::gives_rtts(&topology),
                };
                run.instrument = quality::instrument(&[], &summary, None);
                run.warnings =
                    quality::warnings(&outcome.ending, &[], &summary, &run.instrument, left_out);
                run.status = quality::status(&outcome.ending, &run.warnings);
                run.summary = serde_json::to_value(&summary)?;
                Ok((outcome.ending, Some(work)))
            }),
        })
    }
}

impl Args {
    pub(super) const fn captures(&self) -> bool {
        self.capture
    }

    /// Reads the vectors, until `interrupt` is raised.
    fn survey(&self, plan: &Plan, interrupt: &AtomicBool) -> anyhow::Result<Survey> {
        let bar = reading(self.output.quiet);
        let survey = Survey::of(plan, || {
            bar.inc(1);
            Ok(Interrupted::check(interrupt)?)
        });
        bar.finish_and_clear();
        survey
    }
}
