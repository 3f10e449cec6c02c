//! What the fleet knows, for programs: as the manager's estimation service answers, by HTTP and in JSON.
//!
//! ```text
//! GET /v1/estimates/WHAT?from=HOST&to=HOST    the latest estimate that is new and accurate enough
//! GET /v1/paths                               all that is known
//! ```

use crate::estimates::{Answer, Asked, Estimates, MAX_AGE, Refusal, percent};
use crate::{Moment, Name, http};
use hyper::{Response, StatusCode};
use percent_encoding::percent_decode_str;
use schema::estimate::plan::What;
use serde::Serialize;
use serde_json::json;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;
use units::Span;

/// Characters of what was asked that are said again.
const SHOWN: usize = 40;

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
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = &*percent_decode_str(value).decode_utf8_lossy();
        match name {
            "from" => from = Some(parsed::<Name>(name, value)?),
            "to" => to = Some(parsed::<Name>(name, value)?),
            "fleet" => fleet = Some(parsed(name, value)?),
            "max_age" => max_age = Duration::from(parsed::<Span>(name, value)?),
            "within_pct" => {
                within_pct = Some(percent(value).map_err(|what| wrong(name, value, &what))?);
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

fn named(what: &str) -> Result<What, String> {
    let found = What::ALL.iter().find(|known| known.name() == what);
    found.copied().ok_or_else(|| {
        let names: Vec<_> = What::ALL.iter().map(|known| known.name()).collect();
        let what = shown(what);
        format!("'{what}' is nothing to ask for - {}", names.join(", "))
    })
}

fn parsed<T: FromStr<Err: Display>>(name: &str, value: &str) -> Result<T, String> {
    let parsed = value.parse::<T>();
    parsed.map_err(|error| wrong(name, value, &error))
}

fn wrong(name: &str, value: &str, what: &impl Display) -> String {
    format!("{name}={}: {what}", shown(value))
}

fn shown(text: &str) -> String {
    let shown = text.chars().filter(|c| !c.is_control());
    shown.take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
                "'weather' is nothing to ask for - rtt, ",
            ),
            ("rtt", "from=a", "'to' is missing"),
            ("rtt", "from=a&to=b&every=1s", "no parameter 'every'"),
            ("rtt", "from=a&to=b&max_age=soon", "max_age=soon: "),
            ("rtt", "from=%20&to=b", "from= : "),
            ("rtt", "from=a&to=b&within_pct=NaN", "such as 10"),
            ("rtt", "from=a&to=b&within_pct=-1", "such as 10"),
        ] {
            let said = asked(what, query).unwrap_err();
            assert!(said.contains(wrong), "{said}");
        }
    }
}
