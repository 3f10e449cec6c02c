//! Bulk transfers over the infinitesimally passing testbed of RFC 8337 section 10, on which the tests of `mbm` just pass: 11 packets every 50 ms,
//! a queue of 11, 0.9 losses in 363 packets. A transport is to get the 2.5 Mbit/s of the section's example there.

use crate::path::Path;
use isobath_sim::End;
use std::time::Duration;
use transport::{CongestionControl, Options};

const TARGET_MBPS: f64 = 2.5;
const LOSS: f64 = 0.9 / 363.0;

/// What a transfer of five minutes gets, as a share of the target.
fn share(congestion_control: CongestionControl, loss: f64, seed: u64) -> f64 {
    let options = Options {
        congestion_control,
        ..Options::default()
    };
    // 45 ms of delay, and 4.5 ms in which the link sends a packet; 16,500 octets of queue.
    let bed = Path::new("2640100bit", 45, loss, 16_501.0 / 14_850.0);
    let end = End::After(Duration::from_secs(300));
    bed.throughput(&options, end, seed) / TARGET_MBPS
}

/// Holds mbm/testbed-applications.
#[test]
fn transports_get_the_target_on_a_path_that_just_passes_its_tests() {
    use CongestionControl::{Cubic, Reno};
    for (congestion_control, least_lossy) in [(Reno, 0.96), (Cubic, 0.99)] {
        let clean = share(congestion_control, 0.0, 1);
        assert!(clean >= 1.0, "{congestion_control:?}: {clean}");
        for seed in 1..=3 {
            let lossy = share(congestion_control, LOSS, seed);
            println!("{congestion_control:?} with losses by chance: {lossy:.3}");
            assert!(lossy >= least_lossy, "{congestion_control:?}: {lossy}");
        }
    }
}
