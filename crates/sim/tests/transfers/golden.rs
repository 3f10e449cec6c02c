//! What Reno and CUBIC get over a grid of paths. The tables are looked at when they change: a cell that moves by more than
//! the last digit is a change of what the algorithm does.

use crate::path::Path;
use isobath_sim::End;
use std::fmt::Write;
use std::time::Duration;
use transport::{CongestionControl, Options};

const RATES: [&str; 2] = ["2Mbit", "20Mbit"];
const ROUND_TRIPS_MS: [u64; 3] = [10, 50, 200];
const LOSSES: [f64; 4] = [0.0, 0.001, 0.01, 0.03];
const QUEUES: [f64; 3] = [0.25, 1.0, 4.0];
const SECONDS: u64 = 30;
const SEED: u64 = 1;

fn table(congestion_control: CongestionControl) -> String {
    let options = Options {
        congestion_control,
        ..Options::default()
    };
    let end = End::After(Duration::from_secs(SECONDS));
    let mut table = String::from("Mbit/s of payload in 30 s     queue in rate x round trip\n");
    table += "rate     round trip   loss      0.25      1      4\n";
    for rate in RATES {
        for rtt in ROUND_TRIPS_MS {
            for loss in LOSSES {
                let percent = loss * 100.0;
                write!(table, "{rate:<8} {rtt:>7} ms {percent:>6.1} %").unwrap();
                for queue in QUEUES {
                    let mbps = Path::new(rate, rtt, loss, queue).throughput(&options, end, SEED);
                    write!(table, " {mbps:>6.2}").unwrap();
                }
                table.push('\n');
            }
        }
    }
    table
}

/// Holds btc/same-everywhere.
#[test]
fn reno_over_a_grid_of_paths() {
    insta::assert_snapshot!(table(CongestionControl::Reno));
}

#[test]
fn cubic_over_a_grid_of_paths() {
    insta::assert_snapshot!(table(CongestionControl::Cubic));
}
