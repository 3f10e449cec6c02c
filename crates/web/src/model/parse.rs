//! The notation of page models.
//!
//! ```toml
//! name = "small"
//! summary = "a page that fits on a page"
//! hosts = ["www", "img1", "img2"]
//!
//! [[object]]
//! kind = "document"
//! host = "www"
//! size = "20kB"
//!
//! [[object]]            # one object, with a name by which others are 'after' it
//! id = "main.css"
//! kind = "style"
//! host = "www"
//! size = "8kB"
//!
//! [[object]]            # six objects: hosts and sizes are gone through again and again
//! kind = "image"
//! hosts = ["img1", "img2"]
//! sizes = ["2kB", "4kB", "30kB"]
//! count = 6
//! after = "main.css"    # revealed by that style sheet; by the document without it
//! ```
//!
//! In the document, style sheets and scripts stand in the head (`place = 0`), and images evenly over
//! what follows; `place = 90` puts all objects of a table there.

use super::{Draft, ModelError, Object, check};
use crate::model::Flaw;
use crate::result::Kind;
use serde::Deserialize;
use std::collections::HashMap;
use toml::Spanned;
use units::{Bytes, Span};

/// More than a model may have; how far a wrong `count` can get.
const MAX_COUNT: usize = 1_001;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    summary: String,
    hosts: Vec<String>,
    #[serde(rename = "object")]
    tables: Vec<Spanned<Table>>,
}

/// One or several objects that are alike.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    id: Option<String>,
    kind: Kind,
    host: Option<String>,
    #[serde(default)]
    hosts: Vec<String>,
    size: Option<Bytes>,
    #[serde(default)]
    sizes: Vec<Bytes>,
    count: Option<usize>,
    after: Option<String>,
    place: Option<u8>,
    #[serde(default)]
    delay: Span,
}

/// What the tables read so far have come to.
#[derive(Default)]
struct Reader {
    hosts: HashMap<String, u16>,
    ids: HashMap<String, u16>,
    objects: Vec<Object>,
    /// Line of the table that each object comes from.
    lines: Vec<usize>,
    /// Images of the document without a place.
    spread: Vec<usize>,
}

pub(super) fn parse(text: &str, origin: &str) -> Result<Draft, ModelError> {
    let wrong = |line, what| ModelError::Text {
        origin: origin.to_owned(),
        line,
        what,
    };
    let line = |offset| text.get(..offset).unwrap_or("").matches('\n').count() + 1;
    let file: File = toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        wrong(line(offset), error.message().replace('\n', ", "))
    })?;
    let numbers = (0_u16..).zip(&file.hosts);
    let mut reader = Reader {
        hosts: numbers.map(|(n, host)| (host.clone(), n)).collect(),
        ..Reader::default()
    };
    for table in file.tables {
        let at = line(table.span().start);
        reader
            .take(at, table.into_inner())
            .map_err(|what| wrong(at, what))?;
    }
    reader.place_images();
    let draft = Draft {
        name: file.name,
        summary: file.summary,
        hosts: file.hosts,
        objects: reader.objects,
    };
    let flawed = |flaw: Flaw| match flaw.object {
        Some(object) => wrong(reader.lines.get(object).copied().unwrap_or(1), flaw.what),
        None => wrong(1, flaw.what),
    };
    check::check(draft).map(|model| model.0).map_err(flawed)
}

impl Reader {
    fn take(&mut self, line: usize, table: Table) -> Result<(), String> {
        let hosts = self.hosts_of(&table)?;
        let sizes = one_of(table.size, &table.sizes, "size")?;
        let count = table.count.unwrap_or(sizes.len());
        let first = self.objects.len();
        if count == 0 || first + count > MAX_COUNT {
            return Err(format!("{count} objects - a page has 1 to 1000"));
        }
        let after = self.parent(&table, first)?;
        if let Some(id) = table.id {
            self.name(id, first, count)?;
        }
        let spreads = table.place.is_none() && table.kind == Kind::Image && after == Some(0);
        for n in 0..count {
            if spreads {
                self.spread.push(self.objects.len());
            }
            self.lines.push(line);
            self.objects.push(Object {
                host: hosts[n % hosts.len()],
                kind: table.kind,
                size: sizes[n % sizes.len()],
                after,
                place: table.place.unwrap_or(0),
                delay: table.delay,
            });
        }
        Ok(())
    }

    /// Numbers of the table's hosts; at least one.
    fn hosts_of(&self, table: &Table) -> Result<Vec<u16>, String> {
        let names = one_of(table.host.clone(), &table.hosts, "host")?;
        let number = |name: &String| {
            let known = self.hosts.get(name).copied();
            known.ok_or_else(|| format!("'{name}' is not among the page's hosts"))
        };
        names.iter().map(number).collect()
    }

    fn parent(&self, table: &Table, first: usize) -> Result<Option<u16>, String> {
        match &table.after {
            None => Ok((first > 0).then_some(0)),
            Some(id) => {
                let known = self.ids.get(id).copied();
                let unknown = || format!("no object above has the id '{id}'");
                known.ok_or_else(unknown).map(Some)
            }
        }
    }

    fn name(&mut self, id: String, first: usize, count: usize) -> Result<(), String> {
        if count != 1 {
            return Err(format!("{count} objects cannot share the id '{id}'"));
        }
        let number = u16::try_from(first).map_err(|_| "too many objects".to_owned())?;
        match self.ids.insert(id, number) {
            None => Ok(()),
            Some(_) => Err("its id is that of another object".to_owned()),
        }
    }

    /// Spreads images without a place from 10 to 95 per cent of the document.
    fn place_images(&mut self) {
        let count = self.spread.len().max(1);
        for (n, object) in self.spread.iter().enumerate() {
            let place = 10 + n * 85 / count;
            self.objects[*object].place = u8::try_from(place).unwrap_or(95);
        }
    }
}

/// The values of a table that may have one or many of them; at least one.
fn one_of<T: Clone>(one: Option<T>, many: &[T], what: &str) -> Result<Vec<T>, String> {
    match (one, many.is_empty()) {
        (Some(one), true) => Ok(vec![one]),
        (None, false) => Ok(many.to_vec()),
        _ => Err(format!("write either {what} = or {what}s = [..]")),
    }
}
