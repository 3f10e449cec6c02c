//! Small requests, each a task of its own, and what became of them.

use super::target::Target;
use kit::stream::nanos;
use probe::responsiveness::{Durations, Responsiveness};
use schema::rpm::tables::RpmProbe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use sys::clock;
use tokio::task::JoinSet;
use units::Instant;
use web::responsiveness::client::Link;

/// Requests that may be under way at once: a path that answers none is not filled with them.
const MOST_UNDER_WAY: usize = 200;

/// The requests of a run.
pub(super) struct Probes {
    origin: Instant,
    found: Arc<Mutex<Vec<RpmProbe>>>,
    under_way: JoinSet<()>,
}

impl Probes {
    pub(super) fn new(origin: Instant) -> Self {
        Self {
            origin,
            found: Arc::default(),
            under_way: JoinSet::new(),
        }
    }

    /// Those that have ended since the last call.
    pub(super) fn take(&mut self) -> Vec<RpmProbe> {
        while self.under_way.try_join_next().is_some() {}
        std::mem::take(&mut self.found.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Gives up those under way: the load that they were to meet has ended.
    pub(super) fn give_up(&mut self) {
        self.under_way.abort_all();
    }

    /// A request on a connection of its own.
    pub(super) fn foreign(&mut self, target: &Target, load: &'static str) {
        let (target, origin) = (target.clone(), self.origin);
        let found = Arc::clone(&self.found);
        self.begin(async move {
            let probe = foreign(&target, load, origin).await;
            tell(&found, probe);
        });
    }

    /// The same, and waits for its end.
    pub(super) async fn foreign_alone(&self, target: &Target) {
        let probe = foreign(target, "idle", self.origin).await;
        tell(&self.found, probe);
    }

    /// A request on a connection that carries load.
    pub(super) fn of_load(&mut self, link: Link, path: &str, load: &'static str) {
        let (path, origin) = (path.to_owned(), self.origin);
        let found = Arc::clone(&self.found);
        self.begin(async move {
            let mut probe = begun("self", load, origin);
            probe.http_ns = link.ask(&path).await.ok().map(nanos);
            tell(&found, ended(probe, origin));
        });
    }

    fn begin(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        while self.under_way.try_join_next().is_some() {}
        if self.under_way.len() < MOST_UNDER_WAY {
            self.under_way.spawn(work);
        }
    }
}

fn tell(found: &Mutex<Vec<RpmProbe>>, probe: RpmProbe) {
    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
    found.push(probe);
}

async fn foreign(target: &Target, load: &'static str, origin: Instant) -> RpmProbe {
    let mut probe = begun("foreign", load, origin);
    if let Ok(opened) = target.dialer.open().await {
        probe.tcp_ns = opened.tcp.map(nanos);
        probe.tls_ns = Some(nanos(opened.tls));
        probe.http_ns = opened.link.ask(&target.small).await.ok().map(nanos);
    }
    ended(probe, origin)
}

fn begun(kind: &'static str, load: &'static str, origin: Instant) -> RpmProbe {
    RpmProbe {
        t_ns: nanos(clock::now().since(origin)),
        load: load.into(),
        kind: kind.into(),
        ..RpmProbe::default()
    }
}

fn ended(probe: RpmProbe, origin: Instant) -> RpmProbe {
    RpmProbe {
        ended_ns: nanos(clock::now().since(origin)),
        ..probe
    }
}

/// Round trips per minute by those requests of a direction that ended within `window` before `t_ns`.
pub(super) fn responsiveness(
    probes: &[RpmProbe],
    load: &str,
    t_ns: u64,
    window: Duration,
) -> Option<Responsiveness> {
    let times = t_ns.saturating_sub(nanos(window))..=t_ns;
    let wanted = |kind: &'static str| {
        let of_load = probes
            .iter()
            .filter(move |p| p.load == load && p.kind == kind);
        of_load.filter(|probe| times.contains(&probe.ended_ns))
    };
    let ms = |ns: Option<u64>| Some(ns? as f64 / 1e6);
    let tcp: Vec<f64> = wanted("foreign").filter_map(|p| ms(p.tcp_ns)).collect();
    let tls: Vec<f64> = wanted("foreign").filter_map(|p| ms(p.tls_ns)).collect();
    let http: Vec<f64> = wanted("foreign").filter_map(|p| ms(p.http_ns)).collect();
    let own: Vec<f64> = wanted("self").filter_map(|p| ms(p.http_ns)).collect();
    Responsiveness::of(&Durations {
        tcp_foreign: &tcp,
        tls_foreign: &tls,
        http_foreign: &http,
        http_self: &own,
    })
}
