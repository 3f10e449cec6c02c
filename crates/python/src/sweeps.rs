//! Sweeps: their folders, and their runs one by one.

use crate::errors::{of_failure, usage};
use crate::work::interruptible;
use isobath::embed::{self, Made};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// What came of a run, as it is sent: its number, its line, and the tables that are kept as Parquet.
type Sent<'py> = (u64, String, Vec<(String, Bound<'py, PyBytes>)>);

/// A sweep and its folder, which is this process's as long as the object lives.
#[pyclass(module = "isobath._isobath")]
pub(crate) struct Sweep(embed::Sweep);

#[pymethods]
impl Sweep {
    /// Begins the sweep that `text` (TOML) describes, in `out` or in a new folder. Relative names in it are looked up beside `file`.
    #[staticmethod]
    #[pyo3(signature = (text, file, out=None))]
    fn begin(text: &str, file: PathBuf, out: Option<PathBuf>) -> PyResult<Self> {
        let begun = embed::Sweep::begin(text, &file, out.as_deref());
        begun.map(Self).map_err(|failure| of_failure(&failure))
    }

    /// Takes up the sweep in `folder` where it was left.
    #[staticmethod]
    fn resume(folder: PathBuf) -> PyResult<Self> {
        let resumed = embed::Sweep::resume(&folder);
        resumed.map(Self).map_err(|failure| of_failure(&failure))
    }

    /// Its folder.
    #[getter]
    fn folder(&self) -> PathBuf {
        self.0.dir().to_owned()
    }

    /// Runs in all.
    #[getter]
    fn runs(&self) -> u64 {
        self.0.runs()
    }

    /// Numbers of the runs that are still to be made.
    fn due(&self) -> Vec<u64> {
        self.0.due().to_vec()
    }

    /// Makes all runs that are due, in `jobs` threads or one for each processor. `watch` is called now and then with the number of runs
    /// that were made.
    #[pyo3(signature = (jobs=None, watch=None))]
    fn carry_out(
        &mut self,
        py: Python<'_>,
        jobs: Option<usize>,
        watch: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let jobs = jobs.map(|jobs| {
            NonZeroUsize::new(jobs).ok_or_else(|| usage("jobs is 0 - write at least 1"))
        });
        let jobs = jobs.transpose()?;
        let made = AtomicU64::new(0);
        let count = || {
            made.fetch_add(1, Ordering::Relaxed);
        };
        let look = || match &watch {
            Some(watch) => watch.call1((made.load(Ordering::Relaxed),)).map(drop),
            None => Ok(()),
        };
        let sweep = &mut self.0;
        let work = |interrupt: &_| sweep.carry_out(jobs, interrupt, &count);
        let carried_out = interruptible(py, work, look)?;
        carried_out.map_err(|failure| of_failure(&failure))
    }

    /// Takes what a `Maker` has made, here or anywhere else.
    fn take(&mut self, run: u64, line: String, tables: Vec<(String, Vec<u8>)>) -> PyResult<()> {
        let made = Made { run, line, tables };
        let taken = self.0.take(&made);
        taken.map_err(|failure| of_failure(&failure))
    }

    /// Writes the table of all runs; returns the numbers of runs, of complete ones and of those that could not be made.
    fn finish(&self, py: Python<'_>) -> PyResult<(u64, u64, u64)> {
        let ended = py.detach(|| self.0.finish());
        let ended = ended.map_err(|failure| of_failure(&failure))?;
        Ok((ended.runs, ended.complete, ended.failed))
    }
}

/// Makes runs of a sweep one by one, without its folder.
#[pyclass(frozen, module = "isobath._isobath")]
pub(crate) struct Maker(embed::Maker);

#[pymethods]
impl Maker {
    /// That of the sweep that `text` (TOML) describes.
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        let maker = embed::Maker::new(text);
        maker.map(Self).map_err(|failure| of_failure(&failure))
    }

    /// Makes run `number`; what comes of it is for `Sweep.take`.
    fn make<'py>(&self, py: Python<'py>, number: u64) -> PyResult<Sent<'py>> {
        let work = |interrupt: &_| self.0.make(number, interrupt);
        let made = interruptible(py, work, || Ok(()))?;
        let made = made.map_err(|failure| of_failure(&failure))?;
        let made = made.ok_or_else(|| usage("interrupted"))?;
        let tables = made.tables.into_iter();
        let tables = tables.map(|(name, octets)| (name, PyBytes::new(py, &octets)));
        Ok((made.run, made.line, tables.collect()))
    }
}
