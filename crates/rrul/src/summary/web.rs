//! Pages: the specification's main figure, and small requests by the minute.
//!
//! A load that failed, or that the end of its phase cut off, took longer than it was looked at. Leaving it out would make a path look the
//! better the fewer pages it lets through. So the time spent on such loads is shared out among those that finished: a user
//! who tries until a page is there waits that long on average (the mean of an exponential from censored samples, Epstein and
//! Sobel 1953).

use super::view::View;
use probe::responsiveness::{Durations, Responsiveness, trimmed_mean};
use record::Distribution;
use schema::rrul::{Estimate, LoaderFigures, Phases, Rpm, WebFigures};
use schema::tables::{HttpsProbe, PageLoad, PageObject};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

impl View<'_> {
    pub(super) fn web(&self) -> Option<WebFigures> {
        let first = self.tables.pages.first()?;
        let mut by_loader: BTreeMap<String, LoaderFigures> = BTreeMap::new();
        for key in self.tables.pages.iter().map(loader) {
            by_loader
                .entry(key)
                .or_insert_with_key(|key| self.loads(key));
        }
        let main = by_loader
            .get("chromium")
            .or_else(|| by_loader.values().next());
        let main = main.cloned().unwrap_or_default();
        // A browser may have loaded another page than the model.
        let is_main =
            |load: &&PageLoad| load.loader == "chromium" || !by_loader.contains_key("chromium");
        Some(WebFigures {
            page: self
                .tables
                .pages
                .iter()
                .find(is_main)
                .unwrap_or(first)
                .page
                .clone(),
            idle_ms: main.idle_ms,
            loaded_ms: main.loaded_ms,
            idle_per_page_ms: main.idle_per_page_ms,
            loaded_per_page_ms: main.loaded_per_page_ms,
            responsiveness: main.responsiveness,
            first_byte_ms: Phases {
                idle: self.first_bytes(&self.web_idle),
                loaded: self.first_bytes(&self.loaded),
            },
            short_flow_mbps: self.short_flows(),
            failed: self.ended(|load| load.load_ns.is_none() && !is_cut_off(load)),
            cut_off: self.ended(is_cut_off),
            by_loader,
        })
    }

    /// How many loads ended so.
    fn ended(&self, how: fn(&PageLoad) -> bool) -> u64 {
        self.tables.pages.iter().filter(|load| how(load)).count() as u64
    }

    fn loads(&self, key: &str) -> LoaderFigures {
        let within = |when: &Range<u64>| -> Vec<&PageLoad> {
            let loads = self.tables.pages.iter();
            loads
                .filter(|load| loader(load) == key && when.contains(&load.t_ns))
                .collect()
        };
        let [idle_loads, loads] = [within(&self.web_idle), within(&self.loaded)];
        let times = |loads: &[&PageLoad]| -> Vec<f64> {
            let finished = loads.iter().filter_map(|load| load.load_ns);
            finished.map(|ns| ns as f64 / 1e6).collect()
        };
        let (idle, loaded) = (times(&idle_loads), times(&loads));
        let (idle_mean_ms, loaded_mean_ms) = (mean(&idle), mean(&loaded));
        let idle_per_page_ms = per_page_ms(&idle_loads).filter(|_| !idle.is_empty());
        let loaded_per_page_ms = per_page_ms(&loads);
        let responsiveness = idle_per_page_ms
            .zip(loaded_per_page_ms)
            .map(|(idle, loaded)| idle / loaded * 100.0);
        LoaderFigures {
            idle_ms: Distribution::of(idle),
            loaded_ms: Distribution::of(loaded),
            idle_mean_ms,
            loaded_mean_ms,
            idle_per_page_ms,
            loaded_per_page_ms,
            responsiveness: responsiveness.filter(|value| value.is_finite()),
        }
    }

    fn first_bytes(&self, when: &Range<u64>) -> Option<Distribution> {
        let loads = self
            .tables
            .pages
            .iter()
            .filter(|load| when.contains(&load.t_ns));
        Distribution::of(loads.filter_map(|load| Some(load.first_byte_ns? as f64 / 1e6)))
    }

    /// Rates of single objects, request to last octet.
    fn short_flows(&self) -> Phases {
        let starts: HashMap<u32, u64> = self
            .tables
            .pages
            .iter()
            .map(|load| (load.load, load.t_ns))
            .collect();
        let rates = |when: &Range<u64>| {
            let within = |object: &&PageObject| {
                starts
                    .get(&object.load)
                    .is_some_and(|start| when.contains(start))
            };
            let objects = self.tables.objects.iter().filter(within);
            Distribution::of(objects.filter_map(object_mbps))
        };
        Phases {
            idle: rates(&self.web_idle),
            loaded: rates(&self.loaded),
        }
    }

    pub(super) fn rpm(&self) -> Option<Rpm> {
        if self.tables.https.is_empty() {
            return None;
        }
        let own = self.own_round_trips();
        let loaded = self.responsiveness(&self.loaded, &own);
        // A browser has such connections only while it loads pages.
        let idle = self.responsiveness(&self.idle, &[]);
        let idle = idle.or_else(|| self.responsiveness(&self.web_idle, &[]));
        let [tcp_ms, tls_ms, http_ms] = loaded.map_or([None; 3], |(means, _)| means);
        Some(Rpm {
            idle: idle.map(|(_, rpm)| rpm),
            loaded: loaded.map(|(_, rpm)| rpm),
            tcp_ms,
            tls_ms,
            http_ms,
            self_ms: trimmed_mean(&own),
        })
    }

    /// Smoothed round trips in ms that the load's senders saw, by bin.
    fn own_round_trips(&self) -> Vec<f64> {
        let bins = ["down", "up"]
            .into_iter()
            .flat_map(|way| self.bins(way, false));
        bins.filter_map(|row| Some(f64::from(row.rtt_us?) / 1e3))
            .collect()
    }

    /// Trimmed means in ms of connecting, of TLS and of the request, and all as round trips per minute.
    fn responsiveness(&self, when: &Range<u64>, own_ms: &[f64]) -> Option<(Means, f64)> {
        let probes = || self.tables.https.iter().filter(|p| when.contains(&p.t_ns));
        let ms = |part: fn(&HttpsProbe) -> Option<u64>| -> Vec<f64> {
            probes()
                .filter_map(|p| Some(part(p)? as f64 / 1e6))
                .collect()
        };
        let (tcp, tls, http) = (
            ms(|probe| probe.connect_ns),
            ms(|probe| probe.tls_ns),
            ms(|probe| probe.http_ns),
        );
        let figures = Responsiveness::of(&Durations {
            tcp_foreign: &tcp,
            tls_foreign: &tls,
            http_foreign: &http,
            http_self: own_ms,
        })?;
        // Before the load no connection carries any.
        let rpm = figures.rpm.or(figures.foreign)?;
        Some(([tcp, tls, http].map(|ms| trimmed_mean(&ms)), rpm))
    }
}

