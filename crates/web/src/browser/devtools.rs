//! The Chrome `DevTools` Protocol, as much as a page load needs of it.
//!
//! JSON messages, each ended by a zero octet, over two pipes (`--remote-debugging-pipe`). A pipe rather
//! than a web socket: there is no port that others on this host could connect to, and Chromium ends
//! when the pipe does. A request has an `id`, and its answer the same; all else are events. Requests
//! for a page carry the `sessionId` of being attached to it ("flat" sessions).
//!
//! <https://chromedevtools.github.io/devtools-protocol/>

use super::Error;
use super::process::Pipe;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{Read, Write as _};
use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;
use sys::clock;
use units::Instant;

/// The longest message that is read; a longer one (an image inside an event) is left out. The events
/// that are needed have some kilobytes.
const MAX_MESSAGE: usize = 4 << 20;
/// Messages that wait to be read; Chromium waits when there are more.
const QUEUE: usize = 1024;
/// Events put aside while an answer is awaited; the oldest are dropped beyond.
const MAX_ASIDE: usize = 16_384;
/// How long Chromium may take to answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// The line to a browser.
#[derive(Debug)]
pub(super) struct DevTools {
    input: ChildStdin,
    messages: Receiver<Message>,
    aside: VecDeque<Message>,
    next_id: u64,
}

/// What Chromium says.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Message {
    /// Of the request that this answers; none for an event.
    pub(super) id: Option<u64>,
    /// An event's name.
    #[serde(default)]
    pub(super) method: String,
    /// An event's content.
    #[serde(default)]
    pub(super) params: Value,
    /// An answer's content.
    #[serde(default)]
    pub(super) result: Value,
    /// Why a request was refused.
    pub(super) error: Option<Refusal>,
    /// Of which page an event tells.
    pub(super) session_id: Option<String>,
}

/// Why a request was refused.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Refusal {
    /// In Chromium's words.
    pub(super) message: String,
}

/// What a wait for a message came to.
#[derive(Debug)]
pub(super) enum Heard {
    /// A message.
    Message(Message),
    /// Nothing until then.
    Nothing,
    /// The browser is gone.
    Closed,
}

impl DevTools {
    /// Speaks through `pipe`.
    pub(super) fn new(pipe: Pipe) -> Result<Self, Error> {
        let (sender, messages) = sync_channel(QUEUE);
        let read = move || read_messages(pipe.output, &sender);
        thread::Builder::new()
            .name("chromium".to_owned())
            .spawn(read)
            .map_err(Error::start("make a thread"))?;
        Ok(Self {
            input: pipe.input,
            messages,
            aside: VecDeque::new(),
            next_id: 1,
        })
    }

    /// Asks for something and returns the request's id; the answer comes as a message.
    pub(super) fn send(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: &Value,
    ) -> Result<u64, Error> {
        let id = self.next_id;
        self.next_id += 1;
        let mut request = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            request["sessionId"] = session.into();
        }
        let mut line = request.to_string().into_bytes();
        line.push(0);
        let sent = self.input.write_all(&line);
        sent.map_err(|_| Error::Ended(format!("no ear for {method}")))?;
        Ok(id)
    }

    /// Asks for something and waits for the answer; events in between are put aside.
    pub(super) fn call(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: &Value,
    ) -> Result<Value, Error> {
        let id = self.send(session, method, params)?;
        let deadline = clock::now() + PATIENCE;
        loop {
            match self.receive(deadline) {
                Heard::Message(message) if message.id == Some(id) => {
                    return answer(method, message);
                }
                Heard::Message(message) => self.put_aside(message),
                Heard::Closed => return Err(Error::Ended(format!("no answer to {method}"))),
                Heard::Nothing => {
                    let method = method.to_owned();
                    let seconds = PATIENCE.as_secs();
                    return Err(Error::Silent { method, seconds });
                }
            }
        }
    }

    /// The next message, one that was put aside first.
    pub(super) fn next(&mut self, deadline: Instant) -> Heard {
        let aside = self.aside.pop_front();
        aside.map_or_else(|| self.receive(deadline), Heard::Message)
    }

    /// Forgets what was put aside.
    pub(super) fn forget(&mut self) {
        self.aside.clear();
    }

    fn put_aside(&mut self, message: Message) {
        // A late answer to an earlier question helps nobody.
        if message.id.is_none() {
            if self.aside.len() >= MAX_ASIDE {
                self.aside.pop_front();
            }
            self.aside.push_back(message);
        }
    }

    fn receive(&self, deadline: Instant) -> Heard {
        let patience = deadline.since(clock::now());
        match self.messages.recv_timeout(patience) {
            Ok(message) => Heard::Message(message),
            Err(RecvTimeoutError::Timeout) => Heard::Nothing,
            Err(RecvTimeoutError::Disconnected) => Heard::Closed,
        }
    }
}

