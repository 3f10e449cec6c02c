//! Page models: which objects a page has, where they are, and which object reveals which.
//!
//! What makes a page slow is less its size than its shape. A browser cannot ask for an image before
//! it has read the tag that names it, nor for a font before the style sheet that does; each such step
//! costs a round trip, and each new host a look-up, a connection and a handshake besides. A model
//! holds exactly that: a tree of objects with their hosts and sizes (the dependency graphs of Wang
//! et al., "Demystifying Page Load Performance with `WProf`", NSDI 2013, without computation).
//!
//! A model is written in TOML ([`PageModel::parse`], see `parse.rs`), and travels as JSON, where it is
//! checked anew: a `PageModel` always keeps the rules of `check.rs`.

mod check;
mod error;
mod parse;
#[cfg(test)]
mod tests;

pub use error::{Flaw, ModelError};

use crate::content::{Content, Urls, layout, media_type};
use crate::names;
use crate::result::Kind;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
use units::{Bytes, Span};

/// Models that are compiled in, by name.
const BUILT_IN: &[(&str, &str)] = &[
    ("rrul2013", include_str!("../../../../pages/rrul2013.toml")),
    ("today", include_str!("../../../../pages/today.toml")),
    ("small", include_str!("../../../../pages/small.toml")),
];
/// A file is longer only by mistake: 1,000 objects take a tenth of it.
const MAX_FILE: u64 = 1024 * 1024;

/// A page: its hosts and its objects. Always well formed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(try_from = "Draft", into = "Draft")]
pub struct PageModel(Draft);

/// A page model that may break rules.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Draft {
    pub(crate) name: String,
    pub(crate) summary: String,
    pub(crate) hosts: Vec<String>,
    pub(crate) objects: Vec<Object>,
}

/// One object of a page.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// Number of its host in [`PageModel::hosts`].
    pub host: u16,
    /// What it is; never [`Kind::Other`].
    pub kind: Kind,
    /// Octets of its body.
    pub size: Bytes,
    /// The object that reveals it, which stands before it; `None` for the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u16>,
    /// How far into the document its tag stands, in per cent of the document's octets; zero for
    /// objects that something else reveals.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub place: u8,
    /// How long its server thinks before it answers.
    #[serde(default, skip_serializing_if = "is_instant")]
    pub delay: Span,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
const fn is_zero(place: &u8) -> bool {
    *place == 0
}

const fn is_instant(delay: &Span) -> bool {
    delay.0.is_zero()
}

impl PageModel {
    /// The built-in model `name`, or the one in the file of that name.
    ///
    /// # Errors
    /// [`ModelError::File`] when there is neither; [`ModelError::Text`] when the file is no model.
    pub fn find(name: &str) -> Result<Self, ModelError> {
        match BUILT_IN.iter().find(|(known, _)| *known == name) {
            Some((known, text)) => Self::parse(text, known),
            None => Self::read(Path::new(name)),
        }
    }

    /// Names of the built-in models.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    fn read(path: &Path) -> Result<Self, ModelError> {
        let refused = |reason: String| ModelError::File {
            path: path.to_owned(),
            reason,
            known: Self::names().collect::<Vec<_>>().join(", "),
        };
        let facts = fs::metadata(path).map_err(|error| refused(error.to_string()))?;
        if !facts.is_file() || facts.len() > MAX_FILE {
            return Err(refused("is not a file of at most 1 MiB".to_owned()));
        }
        let text = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
        Self::parse(&text, &path.display().to_string())
    }

    /// The model that `text` describes in TOML; `origin` names it in errors.
    ///
    /// # Errors
    /// [`ModelError::Text`] with the line, for text that is no TOML or no model.
    pub fn parse(text: &str, origin: &str) -> Result<Self, ModelError> {
        parse::parse(text, origin).map(Self)
    }

    /// The model's name: `rrul2013`.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What the page is like, in one line.
    pub fn summary(&self) -> &str {
        &self.0.summary
    }

    /// The page's hosts; the document's may stand anywhere among them.
    pub fn hosts(&self) -> &[String] {
        &self.0.hosts
    }

    /// The page's objects: first the document, and each after the one that reveals it.
    pub fn objects(&self) -> &[Object] {
        &self.0.objects
    }

    /// Octets of all objects.
    pub fn bytes(&self) -> Bytes {
        self.objects().iter().map(|object| object.size).sum()
    }

    /// The full name of the host of `object` in the session `token`; empty when there is no such
    /// object.
    pub fn host_name(&self, object: u16, token: u64) -> String {
        let label = self.label(object);
        label.map_or_else(String::new, |host| names::host_name(host, token))
    }

    /// Path of the URL of `object`: `/` for the document, `/12.css`.
    pub fn path(&self, object: u16) -> String {
        let kind = self.object(object).map(|object| object.kind);
        match kind {
            None | Some(Kind::Document) => "/".to_owned(),
            Some(kind) => format!("/{object}.{}", extension(kind)),
        }
    }

    /// URL of `object` in the session `token`, served at `port`.
    pub fn url(&self, object: u16, token: u64, port: u16) -> String {
        let (host, path) = (self.host_name(object, token), self.path(object));
        format!("https://{host}:{port}{path}")
    }

    /// The object that has `path` on `host` (a host of the model, not its full name).
    pub fn object_at(&self, host: &str, path: &str) -> Option<u16> {
        let number = self.object_in_folder(path.strip_prefix('/')?)?;
        (self.label(number)? == host).then_some(number)
    }

    /// The object that is `file` where all are in one folder: `12.css`; nothing for the document.
    pub fn object_in_folder(&self, file: &str) -> Option<u16> {
        let number = match file {
            "" => 0,
            file => file.split_once('.')?.0.parse().ok()?,
        };
        let is_there = self.object(number).is_some() && self.path(number)[1..] == *file;
        is_there.then_some(number)
    }

    /// The octets of `object`, and their media type, where all are in one folder; none when there is no such object.
    pub fn octets_in_folder(&self, object: u16) -> Option<(&'static str, bytes::Bytes)> {
        let kind = self.object(object)?.kind;
        let mut content = Content::new(layout(self, object, Urls::OfFolder).segments);
        let octets: Vec<u8> = std::iter::from_fn(|| content.next_piece())
            .flatten()
            .collect();
        Some((media_type(kind), octets.into()))
    }

    /// The object with this number.
    pub fn object(&self, number: u16) -> Option<&Object> {
        self.objects().get(usize::from(number))
    }

    /// The objects that `parent` reveals, in order.
    pub(crate) fn revealed_by(&self, parent: u16) -> impl Iterator<Item = (u16, &Object)> {
        let numbered = (0_u16..).zip(self.objects());
        numbered.filter(move |(_, object)| object.after == Some(parent))
    }

    fn label(&self, object: u16) -> Option<&str> {
        let host = self.object(object)?.host;
        self.hosts().get(usize::from(host)).map(String::as_str)
    }
}

impl TryFrom<Draft> for PageModel {
    type Error = ModelError;

    fn try_from(draft: Draft) -> Result<Self, Self::Error> {
        check::check(draft).map_err(ModelError::Model)
    }
}

impl From<PageModel> for Draft {
    fn from(model: PageModel) -> Self {
        model.0
    }
}

/// How the path of an object of this kind ends.
const fn extension(kind: Kind) -> &'static str {
    match kind {
        Kind::Document => "html",
        Kind::Style => "css",
        Kind::Script => "js",
        Kind::Image => "gif",
        Kind::Font => "woff2",
        Kind::Fetch => "json",
        Kind::Other => "bin",
    }
}
