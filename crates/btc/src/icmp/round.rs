//! One transfer towards a host that does not cooperate: found out who answers, carried out, and asked whose figure it is.

use super::limit;
use super::row::{Answers as Found, Row};
use crate::capture::Journal;
use crate::link::{Link, Terms};
use crate::log::{Log, MOST_PASSED, Sink};
use crate::plan::{Mode, Plan};
use crate::quotes::Answers;
use crate::quotes::{Quotes, Verdict};
use crate::results::{Outcome, ReceiverResult, SenderResult};
use crate::watch::Watch;
use crate::{secret, sending};
use kit::stream::any;
use session::{DataKey, DataKeys};
use std::net::SocketAddr;
use std::time::Duration;
use sys::Error;
use sys::udp::{QUOTED, UdpSocket};
use transport::wire::{self, Address};
use units::{Ecn, Instant, TrafficClass};

/// Packets by which it is found out who answers: so far apart and so many at most.
const ASK_EVERY: Duration = Duration::from_millis(400);
const ASK: u32 = 5;
const PATIENCE: Duration = Duration::from_secs(2);
/// The last of the row of short packets is answered by then.
const LAST: Duration = Duration::from_millis(500);

/// A transfer to be.
pub(super) struct Transfer<'a> {
    pub id: u16,
    pub plan: &'a Plan,
    pub to: SocketAddr,
    pub origin: Instant,
    pub sink: &'a dyn Sink,
    pub watch: &'a Watch,
    pub abort: &'a (dyn Fn() -> bool + Sync),
}

/// What is known of it when it is over.
pub(super) struct Told {
    pub sender: SenderResult,
    pub receiver: Option<ReceiverResult>,
    /// What left, where that was asked for, and from where.
    pub trace: Option<(SocketAddr, Journal)>,
    /// Whether packets had to be known by their ports.
    pub is_by_port: bool,
}

