//! The end of a run on a terminal: a page of at most 25 lines, from `run.json` alone.
//!
//! The answer comes first, then the score, then the figures behind both, most important first. What does not fit (some
//! penalties, some warnings) is told in number; [`fn@explain`] has all of it.

mod explain;
mod figures;
mod words;

pub use explain::explain;

use kit::scorecard;
use record::{Run, Status};
use schema::rrul::Summary;
use words::{dash, ms};

/// Lines of the page, the two that follow it (record and report) not among them.
const MOST_LINES: usize = 23;

/// Of which there is room for this many notes, whatever else there is to say.
const LEAST_REMARKS: usize = 2;

/// The scorecard of `run`, whose summary is `summary`.
pub fn scorecard(run: &Run, summary: &Summary) -> String {
    let mut lines = vec![title(run), sentence(summary)];
    lines.extend(score(summary));
    lines.push(String::new());
    lines.extend(figures::table(summary));
    lines.extend(figures::calls(summary));
    lines.extend(figures::load(summary));
    lines.extend(figures::marks(summary));
    lines.extend(figures::path(summary));
    lines.extend(figures::links(summary));
    lines.extend(figures::instrument(run));
    let least = (run.warnings.len() + summary.penalties.len()).min(LEAST_REMARKS);
    lines.truncate(MOST_LINES - least);
    lines.extend(notes(run, summary, MOST_LINES - lines.len()));
    lines.join("\n") + "\n"
}

pub(super) fn title(run: &Run) -> String {
    scorecard::title_over_tcp(run, run.plan["name"].as_str().unwrap_or(&run.test))
}

/// The answer to the question that the test asks.
pub fn sentence(summary: &Summary) -> String {
    let pages = summary
        .web
        .as_ref()
        .and_then(|web| Some(format!("; a page takes {}", web.times_as_long()?)));
    let pages = pages.unwrap_or_default();
    let of = summary.latency_ms.words();
    match (summary.latency_ms.idle, summary.latency_ms.loaded) {
        (Some(idle), Some(loaded)) => format!(
            "Under load this path adds {} to a round trip ({} idle, {} loaded: medians, {of}){pages}.",
            ms((loaded.p50 - idle.p50).max(0.0)),
            ms(idle.p50),
            ms(loaded.p50)
        ),
        (Some(idle), None) => format!(
            "A round trip takes {} without load (median, {of}).",
            ms(idle.p50)
        ),
        (None, Some(loaded)) => {
            format!(
                "A round trip takes {} under load (median, {of}){pages}.",
                ms(loaded.p50)
            )
        }
        (None, None) => format!("No {of} round trips were measured."),
    }
}

/// The score and its parts, and round trips per minute.
fn score(summary: &Summary) -> Option<String> {
    let score = summary.score.as_ref()?;
    let part = |value: Option<f64>| value.map_or_else(dash, |value| format!("{value:.1}"));
    let total = score.total.map_or_else(
        || "not all parts measured".to_owned(),
        |total| format!("{total:.0} of 100"),
    );
    let rpm = summary.rpm.as_ref().and_then(|rpm| {
        let idle = rpm.idle.map_or_else(dash, |rpm| format!("{rpm:.0}"));
        Some(format!(";  RPM {:.0} ({idle} idle)", rpm.loaded?))
    });
    Some(format!(
        "score         {total}: web {}, realtime {}, VoIP {}, classes {}, fairness {} of 20{}",
        part(score.web),
        part(score.realtime),
        part(score.voip),
        part(score.classification),
        part(score.fairness),
        rpm.unwrap_or_default()
    ))
}

/// Penalties, then warnings, in `room` lines.
fn notes(run: &Run, summary: &Summary, room: usize) -> Vec<String> {
    let penalties = summary
        .penalties
        .iter()
        .map(|penalty| format!("penalty       {}", penalty.message));
    let warnings = run
        .warnings
        .iter()
        .map(|warning| format!("warning       {} - {}", warning.message, warning.advice));
    // What makes the figures worthless comes before what the figures say.
    let mut lines: Vec<String> = if run.status == Status::Complete {
        penalties.chain(warnings).collect()
    } else {
        warnings.chain(penalties).collect()
    };
    if lines.len() > room {
        let shown = room.saturating_sub(1);
        let more = lines.len() - shown;
        lines.truncate(shown);
        lines.push(format!(
            "              and {more} more: isobath show --explain"
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Distribution, Warning};
    use schema::rrul::{Penalty, WebFigures};

    #[test]
    fn where_no_page_was_finished_under_load_it_takes_at_least_so_long() {
        let told = |loaded: &[f64]| {
            let of = |values: &[f64]| Distribution::of(values.iter().copied());
            let mut summary = Summary::default();
            (summary.latency_ms.idle, summary.latency_ms.loaded) = (of(&[20.0]), of(&[70.0]));
            summary.web = Some(WebFigures {
                idle_ms: of(&[400.0]),
                loaded_ms: of(loaded),
                responsiveness: Some(10.0),
                ..WebFigures::default()
            });
            sentence(&summary)
        };
        let [some, none] = [&[4_000.0][..], &[]].map(told);
        assert!(some.contains("; a page takes 10.0 times as long"), "{some}");
        assert!(
            none.contains("; a page takes at least 10.0 times"),
            "{none}"
        );
    }

    #[test]
    fn however_much_there_is_to_say_the_page_has_23_lines_and_tells_what_is_left_out() {
        let mut run = Run::new(
            "rrul",
            "2026-01-01T00:00:00Z".parse().unwrap(),
            serde_json::json!({}),
        );
        run.status = Status::Complete;
        let warning = Warning {
            code: "x".to_owned(),
            message: "it was so".to_owned(),
            advice: "do this".to_owned(),
        };
        run.warnings = vec![warning; 40];
        let penalty = Penalty {
            message: "it was bad".to_owned(),
            ..Penalty::default()
        };
        let summary = Summary {
            penalties: vec![penalty; 3],
            ..Summary::default()
        };
        let page = scorecard(&run, &summary);
        assert_eq!(page.lines().count(), MOST_LINES, "{page}");
        let shown = page.lines().filter(|l| l.starts_with("warning")).count();
        assert_eq!(page.matches("it was bad").count(), 3);
        assert!(page.contains(&format!("and {} more", 40 - shown)), "{page}");
    }
}
