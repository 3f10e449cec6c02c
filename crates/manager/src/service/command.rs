//! What others ask of the desk, and what clients are told.

use super::parameters::Asked;
use super::survey::Survey;
use super::wire::{Event, Words};
use estimate::riding::{Failed, Measured};
use serde::Serialize;
use serde_json::json;
use std::sync::mpsc::{self, Receiver, SyncSender};
use tokio::sync::{mpsc as news, oneshot};

/// Commands that may wait: whoever has more waits until the desk has looked.
const MOST_WAITING: usize = 1_024;

/// A query of a client, by a number that the client's connection has for it.
pub(super) type Token = u64;

/// What a client is told: the status of HTTP, what kind of event it is, and the JSON of it.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) status: u16,
    pub(super) event: Event,
    pub(super) body: String,
    /// Whether more is to come.
    pub(super) more: bool,
}

impl Told {
    /// That there will be events.
    pub(super) fn taken() -> Self {
        Self {
            status: 200,
            event: Event::Taken,
            body: String::new(),
            more: true,
        }
    }

    pub(super) fn error(status: u16, error: &str) -> Self {
        Self {
            status,
            event: Event::Error,
            body: json!({ "error": error }).to_string(),
            more: false,
        }
    }

    pub(super) fn answer(event: Event, answer: &impl Serialize) -> Self {
        Self {
            status: 200,
            event,
            // Strings and numbers always can be.
            body: serde_json::to_string(answer).unwrap_or_default(),
            more: false,
        }
    }
}

/// Where what is told goes.
#[derive(Debug)]
pub(super) enum Sink {
    Client(news::Sender<Told>),
    /// Over the link with this peer, as the answer with this number.
    Peer {
        peer: usize,
        id: u64,
    },
}

/// What others ask of the desk.
pub enum Command {
    /// A client's query; `query` is what is behind the question mark.
    Ask(Box<Query>),
    /// The client is gone.
    Gone(Token),
    /// A peer's service says something.
    Heard {
        /// Its place among the peers of the file.
        peer: usize,
        /// What it says.
        words: Words,
    },
    /// There is a link with a peer, and this is what its service is told by.
    Linked {
        /// Its place among the peers of the file.
        peer: usize,
        /// Number of the session that carries the link.
        session: u64,
        /// What is put in here goes to its service.
        words: SyncSender<Words>,
    },
    /// A measurement is over.
    Measured {
        /// The place of the peer at its end among the peers of the file.
        path: usize,
        /// What it found and what it cost, or why nothing came of it.
        result: Result<Measured, Failed>,
    },
    /// How is everything?
    Survey(oneshot::Sender<Survey>),
    /// The link is gone.
    Unlinked {
        /// The peer's place among the peers of the file.
        peer: usize,
        /// The session that is over; there may be a later one already.
        session: u64,
    },
}

/// A client's query.
pub struct Query {
    pub(super) client: u64,
    pub(super) token: Option<Token>,
    pub(super) asked: Asked,
    /// As it came, for whoever else is to answer it.
    pub(super) text: String,
    pub(super) sink: Sink,
}

/// Commands for the desk; clones are the same.
#[derive(Clone)]
pub struct Handle(SyncSender<Command>);

impl Handle {
    /// Gives a command; false when the desk has ended.
    pub fn tell(&self, command: Command) -> bool {
        self.0.send(command).is_ok()
    }

    /// The same for whoever must not wait; false also when too many wait.
    pub(super) fn try_tell(&self, command: Command) -> bool {
        self.0.try_send(command).is_ok()
    }
}

/// The way to give commands, and where they come out.
pub(super) fn channel() -> (Handle, Receiver<Command>) {
    let (sender, commands) = mpsc::sync_channel(MOST_WAITING);
    (Handle(sender), commands)
}
