//! Web pages at the near end: whole pages, one after the other, and small requests on new connections.

use super::NearStream;
use crate::collector::Finding;
use crate::run::Peer;
use crate::stream::page::{PATIENCE, PROBE_PATIENCE, Told};
use crate::summary::CUT_OFF;
use kit::stream::wait_until;
use schema::tables::HttpsProbe;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use sys::clock;
use units::{Dscp, HttpVersion, Instant};
use web::{PageModel, Target};

/// Where a browser expects pages; its proxy knows where they are.
const HTTPS: u16 = 443;

/// The page of a run, and what loads it.
pub struct Pages<'a> {
    /// Its hosts and objects.
    pub model: PageModel,
    /// By which protocols, in turn.
    pub protocols: &'a [HttpVersion],
    /// From the end of one load to the start of the next.
    pub pause: Duration,
    /// A browser that takes its turn, if there is one, and what it loads.
    pub loaders: Loaders,
}

/// What loads pages, in turn.
#[derive(Default)]
pub struct Loaders {
    /// A browser, if one was asked for and has started.
    pub browser: Option<Mutex<web::browser::Browser>>,
    /// What the browser loads instead of the model.
    pub url: Option<String>,
}

/// One of the ways to load the page.
#[derive(Clone, Copy)]
pub(super) enum Way<'a> {
    Browser(&'a Mutex<web::browser::Browser>),
    Native(HttpVersion),
}

impl NearStream<'_> {
    pub(super) fn web(&self, peer: &Peer, address: SocketAddr) -> Result<(), String> {
        let Some(pages) = self.pages else {
            return Err("no page was found for it".to_owned());
        };
        self.opened();
        let target = target(peer, address, self.plan.class);
        let ways = pages.ways();
        let abort = || self.stop.load(Ordering::Relaxed);
        let mut number = 0;
        for (start, end) in [self.run.web_idle(), self.run.loaded()] {
            let (start, end) = (self.sampler.origin() + start, self.sampler.origin() + end);
            wait_until(start, &abort);
            while clock::now() + pages.pause < end && !abort() {
                let Some(way) = ways.get(number as usize % ways.len().max(1)) else {
                    return Ok(());
                };
                let left = end.since(clock::now());
                let mut load = pages.load(*way, &target, left.min(PATIENCE), self.stop);
                let is_cut = load.load_time.is_none() && clock::now() >= end && left < PATIENCE;
                if is_cut {
                    load.error = Some(CUT_OFF.to_owned());
                }
                if !abort() {
                    self.tell_load(number, *way, pages, &load);
                }
                number += 1;
                wait_until((clock::now() + pages.pause).min(end), &abort);
            }
        }
        Ok(())
    }

    fn tell_load(&self, number: u32, way: Way<'_>, pages: &Pages<'_>, load: &web::PageLoad) {
        let (loader, page) = match way {
            Way::Browser(_) => ("chromium", pages.loaders.url.as_deref()),
            Way::Native(_) => ("native", None),
        };
        let told = Told {
            stream: self.plan.id,
            number,
            loader,
            page: page.unwrap_or_else(|| pages.model.name()),
            started_ns: self.sampler.since_origin(load.started),
            spent: clock::now().since(load.started),
        };
        let (row, objects) = told.rows(load);
        self.tell(Finding::Page(row, objects));
    }

    pub(super) fn https(&self, peer: &Peer, address: SocketAddr) -> Result<(), String> {
        self.opened();
        let target = target(peer, address, self.plan.class);
        let abort = || self.stop.load(Ordering::Relaxed);
        let mut failure = None;
        while clock::now() < self.until() && !abort() {
            let left = self.until().since(clock::now());
            let started = clock::now();
            let probe = web::probe(&target, left.min(PROBE_PATIENCE), self.stop);
            let is_cut = clock::now() >= self.until() || abort();
            if probe.http.is_some() || !is_cut {
                failure = probe.error.clone().or(failure);
                self.tell(Finding::Https(self.https_row(&probe)));
            }
            let next: Instant = started + self.plan.gap;
            wait_until(next.min(self.until()), &abort);
        }
        failure.map_or(Ok(()), Err)
    }

    fn https_row(&self, probe: &web::Probe) -> HttpsProbe {
        HttpsProbe {
            t_ns: self.sampler.since_origin(probe.started),
            stream: self.plan.id,
            connect_ns: probe.connect.map(kit::stream::nanos),
            tls_ns: probe.tls.map(kit::stream::nanos),
            http_ns: probe.http.map(kit::stream::nanos),
        }
    }
}

/// Where the pages of a session with `peer` are loaded from.
pub(super) fn target(peer: &Peer, address: SocketAddr, class: Dscp) -> Target {
    Target {
        peer: address,
        resolver: address,
        token: peer.dialer.session(),
        fingerprint: peer.fingerprint,
        dscp: class,
    }
}

impl Pages<'_> {
    /// The ways that take turns.
    pub(super) fn ways(&self) -> Vec<Way<'_>> {
        let mut ways: Vec<_> = self.protocols.iter().copied().map(Way::Native).collect();
        ways.extend(self.loaders.browser.as_ref().map(Way::Browser));
        ways
    }

    pub(super) fn load(
        &self,
        way: Way<'_>,
        target: &Target,
        timeout: Duration,
        stop: &std::sync::atomic::AtomicBool,
    ) -> web::PageLoad {
        match way {
            Way::Browser(browser) => {
                let mut browser = browser.lock().unwrap_or_else(PoisonError::into_inner);
                let url = self.loaders.url.clone();
                let url = url.unwrap_or_else(|| self.model.url(0, target.token, HTTPS));
                browser.load(&url, timeout, stop)
            }
            Way::Native(protocol) => web::load(&self.model, target, protocol, timeout, stop),
        }
    }
}
