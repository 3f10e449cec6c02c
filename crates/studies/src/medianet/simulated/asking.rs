//! Estimates of the available bandwidth, one after the other, by the near manager: what its estimation service would measure.

use super::run::Simulation;
use crate::dumbbell::managers::FAR;
use crate::dumbbell::simulated::{Course, Here};
use crate::medianet::asking::{Patience, REST};
use crate::medianet::news::{Answer, Found, News};
use estimate::riding::{self, Failed, Measured};
use kit::tool::{Target, Tool};
use schema::Direction;
use schema::estimate::Plan;
use schema::estimate::plan::{Method, What};
use std::cell::RefCell;
use std::time::Duration;
use units::{Dscp, Instant, Rate, Span};

/// The fastest streams, as the service has them.
const MOST: Rate = match Rate::from_bps(1_000_000_000) {
    Some(rate) => rate,
    None => unreachable!(),
};
/// More than the trains of one estimation, which are numbered one after the other.
const TRAINS: u32 = 1 << 20;
/// A figure from a minute at most; pathload goes on until it has one.
const DURATION: Span = Span(Duration::from_secs(60));

/// Asks again and again, from `origin` on, until the run is over.
pub(super) fn run(
    simulation: &RefCell<Simulation<'_>>,
    method: Method,
    patience: &Patience,
    origin: Instant,
) -> Result<(), record::Error> {
    simulation.borrow_mut().go_on(origin)?;
    // At which rate a long train has held: the link stays as it is, and so does the session.
    let (mut held, mut number) = (0.0, 0);
    while !patience.is_over() {
        let began = simulation.borrow().now();
        patience.begin(began);
        let measured = measure(simulation, method, patience, (number, held));
        patience.end();
        if patience.is_over() {
            break;
        }
        number += 1;
        let estimate = match measured {
            Ok(measured) => {
                held = measured.held_mbps.unwrap_or(held);
                Some(found(measured))
            }
            Err(Failed::Lost(_)) if patience.is_given_up() => None,
            Err(failed) => {
                let reason = format!("the estimator: {failed:?}");
                simulation.borrow_mut().hear(News::Broken(reason));
                break;
            }
        };
        let ended = simulation.borrow().now();
        simulation.borrow_mut().hear(News::Answer(Answer {
            began,
            ended,
            estimate,
        }));
        simulation.borrow_mut().go_on(ended + REST)?;
    }
    Ok(())
}

fn measure(
    simulation: &RefCell<Simulation<'_>>,
    method: Method,
    patience: &Patience,
    (number, held): (u32, f64),
) -> Result<Measured, Failed> {
    let plan = Plan {
        what: What::Available,
        method,
        direction: Direction::Up,
        duration: DURATION,
        most: MOST,
        class: Dscp::default(),
        seed: number.into(),
    };
    let give_up = patience.give_up();
    let target = Target::of_manager(FAR, 0);
    let before = number.wrapping_mul(TRAINS);
    let tool = Tool::over(Here::connect(simulation), target, before, give_up);
    riding::measure_by(&plan, tool, Instant::as_nanos, (None, held), give_up)
}

fn found(measured: Measured) -> Found {
    let finding = measured.finding;
    let uncorrected = finding.details.get("uncorrected");
    let uncorrected = uncorrected.and_then(|of| of.get("value")?.as_f64());
    Found {
        conclusive: finding.conclusive,
        value: finding.value.filter(|_| finding.conclusive),
        low: finding.low,
        high: finding.high,
        uncorrected: uncorrected.filter(|_| finding.conclusive),
        reason: (!finding.conclusive).then_some(finding.says),
        overhead: measured.overhead,
        ridden: measured.ridden,
    }
}
