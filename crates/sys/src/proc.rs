//! The machine that measures: what it is, and how busy.
//!
//! A host that had no processor time left measured itself, not the path. Two readings of
//! [`CpuSample`] around a phase give its [`CpuUse`]; the busiest processor matters more than the
//! mean, since a data plane runs on one.

mod stat;

pub use stat::{CpuSample, CpuUse};

use crate::Error;
use std::fs;
use std::num::NonZero;
use std::time::Duration;

const CPUINFO: &str = "/proc/cpuinfo";
const STATUS: &str = "/proc/self/status";

/// What a record tells of a host.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Host {
    /// Its name, as it calls itself.
    pub hostname: String,
    /// Release of its kernel: `6.18.44`.
    pub kernel: String,
    /// Model of its processor; `None` where the kernel does not tell (some ARM machines).
    pub cpu_model: Option<String>,
    /// Processors that this process may use: its affinity mask and cgroup limit.
    pub cpus: usize,
}

/// The name of this host, as it calls itself.
pub fn hostname() -> String {
    let uname = rustix::system::uname();
    uname.nodename().to_string_lossy().into_owned()
}

impl Host {
    /// This host.
    pub fn this() -> Self {
        Self {
            hostname: hostname(),
            kernel: rustix::system::uname()
                .release()
                .to_string_lossy()
                .into_owned(),
            cpu_model: fs::read_to_string(CPUINFO)
                .ok()
                .and_then(|text| cpu_model(&text)),
            cpus: std::thread::available_parallelism().map_or(1, NonZero::get),
        }
    }
}

/// The most memory that this process has had so far, in octets; `None` where the system does not tell.
pub fn peak_memory() -> Option<u64> {
    high_water(&fs::read_to_string(STATUS).ok()?)
}

fn high_water(status: &str) -> Option<u64> {
    let mut lines = status.lines();
    let peak = lines.find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = peak.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kib.checked_mul(1_024)
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
    /// Processor time used so far, all threads together.
    ///
    /// # Errors
    /// When the system forbids `getrusage`.
    pub fn now() -> Result<Self, Error> {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        #[expect(unsafe_code, reason = "neither rustix nor std reads these figures")]
        // SAFETY: the pointer is to a structure of the kind that the call fills, and zeros are a
        // valid one should it fill less.
        let (status, usage) = unsafe {
            let status = libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
            (status, usage.assume_init())
        };
        if status != 0 {
            let reason = std::io::Error::last_os_error();
            return Err(Error::io("read processor time of", "this process", reason));
        }
        let duration = |time: libc::timeval| {
            Duration::from_secs(time.tv_sec.cast_unsigned())
                + Duration::from_micros(time.tv_usec.cast_unsigned())
        };
        Ok(Self {
            user: duration(usage.ru_utime),
            system: duration(usage.ru_stime),
        })
    }

    /// What was used since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
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

/// The first model name in `/proc/cpuinfo`, by the keys of x86, ARM boards, POWER and s390 in turn.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    let value = |key: &str| {
        cpuinfo.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key && !value.trim().is_empty()).then(|| value.trim().to_owned())
        })
    };
    ["model name", "Model", "cpu", "processor 0"]
        .into_iter()
        .find_map(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_memory_is_the_kernels_high_water_mark() {
        let status =
            "Name:\tisobath\nVmPeak:\t  900000 kB\nVmHWM:\t  123456 kB\nVmRSS:\t    1000 kB\n";
        assert_eq!(high_water(status), Some(126_418_944));
        assert_eq!(high_water("VmHWM:\t lots\n"), None);
        if cfg!(target_os = "linux") {
            assert!(peak_memory() > Some(1_000_000));
        }
    }

    #[test]
    fn the_processor_model_is_found_on_several_architectures() {
        let x86 = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 85\nmodel name\t: Intel(R) Xeon(R)\n";
        assert_eq!(cpu_model(x86).as_deref(), Some("Intel(R) Xeon(R)"));
        let board =
            "processor\t: 0\nCPU part\t: 0xd08\n\nModel\t\t: Raspberry Pi 4 Model B Rev 1.4\n";
        assert_eq!(
            cpu_model(board).as_deref(),
            Some("Raspberry Pi 4 Model B Rev 1.4")
        );
        assert_eq!(cpu_model("processor\t: 0\nmodel name\t:\n"), None);
        assert_eq!(cpu_model(""), None);
    }

    #[test]
    fn this_host_tells_its_name_kernel_and_processors() {
        let host = Host::this();
        assert!(host.kernel.contains('.') && !host.hostname.is_empty());
        assert!(host.cpus >= 1);
    }

    #[test]
    fn work_shows_in_own_processor_time() {
        let before = OwnCpu::now().unwrap();
        let busy = crate::clock::process_cpu();
        while crate::clock::process_cpu().saturating_sub(busy) < Duration::from_millis(5) {
            std::hint::spin_loop();
        }
        let used = OwnCpu::now().unwrap().since(&before);
        assert!(used.total() >= Duration::from_millis(4), "{used:?}");
        assert_eq!(before.since(&OwnCpu::now().unwrap()), OwnCpu::default());
    }
}
