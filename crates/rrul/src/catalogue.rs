//! The built-in plans, and plans in files.

use schema::rrul::Plan;
use std::cmp::Reverse;
use thiserror::Error;

macro_rules! plans {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../plans/", $name, ".toml")))),*]
    };
}

/// Name and text of each built-in plan.
const PLANS: &[(&str, &str)] = plans![
    "rrul",
    "rrul46",
    "rrul_be",
    "rrul_cs8",
    "rrul_noclassification",
    "rrul_var",
    "rrul_up",
    "rrul_50_up",
    "simple",
    "ping",
    "voip",
    "voip-1up",
    "voip-rrul",
    "http",
    "http-1up",
    "http-1down",
    "http-rrul",
    "tcp_upload",
    "tcp_download",
    "tcp_bidirectional",
    "tcp_1up",
    "tcp_2up",
    "tcp_4up",
    "tcp_6up",
    "tcp_8up",
    "tcp_12up",
    "tcp_nup",
    "tcp_1down",
    "tcp_2down",
    "tcp_4down",
    "tcp_6down",
    "tcp_8down",
    "tcp_12down",
    "tcp_ndown",
    "tcp_2up_delay",
    "tcp_2up_square",
    "tcp_4up_squarewave",
    "cubic_bbr",
    "cubic_reno",
    "bbr_reno",
    "rtt_fair",
    "rtt_fair_up",
    "rtt_fair_down",
];

/// Why a plan cannot be run.
#[derive(Debug, Error)]
pub enum PlanError {
    /// No built-in plan and no file of that name.
    #[error(
        "no plan is called '{name}'{near} - 'isobath rrul --list-plans' lists them; or give the path of a TOML file"
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// What may have been meant, as the end of the sentence.
        near: String,
    },
    /// The file cannot be read.
    #[error("cannot read {file}: {source} - give the path of a TOML file that describes a plan")]
    Read {
        /// The file.
        file: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The text is no plan.
    #[error("{name}{line}: {what}")]
    Text {
        /// The plan's name, or its file.
        name: String,
        /// ` line 3`; empty where no line is wrong by itself.
        line: String,
        /// What is wrong.
        what: String,
    },
}

/// The names of the built-in plans, in the order in which people look for them.
pub fn names() -> impl Iterator<Item = &'static str> {
    PLANS.iter().map(|(name, _)| *name)
}

/// The built-in plan `name`, or the one in the file at that path.
///
/// # Errors
/// When there is no such plan, or it cannot be read.
pub fn find(name: &str) -> Result<Plan, PlanError> {
    let built_in = PLANS.iter().find(|(known, _)| *known == name);
    if let Some((_, text)) = built_in {
        return parse(text, name);
    }
    if name.contains('/') || name.to_ascii_lowercase().ends_with(".toml") {
        let text = std::fs::read_to_string(name).map_err(|source| PlanError::Read {
            file: name.to_owned(),
            source,
        })?;
        return parse(&text, name);
    }
    Err(PlanError::Unknown {
        name: name.to_owned(),
        near: near(name),
    })
}

/// Reads and checks a plan.
///
/// # Errors
/// When the text is no plan.
pub fn parse(text: &str, name: &str) -> Result<Plan, PlanError> {
    let plan: Plan = toml::from_str(text).map_err(|error| {
        let before = error
            .span()
            .and_then(|span| text.get(..span.start))
            .unwrap_or_default();
        PlanError::Text {
            name: name.to_owned(),
            line: format!(" line {}", before.matches('\n').count() + 1),
            what: error.message().replace('\n', ", "),
        }
    })?;
    let plan = Plan {
        name: name.to_owned(),
        ..plan
    };
    plan.check().map_err(|what| PlanError::Text {
        name: name.to_owned(),
        line: String::new(),
        what,
    })?;
    Ok(plan)
}

/// A built-in name that begins like `name`, for those who mistype.
fn near(name: &str) -> String {
    let alike = |known: &&str| {
        let common = known.bytes().zip(name.bytes()).take_while(|(a, b)| a == b);
        common.count()
    };
    // Of those that begin alike, the one of the most similar length.
    let nearest = names()
        .min_by_key(|known| (Reverse(alike(known)), known.len().abs_diff(name.len())))
        .filter(|known| alike(known) >= 2);
    nearest.map_or_else(String::new, |known| format!(" (did you mean '{known}'?)"))
}

#[cfg(test)]
mod tests;
