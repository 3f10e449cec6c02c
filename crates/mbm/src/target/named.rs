//! Targets with names: what common applications need, each with the source of its figures.
//!
//! A file in `targets/` has a target's fields ([`TargetSpec`]), a `summary`, a `source` (where its figures come from) and,
//! where the reference model is not the right one, a `[model]`. A user's own file has the same form.

use super::{Target, TargetError, TargetSpec};
use crate::model::Model;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Rate, Span};

macro_rules! targets {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../targets/", $name, ".toml")))),*]
    };
}

/// Name and text of each built-in target, in the order that a reader should meet them.
const TARGETS: &[(&str, &str)] = targets![
    "video-hd",
    "video-4k",
    "video-rfc8337",
    "video-call",
    "voip",
    "cloud-game",
    "backup-100M",
];

/// An application's target.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct NamedTarget {
    /// Its name: `video-4k`.
    pub name: String,
    /// What it stands for, in one line.
    pub summary: String,
    /// Where its figures come from.
    pub source: String,
    /// The target.
    pub target: Target,
    /// The model that turns it into a run length.
    pub model: Model,
}

/// The content of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Draft {
    summary: String,
    source: String,
    rate: Rate,
    rtt: Span,
    mtu: Option<u32>,
    overhead: Option<u32>,
    derating: Option<super::Derating>,
    model: Option<Model>,
}

impl NamedTarget {
    /// Names of the built-in targets.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TARGETS.iter().map(|(name, _)| *name)
    }

    /// The built-in target `name`.
    ///
    /// # Errors
    /// [`TargetError::Unknown`] with the names there are.
    pub fn find(name: &str) -> Result<Self, TargetError> {
        match TARGETS.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Self::parse(name, text),
            None => Err(TargetError::Unknown {
                name: name.to_owned(),
                known: Self::names().collect::<Vec<_>>().join(", "),
            }),
        }
    }

    /// The target that `text` describes in TOML; it is called `name`, in errors too.
    ///
    /// # Errors
    /// [`TargetError::Text`] for text that is no target, or names one that cannot be.
    pub fn parse(name: &str, text: &str) -> Result<Self, TargetError> {
        let refused = |what: String| TargetError::Text {
            origin: name.to_owned(),
            what,
        };
        let draft: Draft = toml::from_str(text).map_err(|e| refused(e.to_string()))?;
        if draft.source.trim().is_empty() {
            return Err(refused(
                "`source` is empty: say where the figures come from".to_owned(),
            ));
        }
        let spec = TargetSpec {
            rate: draft.rate,
            rtt: draft.rtt,
            mtu: draft.mtu.unwrap_or(super::MTU),
            overhead: draft.overhead.unwrap_or(super::OVERHEAD),
            derating: draft.derating,
        };
        let target = Target::new(spec).map_err(|e| refused(e.to_string()))?;
        let model = draft.model.unwrap_or_default();
        model
            .run_length(&target)
            .map_err(|e| refused(e.to_string()))?;
        Ok(Self {
            name: name.to_owned(),
            summary: draft.summary,
            source: draft.source,
            target,
            model,
        })
    }
}
