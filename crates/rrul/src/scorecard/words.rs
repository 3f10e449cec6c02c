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

/// Three quantiles in ms.
pub(super) fn quantiles(distribution: Option<Distribution>) -> String {
    distribution.map_or_else(dash, |d| {
        // On a path within one room a tenth of a millisecond says nothing; of a page it is too much.
        let digits = match d.p50 {
            p50 if p50 < 1.0 => 3,
            p50 if p50 < 1_000.0 => 1,
            _ => 0,
        };
        format!(
            "{:.digits$} / {:.digits$} / {:.digits$} ms",
            d.p50, d.p95, d.p99
        )
    })
}

pub(super) fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(dash, |value| format!("{value:.digits$}"))
}

/// What stands for a figure that was not measured.
pub(super) fn dash() -> String {
    "-".to_owned()
}
