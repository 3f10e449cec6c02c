//! A resolver that is asked over TLS: by one connection of TCP (RFC 7858), or by HTTP/2 (RFC 8484).
//!
//! Queries and answers are messages of the Domain Name System, the same as in datagrams. What is asked, and what an answer means, is the
//! caller's. An answer is stamped when all of it has been read, which is some tens of microseconds after it has come: TLS and HTTP lie
//! between. There is one connection, and what TCP has to repeat comes late and is not lost.

use crate::responsiveness::client::{Dialer, Link};
use data_encoding::BASE64URL_NOPAD;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread;
use std::time::Duration;
use sys::clock;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf, split};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;
use units::Instant;

/// How long a connection may take to open.
const OPENING: Duration = Duration::from_secs(10);
/// How long is waited before it is looked whether anybody still wants the connection.
const LOOK: Duration = Duration::from_millis(50);
/// Queries that wait for an answer at once; further ones are not asked.
const MOST_OPEN: usize = 256;
/// Answers that wait to be taken; further ones are dropped.
const MOST_WAITING: usize = 1_024;
/// Octets of an answer: no message is longer.
const LONGEST: usize = 65_535;

/// How a resolver is asked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Manner {
    /// DNS over TLS.
    Tls,
    /// DNS over HTTPS, with this path.
    Https(String),
}

/// An answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Answer {
    /// The message.
    pub octets: Vec<u8>,
    /// When all of it had been read.
    pub received: Instant,
}

/// What is told: an answer, or in one line why there will be none any more.
type Told = Result<Answer, String>;

/// A connection with a resolver. It is closed when this is dropped.
#[derive(Debug)]
pub struct Resolver {
    queries: mpsc::Sender<Vec<u8>>,
    told: Receiver<Told>,
}

impl Resolver {
    /// Connects, as long as that `is_wanted`. The connection has a thread of its own.
    ///
    /// # Errors
    /// One line, when there is no such resolver, or it cannot be believed.
    pub fn open(
        dialer: Dialer,
        manner: Manner,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Self, String> {
        let (queries, asked) = mpsc::channel(MOST_OPEN);
        let (teller, told) = sync_channel(MOST_WAITING);
        let (opened, is_open) = sync_channel(1);
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let runtime = match runtime {
                Ok(runtime) => runtime,
                Err(error) => return drop(opened.send(Err(error.to_string()))),
            };
            runtime.block_on(converse(&dialer, manner, asked, &opened, &teller));
        };
        thread::Builder::new()
            .name("resolver".to_owned())
            .spawn(work)
            .map_err(|error| error.to_string())?;
        while is_wanted() {
            match is_open.recv_timeout(LOOK) {
                Ok(opened) => return opened.map(|()| Self { queries, told }),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err("the connection was not opened".to_owned());
                }
            }
        }
        Err("interrupted".to_owned())
    }

    /// Asks `query`, a message; whether there was room for it.
    pub fn ask(&self, query: &[u8]) -> bool {
        self.queries.try_send(query.to_vec()).is_ok()
    }

    /// The next answer, if there is one within `time`.
    ///
    /// # Errors
    /// One line, when there will be none any more.
    pub fn answer(&self, time: Duration) -> Result<Option<Answer>, String> {
        let told = if time.is_zero() {
            self.told.try_recv().map_err(|error| match error {
                TryRecvError::Empty => RecvTimeoutError::Timeout,
                TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            })
        } else {
            self.told.recv_timeout(time)
        };
        match told {
            Ok(told) => told.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err("the connection has ended".to_owned()),
        }
    }
}

