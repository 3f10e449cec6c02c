//! What a load of a page came to, as rows of the tables.

use kit::stream::nanos;
use schema::tables::{PageLoad, PageObject};
use std::time::Duration;

/// A page that has not loaded after this has failed: whoever waited has gone.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// A small request that has not been answered after this is not any more.
pub(crate) const PROBE_PATIENCE: Duration = Duration::from_secs(10);

/// Of a load, what it does not know itself.
pub(crate) struct Told<'a> {
    /// Number of the stream.
    pub(crate) stream: u16,
    /// Number of the load in the run.
    pub(crate) number: u32,
    pub(crate) loader: &'static str,
    /// The page's name or URL.
    pub(crate) page: &'a str,
    pub(crate) started_ns: u64,
    /// From its start until now: what a load took that came to nothing.
    pub(crate) spent: Duration,
}

impl Told<'_> {
    /// A row for `load`, and one for each object that was found.
    pub(crate) fn rows(&self, load: &web::PageLoad) -> (PageLoad, Vec<PageObject>) {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let row = PageLoad {
            t_ns: self.started_ns,
            load: self.number,
            stream: self.stream,
            loader: self.loader.into(),
            protocol: load.protocol.name().into(),
            page: self.page.to_owned(),
            load_ns: load.load_time.map(nanos),
            spent_ns: Some(nanos(load.load_time.unwrap_or(self.spent))),
            first_byte_ns: load.first_byte.map(nanos),
            objects: count(load.loaded()),
            failed: count(load.objects.len() - load.loaded()),
            bytes: load.bytes(),
            error: load.error.clone(),
        };
        let objects = load.objects.iter().map(|object| self.object(object));
        (row, objects.collect())
    }

    fn object(&self, object: &web::ObjectLoad) -> PageObject {
        PageObject {
            t_ns: self.started_ns + nanos(object.found),
            load: self.number,
            object: object.object,
            host: object.host.clone(),
            path: object.path.clone(),
            kind: object.kind.name().into(),
            blocked_ns: object.blocked.map(nanos),
            dns_ns: object.dns.map(nanos),
            connect_ns: object.connect.map(nanos),
            tls_ns: object.tls.map(nanos),
            wait_ns: object.wait.map(nanos),
            receive_ns: object.receive.map(nanos),
            total_ns: object.total.map(nanos),
            bytes: object.bytes,
            status: object.status,
            connection: object.connection,
        }
    }
}
