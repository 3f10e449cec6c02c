//! Queries that other nodes answer, and other nodes' queries.
//!
//! A query goes from peer to peer towards its node ([`Map`](super::map::Map)) and its answer back the same way. Each of them keeps
//! who asked under a number of its own, for as long as an answer may take, or, of a watch, until one end is gone; a query crosses [`MOST_HOPS`] links at
//! most.

use super::command::{Query, Sink, Token, Told};
use super::desk::Desk;
use super::map::Report;
use super::parameters::Asked;
use super::wire::{Ask, Event, MOST_HOPS, Reply, Words};
use probe::service::When;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::time::Duration;
use sys::clock;
use units::Instant;

/// Queries that may be under way to other nodes.
const MOST_PENDING: usize = 128;
/// And of one client.
const MOST_OF_CLIENT: usize = 16;
/// An answer may take this much longer than its query's timeout.
const WAY: Duration = Duration::from_secs(5);
/// A watch of which nothing was heard for so long is over; whoever answers says every [`REFRESH`](super::map::REFRESH) that it goes on.
const SILENCE: Duration = Duration::from_secs(35);

const GONE: &str = "the link towards that node is gone - ask again in a few seconds";

/// Who waits for other nodes' answers.
#[derive(Default)]
pub(super) struct Onward {
    pending: BTreeMap<u64, Pending>,
    next: u64,
}

/// Who asks, and until when an answer is waited for.
struct Asker {
    sink: Sink,
    /// Of a client of this node.
    client: Option<u64>,
    token: Option<Token>,
    /// Of a watch, until something is heard of it.
    deadline: Instant,
}

struct Pending {
    asker: Asker,
    /// The peer that it was sent to.
    via: usize,
    /// Whether it is a watch that will be answered.
    is_taken: bool,
}

impl Desk {
    /// Sends a query of a client here towards the node that is to answer it.
    pub(super) fn send_onward(&mut self, query: Query, node: &str, now: Instant) {
        let pending = self.onward.pending.values();
        let of_client = pending.filter(|pending| pending.asker.client == Some(query.client));
        if of_client.count() >= MOST_OF_CLIENT {
            let line =
                format!("more than {MOST_OF_CLIENT} of your queries are under way to other nodes");
            self.give(&query.sink, Told::error(429, &line));
            return;
        }
        let ask = Ask {
            id: 0,
            node: node.to_owned(),
            hops: MOST_HOPS,
            what: query.asked.what.name().to_owned(),
            query: query.text,
            watch: query.asked.when != When::Once,
        };
        let asker = Asker {
            sink: query.sink,
            client: Some(query.client),
            token: query.token,
            deadline: now + query.asked.timeout + WAY,
        };
        self.hand_on(ask, asker);
    }

    /// Sends a query towards its node for whoever asks it.
    fn hand_on(&mut self, ask: Ask, asker: Asker) {
        let Some(via) = self.map.towards(&ask.node) else {
            let line = self.unknown();
            self.give(&asker.sink, Told::error(404, &line));
            return;
        };
        let Some(link) = self.links.get(&via) else {
            self.give(&asker.sink, Told::error(503, GONE));
            return;
        };
        let id = self.onward.next;
        let is_room = self.onward.pending.len() < MOST_PENDING;
        if ask.hops == 0
            || !is_room
            || link
                .words
                .try_send(Words::Ask(Ask {
                    id,
                    hops: ask.hops - 1,
                    ..ask
                }))
                .is_err()
        {
            let why = "too many queries are under way to other nodes, or it is too far - ask again in a few seconds";
            self.give(&asker.sink, Told::error(429, why));
            return;
        }
        self.onward.next += 1;
        let pending = Pending {
            asker,
            via,
            is_taken: false,
        };
        self.onward.pending.insert(id, pending);
    }

