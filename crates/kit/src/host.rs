//! What a record says of the machine it was made on.

use record::{CongestionControl, Host};
use sys::{proc, tcp};

/// The facts of this host, in its role.
pub fn facts(role: &str) -> Host {
    let this = proc::Host::this();
    let default = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").ok();
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    Host {
        role: role.to_owned(),
        name: this.hostname,
        kernel: this.kernel,
        cpu: this.cpu_model.unwrap_or_default(),
        cpus: u32::try_from(this.cpus).unwrap_or(u32::MAX),
        isobath: session::VERSION.to_owned(),
        congestion_control: CongestionControl {
            default: default.map(|name| name.trim().to_owned()),
            available: tcp::available_congestion().unwrap_or_default(),
        },
        tcp_ecn: tcp::ecn_setting(),
        clock: record::Clock {
            source: std::fs::read_to_string(source)
                .ok()
                .map(|name| name.trim().to_owned()),
            ..record::Clock::default()
        },
    }
}
