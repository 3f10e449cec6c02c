//! Small requests on new connections.

use super::super::Wire;
use super::{Client, News, Request};
use crate::stream::page::PROBE_PATIENCE;
use crate::streams::StreamPlan;
use kit::stream::nanos;
use schema::tables::HttpsProbe;
use sim::Parcel;
use std::time::Duration;
use units::{HttpVersion, Instant};
use web::{PROBE_ANSWER, PROBE_PATH, probe_host};

/// A stream of probes, one at a time: what is done on sockets.
#[derive(Debug)]
pub(in super::super) struct Probes<'a> {
    plan: &'a StreamPlan,
    host: String,
    client: Client,
    /// When the next one may begin.
    next: Instant,
    current: Option<Current>,
    pub(in super::super) found: Vec<HttpsProbe>,
    /// Why the latest that came to nothing did.
    pub(in super::super) failure: Option<String>,
}

#[derive(Debug)]
struct Current {
    connection: u32,
    /// When it is given up.
    until: Instant,
    asked: Instant,
    row: HttpsProbe,
}

impl<'a> Probes<'a> {
    pub(in super::super) fn new(plan: &'a StreamPlan, client: Client, token: u64) -> Self {
        Self {
            plan,
            host: probe_host(token),
            client,
            next: Instant::ZERO + plan.start,
            current: None,
            found: Vec::new(),
            failure: None,
        }
    }

    fn stop(&self) -> Instant {
        Instant::ZERO + self.plan.stop
    }

    /// A packet arrived.
    pub(in super::super) fn handle_packet(&mut self, parcel: Parcel<Wire>, now: Instant) {
        self.client.handle_packet(parcel, now);
        self.act(now);
    }

    /// The instant of [`Probes::next_timeout`] has come.
    pub(in super::super) fn handle_timeout(&mut self, now: Instant) {
        self.client.handle_timeout(now);
        self.act(now);
    }

    /// When to call [`Probes::handle_timeout`].
    pub(in super::super) fn next_timeout(&self) -> Option<Instant> {
        let next = match &self.current {
            Some(current) => Some(current.until),
            None => (self.next < Instant::FAR_FUTURE).then_some(self.next.min(self.stop())),
        };
        [self.client.next_timeout(), next]
            .into_iter()
            .flatten()
            .min()
    }

    /// The next packet to send.
    pub(in super::super) fn poll_transmit(&mut self, now: Instant) -> Option<Parcel<Wire>> {
        self.client.poll_transmit(now)
    }

    fn act(&mut self, now: Instant) {
        while let Some(news) = self.client.poll_news() {
            self.take(news, now);
        }
        if let Some(current) = self.current.take_if(|current| current.until <= now) {
            self.client.close(current.connection, true);
            // One that the end of the stream cut off tells nothing.
            if now < self.stop() {
                self.failure = Some(format!("no answer within {PROBE_PATIENCE:?}"));
                self.found.push(current.row);
            }
        }
        if now >= self.stop() {
            self.next = Instant::FAR_FUTURE;
        } else if self.current.is_none() && self.next <= now {
            self.begin(now);
        }
    }

    fn begin(&mut self, now: Instant) {
        self.next = now + self.plan.gap;
        self.current = Some(Current {
            connection: self.client.open(&self.host, HttpVersion::H2, now),
            until: (now + PROBE_PATIENCE).min(self.stop()),
            asked: now,
            row: HttpsProbe {
                t_ns: now.as_nanos(),
                stream: self.plan.id,
                connect_ns: None,
                tls_ns: None,
                http_ns: None,
            },
        });
    }

    fn take(&mut self, news: News, now: Instant) {
        let Some(current) = &mut self.current else {
            return;
        };
        match news {
            News::Ready(_, phases) => {
                let [connect, tls] = phases.map(|phase| Some(nanos(phase.end.since(phase.begin))));
                (current.row.connect_ns, current.row.tls_ns) = (connect, tls);
                current.asked = now;
                let request = Request {
                    object: 0,
                    size: PROBE_ANSWER.len() as u64,
                    delay: Duration::ZERO,
                };
                let authority = format!("{}:{}", self.host, super::super::PORT);
                self.client
                    .ask(current.connection, request, &authority, PROBE_PATH);
                self.client.flush();
            }
            News::Piece(piece) if piece.is_last => {
                current.row.http_ns = Some(nanos(now.since(current.asked)));
                self.client.close(current.connection, false);
                self.found
                    .extend(self.current.take().map(|current| current.row));
            }
            News::Lost(_) => current.until = now,
            News::Head(_) | News::Piece(_) => {}
        }
    }
}
