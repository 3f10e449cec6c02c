//! What requests and replies go over: datagrams, or a connection with a resolver.

use super::control::Control;
use crate::control::Broken;
use crate::stream::any;
use far_ends::Terms;
use far_ends::address::{FarEnd, Keys, Protocol};
use far_ends::twamp::{self, Asked};
use std::io::ErrorKind::{HostUnreachable, NetworkUnreachable};
use std::net::SocketAddr;
use std::time::Duration;
use sys::clock;
use sys::udp::{BATCH, Event, IcmpError, Outgoing, RecvBatch, UdpSocket};
use units::{HttpVersion, Instant, Stamp, TrafficClass};
use web::Trust;
use web::resolver::{Answer, Manner, Resolver};
use web::responsiveness::client::Dialer;

/// The longest reply by a datagram, octets of payload.
const LONGEST: usize = 2_048;

/// A far end of somebody else, and where it was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// What was asked for.
    pub far_end: FarEnd,
    /// Its address.
    pub to: SocketAddr,
    /// What is said of its other addresses where nobody answers at this one ([`session::other_version`]).
    pub other: &'static str,
    /// Whose certificates are believed, where it has one.
    pub trust: Trust,
    /// What is shared with a far end that wants packets signed.
    pub keys: Keys,
}

impl Found {
    /// Whether it was found by IPv6.
    pub const fn is_v6(&self) -> bool {
        self.to.ip().to_canonical().is_ipv6()
    }
}

/// See the module.
pub(super) enum Line {
    Datagrams {
        socket: UdpSocket,
        batch: RecvBatch,
        /// Where they go.
        port: u16,
        /// What a TWAMP session was agreed on over.
        control: Option<Control>,
    },
    Connection {
        resolver: Resolver,
        /// Answers that have come, and those of them that were taken the last time.
        come: Vec<Answer>,
        taken: Vec<Answer>,
        /// Why there will be no more of them.
        ended: Option<String>,
    },
}

/// When a reply came.
#[derive(Clone, Copy, Debug)]
pub(super) enum Came {
    /// By the kernel's stamp of the wall clock.
    Wall(u64),
    At(Instant),
    /// It has no stamp: just now.
    Now,
}

impl Came {
    /// By the monotonic clock, never after `now`.
    pub(super) fn mono(self, stamp: &Stamp, now: Instant) -> Instant {
        match self {
            Self::Wall(wall_ns) => stamp.mono_at(wall_ns).min(now),
            Self::At(at) => at.min(now),
            Self::Now => now,
        }
    }
}

