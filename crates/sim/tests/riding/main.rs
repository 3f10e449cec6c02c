//! What accuracy costs: estimators of the available bandwidth by way of a manager, on whose probes an application's packets ride.
//!
//! The manager's own machine ([`mgrp::peer::Peer`]) sends, over one queue that others share, while an application sends bursts: the window of a TCP
//! connection in each round trip. `cargo test -p isobath-sim --test riding -- --nocapture` prints the table of docs/estimate.md.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed, helpers of tests included"
)]

mod application;
mod manager;
mod table;

use application::Pace;
use manager::Manager;
use probe::harvest::{self, Harvest};
use probe::pathload::{self, Pathload, Pause, Streams};
use probe::riders::Competing;
use probe::train::{Estimator, Step};
use std::time::Duration;
use table::{Cell, Correction, Row, print};

/// How it is sought.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum By {
    Pathload,
    PathloadFast,
    SemiElastic,
    Elastic,
    Opportunistic,
}

/// As long as the program lets them seek.
const LONGEST: Duration = Duration::from_secs(30);

/// What an estimator says: a range, either end of which may not be known, and whether it believes it. In bit/s.
#[derive(Clone, Copy, Debug)]
struct Said {
    low: Option<f64>,
    high: Option<f64>,
    /// Of riders that would have competed with the last fleet.
    competing: Competing,
    is_conclusive: bool,
}

impl By {
    fn find(self, manager: &mut Manager) -> Said {
        let (pause, made_of) = match self {
            Self::Pathload => (Pause::Slow, Streams::Inelastic),
            Self::PathloadFast => (Pause::Fast, Streams::Inelastic),
            Self::SemiElastic => (Pause::Slow, Streams::SemiElastic(40)),
            Self::Elastic => (Pause::Fast, Streams::Elastic(LONGEST)),
            Self::Opportunistic => return harvested(manager),
        };
        let usual = pathload::Options::default();
        let options = pathload::Options {
            pause,
            made_of,
            octets: if self == Self::Elastic {
                [1_500; 2]
            } else {
                usual.octets
            },
            most: units::Rate::from_bps(1_000_000_000).unwrap(),
            ..usual
        };
        let found = drive(Pathload::new(options, manager.now()), manager);
        let believed = [pathload::Outcome::Conclusive, pathload::Outcome::Grey];
        let is_at_least = found.outcome == pathload::Outcome::AtLeast;
        Said {
            low: Some(found.low_bps).filter(|low| *low > 0.0),
            high: Some(found.high_bps).filter(|high| high.is_finite() && !is_at_least),
            competing: found.competing,
            is_conclusive: believed.contains(&found.outcome),
        }
    }
}

fn harvested(manager: &mut Manager) -> Said {
    let options = harvest::Options {
        duration: LONGEST,
        ..harvest::Options::default()
    };
    let found = drive(Harvest::new(options, manager.now()), manager);
    Said {
        low: found.low_bps,
        high: found.high_bps,
        competing: Competing::default(),
        is_conclusive: found.outcome == harvest::Outcome::Conclusive,
    }
}

fn drive<E: Estimator>(mut estimator: E, manager: &mut Manager) -> E::Estimate {
    loop {
        match estimator.next() {
            Step::Done(estimate) => return estimate,
            Step::Train(train, not_before) => {
                let passage = manager.carry(&train, not_before);
                estimator.handle(&passage, manager.now());
            }
        }
    }
}

/// The grid: capacities in Mbit/s, the share of them that others take, and of what these leave the share that the application sends.
const CAPACITIES: [f64; 3] = [10.0, 50.0, 100.0];
const LOADS: [f64; 3] = [0.0, 0.3, 0.6];
const RATES: [f64; 3] = [0.1, 0.3, 0.6];

/// One estimator over the grid.
fn grid(by: By, pace: Pace) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (seed, mbps) in (1..).zip(CAPACITIES) {
        for load in LOADS {
            for share in RATES {
                let left = mbps * (1.0 - load) * 1e6;
                let mut manager = Manager::new(mbps, load, share * left, pace, seed);
                let said = by.find(&mut manager);
                let seconds = manager.now().as_nanos() as f64 / 1e9;
                manager.settle();
                cells.push(Cell {
                    said,
                    left,
                    own: share * left,
                    seconds,
                    added: manager.added(),
                    padding: manager.padding(),
                    lost: manager.lost(),
                });
            }
        }
    }
    cells
}

#[test]
fn what_accuracy_costs_with_and_without_probes_of_its_own() {
    let mut rows = Vec::new();
    for by in [By::Pathload, By::PathloadFast, By::SemiElastic] {
        let cells = grid(by, Pace::Line);
        for correction in [
            Correction::None,
            Correction::Last,
            Correction::Mean,
            Correction::Spared,
        ] {
            let name = format!("{by:?}, corrected by {correction:?}");
            rows.push(Row::new(name, &cells, correction));
        }
    }
    for by in [By::Elastic, By::Opportunistic] {
        for pace in [Pace::Line, Pace::Clocked] {
            let cells = grid(by, pace);
            rows.push(Row::new(
                format!("{by:?}, {pace:?}"),
                &cells,
                Correction::None,
            ));
        }
    }
    print(&rows);
    assert!(
        rows.iter().all(|row| row.lost == 0),
        "an application's packet"
    );
    let [
        pathload,
        _,
        _,
        beside,
        fast,
        _,
        _,
        beside_fast,
        semi,
        _,
        _,
        _,
        elastic @ ..,
        harvested,
        clocked,
    ] = &rows[..]
    else {
        panic!("as many as were made");
    };
    for row in [beside, beside_fast] {
        assert!(row.error < 0.1, "corrected for riders");
    }
    for row in [pathload, fast, semi] {
        assert!(row.conclusive == row.cells && row.error < 0.1);
    }
    assert!(semi.added < 0.7 * pathload.added && semi.error < 2.0 * pathload.error);
    for row in elastic {
        assert!(row.conclusive * 4 >= row.cells * 3 && row.error < 0.05);
        assert!(row.added < 0.02 * pathload.added && row.hold * 5 >= row.told * 4);
    }
    for row in [harvested, clocked] {
        assert_eq!((row.most_added, row.most_padding), (0, 0), "not an octet");
        assert_eq!(row.hold, row.told, "what it says is so");
        assert!(row.told * 4 >= row.cells * 3);
        assert_eq!(row.conclusive, 0, "one pace tells one bound");
    }
}
