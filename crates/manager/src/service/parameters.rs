//! What is behind the question mark of a query.

use super::answer::NO_ROUTERS;
use super::offers::WAYS;
use kit::query::{named, pairs, parsed, percent, shown};
use probe::service::{Bounds, When};
use schema::estimate::plan::{Method, What};
use std::time::Duration;
use units::{Bytes, Rate, Span};

/// An answer of this age will do where nothing else is said.
const MAX_AGE: Duration = Duration::from_secs(10);
/// So long is waited for one where nothing else is said, and at most.
const TIMEOUT: Duration = Duration::from_secs(90);
const LONGEST_TIMEOUT: Duration = Duration::from_secs(600);
/// How often one may be told.
const EVERY: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(86_400)];
/// How often one is told where nothing else is said.
const USUALLY: Duration = Duration::from_secs(30);

/// What was asked.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    pub(super) what: What,
    pub(super) to: String,
    pub(super) from: Option<String>,
    pub(super) max_age: Duration,
    pub(super) within_pct: Option<f64>,
    pub(super) most_octets: Option<u64>,
    pub(super) timeout: Duration,
    pub(super) estimator: Option<Method>,
    pub(super) when: When,
}

/// The parameters, as they come in.
#[derive(Default)]
struct Raw {
    to: Option<String>,
    from: Option<String>,
    max_age: Option<Span>,
    within_pct: Option<f64>,
    max_overhead: Option<Bytes>,
    timeout: Option<Span>,
    estimator: Option<Method>,
    every: Option<Span>,
    above: Option<f64>,
    below: Option<f64>,
}

impl Asked {
    /// Reads what is asked for: `what` from the path, the rest from `query`. `is_watch`: whether it is asked again and again.
    ///
    /// # Errors
    /// One line: which is wrong and what is accepted.
    pub(super) fn parse(what: &str, query: &str, is_watch: bool) -> Result<Self, String> {
        let what = named::<What>(what)?;
        if what == What::Bottleneck {
            return Err(NO_ROUTERS.to_owned());
        }
        let mut raw = Raw::default();
        for (name, value) in pairs(query) {
            raw.take(what, is_watch, &name, &value)?;
        }
        raw.asked(what, is_watch)
    }
}

impl Raw {
    fn take(&mut self, what: What, is_watch: bool, name: &str, value: &str) -> Result<(), String> {
        match (name, is_watch) {
            ("to", _) => self.to = Some(value.to_owned()),
            ("from", _) => self.from = Some(value.to_owned()),
            ("max_age", _) => self.max_age = Some(parsed(name, value)?),
            ("max_overhead", _) => self.max_overhead = Some(parsed(name, value)?),
            ("timeout", false) => self.timeout = Some(parsed(name, value)?),
            ("within_pct", _) => self.within_pct = Some(share(name, value)?),
            ("estimator", _) => {
                let all = WAYS.iter().filter(|way| way.what == what);
                let all: Vec<_> = all.map(|way| way.method.name()).collect();
                let found = named::<Method>(value).ok();
                let found = found.filter(|of| all.contains(&of.name()));
                self.estimator = Some(found.ok_or_else(|| {
                    let (value, what) = (shown(value), what.name());
                    format!(
                        "estimator '{value}' does not find '{what}' - use {}",
                        all.join(" or ")
                    )
                })?);
            }
            ("every", true) => self.every = Some(parsed(name, value)?),
            ("above", true) => self.above = Some(bound(what, name, value)?),
            ("below", true) => self.below = Some(bound(what, name, value)?),
            _ => {
                let more = if is_watch {
                    "every, above, below"
                } else {
                    "timeout"
                };
                return Err(format!(
                    "there is no parameter '{}' - use to, from, max_age, within_pct, max_overhead, estimator, {more}",
                    shown(name)
                ));
            }
        }
        Ok(())
    }

