//! The answer of a run in one sentence.

use super::answer::Answer;
use record::{Run, Status};

/// The sentence for a run; `None` when it is of another test, or came to no end.
pub(crate) fn sentence(run: &Run) -> Option<String> {
    if run.test != super::TEST || run.status == Status::Failed {
        return None;
    }
    let answer = Answer::of(run);
    let what = answer.what.as_deref()?;
    let says = answer.says.as_deref().filter(|says| !says.is_empty())?;
    let way = way(what, answer.direction.as_deref());
    let Some(value) = answer.value.filter(|_| answer.conclusive == Some(true)) else {
        return Some(format!("{}{way} could not be told: {says}.", subject(what)));
    };
    // Of what is available the words of the estimator are a sentence already.
    if what == "available" {
        return Some(format!("{}{way}.", capital(says)));
    }
    if what == "bottleneck" {
        return Some(format!("On the way{way} {says}."));
    }
    let estimator = answer.estimator.as_deref().unwrap_or_default();
    Some(format!("{}{way}: {says}.", found(what, estimator, value)))
}

fn way(what: &str, direction: Option<&str>) -> &'static str {
    match (what, direction) {
        ("rtt", _) | (_, None) => "",
        (_, Some("down")) => " from the far end to here",
        _ => " from here to the far end",
    }
}

fn subject(what: &str) -> &'static str {
    match what {
        "rtt" => "The round trip",
        "owd" => "The one-way delay",
        "jitter" => "The variation of the delay",
        "loss" => "The loss",
        "capacity" => "The capacity",
        "available" => "What is available",
        "bottleneck" => "The bottleneck",
        _ => "The property",
    }
}

fn found(what: &str, estimator: &str, value: f64) -> String {
    let figure = digits(value);
    match (what, estimator) {
        ("rtt", _) => format!("A round trip takes {figure} ms"),
        ("owd", _) => format!("A packet takes {figure} ms"),
        ("jitter", _) => format!("The delays of neighbouring packets differ by {figure} ms"),
        ("loss", "badabing") => format!("Packets get lost in {figure} % of the time"),
        ("loss", _) => format!("{figure} % of the packets get lost"),
        ("capacity", _) => format!("The slowest link carries {figure} Mbit/s"),
        _ => format!("{} is {figure}", subject(what)),
    }
}

/// Three digits, and two of what is small, as everywhere in a page.
fn digits(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if size >= 99.95 || value.fract() == 0.0 => format!("{value:.0}"),
        _ if size >= 9.995 => format!("{value:.1}"),
        _ if size >= 0.0995 => format!("{value:.2}"),
        _ if size >= 0.009_95 => format!("{value:.3}"),
        _ if size >= 0.000_995 => format!("{value:.4}"),
        _ => format!("{value:.1e}"),
    }
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}
