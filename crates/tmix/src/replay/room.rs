//! Whether a host has what its connections need: threads, descriptors and ports.

use super::forecast::Forecast;
use super::tuples::Tuples;
use anyhow::anyhow;
use std::fs;
use sys::process;

/// Descriptors of a thread that are not connections.
const OTHER_FILES: u64 = 100;
/// The most threads of a host.
const MOST_SHARES: u64 = 16;
/// Descriptors that a thread is given if it may have them.
const WANTED: u64 = 100_000;
/// Ports from which connections are made when nobody chooses them, where the kernel does not tell.
const PORTS: [u64; 2] = [32_768, 60_999];

/// What the hosts of a lab have for their connections.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Threads of each host.
    pub shares: u32,
    /// Pairs of ports for the connections that client and server open.
    pub tuples: [u32; 2],
}

impl Room {
    /// In a lab, for what is foreseen; raises the limit of descriptors where that is allowed.
    ///
    /// # Errors
    /// When there is less than is needed.
    pub fn in_lab(forecast: &Forecast) -> anyhow::Result<Self> {
        let mut tuples = [0; 2];
        for (pairs, needed) in tuples.iter_mut().zip(forecast.tuples) {
            // Connections last longer where there are queues.
            let wanted = needed + needed / 2 + 64;
            *pairs = u32::try_from(wanted).unwrap_or(u32::MAX).min(Tuples::MOST);
            anyhow::ensure!(
                needed <= u64::from(Tuples::MOST),
                "{needed} connections would need a pair of ports of their own at once, and there are {} - thin the vectors with 'isobath trace transform --thin'",
                Tuples::MOST
            );
        }
        anyhow::ensure!(
            forecast.flows <= u64::from(Tuples::MOST) && 2 * forecast.open_flows <= each(),
            "{} flows of UDP, some {} at once, are more than there are pairs of ports ({}) or descriptors of a thread ({}) for - thin the vectors with 'isobath trace transform --thin'",
            forecast.flows,
            forecast.open_flows,
            Tuples::MOST,
            each()
        );
        let most = most_open();
        anyhow::ensure!(
            forecast.open <= most,
            "some {} connections would be open at once, and the file descriptors of {MOST_SHARES} threads are enough for {most} - raise the limit with 'ulimit -n', or thin the vectors with 'isobath trace transform --thin'",
            forecast.open
        );
        let shares = shares(forecast.open);
        Ok(Self { shares, tuples })
    }
}

/// Among how many threads so many open connections are dealt out, with a reserve of half as many.
pub fn shares(open: u64) -> u32 {
    let wanted = open + open / 2;
    let shares = wanted.div_ceil(each()).clamp(1, MOST_SHARES);
    u32::try_from(shares).unwrap_or(1)
}

/// The most connections that can be open at once in a lab.
pub fn most_open() -> u64 {
    each().saturating_mul(MOST_SHARES)
}

/// Connections of one thread.
fn each() -> u64 {
    let allowed = process::raise_file_limit(WANTED);
    allowed.saturating_sub(OTHER_FILES).max(1)
}

/// Whether this host can open what is foreseen to another one.
///
/// # Errors
/// When it has too few descriptors or ports.
pub fn check_near(forecast: &Forecast) -> anyhow::Result<()> {
    let open = forecast.open;
    let most = each();
    anyhow::ensure!(
        open <= most,
        "some {open} connections would be open at once, and this program may have {most} - raise the limit with 'ulimit -n', or thin the vectors with 'isobath trace transform --thin'"
    );
    let needed = forecast.tuples[0];
    let ports = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let ports = free_ports(&ports);
    if needed > ports {
        return Err(anyhow!(
            "{needed} connections would need a port of their own at once (each rests for a minute after its end), and this host has {ports} - widen net.ipv4.ip_local_port_range, or thin the vectors with 'isobath trace transform --thin'"
        ));
    }
    Ok(())
}

/// How many ports there are, of the kernel's two numbers.
fn free_ports(range: &str) -> u64 {
    let mut bounds = range.split_whitespace().map(str::parse::<u64>);
    let [low, high] = match (bounds.next(), bounds.next()) {
        (Some(Ok(low)), Some(Ok(high))) => [low, high],
        _ => PORTS,
    };
    (high + 1).saturating_sub(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_counted_with_both_ends() {
        assert_eq!(free_ports("32768\t60999\n"), 28_232);
        assert_eq!(free_ports(""), 28_232);
        assert_eq!(free_ports("5 4"), 0);
    }

    #[test]
    fn there_are_threads_enough_for_all_and_half_as_many() {
        assert_eq!(shares(0), 1);
        assert_eq!(u64::from(shares(u64::MAX / 4)), MOST_SHARES);
        let open = each() * 2;
        assert_eq!(shares(open), 3);
    }
}
