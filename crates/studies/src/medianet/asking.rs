//! Estimates of the available bandwidth, one after the other, by the estimation service of the manager on the sender's host.
//!
//! Each is a request by HTTP over the service's Unix socket, for an estimate made now. Whoever closes the connection wants to know no
//! longer, and the service stops measuring. It is asked by HTTP 1.0, so an answer ends with its connection.

use super::news::{Answer, News, Teller};
use manager::service;
use schema::estimate::plan::{Method, What};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use sys::clock;
use sys::local::UnixStream;
use units::Instant;

/// Between the end of an estimation and the beginning of the next.
pub(super) const REST: Duration = Duration::from_secs(1);
/// How often the stop flag is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// Octets of the longest answer.
const LONGEST: usize = 64 << 10;
/// The longest time that the service waits for an estimator. By a shorter one it would refuse those that usually take longer; how long
/// an estimation may take is decided here.
const TIMEOUT_ASKED: &str = "10min";
/// No estimate in time: a gateway's word for it.
const TIMEOUT: u16 = 504;

/// Whom the global scheduler asks, and for what.
pub struct Service {
    /// The service's socket.
    pub socket: PathBuf,
    /// The peer at the end of the path.
    pub peer: &'static str,
    /// The estimator that is to measure.
    pub method: Method,
}

/// What came of a request.
#[derive(Debug)]
enum Asked {
    Estimate(Box<service::Answer>),
    /// It took too long.
    GivenUp,
}

impl Service {
    /// Asks once; gives up when `give_up` is raised.
    ///
    /// # Errors
    /// In one line: nobody serves there, or what is asked for cannot be.
    fn ask(&self, give_up: &AtomicBool) -> io::Result<Asked> {
        let mut stream = UnixStream::connect(&self.socket)?;
        stream.set_read_timeout(Some(LOOK))?;
        let (what, peer) = (What::Available.name(), self.peer);
        let method = self.method.name();
        write!(
            stream,
            "GET /v1/estimates/{what}?to={peer}&estimator={method}&max_age=0s&timeout={TIMEOUT_ASKED} HTTP/1.0\r\nHost: isobath\r\n\r\n"
        )?;
        let mut answer = Vec::new();
        let mut chunk = [0; 4_096];
        while !give_up.load(Ordering::Relaxed) {
            match stream.read(&mut chunk) {
                Ok(0) => return read(&answer).map_err(io::Error::other),
                Ok(count) if answer.len() + count <= LONGEST => {
                    answer.extend_from_slice(chunk.get(..count).unwrap_or_default());
                }
                Ok(_) => return Err(io::Error::other("its answer has no end")),
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Asked::GivenUp)
    }
}

/// Reads a whole answer.
fn read(octets: &[u8]) -> Result<Asked, String> {
    let text = String::from_utf8_lossy(octets);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_default();
    let status: Option<u16> = head.split(' ').nth(1).and_then(|word| word.parse().ok());
    match status {
        Some(200) => {
            let answer = serde_json::from_str(body);
            let answer = answer.map_err(|error| format!("its answer cannot be read: {error}"))?;
            Ok(Asked::Estimate(Box::new(answer)))
        }
        Some(TIMEOUT) => Ok(Asked::GivenUp),
        Some(status) => {
            let error: Option<service::Error> = serde_json::from_str(body).ok();
            let told = error.map_or_else(|| "nothing".to_owned(), |error| error.error);
            Err(format!("it answers {status} and says: {told}"))
        }
        None => Err("it speaks no HTTP".to_owned()),
    }
}

/// When the present estimation began, and whether it is to be given up.
#[derive(Default)]
pub struct Patience {
    began: AtomicU64,
    give_up: AtomicBool,
    /// The run is over: what is under way is neither finished nor given up.
    over: AtomicBool,
}

impl Patience {
    /// Gives an estimation up that has taken `most`, or all when the run is `over`.
    pub fn look(&self, now: Instant, most: Duration, over: bool) {
        self.over.fetch_or(over, Ordering::Relaxed);
        let began = Instant::from_nanos(self.began.load(Ordering::Relaxed));
        if over || now.since(began) > most {
            self.give_up.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn begin(&self, now: Instant) {
        self.give_up.store(false, Ordering::Relaxed);
        self.began.store(now.as_nanos(), Ordering::Relaxed);
    }

    /// Raised when the present estimation is to be given up.
    pub(super) const fn give_up(&self) -> &AtomicBool {
        &self.give_up
    }

    /// Whether it is.
    pub(super) fn is_given_up(&self) -> bool {
        self.give_up.load(Ordering::Relaxed)
    }

    /// Whether the run is over.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Nothing is being estimated.
    pub(super) fn end(&self) {
        self.began.store(u64::MAX, Ordering::Relaxed);
    }
}

/// Asks again and again until the run is over or `stop` is raised, and tells what came of it.
pub fn run(service: &Service, patience: &Patience, news: &Teller, stop: &AtomicBool) {
    let is_over = || patience.over.load(Ordering::Relaxed) || stop.load(Ordering::Relaxed);
    while !is_over() {
        let began = clock::now();
        patience.begin(began);
        let asked = service.ask(&patience.give_up);
        patience.end();
        if is_over() {
            return;
        }
        let estimate = match asked {
            Ok(Asked::Estimate(answer)) => Some((*answer).into()),
            Ok(Asked::GivenUp) => None,
            Err(error) => {
                news.tell(News::Broken(format!("the estimation service: {error}")));
                return;
            }
        };
        news.tell(News::Answer(Answer {
            began,
            ended: clock::now(),
            estimate,
        }));
        let next = clock::now() + REST;
        while clock::now() < next && !is_over() {
            clock::sleep_until(next.min(clock::now() + LOOK));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_apart_by_their_status() {
        let of = |text: &str| read(text.as_bytes());
        assert!(matches!(
            of("HTTP/1.0 504 Gateway Timeout\r\n\r\n{\"error\":\"no answer in 60s\"}"),
            Ok(Asked::GivenUp)
        ));
        let refused = of("HTTP/1.1 404 Not Found\r\nx: y\r\n\r\n{\"error\":\"no such node\"}");
        assert_eq!(
            refused.unwrap_err(),
            "it answers 404 and says: no such node"
        );
        for text in [
            "",
            "\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\n{}",
            "SSH-2.0\r\n\r\n",
        ] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
