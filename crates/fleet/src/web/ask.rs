//! What the fleet knows, for programs: as the manager's estimation service answers, by HTTP and in JSON.
//!
//! ```text
//! GET /v1/estimates/WHAT?from=HOST&to=HOST    the latest estimate that is new and accurate enough
//! GET /v1/paths                               all that is known
//! ```

use crate::estimates::{Answer, Asked, Estimates, MAX_AGE, Refusal};
use crate::{Moment, Name, http};
use hyper::{Response, StatusCode};
use kit::query::{named, pairs, parsed, percent, shown};
use serde::Serialize;
use serde_json::json;
use std::fmt::Display;
use std::time::Duration;
use units::Span;

/// The answer to a query for `what`.
pub(super) fn estimate(
    known: &Estimates,
    what: &str,
    query: &str,
    now: Moment,
) -> Response<String> {
    match asked(what, query).map(|asked| known.answer(&asked, now)) {
        Ok(Ok(answer)) => told(StatusCode::OK, &answer),
        Ok(Err(refusal @ Refusal::Unknown(_))) => error(StatusCode::NOT_FOUND, &refusal),
        Ok(Err(refusal @ Refusal::Quality(_))) => error(StatusCode::CONFLICT, &refusal),
        Err(wrong) => error(StatusCode::BAD_REQUEST, &wrong),
    }
}

/// All that is known.
pub(super) fn paths(known: &Estimates, now: Moment) -> Response<String> {
    let estimates = known.all(now).collect();
    told(StatusCode::OK, &Paths { estimates })
}

#[derive(Serialize)]
struct Paths {
    estimates: Vec<Answer>,
}

fn told(status: StatusCode, body: &impl Serialize) -> Response<String> {
    let body = serde_json::to_string(body).unwrap_or_default();
    http::of_kind(status, "application/json", body)
}

fn error(status: StatusCode, what: &impl Display) -> Response<String> {
    told(status, &json!({ "error": what.to_string() }))
}

/// What is asked for: `what` from the path, the rest from the query.
///
/// # Errors
/// One line: what is wrong, and what is accepted.
fn asked(what: &str, query: &str) -> Result<Asked, String> {
    let what = named(what)?;
    let (mut from, mut to, mut fleet) = (None, None, None);
    let (mut max_age, mut within_pct) = (MAX_AGE, None);
    for (name, value) in pairs(query) {
        let (name, value) = (&*name, &*value);
        match name {
            "from" => from = Some(parsed::<Name>(name, value)?),
            "to" => to = Some(parsed::<Name>(name, value)?),
            "fleet" => fleet = Some(parsed(name, value)?),
            "max_age" => max_age = Duration::from(parsed::<Span>(name, value)?),
            "within_pct" => {
                within_pct = Some(percent(value).map_err(|wrong| format!("{name}: {wrong}"))?);
            }
            _ => {
                let name = shown(name);
                return Err(format!(
                    "there is no parameter '{name}' - use from, to, fleet, max_age, within_pct"
                ));
            }
        }
    }
    let end = |name: &str, end: Option<Name>| {
        end.ok_or_else(|| {
            format!("'{name}' is missing - name a host, such as {name}=berlin-1; /v1/paths lists what is known")
        })
    };
    Ok(Asked {
        what,
        ends: [end("from", from)?, end("to", to)?],
        fleet,
        max_age,
        within_pct,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimates::tests::{now, outcome, summary};
    use schema::estimate::plan::What;

    #[test]
    fn a_query_is_read_and_what_is_wrong_with_it_is_said() {
        let read = asked("rtt", "from=a&to=b&max_age=10min&within_pct=5%25&fleet=f").unwrap();
        assert_eq!((read.what, read.within_pct), (What::Rtt, Some(5.0)));
        assert_eq!(read.max_age, Duration::from_secs(600));
        let usual = asked("loss", "to=b&from=a&").unwrap();
        assert_eq!((usual.max_age, usual.fleet), (MAX_AGE, None));
        for (what, query, wrong) in [
            (
                "weather",
                "from=a&to=b",
                "unknown property 'weather' - use rtt, ",
            ),
            ("rtt", "from=a", "'to' is missing"),
            ("rtt", "from=a&to=b&every=1s", "no parameter 'every'"),
            ("rtt", "from=a&to=b&max_age=soon", "max_age: "),
            ("rtt", "from=%20&to=b", "from: "),
            ("rtt", "from=a&to=b&within_pct=NaN", "such as 10"),
            ("rtt", "from=a&to=b&within_pct=-1", "such as 10"),
        ] {
            let said = asked(what, query).unwrap_err();
            assert!(said.contains(wrong), "{said}");
        }
    }

    #[test]
    fn an_answer_and_each_refusal_have_their_status() {
        let mut known = Estimates::default();
        let rtt = summary("rtt", "up", 20.0, 2.0, true);
        known.take(&outcome("rtt", 90, rtt), now());
        for (what, query, status, field) in [
            ("rtt", "from=a&to=b", 200, "value"),
            ("rtt", "from=a&to=b&within_pct=1", 409, "error"),
            ("rtt", "from=a&to=b&max_age=1s", 409, "error"),
            ("loss", "from=a&to=b", 404, "error"),
            ("rtt", "from=a&to=b&fleet=other", 404, "error"),
            ("rtt", "from=a", 400, "error"),
        ] {
            let response = estimate(&known, what, query, now());
            assert_eq!(response.status(), status, "{what}?{query}");
            let body: serde_json::Value = serde_json::from_str(response.body()).unwrap();
            assert!(!body[field].is_null(), "{body}");
        }
    }
}
