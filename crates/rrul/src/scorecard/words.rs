//! Figures as words.

use record::Distribution;
use schema::rrul::Bounds;

/// Milliseconds with as many digits as a reader needs; microseconds for very short times.
pub(super) fn ms(value: f64) -> String {
    if value > 0.0 && value < 0.1 {
        return format!("{:.0} us", value * 1e3);
    }
    let digits = if value < 10.0 {
        2
    } else {
        usize::from(value < 100.0)
    };
    format!("{value:.digits$} ms")
}

/// Three quantiles in ms, the first with the half width of its 95 % interval, and the number of samples. A quantile that fewer samples
/// than one lie beyond is none.
pub(super) fn quantiles(distribution: Option<Distribution>, of_median: Option<&Bounds>) -> String {
    distribution.map_or_else(dash, |d| {
        // On a path within one room a tenth of a millisecond says nothing; of a page it is too much.
        let digits = match d.p50 {
            p50 if p50 < 1.0 => 3,
            p50 if p50 < 1_000.0 => 1,
            _ => 0,
        };
        let from = |least: u64, value: f64| {
            if d.n < least {
                return dash();
            }
            format!("{value:.digits$}")
        };
        let (p95, p99) = (from(20, d.p95), from(100, d.p99));
        let sure = of_median.map_or_else(String::new, |bounds| {
            format!(" ±{:.digits$}", half_width(bounds))
        });
        format!("{:.digits$}{sure} / {p95} / {p99} ms, n {}", d.p50, d.n)
    })
}

/// A rate and the half width of its 95 % interval.
pub(super) fn rate(value: Option<f64>, bounds: Option<&Bounds>) -> String {
    let sure = bounds.map(|bounds| format!(" ±{:.2}", half_width(bounds)));
    let sure = sure.filter(|_| value.is_some()).unwrap_or_default();
    format!("{}{sure}", number(value, 2))
}

fn half_width(bounds: &Bounds) -> f64 {
    (bounds.high - bounds.low) / 2.0
}

pub(super) fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(dash, |value| format!("{value:.digits$}"))
}

/// What stands for a figure that was not measured.
pub(super) fn dash() -> String {
    "-".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_needs_a_sample_beyond_it() {
        let of = |n: u32| quantiles(Distribution::of((1..=n).map(f64::from)), None);
        assert_eq!(of(0), "-");
        assert_eq!(of(1), "1.0 / - / - ms, n 1");
        assert_eq!(of(19), "10.0 / - / - ms, n 19");
        assert_eq!(of(99), "50.0 / 94.1 / - ms, n 99");
        assert_eq!(of(101), "51.0 / 96.0 / 100.0 ms, n 101");
        let bounds = Bounds {
            low: 48.0,
            high: 54.0,
            n: 7.0,
        };
        let sure = quantiles(Distribution::of((1..=19).map(f64::from)), Some(&bounds));
        assert_eq!(sure, "10.0 ±3.0 / - / - ms, n 19");
        assert_eq!(rate(Some(9.5), Some(&bounds)), "9.50 ±3.00");
        assert_eq!(rate(None, Some(&bounds)), "-");
    }
}