    /// That there is no node of a name, and which there are.
    fn unknown(&self) -> String {
        let reports = self.map.reports();
        let names: Vec<_> = reports.map(|report| report.node.as_str()).collect();
        format!(
            "{} knows no node of that name - beside itself it knows {}",
            self.config.name,
            if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            }
        )
    }

    /// Takes what a peer's service says.
    pub(super) fn hear(&mut self, peer: usize, words: Words, now: Instant) {
        match words {
            Words::Node(report) => {
                if self.map.handle(&report, peer, now) {
                    self.pass_on(&report, Some(peer));
                }
            }
            Words::Ask(ask) => self.asked(peer, ask, now),
            Words::Answer(reply) => self.answered(peer, reply, now),
            Words::Gone(id) => {
                let is_it = |sink: &Sink| matches!(sink, Sink::Peer { peer: of, id: its } if (*of, *its) == (peer, id));
                self.forget(|sink, _| is_it(sink));
            }
        }
    }

    /// Takes an answer to whoever waits for it.
    fn answered(&mut self, peer: usize, reply: Reply, now: Instant) {
        let (id, more) = (reply.id, reply.more);
        let pending = self.onward.pending.get(&id);
        // Who was not asked has nothing to say; who does not know that nobody waits is told so.
        if pending.is_some_and(|pending| pending.via != peer) {
            return;
        }
        let pending = self.onward.pending.remove(&id);
        let goes_on = pending.and_then(|pending| self.pass_back(pending, reply, now));
        match goes_on {
            Some(pending) => {
                self.onward.pending.insert(id, pending);
            }
            None if more => self.call_off(peer, id),
            None => {}
        }
    }

    /// Tells who waits for it; nothing when that was the last that is to be told.
    fn pass_back(&self, pending: Pending, reply: Reply, now: Instant) -> Option<Pending> {
        let told = told(reply);
        let more = told.more;
        // That a watch goes on is for nodes; a client's own connection tells.
        let is_known = pending.is_taken && told.event == Event::Taken;
        let Pending { asker, via, .. } = pending;
        let is_client = matches!(asker.sink, Sink::Client(_));
        let is_passed = (is_known && is_client) || self.give(&asker.sink, told);
        let deadline = now + SILENCE;
        (more && is_passed).then_some(Pending {
            asker: Asker { deadline, ..asker },
            via,
            is_taken: true,
        })
    }

    /// Says of all watches of other nodes that they go on.
    fn keep_alive(&self) {
        for (number, (sink, _)) in &self.sinks {
            if matches!(sink, Sink::Peer { .. }) && self.service.is_watch(*number) {
                // What has no room now is said again soon.
                self.give(sink, Told::taken());
            }
        }
    }

    /// Tells a peer that nobody waits for its answers any more.
    fn call_off(&self, peer: usize, id: u64) {
        if let Some(link) = self.links.get(&peer) {
            // What has no room now is said at the next answer.
            let _ = link.words.try_send(Words::Gone(id));
        }
    }

    /// Whoever these are waits for other nodes no longer.
    pub(super) fn forget_onward(&mut self, is_gone: impl Fn(&Sink, Option<Token>) -> bool) {
        let is_its =
            |_: &u64, pending: &mut Pending| is_gone(&pending.asker.sink, pending.asker.token);
        let gone: Vec<_> = self.onward.pending.extract_if(.., is_its).collect();
        for (id, pending) in gone {
            self.call_off(pending.via, id);
        }
    }

    fn asked(&mut self, peer: usize, ask: Ask, now: Instant) {
        let sink = Sink::Peer { peer, id: ask.id };
        let asked = match Asked::parse(&ask.what, &ask.query, ask.watch) {
            Ok(asked) => asked,
            Err(line) => {
                self.give(&sink, Told::error(400, &line));
                return;
            }
        };
        if ask.node != self.config.name {
            let node = Asker {
                sink,
                client: None,
                token: None,
                deadline: now + asked.timeout + WAY,
            };
            self.hand_on(ask, node);
            return;
        }
        let query = Query {
            // Numbers of users and hashes of addresses are other ones.
            client: u64::MAX - peer as u64,
            token: None,
            asked: Asked {
                from: None,
                ..asked
            },
            text: ask.query,
            sink,
        };
        self.ask(query, now);
    }

    /// Tells all peers with whom this manager is linked.
    pub(super) fn announce(&mut self, now: Instant) {
        self.announced = now;
        let own = self.own_report();
        self.pass_on(&own, None);
        self.keep_alive();
    }

    fn own_report(&self) -> Report {
        let peers = self.config.peers.iter().enumerate();
        let linked =
            peers.map(|(index, peer)| (peer.name.clone(), self.links.contains_key(&index)));
        Report {
            node: self.config.name.clone(),
            number: clock::stamp().wall_at(clock::now()) / 1_000,
            peers: linked.collect(),
        }
    }

    /// Tells a peer that has just been linked all that is known.
    pub(super) fn tell_all(&self, peer: usize) {
        let Some(link) = self.links.get(&peer) else {
            return;
        };
        for report in self.map.reports().cloned() {
            // What has no room now is told again soon.
            let _ = link.words.try_send(Words::Node(report));
        }
    }

    fn pass_on(&self, report: &Report, but: Option<usize>) {
        let others = self.links.iter().filter(|(peer, _)| Some(**peer) != but);
        for (_, link) in others {
            // As above.
            let _ = link.words.try_send(Words::Node(report.clone()));
        }
    }

    /// Whoever waits for an answer by way of this peer waits no longer.
    pub(super) fn lost(&mut self, peer: usize) {
        self.end(|pending| pending.via == peer, &Told::error(503, GONE));
    }

    /// Whoever has waited too long for another node waits no longer.
    pub(super) fn give_up(&mut self, now: Instant) {
        let line = "the other node has not answered in time - ask with a longer timeout";
        self.end(
            |pending| pending.asker.deadline <= now,
            &Told::error(504, line),
        );
    }

    fn end(&mut self, is_over: impl Fn(&Pending) -> bool, told: &Told) {
        let over = self
            .onward
            .pending
            .extract_if(.., |_, pending| is_over(pending));
        let over: Vec<Pending> = over.map(|(_, pending)| pending).collect();
        for pending in over {
            self.give(&pending.asker.sink, told.clone());
        }
    }
}

/// What a client is told of another node's answer: JSON in one line, whatever came.
fn told(reply: Reply) -> Told {
    let is_line = !reply.body.contains(['\n', '\r']);
    let is_read = match reply.event {
        Event::Taken => reply.body.is_empty(),
        _ => is_line && serde_json::from_str::<IgnoredAny>(&reply.body).is_ok(),
    };
    if !is_read {
        let line = "the other node's answer cannot be read - is it of another version?";
        return Told::error(502, line);
    }
    Told {
        status: reply.status,
        // A node that knows of no watches says nothing of events.
        event: match reply.status {
            200 => reply.event,
            _ => Event::Error,
        },
        body: reply.body,
        more: reply.more,
    }
}
