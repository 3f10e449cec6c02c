//! A page that the browser loads, again and again: its objects as they are served, and what the browser says of its loads.
//!
//! All of the page's objects are in one folder of this server. A load begins with new connections, since those of the one before are closed
//! when it is over. (A browser may have opened more than it used; those remain.) The server's address is known, so no load has look-ups.

use bytes::Bytes;
use kit::stream::nanos;
use rrul::summary::CUT_OFF;
use rrul::tables::Tables;
use schema::tables::{HttpsProbe, PageLoad, PageObject};
use serde::Deserialize;
use std::sync::LazyLock;
use std::time::Duration;
use web::PageModel;

/// Loads of a run, several times what one has.
const MOST_LOADS: usize = 200;
/// Octets that no object has, and characters of what went wrong.
const MOST_OCTETS: u64 = 1 << 30;
const LONGEST_ERROR: usize = 200;

/// The name of the page in the plan.
pub(crate) const PAGE: &str = "small";

/// The page, made once: what serves it also stamps probes.
static SERVED: LazyLock<Served> = LazyLock::new(|| {
    let model = PageModel::find(PAGE).expect("a page that is compiled in");
    let file = |number| {
        let (media_type, octets) = model.octets_in_folder(number)?;
        Some(File {
            media_type,
            octets,
            delay: model.object(number)?.delay.0,
        })
    };
    let files = (0..).map_while(file).collect();
    Served { model, files }
});

struct Served {
    model: PageModel,
    /// By the number of the object.
    files: Vec<File>,
}

/// A file of the page.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) media_type: &'static str,
    pub(crate) octets: Bytes,
    /// How long its server is to think before it answers.
    pub(crate) delay: Duration,
}

/// The page.
pub(crate) fn model() -> &'static PageModel {
    &SERVED.model
}

/// The load's number and the file that `LOAD/FILE` names; none where there is no such file.
pub(crate) fn file(path: &str) -> Option<(u32, &'static File)> {
    let (load, file) = path.split_once('/')?;
    let number = model().object_in_folder(file)?;
    Some((load.parse().ok()?, SERVED.files.get(usize::from(number))?))
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

/// Whether `loads` can be of the page.
pub(crate) fn are_right(loads: &[Load]) -> bool {
    let model = model();
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

/// Puts `loads` into the tables of a run, as those of `stream` from the host named `host`.
pub(crate) fn enter(loads: &[Load], stream: u16, host: &str, tables: &mut Tables) {
    if loads.is_empty() {
        return;
    }
    let model = model();
    tables.opened(stream, 0);
    for (number, load) in (0..).zip(loads) {
        let row = load.row(number);
        let start = row.t_ns;
        tables.pages.push(PageLoad {
            stream,
            page: model.name().to_owned(),
            ..row
        });
        let probes = load.objects.iter().filter_map(|object| object.probe(start));
        tables
            .https
            .extend(probes.map(|probe| HttpsProbe { stream, ..probe }));
        tables
            .objects
            .extend(load.objects.iter().map(|object| PageObject {
                load: number,
                host: host.to_owned(),
                path: model.path(object.number),
                kind: kind(model, object.number).into(),
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

    /// The first request of a new connection, as of responsiveness: its handshakes, and the request until the answer begins, without the
    /// time for which the server is to think. None of other requests.
    fn probe(&self, start: u64) -> Option<HttpsProbe> {
        let connect = self.connect?;
        let delay = SERVED.files.get(usize::from(self.number))?.delay;
        let begun = self.found + self.blocked.unwrap_or(0.0) + self.dns.unwrap_or(0.0);
        Some(HttpsProbe {
            t_ns: start + ns(begun),
            connect_ns: Some(ns(connect)),
            tls_ns: self.tls.map(ns),
            http_ns: self.wait.map(|wait| ns(wait - delay.as_secs_f64() * 1e3)),
            ..HttpsProbe::default()
        })
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
