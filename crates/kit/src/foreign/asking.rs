//! Requests to a far end of somebody else, and its replies.
//!
//! Nobody has agreed to anything but IRTT's and TWAMP's servers, so there is no control connection: a far end that is gone is one that
//! does not reply.

use super::line::{Found, Line};
use crate::control::Broken;
use far_ends::address::{Keys, Protocol};
use far_ends::{Exchange, Opening, Reply, Terms};
use packet::UDP_HEADERS;
use std::net::SocketAddr;
use std::time::Duration;
use sys::clock;
use sys::udp::IcmpError;
use units::{Instant, Stamp, TrafficClass};

/// How long is waited before it is looked whether the exchange is still wanted.
const LOOK: Duration = Duration::from_millis(5);
/// Calls that empty a socket before anything else is looked at: a far end may send faster than it is read.
const RECEIVES: usize = 32;
/// An exchange is asked for so often, each time for this long, twice the last.
const OPENINGS: u32 = 5;
const FIRST_OPENING: Duration = Duration::from_millis(500);
/// The two clocks are compared again after this long: the wall clock may be slewed.
const STAMP_EVERY: Duration = Duration::from_millis(100);
/// Octets of an IP header without options.
const IP_HEADERS: [u32; 2] = [20, 40];
/// And with those of TCP (with time stamps), of a record of TLS 1.3, and a message's length. Those of HTTP are not counted.
const TLS_HEADERS: [u32; 2] = [20 + 32 + 22 + 2, 40 + 32 + 22 + 2];

/// Octets of headers below a request of this protocol, the IP header included.
pub fn headers(protocol: Protocol, is_v6: bool) -> u32 {
    let headers = match protocol {
        Protocol::Icmp => IP_HEADERS,
        Protocol::Dot | Protocol::Doh => TLS_HEADERS,
        _ => UDP_HEADERS,
    };
    headers[usize::from(is_v6)]
}

/// An exchange of requests and replies that is open.
pub struct Asking {
    protocol: Protocol,
    to: SocketAddr,
    other: &'static str,
    /// Only what is signed is an answer.
    keys: Keys,
    class: TrafficClass,
    line: Line,
    exchange: Box<dyn Exchange>,
    request: Vec<u8>,
    stamp: Stamp,
    /// The number of the latest request.
    latest: Option<u32>,
    /// What the path said of requests, the last time.
    complaint: Option<IcmpError>,
}

impl Asking {
    /// Opens the line, and asks for the exchange until it is granted or refused where the far end has to consent, as long as that
    /// `is_wanted`.
    ///
    /// # Errors
    /// When the line cannot be had, or the far end does not consent.
    pub fn open(found: &Found, terms: Terms, is_wanted: &dyn Fn() -> bool) -> Result<Self, Broken> {
        let protocol = found.far_end.protocol;
        let mut asking = Self {
            protocol,
            to: found.to,
            other: found.other,
            keys: found.keys.clone(),
            class: terms.class,
            line: Line::open(found, &terms, is_wanted).map_err(|broken| match broken {
                Broken::Far(reason) => {
                    Broken::Far(session::or_other(&reason, found.other).unwrap_or(reason))
                }
                broken => broken,
            })?,
            exchange: protocol
                .exchange(terms, found.is_v6(), &found.keys)
                .ok_or_else(|| Broken::Far("it answers no requests".to_owned()))?,
            request: Vec::new(),
            stamp: clock::stamp(),
            latest: None,
            complaint: None,
        };
        asking.agree(is_wanted)?;
        Ok(asking)
    }