impl Line {
    /// Opens it for requests on `terms`, as long as that `is_wanted`.
    pub(super) fn open(
        found: &Found,
        terms: &Terms,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Self, Broken> {
        let Found { far_end, to, .. } = found;
        let (mut control, mut to_port) = (None, to.port());
        let socket = match far_end.protocol {
            Protocol::Icmp => UdpSocket::echo(*to)?,
            Protocol::Dot | Protocol::Doh => {
                return connect(found, is_wanted).map_err(Broken::Far);
            }
            Protocol::Twamp => {
                let mut socket = UdpSocket::bind(any(*to))?;
                let port = socket.local_addr()?.port();
                let agreed = Control::open(*to, asked(*to, port, terms), is_wanted);
                let (held, port) = agreed.map_err(Broken::Far)?;
                (control, to_port) = (Some(held), port);
                socket.connect(SocketAddr::new(to.ip(), port))?;
                socket
            }
            _ => {
                let mut socket = UdpSocket::bind(any(*to))?;
                socket.connect(*to)?;
                socket
            }
        };
        if matches!(far_end.protocol, Protocol::Stamp | Protocol::Twamp) {
            // From it a reflector learns how many hops there were.
            socket.set_hop_limit(u8::MAX)?;
        }
        Ok(Self::Datagrams {
            socket,
            batch: RecvBatch::new(BATCH, LONGEST),
            port: to_port,
            control,
        })
    }

    /// Whether it was sent: there may be no room, or no route for the moment.
    pub(super) fn send(&self, payload: &[u8], class: TrafficClass) -> Result<bool, Broken> {
        Ok(match self {
            Self::Datagrams { socket, .. } => {
                let out = Outgoing {
                    payload,
                    to: None,
                    from: None,
                    class,
                };
                match socket.send(&[out]) {
                    Ok(sent) => sent.count > 0,
                    Err(error)
                        if matches!(error.kind(), Some(HostUnreachable | NetworkUnreachable)) =>
                    {
                        false
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            Self::Connection { resolver, .. } => resolver.ask(payload),
        })
    }

    /// Waits for something to come; the last that the path complained about, if it did.
    pub(super) fn wait(&mut self, time: Duration) -> Result<Option<IcmpError>, Broken> {
        let mut complaint = None;
        match self {
            Self::Datagrams { socket, .. } => {
                if socket.wait(time)?.event {
                    while let Some(event) = socket.poll_event()? {
                        if let Event::Icmp(error) = event {
                            complaint = Some(error);
                        }
                    }
                }
            }
            Self::Connection {
                resolver,
                come,
                ended,
                ..
            } => match resolver.answer(time) {
                Ok(answer) => come.extend(answer),
                Err(reason) => *ended = Some(reason),
            },
        }
        Ok(complaint)
    }

    /// What has come since, each with when it did; none when that was all.
    pub(super) fn take(&mut self) -> Result<Vec<(&[u8], Came)>, Broken> {
        Ok(match self {
            Self::Datagrams { socket, batch, .. } => {
                socket.recv(batch)?;
                let came = |wall_ns: Option<u64>| wall_ns.map_or(Came::Now, Came::Wall);
                let each = batch.iter();
                each.map(|datagram| (datagram.payload, came(datagram.wall_ns)))
                    .collect()
            }
            Self::Connection { come, taken, .. } => {
                taken.clear();
                taken.append(come);
                let each = taken.iter();
                each.map(|answer| (&*answer.octets, Came::At(answer.received)))
                    .collect()
            }
        })
    }

    /// Why nothing will come any more, if that is so.
    pub(super) fn ended(&self) -> Option<&str> {
        match self {
            Self::Datagrams { .. } => None,
            Self::Connection { ended, .. } => ended.as_deref(),
        }
    }

    /// Where datagrams go.
    pub(super) fn port(&self) -> Option<u16> {
        match self {
            Self::Datagrams { port, .. } => Some(*port),
            Self::Connection { .. } => None,
        }
    }

    /// Ends what was agreed on.
    pub(super) fn close(&self) {
        if let Self::Datagrams {
            control: Some(control),
            ..
        } = self
        {
            control.close();
        }
    }

    /// Datagrams that came and found no room in the kernel.
    pub(super) fn overflows(&self) -> u32 {
        match self {
            Self::Datagrams { batch, .. } => batch.overflows(),
            Self::Connection { .. } => 0,
        }
    }
}

/// The session that is asked of a TWAMP server, for packets from this port of ours.
fn asked(to: SocketAddr, sender_port: u16, terms: &Terms) -> Asked {
    Asked {
        family: if to.ip().to_canonical().is_ipv4() {
            4
        } else {
            6
        },
        sender_port,
        receiver_port: twamp::PORT,
        payload: terms.payload,
        dscp: terms.class.dscp,
        wall_ns: clock::stamp().wall_ns,
    }
}

fn connect(found: &Found, is_wanted: &dyn Fn() -> bool) -> Result<Line, String> {
    let Found {
        far_end, to, trust, ..
    } = found;
    let origin = far_end.origin()?;
    let (dialer, manner) = if far_end.protocol == Protocol::Doh {
        let manner = Manner::Https(far_end.path.clone());
        (Dialer::new(*to, origin, trust, HttpVersion::H2)?, manner)
    } else {
        (Dialer::without_http(*to, origin, trust)?, Manner::Tls)
    };
    Ok(Line::Connection {
        resolver: Resolver::open(dialer, manner, is_wanted)?,
        come: Vec::new(),
        taken: Vec::new(),
        ended: None,
    })
}
