//! One measurement in virtual time.

use super::Failure;
use crate::cli::sim::Measurement;
use kit::begin;
use kit::ending::Ending;
use kit::usage::Usage;
use record::{Kept, RecordWriter, Run};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// What a simulation found.
#[derive(Debug)]
pub struct Simulated {
    /// The content of its `run.json`.
    pub run: Run,
    /// Its tables; nothing where the record has a folder.
    pub kept: Kept,
    /// Whether it was interrupted.
    pub was_interrupted: bool,
}

/// Carries out `isobath sim` with these arguments (`btc`, `--rate`, `10Mbit`, ...): in memory, or with a record in the new folder
/// `out`. The options that concern the record and what is printed have no effect.
///
/// # Errors
/// What the program would say.
pub fn simulate(
    arguments: &[String],
    out: Option<&Path>,
    interrupt: &AtomicBool,
) -> Result<Simulated, Failure> {
    Ok(carry_out(arguments, out, interrupt)?)
}

fn carry_out(
    arguments: &[String],
    out: Option<&Path>,
    interrupt: &AtomicBool,
) -> anyhow::Result<Simulated> {
    let measurement = Measurement::parse(arguments).map_err(Usage::of)?;
    let prepared = measurement.prepare(interrupt)?;
    let mut writer = match out {
        Some(folder) => begin::create(folder, &prepared.run)?,
        None => RecordWriter::whole_in_memory(&prepared.run),
    };
    let (run, ending) = prepared.carry_out(&mut writer)?;
    let kept = if out.is_some() {
        writer.finish(&run)?;
        Kept::default()
    } else {
        writer.into_kept()
    };
    Ok(Simulated {
        run,
        kept,
        was_interrupted: matches!(ending, Ending::Interrupted),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simulated(text: &str, out: Option<&Path>) -> Result<Simulated, Failure> {
        let arguments: Vec<_> = text.split(' ').map(str::to_owned).collect();
        simulate(&arguments, out, &AtomicBool::new(false))
    }

    #[test]
    fn a_run_in_memory_has_the_tables_of_one_in_a_folder() {
        let text = "btc --rate 10Mbit --rtt 20ms --duration 1s";
        let memory = simulated(text, None).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let on_disk = simulated(text, Some(folder.path())).unwrap();
        assert_eq!(memory.run.summary, on_disk.run.summary);
        assert!(!memory.was_interrupted);
        let record = record::Record::open(folder.path()).unwrap();
        let names: Vec<_> = record.table_names().collect();
        let tables: Vec<_> = memory.kept.into_tables().collect();
        assert!(tables.iter().map(|(name, _)| *name).eq(names));
        for (name, batches) in tables {
            let rows = batches
                .iter()
                .fold(0, |rows, batch| rows + batch.num_rows());
            let written = record.batches(name).unwrap().map(Result::unwrap);
            assert_eq!(rows, written.map(|batch| batch.num_rows()).sum::<usize>());
        }
    }

    #[test]
    fn a_replay_is_interrupted_while_its_vectors_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("v.cvec");
        std::fs::write(
            &file,
            "SEQ 0 1 1 1\nw 65535 65535\nr 20000\nl 0.000000 0.000000\n> 100\nt 5000\n< 200\n",
        )
        .unwrap();
        let arguments = ["replay", file.to_str().unwrap()].map(str::to_owned);
        let done = simulate(&arguments, None, &AtomicBool::new(false)).unwrap();
        assert_eq!(done.run.summary["connections"]["completed"], 1);
        let failure = simulate(&arguments, None, &AtomicBool::new(true)).unwrap_err();
        assert_eq!(
            (failure.message.as_str(), failure.is_usage),
            ("interrupted", false)
        );
    }

    #[test]
    fn mistakes_are_told_as_the_program_tells_them() {
        let failure = simulated("btc --rate 10Mbit --rtt 20ms --speed 3", None).unwrap_err();
        assert!(failure.is_usage);
        assert_eq!(failure.message, "unexpected argument '--speed' found");
        let failure = simulated("btc --lab nowhere", None).unwrap_err();
        assert!(failure.message.contains("nowhere"), "{failure}");
    }
}
