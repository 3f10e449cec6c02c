//! The control socket: where tools hand over transactions, and where `isobath manager status` asks.
//!
//! What a connection begins with tells what it is. A message begins with its length, and that with an octet of zero: a tool, which is
//! served until it leaves. Anything else is a question, a line of one word, whose answer is one line of JSON.
//!
//! Who may open the socket may use the overlay's paths: the file is its owner's alone.

use super::engine::{Command, Handle};
use super::machine::outbox;
use super::snapshot::Question;
use mgrp::message::{Frames, Message};
use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Duration;
use std::{fs, thread};
use sys::clock;
use sys::local::{UnixListener, UnixStream, listen_for_owner};
use units::Instant;

/// Connections at once.
const MOST_CLIENTS: usize = 16;
/// Octets that are read at once.
const CHUNK: usize = 64 << 10;
/// The longest question.
const LONGEST_QUESTION: usize = 64;
/// A tool that does not read for so long is cut.
const PATIENCE: Duration = Duration::from_secs(5);
/// Whoever connects says something within this time.
const FIRST: Duration = Duration::from_secs(5);
/// How long a manager may take to answer a question.
const ANSWER: Duration = Duration::from_secs(10);

/// Asks the manager that listens at `path`; its answer is one JSON object.
///
/// # Errors
///
/// When none listens there, or it does not answer.
pub fn ask(path: &Path, question: Question) -> io::Result<String> {
    let mut stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(ANSWER))?;
    writeln!(stream, "{}", question.word())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// The socket, listening; its file goes when this is dropped.
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

impl Socket {
    /// Listens at `path`, which the file calls `key`, in place of a socket that a manager left behind.
    ///
    /// # Errors
    ///
    /// One line: when somebody listens there, something else is there, or it cannot be made.
    pub fn bind(path: &Path, key: &str) -> Result<Self, String> {
        let name = path.display();
        let failed = |error: io::Error| format!("make the socket {name}: {error}");
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let listener = match listen_for_owner(path) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                clear(path, key)?;
                listen_for_owner(path)
            }
            done => done,
        };
        let listener = listener.map_err(failed)?;
        Ok(Self {
            listener,
            path: path.to_owned(),
        })
    }

    /// Another descriptor of it, for whoever serves it otherwise.
    ///
    /// # Errors
    ///
    /// When the system gives none.
    pub fn listener(&self) -> io::Result<UnixListener> {
        self.listener.try_clone()
    }

    /// Serves whoever connects, in threads that end with the program.
    ///
    /// # Errors
    ///
    /// When the system gives no thread.
    pub fn serve(&self, engine: Handle) -> io::Result<()> {
        let listener = self.listener.try_clone()?;
        let thread = thread::Builder::new().name("control".to_owned());
        sys::threads::spawn(thread, move || accept(&listener, &engine))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Somebody was faster.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes a socket on which nobody listens.
fn clear(path: &Path, key: &str) -> Result<(), String> {
    let name = path.display();
    match UnixStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(|error| format!("remove {name}: {error}"))
        }
        Ok(_) => Err(format!(
            "the socket {name} is taken - a manager runs already; end it, or give '{key}' another path"
        )),
        Err(error) => Err(format!(
            "{name} exists and is not a usable socket ({error}) - remove it, or give '{key}' another path"
        )),
    }
}

fn accept(listener: &UnixListener, engine: &Handle) {
    let open = Arc::new(AtomicUsize::new(0));
    let number = AtomicU64::new(0);
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // No descriptors: some will be free again.
            clock::sleep_until(clock::now() + Duration::from_millis(50));
            continue;
        };
        let place = Place::of(&open);
        let Some(place) = place else { continue };
        let engine = engine.clone();
        let number = number.fetch_add(1, Ordering::Relaxed);
        let work = move || {
            // A connection's troubles are its own.
            let _ = serve(stream, number, &engine);
            drop(place);
        };
        // Without a thread the closure is dropped, and the connection with it.
        let thread = thread::Builder::new().name("tool".to_owned());
        let _ = sys::threads::spawn(thread, work);
    }
}