fn answer(method: &str, message: Message) -> Result<Value, Error> {
    match message.error {
        None => Ok(message.result),
        Some(refusal) => Err(Error::Refused {
            method: method.to_owned(),
            reason: refusal.message,
        }),
    }
}

/// Reads until the pipe is closed or nobody listens.
fn read_messages(mut output: impl Read, messages: &SyncSender<Message>) {
    let mut frames = Frames::default();
    let mut buffer = vec![0; 64 << 10];
    while let Ok(length @ 1..) = output.read(&mut buffer) {
        for frame in frames.push(&buffer[..length]) {
            // One that cannot be understood is none that we asked for.
            let message = serde_json::from_slice(&frame);
            if message.is_ok_and(|message| messages.send(message).is_err()) {
                return;
            }
        }
    }
}

/// Cuts a stream of octets into messages.
#[derive(Debug, Default)]
struct Frames {
    begun: Vec<u8>,
    is_too_long: bool,
}

impl Frames {
    /// The messages that `octets` complete.
    fn push(&mut self, octets: &[u8]) -> Vec<Vec<u8>> {
        let mut whole = Vec::new();
        let mut parts = octets.split(|octet| *octet == 0).peekable();
        while let Some(part) = parts.next() {
            self.extend(part);
            if parts.peek().is_none() {
                break;
            }
            let message = std::mem::take(&mut self.begun);
            if !std::mem::take(&mut self.is_too_long) && !message.is_empty() {
                whole.push(message);
            }
        }
        whole
    }

    fn extend(&mut self, part: &[u8]) {
        self.is_too_long |= self.begun.len() + part.len() > MAX_MESSAGE;
        if self.is_too_long {
            self.begun = Vec::new();
        } else {
            self.begun.extend_from_slice(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn messages_come_out_as_they_went_in_however_they_are_cut(
            messages in proptest::collection::vec(proptest::collection::vec(1_u8.., 1..20), 0..10),
            cut in 1_usize..30,
        ) {
            let stream: Vec<u8> = messages.iter().flat_map(|m| m.iter().copied().chain([0])).collect();
            let mut frames = Frames::default();
            let found: Vec<_> = stream.chunks(cut).flat_map(|chunk| frames.push(chunk)).collect();
            prop_assert_eq!(found, messages);
            prop_assert!(frames.begun.is_empty());
        }
    }

    #[test]
    fn a_message_without_end_takes_no_memory_and_the_next_one_is_read() {
        let mut frames = Frames::default();
        let piece = vec![b'x'; MAX_MESSAGE / 2];
        for _ in 0..5 {
            assert_eq!(frames.push(&piece), Vec::<Vec<u8>>::new());
        }
        assert!(frames.begun.is_empty());
        assert_eq!(frames.push(b"x\0{}\0"), [b"{}".to_vec()]);
    }

    #[test]
    fn what_is_no_message_is_passed_over() {
        let (sender, messages) = sync_channel(8);
        let stream = b"nonsense\0[1]\0{\"method\":\"Page.loadEventFired\"}\0{\"id\":7}\0";
        read_messages(&stream[..], &sender);
        drop(sender);
        let found: Vec<Message> = messages.iter().collect();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].method, "Page.loadEventFired");
        assert_eq!(found[1].id, Some(7));
    }
}
