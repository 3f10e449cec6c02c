//! What a record says of the machine it was made on, and by which names that machine is known.

use record::{CongestionControl, Host};
use std::net::IpAddr;
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

/// What a simulation says instead: this machine, whose kernel and clocks have no part in it.
pub fn of_virtual_time() -> Host {
    let this = proc::Host::this();
    Host {
        role: "client".to_owned(),
        name: this.hostname,
        kernel: "virtual time".to_owned(),
        cpu: this.cpu_model.unwrap_or_default(),
        cpus: u32::try_from(this.cpus).unwrap_or(u32::MAX),
        isobath: session::VERSION.to_owned(),
        ..Host::default()
    }
}

/// The word in a file of the kernel's; other systems than Linux have no such files.
fn told(file: &str) -> Option<String> {
    let text = cfg!(target_os = "linux").then(|| std::fs::read_to_string(file))?;
    Some(text.ok()?.trim().to_owned())
}

/// Whether a request that names `host` (with a port, perhaps) is for this one. A web page of somebody else's can make a browser here
/// ask under the page's own name, whose address its owner changes to this host's (DNS rebinding); to an address, to `localhost` and
/// to this host's own name it cannot.
pub fn is_own_name(host: &str) -> bool {
    is_own(host, &proc::hostname())
}

/// Whether `host` (with a port, perhaps) is an address, `localhost` or `own`.
fn is_own(host: &str, own: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|octet| octet.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = |name: &str| name.parse::<IpAddr>().is_ok();
    let inside = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    let is_address = inside.map_or_else(|| bare(name), bare);
    let is = |other: &str| !other.is_empty() && name.eq_ignore_ascii_case(other);
    is_address || is("localhost") || is(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_is_asked_by_its_name_or_address() {
        for host in [
            "127.0.0.1:9489",
            "127.0.0.1",
            "[::1]:9489",
            "[::1]",
            "localhost:9489",
            "LocalHost",
            "m3.example.org:9489",
        ] {
            assert!(is_own(host, "m3.example.org"), "{host}");
        }
        for host in [
            "",
            ":9489",
            "rebound.example.net:9489",
            "127.0.0.1.example.net",
            "localhost.example.net:9489",
            "127.0.0.1@example.net",
            "[example.net]:1",
        ] {
            assert!(!is_own(host, "m3.example.org"), "{host}");
        }
        assert!(!is_own("", ""));
    }
}
