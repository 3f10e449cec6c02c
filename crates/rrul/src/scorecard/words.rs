//! Figures as words.

use record::Distribution;

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

/// Three quantiles in ms and the number of samples. A quantile that fewer samples than one lie beyond is none.
pub(super) fn quantiles(distribution: Option<Distribution>) -> String {
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
        format!("{:.digits$} / {p95} / {p99} ms, n {}", d.p50, d.n)
    })
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
        let of = |n: u32| quantiles(Distribution::of((1..=n).map(f64::from)));
        assert_eq!(of(0), "-");
        assert_eq!(of(1), "1.0 / - / - ms, n 1");
        assert_eq!(of(19), "10.0 / - / - ms, n 19");
        assert_eq!(of(99), "50.0 / 94.1 / - ms, n 99");
        assert_eq!(of(101), "51.0 / 96.0 / 100.0 ms, n 101");
    }
}
