//! What many trains of many rates say together.

use super::Said;

/// The share of a fleet that must agree, as pathload has it.
const AGREEMENT: f64 = 0.7;

/// The lower and the upper bound, in bit/s, by fleets of so many trains of neighbouring rates.
pub(super) fn bounds(said: impl Iterator<Item = Said>, fleet: usize) -> [Option<f64>; 2] {
    let mut trains: Vec<Said> = said.collect();
    trains.sort_unstable_by(|one, other| one.left_bps.total_cmp(&other.left_bps));
    let mut bounds = [None, None];
    for fleet in trains.windows(fleet.max(1)) {
        let rising = fleet.iter().filter(|said| said.is_rising).count() as f64;
        let enough = AGREEMENT * fleet.len() as f64;
        let [low, high] = &mut bounds;
        if rising >= enough {
            let arrived = median(fleet.iter().filter(|said| said.is_rising), |said| {
                said.arrived_bps
            });
            *high = Some(high.map_or(arrived, |high: f64| high.min(arrived)));
        } else if fleet.len() as f64 - rising >= enough {
            let left = median(fleet.iter().filter(|said| !said.is_rising), |said| {
                said.left_bps
            });
            *low = Some(low.map_or(left, |low: f64| low.max(left)));
        }
    }
    bounds
}

/// Of at least one train.
fn median<'a>(trains: impl Iterator<Item = &'a Said>, rate: impl Fn(&Said) -> f64) -> f64 {
    let mut rates: Vec<f64> = trains.map(rate).collect();
    rates.sort_unstable_by(f64::total_cmp);
    stats::quantile(&rates, 0.5).unwrap_or(0.0)
}
