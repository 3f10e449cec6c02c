//! The conversation of a run: one WebSocket, which has the round trips, too.
//!
//! Messages of text are JSON. The server says what is to be done ([`ToBrowser::Plan`]); the browser says `begin`, and both take this
//! moment for the run's start; at the end the browser tells its findings and hears what came of them. Messages of octets are probes: they
//! go back with the server's clock behind them, eight octets more, little end first.

use crate::conclude::{Told as Concluded, conclude};
use crate::desk::{Admitted, Desk};
use crate::findings::Findings;
use crate::plan::{Carrier, Datagrams, Told};
use futures_util::{SinkExt, StreamExt};
use serde::Serialize;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use sys::clock;
use tokio::time::timeout_at;
use tokio_tungstenite::tungstenite::Message;
use web::websocket::Socket;

/// Octets of a probe.
const LONGEST_PROBE: usize = 256;
/// From the opening of the page to its start, and from the run's end to what it has found.
const PATIENCE: Duration = Duration::from_secs(30);
/// What the browser says when it begins.
const BEGIN: &str = "begin";
/// The same with datagrams.
const BEGIN_DATAGRAMS: &str = "begin with datagrams";
/// What it says when it has loaded a page, before the load's number.
const PAGE_OVER: &str = "page over ";

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum ToBrowser {
    /// What is to be done.
    Plan(Told),
    /// It has begun, at this time of the server's clock.
    Begun { clock_ns: String },
    /// The connections of the page's load with this number are closed.
    Closed(u32),
    /// What came of it.
    Result(Box<Concluded>),
    /// It came to nothing, for this reason.
    Refused(String),
}

/// Has the conversation until the run is over; the browser is told of `datagrams`, the hash of a certificate.
pub(crate) async fn converse(
    mut socket: Socket,
    desk: Arc<Desk>,
    here: SocketAddr,
    datagrams: Option<[u8; 32]>,
    admitted: Result<Admitted, &'static str>,
) {
    let admitted = match admitted {
        Ok(admitted) => admitted,
        Err(reason) => return tell(&mut socket, &ToBrowser::Refused(reason.to_owned())).await,
    };
    let run = &admitted.run;
    let (plan, streams) = run.planned(Carrier::Datagrams);
    let datagrams = datagrams.and_then(|hash| Datagrams::of(hash, &streams));
    let told = Told::of(&run.id, &plan, &streams, datagrams);
    tell(&mut socket, &ToBrowser::Plan(told)).await;
    let longest = plan.total() + PATIENCE + PATIENCE;
    let until = tokio::time::Instant::now() + longest;
    while let Ok(Some(Ok(message))) = timeout_at(until, socket.next()).await {
        match message {
            Message::Binary(probe) if probe.len() <= LONGEST_PROBE => {
                let mut reply = probe.to_vec();
                reply.extend(clock::now().as_nanos().to_le_bytes());
                if socket.send(Message::Binary(reply.into())).await.is_err() {
                    return;
                }
            }
            Message::Text(text) if [BEGIN, BEGIN_DATAGRAMS].contains(&text.as_str()) => {
                let carrier = if text.as_str() == BEGIN {
                    Carrier::WebSocket
                } else {
                    Carrier::Datagrams
                };
                let Some(origin) = run.begin(carrier) else {
                    return;
                };
                let clock_ns = origin.as_nanos().to_string();
                tell(&mut socket, &ToBrowser::Begun { clock_ns }).await;
            }
            Message::Text(text) => {
                let load = text.strip_prefix(PAGE_OVER);
                if let Some(load) = load.and_then(|load| load.parse().ok()) {
                    run.end_load(load);
                    tell(&mut socket, &ToBrowser::Closed(load)).await;
                    continue;
                }
                let answer = found(&desk, &admitted, here, &text).await;
                return tell(&mut socket, &answer).await;
            }
            Message::Binary(_) | Message::Close(_) => return,
            _ => {}
        }
    }
}

/// What comes of a browser's findings.
async fn found(desk: &Arc<Desk>, admitted: &Admitted, here: SocketAddr, text: &str) -> ToBrowser {
    let run = Arc::clone(&admitted.run);
    let Some(begun) = run.begun().filter(|_| run.is_done()) else {
        return ToBrowser::Refused("this run is not over yet".to_owned());
    };
    let found = match Findings::read(text, &begun.plan, &begun.streams) {
        Ok(found) => found,
        Err(reason) => return ToBrowser::Refused(reason),
    };
    let desk = Arc::clone(desk);
    // It writes files.
    let made = tokio::task::spawn_blocking(move || conclude(&desk, &run, here, found)).await;
    match made {
        Ok(Ok(told)) => ToBrowser::Result(Box::new(told)),
        Ok(Err(error)) => ToBrowser::Refused(format!("the record cannot be kept: {error:#}")),
        Err(_) => ToBrowser::Refused("the server could not make a record of it".to_owned()),
    }
}

async fn tell(socket: &mut Socket, what: &ToBrowser) {
    let text = serde_json::to_string(what).unwrap_or_default();
    // Whoever is gone needs no answer.
    let _ = socket.send(Message::Text(text.into())).await;
}
