//! What a record says of the machine it was made on.

use record::{CongestionControl, Host};
use sys::{proc, tcp};

/// The facts of this host, in its role.
pub fn facts(role: &str) -> Host {
    let this = proc::Host::this();
    let default = told("/proc/sys/net/ipv4/tcp_congestion_control");
    let source = told("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    Host {
        role: role.to_owned(),
        name: this.hostname,
        kernel: this.kernel,
        cpu: this.cpu_model.unwrap_or_default(),
        cpus: u32::try_from(this.cpus).unwrap_or(u32::MAX),
        isobath: session::VERSION.to_owned(),
        congestion_control: CongestionControl {
            default,
            available: tcp::available_congestion().unwrap_or_default(),
        },
        tcp_ecn: tcp::ecn_setting(),
        clock: record::Clock {
            source,
            ..record::Clock::default()
        },
    }
}

/// The word in a file of the kernel's; other systems than Linux have no such files.
fn told(file: &str) -> Option<String> {
    let text = cfg!(target_os = "linux").then(|| std::fs::read_to_string(file))?;
    Some(text.ok()?.trim().to_owned())
}
