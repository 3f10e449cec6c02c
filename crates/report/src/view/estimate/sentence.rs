//! The answer of a run in one sentence.

use super::answer::Answer;
use crate::told;
use record::{Run, Status};
use schema::Direction;
use schema::estimate::plan::{Method, What};

/// The sentence for a run; `None` when it is of another test, or came to no end.
pub(crate) fn sentence(run: &Run) -> Option<String> {
    if run.status == Status::Failed {
        return None;
    }
    let answer = Answer::of(run, told::summary(run).as_ref());
    let what = answer.what?;
    let says = answer.says.as_deref().filter(|says| !says.is_empty())?;
    let way = way(what, answer.direction);
    let Some(value) = answer.value.filter(|_| answer.conclusive == Some(true)) else {
        return Some(format!("{}{way} could not be told: {says}.", subject(what)));
    };
    // Of what is available the words of the estimator are a sentence already.
    if what == What::Available {
        return Some(format!("{}{way}.", capital(says)));
    }
    if what == What::Bottleneck {
        return Some(format!("On the way{way} {says}."));
    }
    let is_time = answer.estimator == Some(Method::Badabing);
    Some(format!("{}{way}: {says}.", found(what, is_time, value)))
}

fn way(what: What, direction: Option<Direction>) -> &'static str {
    match (what, direction) {
        (What::Rtt, _) | (_, None) => "",
        (_, Some(Direction::Down)) => " from the far end to here",
        (_, Some(Direction::Up)) => " from here to the far end",
    }
}

const fn subject(what: What) -> &'static str {
    match what {
        What::Rtt => "The round trip",
        What::Owd => "The one-way delay",
        What::Jitter => "The variation of the delay",
        What::Loss => "The loss",
        What::Capacity => "The capacity",
        What::Available => "The available bandwidth",
        What::Bottleneck => "The bottleneck",
    }
}

/// What was found; of losses, whether they are a share of the time instead of the packets.
fn found(what: What, is_time: bool, value: f64) -> String {
    let figure = digits(value);
    match what {
        What::Rtt => format!("A round trip takes {figure} ms"),
        What::Owd => format!("A packet takes {figure} ms"),
        What::Jitter => format!("The delays of neighbouring packets differ by {figure} ms"),
        What::Loss if is_time => format!("Packets get lost in {figure} % of the time"),
        What::Loss => format!("{figure} % of the packets get lost"),
        What::Capacity => format!("The slowest link carries {figure} Mbit/s"),
        What::Available | What::Bottleneck => format!("{} is {figure}", subject(what)),
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
