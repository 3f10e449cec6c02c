//! CUBIC where windows are small (RFC 9438 section 4.3): what AIMD by alpha and beta gets is, by Mathis's reckoning,
//!
//! > window = sqrt(alpha (1 + beta) / (2 (1 - beta) p))
//!
//! and with alpha = 3 (1 - beta) / (1 + beta) that is Reno's sqrt(3 / (2 p)), whatever beta is. That is for losses at even
//! distances; with independent ones CUBIC gets somewhat more (to 7 % by its own beta), for beyond the window of the last cut it grows as Reno.

use crate::path::Path;
use isobath_sim::End;
use transport::{CongestionControl, Cubic, Options};

const LOSSES: [f64; 4] = [0.001, 0.003, 0.01, 0.03];
const BETAS: [f64; 3] = [0.5, 0.7, 0.8];
/// As in [`crate::mathis`].
const CYCLES: f64 = 500.0;

fn throughput(congestion_control: CongestionControl, beta: f64, loss: f64) -> f64 {
    let cubic = Cubic {
        beta,
        ..Cubic::default()
    };
    let options = Options {
        congestion_control,
        cubic,
        ..Options::default()
    };
    let segments = End::Segments((CYCLES / loss) as u32);
    Path::new("1Gbit", 10, loss, 4.0).throughput(&options, segments, 1)
}

#[test]
fn cubic_gets_what_reno_gets_where_windows_are_small() {
    for loss in LOSSES {
        let reno = throughput(CongestionControl::Reno, 0.5, loss);
        for beta in BETAS {
            let ratio = throughput(CongestionControl::Cubic, beta, loss) / reno;
            assert!((0.9..1.15).contains(&ratio), "{loss}, {beta}: {ratio}");
        }
    }
}
