//! Lines of no more points than can be seen.
//!
//! A minute of round trips every two milliseconds is 30,000 points on 500 columns of pixels. Of the points in one column the
//! first, the lowest, the highest and the last make the same picture as all of them (the M4 aggregation of Jugel et al., 2014).

/// Columns in a hundredth of an inch: as fine as a printer's 300 dots per inch.
const FINENESS: f64 = 3.0;

/// The stretches of a line between its gaps, thinned. Points are in the figure's own units.
pub(crate) fn stretches(points: impl Iterator<Item = (f64, f64)>) -> Vec<Vec<(f64, f64)>> {
    let mut stretches = Vec::new();
    let mut open = Vec::new();
    for (x, y) in points {
        if x.is_finite() && y.is_finite() {
            open.push((x, y));
        } else if !open.is_empty() {
            stretches.push(thinned(&std::mem::take(&mut open)));
        }
    }
    if !open.is_empty() {
        stretches.push(thinned(&open));
    }
    stretches
}

/// The column of a place; what is beyond all numbers is in the last.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a cast of floats saturates"
)]
fn column(point: &(f64, f64)) -> i64 {
    (point.0 * FINENESS).floor() as i64
}

fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut kept = Vec::new();
    for same in points.chunk_by(|one, next| column(one) == column(next)) {
        let by_height = |one: &&(f64, f64), other: &&(f64, f64)| one.1.total_cmp(&other.1);
        let marks = [
            same.first(),
            same.iter().min_by(by_height),
            same.iter().max_by(by_height),
            same.last(),
        ];
        if same.len() <= marks.len() {
            kept.extend_from_slice(same);
        } else {
            kept.extend(marks.into_iter().flatten().copied());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_parts_a_line() {
        let points = [(0.0, 1.0), (1.0, f64::NAN), (2.0, 3.0), (3.0, 4.0)];
        assert_eq!(
            stretches(points.into_iter()),
            [vec![(0.0, 1.0)], vec![(2.0, 3.0), (3.0, 4.0)]]
        );
    }

    #[test]
    fn many_points_keep_their_extremes_in_every_column() {
        let points: Vec<(f64, f64)> = (0..30_000_u32)
            .map(|at| (f64::from(at) / 60.0, f64::from(at * 7_919 % 1_009)))
            .collect();
        let thin = thinned(&points);
        assert!(thin.len() <= 4 * 1_501, "{}", thin.len());
        for wanted in 0..1_500 {
            let extremes = |points: &[(f64, f64)]| {
                let inside = points.iter();
                let inside = inside.filter(|p| column(p) == wanted);
                let inside = inside.map(|p| p.1);
                let low = inside.clone().fold(f64::INFINITY, f64::min);
                (low, inside.fold(f64::NEG_INFINITY, f64::max))
            };
            assert_eq!(extremes(&points), extremes(&thin), "{wanted}");
        }
    }
}