/// Opens the connection, says so, and asks and tells until nobody asks any more.
async fn converse(
    dialer: &Dialer,
    manner: Manner,
    asked: mpsc::Receiver<Vec<u8>>,
    opened: &SyncSender<Result<(), String>>,
    teller: &SyncSender<Told>,
) {
    let address = dialer.address();
    let silent = || format!("{address} does not answer within {} s", OPENING.as_secs());
    let why = match manner {
        Manner::Tls => match timeout(OPENING, dialer.secure()).await {
            Ok(Ok(stream)) => {
                let _ = opened.send(Ok(()));
                by_tls(stream, asked, teller).await
            }
            Ok(Err(reason)) => return drop(opened.send(Err(reason))),
            Err(_) => return drop(opened.send(Err(silent()))),
        },
        Manner::Https(path) => match timeout(OPENING, dialer.open()).await {
            Ok(Ok(connection)) => {
                let _ = opened.send(Ok(()));
                by_https(&connection.link, &path, asked, teller).await
            }
            Ok(Err(reason)) => return drop(opened.send(Err(reason))),
            Err(_) => return drop(opened.send(Err(silent()))),
        },
    };
    // Whoever does not listen any more needs no reason.
    if let Some(why) = why {
        let _ = teller.try_send(Err(format!("{address}: {why}")));
    }
}

fn tell(teller: &SyncSender<Told>, octets: Vec<u8>) {
    let received = clock::now();
    let _ = teller.try_send(Ok(Answer { octets, received }));
}

/// Messages one behind another, each behind its length (RFC 1035 section 4.2.2). Why it ended, if not because nobody asks any more.
async fn by_tls(
    stream: TlsStream<TcpStream>,
    asked: mpsc::Receiver<Vec<u8>>,
    teller: &SyncSender<Told>,
) -> Option<String> {
    let (reader, writer) = split(stream);
    let ended = tokio::select! {
        ended = write(writer, asked) => ended,
        ended = read(reader, teller) => ended.map(|()| false),
    };
    match ended {
        Ok(true) => None,
        Ok(false) => Some("the server closed the connection".to_owned()),
        Err(error) => Some(error.to_string()),
    }
}

/// True when nobody asks any more.
async fn write(
    mut writer: WriteHalf<TlsStream<TcpStream>>,
    mut asked: mpsc::Receiver<Vec<u8>>,
) -> std::io::Result<bool> {
    while let Some(query) = asked.recv().await {
        let Ok(length) = u16::try_from(query.len()) else {
            continue;
        };
        let mut message = length.to_be_bytes().to_vec();
        message.extend(query);
        writer.write_all(&message).await?;
        writer.flush().await?;
    }
    Ok(true)
}

/// Until the server closes the connection between two answers.
async fn read(
    mut reader: ReadHalf<TlsStream<TcpStream>>,
    teller: &SyncSender<Told>,
) -> std::io::Result<()> {
    loop {
        let mut first = [0];
        if reader.read(&mut first).await? == 0 {
            return Ok(());
        }
        let length = u16::from_be_bytes([first[0], reader.read_u8().await?]);
        let mut octets = vec![0; length.into()];
        reader.read_exact(&mut octets).await?;
        tell(teller, octets);
    }
}

/// Each query as a GET (RFC 8484 section 4.1), beside those that are still open.
async fn by_https(
    link: &Link,
    path: &str,
    mut asked: mpsc::Receiver<Vec<u8>>,
    teller: &SyncSender<Told>,
) -> Option<String> {
    let room = Arc::new(Semaphore::new(MOST_OPEN));
    // The first failure ends it: a server that says no to one says no to all.
    let (failed, mut failure) = mpsc::channel::<String>(1);
    loop {
        let query = tokio::select! {
            query = asked.recv() => query?,
            why = failure.recv() => return why,
        };
        let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
            continue;
        };
        let (link, teller, failed) = (link.clone(), teller.clone(), failed.clone());
        let sign = if path.contains('?') { '&' } else { '?' };
        let path = format!("{path}{sign}dns={}", BASE64URL_NOPAD.encode(&query));
        tokio::spawn(async move {
            match link.fetch(&path, LONGEST).await {
                Ok(octets) => tell(&teller, octets),
                Err(why) => failed.try_send(why).unwrap_or_default(),
            }
            drop(place);
        });
    }
}
