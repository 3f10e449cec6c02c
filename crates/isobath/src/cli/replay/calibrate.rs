//! `isobath replay calibrate`.

use super::args::Calibrate;
use anyhow::Context;
use calibrate::machine::{self, Machine};
use jiff::Timestamp;
use kit::bar;
use kit::bar::STEPS;
use kit::options::INTERRUPTED;
use kit::usage::print;
use sys::process;
use tmix::replay::limits::scorecard::scorecard;
use tmix::replay::limits::trial::{self, Effort, Seeker};
use tmix::replay::limits::{self, Limits, SCHEMA, file};

/// Exit status when the machine had other things to do: the limits found are theirs, and not kept.
const BUSY: u8 = 4;

pub(super) fn run(args: &Calibrate) -> anyhow::Result<u8> {
    let path = file::path().context(
        "there is no place to keep limits in - set HOME or XDG_STATE_HOME to a folder of yours",
    )?;
    // The lab comes first: it may have to change this process before there are other threads.
    trial::get_ready()?;
    let interrupt = process::interrupt_flag()?;
    let taken = Timestamp::now();
    let machine = Machine::look()?;
    let effort = if args.quick {
        Effort::QUICK
    } else {
        Effort::FULL
    };
    let bar = bar::bar("{bar:30} {elapsed} {msg}", Some(STEPS), args.quiet);
    let seeker = Seeker {
        effort,
        interrupt: &interrupt,
        display: &|component, load, done| {
            bar.set_message(component.words(load));
            bar::show(&bar, f64::from(done) / effort.all());
        },
    };
    let found = seeker.seek();
    bar.finish_and_clear();
    let Some(found) = found? else {
        return Ok(INTERRUPTED);
    };
    let limits = Limits {
        schema: SCHEMA.to_owned(),
        machine: limits::Machine::this(),
        taken,
        quick: args.quick,
        components: found,
        warnings: machine::warnings(&machine.instrument()?),
    };
    // What others left over is not what the machine can do.
    let is_kept = limits.warnings.is_empty();
    if is_kept {
        file::keep(&limits, &path)?;
    }
    if args.json {
        print(&serde_json::to_string_pretty(&limits)?)?;
    } else {
        print(&scorecard(&limits, is_kept.then_some(path.as_path())))?;
    }
    Ok(if is_kept { 0 } else { BUSY })
}
