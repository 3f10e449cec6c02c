//! A page that the browser loads, again and again: its objects as they are served, and what the browser says of its loads.
//!
//! All of the page's objects are in one folder of this server. A load begins with new connections, since those of the one before are closed
//! when it is over; what a browser knows by heart from then on is the server's address, so no load has look-ups.

use crate::desk::Run;
use bytes::Bytes;
use kit::stream::nanos;
use rrul::summary::CUT_OFF;
use rrul::tables::Tables;
use schema::rrul::Plan;
use schema::tables::{PageLoad, PageObject};
use serde::Deserialize;
use std::time::Duration;
use web::PageModel;

/// Loads of a run, several times what one has.
const MOST_LOADS: usize = 200;
/// Octets that no object has, and characters of what went wrong.
const MOST_OCTETS: u64 = 1 << 30;
const LONGEST_ERROR: usize = 200;

/// The page of a plan.
pub(crate) fn model(plan: &Plan) -> Option<PageModel> {
    PageModel::find(&plan.web.as_ref()?.page).ok()
}

/// What `LOAD/FILE` of the page of `run` is, and its media type, once its server has thought about it; none where there is no such file.
pub(crate) async fn file(run: &Run, path: &str) -> Option<(&'static str, Bytes)> {
    let (_, file) = path.split_once('/')?;
    let model = model(&run.begun()?.plan)?;
    let number = model.object_in_folder(file)?;
    tokio::time::sleep(model.object(number)?.delay.0).await;
    model.octets_in_folder(number)
}

/// A load as its browser tells it, in milliseconds after its start.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Load {
    /// After the run's start.
    started: f64,
    first_byte: Option<f64>,
    /// The load event; null: the load came to nothing, or its phase ended before.
    loaded: Option<f64>,
    /// Until its end, whatever that was.
    spent: f64,
    /// Why it came to nothing; null with a load that its phase's end cut off.
    error: Option<String>,
    objects: Vec<Object>,
}

/// An object of a load. Phases that did not take place are null.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Object {
    #[serde(rename = "object")]
    number: u16,
    /// After the load's start; all others are durations.
    found: f64,
    blocked: Option<f64>,
    dns: Option<f64>,
    connect: Option<f64>,
    tls: Option<f64>,
    wait: Option<f64>,
    receive: Option<f64>,
    total: Option<f64>,
    bytes: u64,
    status: Option<u16>,
}

/// Whether `loads` can be of a run of `plan`.
pub(crate) fn are_right(loads: &[Load], plan: &Plan) -> bool {
    let Some(model) = model(plan) else {
        return loads.is_empty();
    };
    let is_there =
        |object: &Object| model.object(object.number).is_some() && object.bytes <= MOST_OCTETS;
    let is_right = |load: &Load| {
        load.objects.len() <= model.objects().len()
            && load.objects.iter().all(is_there)
            && load.durations().all(|ms| ms >= 0.0)
    };
    loads.len() <= MOST_LOADS && loads.iter().all(is_right)
}

/// All times that `loads` tell, in milliseconds.
pub(crate) fn times(loads: &[Load]) -> impl Iterator<Item = f64> {
    let of = |load: &Load| load.durations().chain([load.started]).collect::<Vec<_>>();
    loads.iter().flat_map(of)
}

/// Puts `loads` into the tables of a run of `plan`, as those of `stream` from the host named `host`.
pub(crate) fn enter(loads: &[Load], (plan, stream): (&Plan, u16), host: &str, tables: &mut Tables) {
    let Some(model) = model(plan).filter(|_| !loads.is_empty()) else {
        return;
    };
    tables.opened(stream, 0);
    for (number, load) in (0..).zip(loads) {
        let row = load.row(number);
        let start = row.t_ns;
        tables.pages.push(PageLoad {
            stream,
            page: model.name().to_owned(),
            ..row
        });
        tables
            .objects
            .extend(load.objects.iter().map(|object| PageObject {
                load: number,
                host: host.to_owned(),
                path: model.path(object.number),
                kind: kind(&model, object.number).into(),
                ..object.row(start)
            }));
    }
}

fn kind(model: &PageModel, object: u16) -> &'static str {
    let object = model.object(object);
    object.map_or(web::Kind::Other, |object| object.kind).name()
}

impl Load {
    fn durations(&self) -> impl Iterator<Item = f64> {
        let objects = self.objects.iter().flat_map(Object::durations);
        let load = [self.first_byte, self.loaded, Some(self.spent)];
        load.into_iter().flatten().chain(objects)
    }

    fn row(&self, number: u32) -> PageLoad {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let all = self.objects.iter();
        let loaded = all.filter(|object| object.total.is_some()).count();
        let error = self
            .error
            .as_deref()
            .map(|error| crate::findings::plain(error, LONGEST_ERROR));
        let cut = || self.loaded.is_none().then(|| CUT_OFF.to_owned());
        PageLoad {
            t_ns: ns(self.started),
            load: number,
            loader: "browser".into(),
            protocol: units::HttpVersion::Http1.name().into(),
            load_ns: self.loaded.map(ns),
            spent_ns: Some(ns(self.spent)),
            first_byte_ns: self.first_byte.map(ns),
            objects: count(loaded),
            failed: count(self.objects.len() - loaded),
            bytes: self.objects.iter().map(|object| object.bytes).sum(),
            error: error.or_else(cut),
            ..PageLoad::default()
        }
    }
}

impl Object {
    fn durations(&self) -> impl Iterator<Item = f64> {
        let phases = [self.blocked, self.dns, self.connect, self.tls];
        let answer = [self.wait, self.receive, self.total, Some(self.found)];
        phases.into_iter().chain(answer).flatten()
    }

    fn row(&self, start: u64) -> PageObject {
        PageObject {
            t_ns: start + ns(self.found),
            object: self.number,
            blocked_ns: self.blocked.map(ns),
            dns_ns: self.dns.map(ns),
            connect_ns: self.connect.map(ns),
            tls_ns: self.tls.map(ns),
            wait_ns: self.wait.map(ns),
            receive_ns: self.receive.map(ns),
            total_ns: self.total.map(ns),
            bytes: self.bytes,
            status: self.status,
            ..PageObject::default()
        }
    }
}

/// Of milliseconds that were checked; what is before the start is at the start.
fn ns(ms: f64) -> u64 {
    nanos(Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default())
}
