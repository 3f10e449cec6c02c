//! From Chromium's events to the objects of a page: a state machine without I/O.
//!
//! A request is found, is answered, brings pieces and ends, each told by an event; one that is
//! redirected ends and begins anew under the same id. [`Waterfall::take`] takes the events in the order
//! in which they come; [`Waterfall::objects`] turns them into the figures that the native loader gives.

use super::events::{self, Data, Failed, Finished, Received, Response, Timing, WillBeSent};
use super::proxy::Seen;
use crate::{Kind, ObjectLoad};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashMap;
use std::time::Duration;
use units::HttpVersion;
use units::Instant;

#[cfg(test)]
mod tests;

/// Objects of one load that are kept: a page of more requests than one in ten thousand has.
const MAX_OBJECTS: usize = 4096;
/// How much earlier than Chromium's own reckoning a connection may have reached the proxy.
const SLACK: Duration = Duration::from_millis(2);

/// The requests of one load.
#[derive(Debug, Default)]
pub(super) struct Waterfall {
    requests: Vec<Request>,
    /// Which request an id means now.
    open: HashMap<String, usize>,
    failure: Option<String>,
}

#[derive(Debug)]
struct Request {
    host: String,
    path: String,
    kind: Kind,
    found: Instant,
    response: Option<Response>,
    body: u64,
    end: Option<Instant>,
}

impl Waterfall {
    /// Takes an event of the `Network` domain; others are passed over.
    pub(super) fn take(&mut self, method: &str, params: Value) {
        match method {
            "Network.requestWillBeSent" => self.with(params, Self::will_be_sent),
            "Network.responseReceived" => self.with(params, Self::received),
            "Network.dataReceived" => self.with(params, |all, event| all.data(&event)),
            "Network.loadingFinished" => self.with(params, |all, event| all.finished(&event)),
            "Network.loadingFailed" => self.with(params, |all, event| all.failed(&event)),
            _ => {}
        }
    }

    /// Requests that have not ended.
    pub(super) fn in_flight(&self) -> usize {
        self.open.len()
    }

    /// What went wrong first with an object, in one line.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// When the document was asked for.
    pub(super) fn began(&self) -> Option<Instant> {
        self.requests.first().map(|request| request.found)
    }

    /// When the first octet of the document arrived: of the last one, if there were redirections.
    pub(super) fn first_byte(&self) -> Option<Instant> {
        let documents = self
            .requests
            .iter()
            .take_while(|r| r.kind == Kind::Document);
        documents.last()?.timing()?.first_octet()
    }

    /// What carried the document.
    pub(super) fn protocol(&self) -> Option<HttpVersion> {
        let response = self.requests.first()?.response.as_ref()?;
        let is_h2 = response.protocol == HttpVersion::H2.name();
        Some(if is_h2 {
            HttpVersion::H2
        } else {
            HttpVersion::Http1
        })
    }

    /// The objects of a load that began at `started`, in the order in which they were found.
    ///
    /// `number` gives the number of an object from its path; it is numbered in order where there is none.
    /// `seen` is what the proxy saw: Chromium knows nothing of the look-ups that it makes.
    pub(super) fn objects(
        &self,
        started: Instant,
        number: impl Fn(&str) -> Option<u16>,
        mut seen: Vec<Seen>,
    ) -> Vec<ObjectLoad> {
        let mut connections = Vec::new();
        let requests = self.requests.iter().enumerate();
        requests
            .map(|(order, request)| {
                let order = u16::try_from(order).unwrap_or(u16::MAX);
                let found = request.found.since(started);
                let object = number(&request.path).unwrap_or(order);
                let mut load = ObjectLoad::found(object, request.kind, found);
                request.describe(&mut load);
                request.look_up(&mut load, &mut seen);
                load.connection = request.connection(&mut connections);
                load
            })
            .collect()
    }

    fn with<T: DeserializeOwned>(&mut self, params: Value, event: impl FnOnce(&mut Self, T)) {
        // One of another form tells of nothing that is needed here.
        if let Ok(value) = serde_json::from_value(params) {
            event(self, value);
        }
    }

    fn will_be_sent(&mut self, event: WillBeSent) {
        let Some(found) = events::instant(event.timestamp) else {
            return;
        };
        if let Some(response) = event.redirect_response {
            let redirected = self.open.remove(&event.request_id);
            if let Some(request) = redirected.and_then(|index| self.requests.get_mut(index)) {
                request.response = Some(response);
                request.end = Some(found);
            }
        }
        // Data in a URL, and pages of Chromium's own, come over no path.
        let Some((host, path)) = split_url(&event.request.url) else {
            return;
        };
        if self.requests.len() < MAX_OBJECTS {
            self.open.insert(event.request_id, self.requests.len());
            let kind = events::kind(&event.kind);
            self.requests.push(Request::new(host, path, kind, found));
        }
    }