/// What a load that its phase's end has cut off says of itself.
pub const CUT_OFF: &str = "cut off by the end of its phase";

fn is_cut_off(load: &PageLoad) -> bool {
    load.error.as_deref() == Some(CUT_OFF)
}

/// Time spent on loads for each that finished; all of it where none did, and none where nobody tried.
fn per_page_ms(loads: &[&PageLoad]) -> Option<f64> {
    let spent = loads
        .iter()
        .filter_map(|load| load.load_ns.or(load.spent_ns));
    let spent_ns = spent.fold(0, u64::saturating_add);
    let finished = loads.iter().filter(|load| load.load_ns.is_some()).count();
    (spent_ns > 0).then(|| spent_ns as f64 / 1e6 / finished.max(1) as f64)
}

/// Trimmed means in ms of connecting, of TLS and of the request.
type Means = [Option<f64>; 3];

/// What loaded the page, and how where there is a choice.
fn loader(load: &PageLoad) -> String {
    match &*load.loader {
        "native" => format!("native {}", load.protocol),
        other => other.to_owned(),
    }
}

fn object_mbps(object: &PageObject) -> Option<f64> {
    let took_ns = object.wait_ns? + object.receive_ns?;
    (took_ns > 0 && object.bytes > 0).then(|| object.bytes as f64 * 8e3 / took_ns as f64)
}

fn mean(values: &[f64]) -> Option<Estimate> {
    let interval = stats::interval::mean(values, 0.95);
    let moments = stats::interval::Moments::of(values);
    let single = values.first().copied()?;
    Some(Estimate {
        mean: moments.map_or(single, |moments| moments.mean),
        sd: moments.map(|moments| moments.sd),
        ci95: interval.map(|interval| [interval.low, interval.high]),
    })
}