    fn asked(self, what: What, is_watch: bool) -> Result<Asked, String> {
        let to = self.to.filter(|to| !to.is_empty());
        let to = to.ok_or("'to' is missing - name a peer, such as to=m5; /v1/paths lists them")?;
        let every = self.every.map_or(USUALLY, |every| every.0);
        if !(EVERY[0]..=EVERY[1]).contains(&every) {
            return Err("every is out of range - use 1s to 24h".to_owned());
        }
        let timeout = self.timeout.map_or(TIMEOUT, |timeout| timeout.0);
        if timeout.is_zero() || timeout > LONGEST_TIMEOUT {
            return Err("timeout is out of range - use more than 0s and at most 10min".to_owned());
        }
        let bounds = match (self.above, self.below) {
            (None, None) => None,
            (above, below) => {
                let upper = above.or(below).unwrap_or_default();
                let lower = below.or(above).unwrap_or_default();
                if lower > upper {
                    return Err("below is more than above - swap them".to_owned());
                }
                Some(Bounds { upper, lower })
            }
        };
        // Half of the time between two answers: who asks each 30 s shares with others what is not older than 15.
        let usual_age = if is_watch { every / 2 } else { MAX_AGE };
        Ok(Asked {
            what,
            to,
            from: self.from.filter(|from| !from.is_empty()),
            max_age: self.max_age.map_or(usual_age, |age| age.0),
            within_pct: self.within_pct,
            most_octets: self.max_overhead.map(Bytes::get),
            timeout: if is_watch {
                every.max(TIMEOUT)
            } else {
                timeout
            },
            estimator: self.estimator,
            when: if is_watch {
                When::Every(every, bounds)
            } else {
                When::Once
            },
        })
    }
}

fn share(name: &str, value: &str) -> Result<f64, String> {
    percent(value).map_err(|wrong| format!("{name}: {wrong}"))
}

/// A bound in the unit of what is watched.
fn bound(what: What, name: &str, value: &str) -> Result<f64, String> {
    match what.unit() {
        "ms" => parsed::<Span>(name, value).map(|span| span.0.as_secs_f64() * 1e3),
        "%" => share(name, value),
        _ => parsed::<Rate>(name, value).map(Rate::as_mbps),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_that_may_be_said_is_understood() {
        let query = "to=m%35&from=m3&max_age=1min&within_pct=10&max_overhead=200kB&timeout=90s&estimator=pathload-fast";
        let asked = Asked::parse("available", query, false).unwrap();
        assert_eq!(
            asked,
            Asked {
                what: What::Available,
                to: "m5".to_owned(),
                from: Some("m3".to_owned()),
                max_age: Duration::from_secs(60),
                within_pct: Some(10.0),
                most_octets: Some(200_000),
                timeout: Duration::from_secs(90),
                estimator: Some(Method::PathloadFast),
                when: When::Once,
            }
        );
        let asked = Asked::parse("rtt", "to=m5&every=5s&above=20ms&below=15ms", true).unwrap();
        let bounds = Bounds {
            upper: 20.0,
            lower: 15.0,
        };
        assert_eq!(
            asked.when,
            When::Every(Duration::from_secs(5), Some(bounds))
        );
        let asked = Asked::parse("available", "to=m5&below=5Mbit", true).unwrap();
        let bounds = Bounds {
            upper: 5.0,
            lower: 5.0,
        };
        assert_eq!(asked.when, When::Every(USUALLY, Some(bounds)));
    }

    #[test]
    fn trains_of_applications_packets_can_be_named() {
        for method in [Method::SemiElastic, Method::Elastic, Method::Opportunistic] {
            let query = format!("to=m5&estimator={}", method.name());
            let asked = Asked::parse("available", &query, false).unwrap();
            assert_eq!(asked.estimator, Some(method));
        }
    }

    #[test]
    fn what_is_wrong_is_told_in_a_line_with_what_is_accepted() {
        for (what, query, is_watch, part) in [
            ("colour", "to=m5", false, "use rtt, owd"),
            ("bottleneck", "to=m5", false, "reach no routers"),
            ("rtt", "", false, "'to' is missing"),
            ("rtt", "to=m5&max_age=5", false, "max_age: "),
            ("rtt", "to=m5&every=5s", false, "no parameter 'every'"),
            ("rtt", "to=m5&timeout=5s", true, "no parameter 'timeout'"),
            ("rtt", "to=m5&timeout=1h", false, "at most 10min"),
            ("rtt", "to=m5&every=1ms", true, "use 1s to 24h"),
            ("rtt", "to=m5&within_pct=-1", false, "such as 10"),
            ("rtt", "to=m5&estimator=yaz", false, "use isochronous"),
            (
                "available",
                "to=m5&estimator=pathrate",
                false,
                "use pathload-fast or pathload",
            ),
            ("rtt", "to=m5&above=5Mbit", true, "above: "),
            ("rtt", "to=m5&above=5ms&below=6ms", true, "swap them"),
        ] {
            let line = Asked::parse(what, query, is_watch).unwrap_err();
            assert!(line.contains(part) && !line.contains('\n'), "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_query_is_read_or_refused(what in "rtt|.{0,9}", query in "(to=m5&)?.{0,60}", is_watch: bool) {
            let _ = Asked::parse(&what, &query, is_watch);
        }
    }
}