    fn received(&mut self, event: Received) {
        if let Some(request) = self.request(&event.request_id) {
            request.response = Some(event.response);
        }
    }

    fn data(&mut self, event: &Data) {
        if let Some(request) = self.request(&event.request_id) {
            request.body = request
                .body
                .saturating_add(events::count(event.data_length));
        }
    }

    fn finished(&mut self, event: &Finished) {
        if let Some(request) = self.request(&event.request_id) {
            request.end = events::instant(event.timestamp);
            request.count_encoded(event.encoded_data_length);
        }
        self.open.remove(&event.request_id);
    }

    fn failed(&mut self, event: &Failed) {
        let Some(index) = self.open.remove(&event.request_id) else {
            return;
        };
        let Some(request) = self.requests.get(index).filter(|_| !event.canceled) else {
            return;
        };
        let failure = || {
            let (kind, host, path) = (request.kind, &request.host, shorten(&request.path));
            format!("load {kind} {host}{path}: {}", event.error_text)
        };
        self.failure.get_or_insert_with(failure);
    }

    fn request(&mut self, id: &str) -> Option<&mut Request> {
        self.open
            .get(id)
            .and_then(|index| self.requests.get_mut(*index))
    }
}

impl Request {
    fn new(host: String, path: String, kind: Kind, found: Instant) -> Self {
        Self {
            host,
            path,
            kind,
            found,
            response: None,
            body: 0,
            end: None,
        }
    }

    fn timing(&self) -> Option<&Timing> {
        self.response.as_ref()?.timing.as_ref()
    }

    /// Of a compressed body the octets that were transferred count, without the head's.
    fn count_encoded(&mut self, all: f64) {
        if let Some(response) = self.response.as_ref().filter(|r| r.is_encoded()) {
            self.body = events::count(all - response.encoded_data_length);
        }
    }

    fn describe(&self, load: &mut ObjectLoad) {
        load.host.clone_from(&self.host);
        load.path.clone_from(&self.path);
        load.bytes = self.body;
        load.total = self.end.map(|end| end.since(self.found));
        let status = self.response.as_ref().map(|r| events::count(r.status));
        load.status = status.and_then(|status| u16::try_from(status).ok());
        if let Some(timing) = self.timing() {
            load.blocked = timing.began().map(|began| began.since(self.found));
            load.dns = timing.dns();
            load.connect = timing.connect();
            load.tls = timing.tls();
            load.wait = timing.wait();
            let first = timing.first_octet();
            load.receive = first.zip(self.end).map(|(first, end)| end.since(first));
        }
    }

    /// Takes the look-up out of the time to connect, if the proxy saw this connection.
    fn look_up(&self, load: &mut ObjectLoad, seen: &mut Vec<Seen>) {
        let Some((from, to)) = self.connecting() else {
            return;
        };
        let is_ours =
            |seen: &Seen| seen.host == self.host && from <= seen.accepted && seen.accepted <= to;
        if let Some(index) = seen.iter().position(is_ours) {
            load.dns = seen.remove(index).dns;
            let dns = load.dns.unwrap_or_default();
            load.connect = load.connect.map(|all| all.saturating_sub(dns));
        }
    }

    /// From when to when its connection was made, if that was made for it.
    fn connecting(&self) -> Option<(Instant, Instant)> {
        let timing = self.timing()?;
        let began = timing.connect_began()?;
        Some((began - SLACK, timing.connect_ended()?))
    }

    /// Numbers the connections in the order of their first use.
    fn connection(&self, known: &mut Vec<u64>) -> Option<u16> {
        let id = events::count(self.response.as_ref()?.connection_id);
        if id == 0 {
            return None;
        }
        let is_known = known.iter().position(|other| *other == id);
        let index = is_known.or_else(|| {
            known.push(id);
            Some(known.len() - 1)
        });
        index.and_then(|index| u16::try_from(index).ok())
    }
}

/// Host and path of a URL that is fetched over a network.
fn split_url(url: &str) -> Option<(String, String)> {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"))?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let path = path.split_once('#').map_or(path, |(path, _)| path);
    let path = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("/{path}")
    };
    Some((without_port(host).to_owned(), path))
}

/// `host` of `host:port`; an IPv6 address stands in brackets.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    }
}

/// As much of `path` as a line bears.
fn shorten(path: &str) -> String {
    const LENGTH: usize = 60;
    let short: String = path.chars().take(LENGTH).collect();
    let rest = if short.len() < path.len() { ".." } else { "" };
    short + rest
}
