//! The rules of a page model.
//!
//! They bound what a server that is handed a model has to keep and to send, and they hold what the
//! generated pages promise: that a browser finds each object in the place that the model says, and
//! that each object has room for the names of those that it reveals.

use super::{Draft, Flaw, Object, PageModel};
use crate::content;
use crate::names::{MAX_HOST, is_host};
use crate::result::Kind;
use std::collections::HashSet;
use std::time::Duration;

/// Ten times the objects of a large page (HTTP Archive: 90th percentile about 180 requests).
const MAX_OBJECTS: usize = 1_000;
/// A browser keeps at most 256 connections; four for each host is still parallel.
const MAX_HOSTS: usize = 64;
/// The largest object, in octets: 16 MiB.
const MAX_SIZE: u64 = 16 << 20;
/// All objects together, in octets: 64 MiB.
const MAX_TOTAL: u64 = 64 << 20;
/// A server that thinks longer has failed.
const MAX_DELAY: Duration = Duration::from_secs(10);
/// A name fits a table's column, a summary a line of a terminal.
const MAX_NAME: usize = 64;
const MAX_SUMMARY: usize = 200;

/// Makes a model of a draft that keeps all rules.
pub(super) fn check(draft: Draft) -> Result<PageModel, Flaw> {
    check_names(&draft)?;
    check_count(&draft)?;
    for (number, object) in draft.objects.iter().enumerate() {
        check_object(&draft, number, object).map_err(|what| Flaw::of(number, what))?;
    }
    let model = PageModel(draft);
    check_sizes(&model)?;
    Ok(model)
}

fn check_names(draft: &Draft) -> Result<(), Flaw> {
    let letter = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name = &draft.name;
    if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(letter) {
        let what = "a name is 1 to 64 letters, digits, '-', '_' and '.'";
        return Err(Flaw::whole(what));
    }
    if draft.summary.len() > MAX_SUMMARY || draft.summary.chars().any(char::is_control) {
        return Err(Flaw::whole("a summary is one line of at most 200 octets"));
    }
    let mut seen = HashSet::new();
    for host in &draft.hosts {
        if !is_host(host) {
            let what = "is no host - write 1 to";
            let form = "lower-case letters, digits and '-'";
            return Err(Flaw::whole(format!("'{host}' {what} {MAX_HOST} {form}")));
        }
        if !seen.insert(host) {
            return Err(Flaw::whole(format!("host '{host}' is there twice")));
        }
    }
    Ok(())
}

fn check_count(draft: &Draft) -> Result<(), Flaw> {
    let (hosts, objects) = (draft.hosts.len(), draft.objects.len());
    if hosts == 0 || hosts > MAX_HOSTS {
        let what = format!("{hosts} hosts - a page has 1 to {MAX_HOSTS}");
        return Err(Flaw::whole(what));
    }
    if objects == 0 || objects > MAX_OBJECTS {
        let what = format!("{objects} objects - a page has 1 to {MAX_OBJECTS}");
        return Err(Flaw::whole(what));
    }
    let sizes = draft.objects.iter().map(|object| object.size.get());
    let total = sizes.fold(0, u64::saturating_add);
    if total > MAX_TOTAL {
        let what = format!("{total} octets in all - a page has at most {MAX_TOTAL}");
        return Err(Flaw::whole(what));
    }
    Ok(())
}

fn check_object(draft: &Draft, number: usize, object: &Object) -> Result<(), String> {
    if usize::from(object.host) >= draft.hosts.len() {
        return Err(format!("there is no host {}", object.host));
    }
    if object.size.get() > MAX_SIZE {
        return Err(format!("{} - an object has at most 16MiB", object.size));
    }
    if object.delay.0 > MAX_DELAY {
        return Err(format!("delay {} - at most 10s", object.delay));
    }
    let is_document = object.kind == Kind::Document;
    match object.after.map(usize::from) {
        None if number == 0 && is_document && object.place == 0 => Ok(()),
        None if number == 0 => Err("the first object is the document, at place 0".to_owned()),
        None => Err("nothing reveals it - write after = ".to_owned()),
        Some(parent) if parent < number => check_link(&draft.objects[parent], object),
        Some(parent) => Err(format!("object {parent} reveals it, but stands behind it")),
    }
}

/// That a browser can find `child` in `parent`.
fn check_link(parent: &Object, child: &Object) -> Result<(), String> {
    use Kind::{Document, Fetch, Font, Image, Script, Style};
    let fits = match parent.kind {
        Document => matches!(child.kind, Style | Script | Image),
        Style => matches!(child.kind, Style | Image | Font),
        Script => matches!(child.kind, Style | Script | Image | Fetch),
        _ => false,
    };
    if !fits {
        return Err(format!("a {} reveals no {}", parent.kind, child.kind));
    }
    if child.place > 100 || (child.place > 0 && parent.kind != Document) {
        return Err("a place is 0 to 100, and in the document alone".to_owned());
    }
    Ok(())
}

fn check_sizes(model: &PageModel) -> Result<(), Flaw> {
    for (number, object) in (0_u16..).zip(model.objects()) {
        let least = content::least(model, number);
        if object.size.get() < least {
            let what = format!("{} - it needs at least {least}B", object.size);
            return Err(Flaw::of(usize::from(number), what));
        }
    }
    Ok(())
}