/// One of the connections; free again when dropped.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn of(open: &Arc<AtomicUsize>) -> Option<Self> {
        // Only one thread takes places.
        (open.load(Ordering::Relaxed) < MOST_CLIENTS).then(|| {
            open.fetch_add(1, Ordering::Relaxed);
            Self(Arc::clone(open))
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn serve(mut stream: UnixStream, number: u64, engine: &Handle) -> io::Result<()> {
    stream.set_read_timeout(Some(FIRST))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut chunk = vec![0; CHUNK];
    let count = stream.read(&mut chunk)?;
    let came = clock::now();
    let first = chunk.get(..count).unwrap_or_default();
    match first.first() {
        Some(0) => {
            let mut frames = Frames::default();
            frames.push(first, came);
            stream.set_read_timeout(None)?;
            be_told(&stream, number, engine)?;
            let heard = hear(&stream, number, engine, &mut frames, &mut chunk);
            engine.tell(Command::Gone { client: number });
            heard
        }
        Some(_) => {
            let question = first.to_vec();
            reply(&mut stream, question, came + FIRST, engine)
        }
        None => Ok(()),
    }
}

/// Answers a question, once all of it has come.
fn reply(
    stream: &mut UnixStream,
    mut question: Vec<u8>,
    deadline: Instant,
    engine: &Handle,
) -> io::Result<()> {
    let mut chunk = [0; LONGEST_QUESTION];
    while !question.ends_with(b"\n") && question.len() < LONGEST_QUESTION && clock::now() < deadline
    {
        match stream.read(&mut chunk)? {
            0 => break,
            count => question.extend_from_slice(chunk.get(..count).unwrap_or_default()),
        }
    }
    let word = String::from_utf8_lossy(&question);
    let answer = Question::parse(word.trim()).and_then(|question| {
        let snapshot = engine.ask()?;
        snapshot.answer(question).ok()
    });
    let answer =
        answer.unwrap_or_else(|| r#"{"error":"ask 'status', 'stats' or 'buckets'"}"#.to_owned());
    writeln!(stream, "{answer}")
}

/// Starts the thread by which a tool is told things. It ends with the outbox, and ends the connection.
fn be_told(stream: &UnixStream, number: u64, engine: &Handle) -> io::Result<()> {
    let (outbox, messages) = outbox();
    let stream = stream.try_clone()?;
    let thread = thread::Builder::new().name("told".to_owned());
    sys::threads::spawn(thread, move || tell(&stream, &messages))?;
    engine.tell(Command::Come {
        client: number,
        outbox,
    });
    Ok(())
}

fn tell(mut stream: &UnixStream, messages: &Receiver<Message>) {
    let mut octets = Vec::new();
    while let Ok(message) = messages.recv() {
        octets.clear();
        // What comes together goes together.
        for message in std::iter::once(message).chain(messages.try_iter().take(256)) {
            // Outcomes and arrivals are as long as what was asked for, which was taken.
            let _ = message.emit(&mut octets);
        }
        if stream.write_all(&octets).is_err() {
            break;
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
}

/// Takes a tool's messages until it leaves, or says something after which nothing can be understood.
fn hear(
    mut stream: &UnixStream,
    number: u64,
    engine: &Handle,
    frames: &mut Frames,
    chunk: &mut [u8],
) -> io::Result<()> {
    loop {
        while let Some(frame) = frames.poll().map_err(io::Error::other)? {
            // What cannot be read is skipped.
            let Ok(message) = frame.message else { continue };
            if let Some(command) = command(number, message, frame.took)
                && !engine.tell(command)
            {
                return Ok(());
            }
        }
        match stream.read(chunk) {
            Ok(0) => return Ok(()),
            Ok(count) => frames.push(chunk.get(..count).unwrap_or_default(), clock::now()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// What a tool's message asks for; none for those that only a manager says.
fn command(client: u64, message: Message, handover: Duration) -> Option<Command> {
    match message {
        Message::Begin {
            id,
            to,
            transaction,
        } => Some(Command::Begin {
            client,
            id,
            to,
            request: transaction.into(),
            handover,
        }),
        Message::BeginRanges { id, to, ranges } => Some(Command::Begin {
            client,
            id,
            to,
            request: ranges.into(),
            handover,
        }),
        Message::CallOff { id } => Some(Command::CallOff { client, id }),
        Message::Listen { channel } => Some(Command::Listen { client, channel }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_socket_is_its_owners_from_the_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("manager.sock");
        let listener = listen_for_owner(&path).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        drop(listener);
        // One that was left behind is replaced, and files made later are as before.
        let socket = Socket::bind(&path, "socket").unwrap();
        assert_eq!(mode(&path), 0o600);
        drop(socket);
        assert!(!path.exists());
    }
}