impl Transfer<'_> {
    /// Carries it out.
    pub(super) fn run(&self) -> Told {
        let failed = |reason: String| {
            let mut told = Told::broken(self.id);
            told.sender.reason = Some(reason);
            told
        };
        let counters = self
            .socket()
            .map_err(|error| error.to_string())
            .and_then(|socket| self.on(socket));
        counters.unwrap_or_else(failed)
    }

    fn socket(&self) -> Result<UdpSocket, Error> {
        // Not connected: the kernel would hand over no error about another port.
        let socket = UdpSocket::bind(any(self.to))?;
        socket.forbid_fragments()?;
        if let Some(hop) = self.plan.hop {
            socket.set_hop_limit(hop)?;
        }
        Ok(socket)
    }

    fn on(&self, socket: UdpSocket) -> Result<Told, String> {
        let session = secret();
        let octets = self.reach(&socket, session)?;
        let quotes = Quotes::new(session, self.to, octets);
        let is_by_port = quotes.is_by_port();
        let local = socket.local_addr().map_err(|error| error.to_string())?;
        let log = Log::new(self.sink, self.origin, self.id, true, MOST_PASSED);
        let link =
            Link::new(socket, self.terms(session), log).map_err(|error| error.to_string())?;
        let mut link = link
            .traced(self.plan.traced())
            .by_icmp(Answers::new(quotes));
        let job = sending::Job {
            options: &self.plan.options,
            limit: self.plan.limit,
            mode: Mode::OneWay,
            patience: self.plan.patience.0,
            secret: secret(),
            watch: self.watch,
            abort: self.abort,
        };
        let mut sender = sending::run(self.id, &job, &mut link);
        let counts = link.answers().unwrap_or_default();
        if let Some((Verdict::Refused(errno), reporter)) = counts.complaint
            && sender.outcome == Outcome::Stalled
        {
            sender.reason = Some(refused(errno, reporter.map(|ip| ip.to_string())));
        }
        self.question(&link.socket, session, counts.answered, &mut sender);
        let receiver = ReceiverResult {
            id: self.id,
            packets: counts.answered,
            reordered: counts.reordered,
            ..ReceiverResult::default()
        };
        Ok(Told {
            sender,
            receiver: Some(receiver),
            trace: link.take_trace().map(|trace| (local, trace)),
            is_by_port,
        })
    }

    /// Finds out whether anybody answers, short packets and full ones; the octets that are quoted of these.
    fn reach(&self, socket: &UdpSocket, session: u64) -> Result<usize, String> {
        let mut quoted = QUOTED;
        for len in [0, self.plan.options.mss] {
            // Whatever is quoted: here every answer counts.
            let found = self.ask(socket, session, len)?;
            match (found.quoted, found.refusal) {
                (Some(octets), _) => quoted = quoted.min(octets),
                (None, Some((Verdict::Refused(errno), reporter))) => {
                    return Err(refused(errno, reporter.map(|ip| ip.to_string())));
                }
                (None, Some((Verdict::TooLong(mtu), _))) => return Err(self.too_long(mtu)),
                (None, _) => return Err(self.silence(len)),
            }
        }
        Ok(quoted)
    }

    fn ask(&self, socket: &UdpSocket, session: u64, len: u16) -> Result<Found, String> {
        let row = Row {
            len,
            interval: ASK_EVERY,
            count: ASK,
            patience: PATIENCE,
            until_answer: true,
            ..self.row(socket, session)
        };
        let mut quotes = Quotes::new(session, self.to, QUOTED);
        row.send(&mut quotes, self.abort)
            .map_err(|error| error.to_string())
    }

    fn row<'r>(&self, socket: &'r UdpSocket, session: u64) -> Row<'r> {
        Row {
            socket,
            address: self.address(session),
            class: self.class(),
            len: 0,
            interval: ASK_EVERY,
            count: 0,
            patience: LAST,
            until_answer: false,
            secret: secret(),
        }
    }

    /// Whether the figure is that of somebody who limits his answers; then it is none.
    fn question(&self, socket: &UdpSocket, session: u64, answered: u64, sender: &mut SenderResult) {
        let Some(seconds) = sender.seconds.filter(|seconds| *seconds > 0.0) else {
            return;
        };
        let before = answered as f64 / seconds;
        let Some(interval) = limit::interval(before) else {
            return;
        };
        let count = limit::LASTS.as_nanos() / interval.as_nanos().max(1);
        let row = Row {
            interval,
            count: u32::try_from(count).unwrap_or(u32::MAX),
            ..self.row(socket, session)
        };
        // Where only UDP's header is quoted any error will do: nobody else sends from this socket.
        let mut quotes = Quotes::new(session, self.to, QUOTED);
        let found = match row.send(&mut quotes, self.abort) {
            Ok(found) => found,
            Err(error) => {
                sender.outcome = Outcome::Failed;
                sender.reason = Some(format!(
                    "cannot tell whether limited ICMP errors set the figure: {error}"
                ));
                return;
            }
        };
        let found = limit::Found {
            sent: found.sent,
            answered: found.answered,
        };
        if found.is_limited() && !(self.abort)() {
            sender.outcome = Outcome::Limited;
            sender.reason = Some(found.reason(before));
        }
    }

    fn terms(&self, session: u64) -> Terms {
        // Nobody checks these tags.
        let mut key = [0; 32];
        key[..8].copy_from_slice(&secret().to_le_bytes());
        let keys = DataKeys::from(DataKey::new(key));
        Terms {
            address: self.address(session),
            key_out: keys.to_server,
            key_in: keys.to_client,
            class: self.class(),
            limit: None,
            longest: wire::segment_length(self.plan.options.mss),
        }
    }

    const fn address(&self, session: u64) -> Address {
        Address {
            session,
            stream: self.id,
        }
    }

    /// An ICMP error tells nothing of marks, so none are asked for.
    const fn class(&self) -> TrafficClass {
        TrafficClass {
            dscp: self.plan.class,
            ecn: Ecn::NotEct,
        }
    }

    fn too_long(&self, mtu: Option<u32>) -> String {
        let packet =
            wire::segment_length(self.plan.options.mss) + if self.to.is_ipv6() { 48 } else { 28 };
        let over = mtu.map_or(0, |mtu| packet.saturating_sub(mtu as usize));
        let mss = usize::from(self.plan.options.mss).saturating_sub(over);
        let mtu = mtu.map_or_else(
            || "shorter packets".to_owned(),
            |mtu| format!("packets of {mtu} octets"),
        );
        format!(
            "the path takes {mtu}, but a full segment needs one of {packet} octets - use --option mss={mss}"
        )
    }

    fn silence(&self, len: u16) -> String {
        let to = self.to.ip();
        if len > 0 {
            return format!(
                "{to} answers short packets and no full ones: no ICMP error came - try --option mss=1200"
            );
        }
        match self.plan.hop {
            Some(hop) => format!(
                "no router answered with ICMP Time Exceeded at hop {hop} towards {to} - try another --hop"
            ),
            None => format!(
                "{to} sent no ICMP Port Unreachable for port {}: it or a firewall suppresses them - try --hop N",
                self.to.port()
            ),
        }
    }
}

fn refused(errno: i32, reporter: Option<String>) -> String {
    let reporter = reporter.unwrap_or_else(|| "the path".to_owned());
    let reason = std::io::Error::from_raw_os_error(errno);
    format!("{reporter} does not let packets through: {reason} - try another host, or --hop N")
}
