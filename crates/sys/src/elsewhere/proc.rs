//! The machine that measures, on systems that are not Linux: what it is; how busy it is, nobody tells.

use crate::{Error, cpu};
use std::num::NonZero;
use std::time::Duration;

/// What a record tells of a host.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Host {
    /// Its name, as it calls itself.
    pub hostname: String,
    /// Its system: `macos`, `windows`.
    pub kernel: String,
    /// Model of its processor: it is not told.
    pub cpu_model: Option<String>,
    /// Processors that this process may use.
    pub cpus: usize,
}

/// The name of this host, as it calls itself; empty where it does not.
pub fn hostname() -> String {
    #[cfg(unix)]
    return rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    #[cfg(not(unix))]
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

impl Host {
    /// This host.
    pub fn this() -> Self {
        Self {
            hostname: hostname(),
            kernel: std::env::consts::OS.to_owned(),
            cpu_model: None,
            cpus: std::thread::available_parallelism().map_or(1, NonZero::get),
        }
    }
}

/// A reading of the machine's processor times.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CpuSample(());

/// How the processors spent the time between two readings. Percentages of the time that passed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuUse {
    /// Working, mean over the processors.
    pub busy_pct: f64,
    /// Stolen by the hypervisor, mean over the processors.
    pub steal_pct: f64,
    /// Working or stolen, on the processor that had most of it.
    pub max_pct: f64,
}

impl CpuSample {
    /// The processor times now.
    ///
    /// # Errors
    /// Always.
    pub fn now() -> Result<Self, Error> {
        Err(Error::only_linux("the load of the processors"))
    }

    /// How the time since `earlier` was spent.
    pub fn since(&self, _earlier: &Self) -> CpuUse {
        CpuUse::default()
    }
}

/// Processor time that this process has used.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct OwnCpu {
    /// In its own code.
    pub user: Duration,
    /// In the kernel on its behalf.
    pub system: Duration,
}

impl OwnCpu {
    /// Processor time used so far.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn now() -> Result<Self, Error> {
        let told = cpu::of_process();
        let [user, system] = told.ok_or_else(|| {
            let reason = std::io::Error::last_os_error();
            Error::io("read the processor time of", "this process", reason)
        })?;
        Ok(Self { user, system })
    }

    /// What was used since `earlier`.
    #[must_use]
    pub const fn since(&self, earlier: &Self) -> Self {
        Self {
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
        }
    }

    /// User and system time together.
    pub fn total(&self) -> Duration {
        self.user + self.system
    }
}
