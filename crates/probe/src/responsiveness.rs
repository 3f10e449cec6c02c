//! Responsiveness under working conditions: round trips per minute (RPM).
//!
//! draft-ietf-ippm-responsiveness loads a path with HTTP transfers and times small requests meanwhile: *foreign* ones on
//! new connections, of which connecting (TCP), agreeing (TLS) and asking (HTTP) are timed apart, and *self* ones on the
//! connections that carry the load. With TM the mean without the slowest 5 % (section 4.3; version 09 writes `http_l` for `http_s`):
//!
//! | version | formula |
//! |---|---|
//! | 03 ([`Responsiveness::draft_03`]) | `60000 / (((TM(tcp_f) + TM(tls_f) + TM(http_f)) / 3 + TM(http_s)) / 2)` |
//! | 09 ([`Responsiveness::rpm`]) | `(60000 / ((TM(tcp_f) + TM(tls_f) + TM(http_f)) / 3) + 60000 / TM(http_s)) / 2` |
//!
//! The first is the rate of the mean delay, the second the mean of two rates, which is never less: 100 ms foreign and
//! 20 ms self are 1,000 RPM by the first and 1,800 by the second. So a figure needs its version beside it. Where one of
//! the two kinds was not measured there is no combined figure, but that of the other kind stands.
//!
//! HTTP/3 has one handshake, QUIC's, with TLS's in it: where only one was measured, it and the request count half each, as the draft
//! has it for TCP without TLS.

/// Of this many samples the trimmed mean leaves the slowest one out: it keeps 95 % (parameter TMP of the draft).
const ONE_LEFT_OUT_OF: usize = 20;
/// Milliseconds in a minute.
const MINUTE_MS: f64 = 60_000.0;

/// Durations in milliseconds. A TLS exchange of more than one round trip counts as the time of one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Durations<'a> {
    /// `tcp_f`: connecting by TCP. Empty where there is none.
    pub tcp_foreign: &'a [f64],
    /// `tls_f`: agreeing on TLS, or connecting by QUIC. Empty where there is none.
    pub tls_foreign: &'a [f64],
    /// `http_f`: a request on a new connection.
    pub http_foreign: &'a [f64],
    /// `http_s`: a request on a connection that carries load.
    pub http_self: &'a [f64],
}

/// Round trips per minute; more is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Responsiveness {
    /// By the formula of version 09; `None` unless both kinds of probe were measured.
    pub rpm: Option<f64>,
    /// By the formula of version 03; `None` unless both kinds of probe were measured.
    pub draft_03: Option<f64>,
    /// Of foreign probes alone.
    pub foreign: Option<f64>,
    /// Of self probes alone.
    pub loaded: Option<f64>,
}

impl Responsiveness {
    /// Of these durations; those that are not finite or not above zero are left out. `None` when nothing was measured.
    pub fn of(durations: &Durations<'_>) -> Option<Self> {
        let foreign_ms = foreign_ms(durations);
        let self_ms = trimmed_mean(durations.http_self);
        if foreign_ms.is_none() && self_ms.is_none() {
            return None;
        }
        let (foreign, loaded) = (foreign_ms.and_then(rpm), self_ms.and_then(rpm));
        let both = foreign_ms.zip(self_ms);
        Some(Self {
            rpm: foreign.zip(loaded).map(|(a, b)| f64::midpoint(a, b)),
            draft_03: both.and_then(|(a, b)| rpm(f64::midpoint(a, b))),
            foreign,
            loaded,
        })
    }
}

/// Mean of what a foreign probe's parts take; `None` without any handshake or HTTP.
fn foreign_ms(durations: &Durations<'_>) -> Option<f64> {
    let http = trimmed_mean(durations.http_foreign)?;
    let handshakes = [durations.tcp_foreign, durations.tls_foreign].map(trimmed_mean);
    Some(match handshakes {
        [Some(tcp), Some(tls)] => tcp / 3.0 + tls / 3.0 + http / 3.0,
        [Some(only), None] | [None, Some(only)] => f64::midpoint(only, http),
        [None, None] => return None,
    })
}

fn rpm(ms: f64) -> Option<f64> {
    let rpm = MINUTE_MS / ms;
    rpm.is_finite().then_some(rpm)
}

/// The mean of the quickest 95 % of `samples`, rounded up, so that of fewer than 20 all count. Samples that are not
/// finite or not above zero are left out; `None` when none remain.
pub fn trimmed_mean(samples: &[f64]) -> Option<f64> {
    let mut sorted: Vec<f64> = samples
        .iter()
        .copied()
        .filter(|x| x.is_finite() && *x > 0.0)
        .collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let kept = sorted.len() - sorted.len() / ONE_LEFT_OUT_OF;
    let n = kept as f64;
    (kept > 0).then(|| sorted[..kept].iter().map(|x| x / n).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: Option<f64>, b: f64) -> bool {
        (a.unwrap() - b).abs() < 1e-9 * b
    }

    #[test]
    fn the_versions_of_the_draft_differ() {
        let durations = Durations {
            tcp_foreign: &[100.0; 3],
            tls_foreign: &[100.0; 3],
            http_foreign: &[100.0; 3],
            http_self: &[20.0; 3],
        };
        let result = Responsiveness::of(&durations).unwrap();
        assert!(close(result.foreign, 600.0) && close(result.loaded, 3_000.0));
        assert!(close(result.rpm, 1_800.0) && close(result.draft_03, 1_000.0));
    }

    #[test]
    fn without_tls_the_other_two_share() {
        let durations = Durations {
            tcp_foreign: &[10.0],
            http_foreign: &[30.0],
            ..Durations::default()
        };
        let result = Responsiveness::of(&durations).unwrap();
        assert!(close(result.foreign, 3_000.0));
        assert_eq!(
            (result.rpm, result.draft_03, result.loaded),
            (None, None, None)
        );
        assert_eq!(Responsiveness::of(&Durations::default()), None);
    }

    #[test]
    fn the_slowest_twentieth_is_left_out() {
        let mut samples = vec![10.0; 19];
        samples.push(1_000.0);
        assert!(close(trimmed_mean(&samples), 10.0));
        assert!(close(
            trimmed_mean(&samples[1..]),
            (18.0 * 10.0 + 1_000.0) / 19.0
        ));
        assert_eq!(trimmed_mean(&[f64::NAN, 0.0, -1.0]), None);
    }

    proptest! {
        #[test]
        fn the_mean_of_rates_is_never_below_the_rate_of_the_mean(
            foreign in proptest::collection::vec(0.01_f64..1e5, 1..40),
            own in proptest::collection::vec(0.01_f64..1e5, 1..40),
        ) {
            let durations = Durations {
                tcp_foreign: &foreign, tls_foreign: &foreign, http_foreign: &foreign, http_self: &own,
            };
            let result = Responsiveness::of(&durations).unwrap();
            prop_assert!(result.rpm.unwrap() >= result.draft_03.unwrap() * (1.0 - 1e-9));
        }

        #[test]
        fn any_durations_are_answered(samples in proptest::collection::vec(proptest::num::f64::ANY, 0..50)) {
            let durations = Durations { http_self: &samples, tcp_foreign: &samples, http_foreign: &samples, ..Durations::default() };
            if let Some(result) = Responsiveness::of(&durations) {
                for rpm in [result.rpm, result.draft_03, result.foreign, result.loaded].into_iter().flatten() {
                    prop_assert!(rpm.is_finite() && rpm >= 0.0);
                }
            }
        }
    }
}