    fn agree(&mut self, is_wanted: &dyn Fn() -> bool) -> Result<(), Broken> {
        let Some(opening) = self.exchange.opening() else {
            return Ok(());
        };
        let (begun, mut wait) = (clock::now(), FIRST_OPENING);
        for _ in 0..OPENINGS {
            self.line.send(&opening, self.class)?;
            let deadline = clock::now() + wait;
            while clock::now() < deadline {
                if !is_wanted() {
                    // The run may be over, and this is why it has nothing of this far end.
                    let is_silent = clock::now().since(begun) > FIRST_OPENING;
                    let silence = is_silent.then(|| self.silence());
                    let why = silence.unwrap_or_else(|| "interrupted".to_owned());
                    return Err(Broken::Far(why));
                }
                self.wait(deadline.since(clock::now()).min(LOOK))?;
                for (payload, _) in self.line.take()? {
                    match self.exchange.handle_opening(payload) {
                        Opening::Open => return Ok(()),
                        Opening::Refused(reason) => {
                            let to = self.to;
                            return Err(Broken::Far(format!("{to} does not answer: {reason}")));
                        }
                        Opening::Pending => {}
                    }
                }
            }
            wait *= 2;
        }
        Err(Broken::Far(self.silence()))
    }

    /// Sends request `number`, which is greater than all before; when it left, unless there was no room or no route for it.
    ///
    /// # Errors
    /// When the line cannot be used.
    pub fn ask(&mut self, number: u32) -> Result<Option<Instant>, Broken> {
        let now = clock::now();
        let wall_ns = self.stamp.wall_at(now);
        self.exchange.request(number, wall_ns, &mut self.request);
        self.latest = Some(number);
        let is_sent = self.line.send(&self.request, self.class)?;
        Ok(is_sent.then_some(now))
    }

    /// Octets of the latest request, without the headers below it.
    pub fn octets(&self) -> usize {
        self.request.len()
    }

    /// Waits for something to come, and takes note of what the path complains about.
    ///
    /// # Errors
    /// When the line cannot be used.
    pub fn wait(&mut self, time: Duration) -> Result<(), Broken> {
        if let Some(error) = self.line.wait(time)? {
            self.complaint = Some(error);
        }
        Ok(())
    }

    /// Takes the replies that have come, copies included, each with the moment it came; some of them, where they come faster than they
    /// are taken.
    ///
    /// # Errors
    /// When the line cannot be used.
    pub fn take(&mut self, mut each: impl FnMut(Reply, Instant)) -> Result<(), Broken> {
        for _ in 0..RECEIVES {
            let come = self.line.take()?;
            if come.is_empty() {
                break;
            }
            let now = clock::now();
            if now.since(self.stamp.mono) >= STAMP_EVERY {
                self.stamp = clock::stamp();
            }
            let Some(latest) = self.latest else { continue };
            for (payload, came) in come {
                if let Some(reply) = self.exchange.handle(payload, latest) {
                    each(reply, came.mono(&self.stamp, now));
                }
            }
        }
        Ok(())
    }

    /// Why nothing will come any more, if that is so.
    pub fn ended(&self) -> Option<&str> {
        self.line.ended()
    }

    /// Datagrams that came and found no room in the kernel.
    pub fn overflows(&self) -> u32 {
        self.line.overflows()
    }

    /// Tells the far end that this was all, where it wants to know.
    pub fn close(&self) {
        // Whoever is not told finds out.
        if let Some(closing) = self.exchange.closing() {
            let _ = self.line.send(&closing, self.class);
        }
        self.line.close();
    }

    /// In one line, why nobody answers.
    pub fn silence(&self) -> String {
        let (name, to, other) = (self.protocol.name(), self.to, self.other);
        if let Some(error) = &self.complaint {
            return format!("nobody answers {name} at {to}: {error}{other}");
        }
        if self.protocol == Protocol::Twamp {
            return format!(
                "{to} has agreed on a session and answers none of its packets - let UDP through to the port that it named ({}); an address translator between may change our own port, which the server does not know then",
                self.line.port().unwrap_or(0)
            );
        }
        let mode = match self.protocol {
            Protocol::Stamp if self.keys.stamp.is_some() => {
                " in authenticated mode, with the key of --stamp-key"
            }
            Protocol::Stamp => " (in authenticated mode it wants --stamp-key)",
            Protocol::Irtt if self.keys.irtt.is_some() => ", with the key of --irtt-key",
            Protocol::Irtt => " (with a key it wants --irtt-key)",
            _ => "",
        };
        format!(
            "nobody answers {name} at {to} - is the server running{mode}, and does a firewall let it through?{other}"
        )
    }
}
