//! Servers of other people's protocols, beside the one for our own clients: `isobath serve --also stamp,twamp,irtt,iperf3,rpm,ndt7,udpst,page`.
//!
//! They take no key, since their clients have none; only [`udpst`] has one of its own. So each is off unless asked for, says no more of this host than its protocol has,
//! and has limits of its own: those that answer datagrams ([`datagrams`]) answer with no more octets than they were asked with (an
//! opening of irtt with eight more, a short packet of [`twamp`] with up to 27), and so many requests a second and no more; [`iperf3`] sends only to who has shown by a TCP
//! connection that it is where it says, `rpm` and `ndt7` are HTTP over TLS or QUIC, and `page` is for browsers: it comes from a room above this one
//! ([`Page`]), which knows records and reports.

mod datagrams;
mod iperf3;
mod twamp;
mod udpst;

use crate::log::Log;
use crate::register::Register;
use crate::secret::secret;
use datagrams::Datagrams;
use far_ends::address::Keys;
use far_ends::udpst::SharedKey;
use far_ends::{Responder, irtt, stamp};
use iperf3::Iperf3;
use session::Identity;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use std::{fmt, io};
use sys::{Error, tcp};
use twamp::Twamp;
use udpst::Udpst;
use web::Credentials;
use web::guests::Visits;

/// How often `stop` is looked at.
const TICK: Duration = Duration::from_millis(100);
/// Sessions that are known at once, of a protocol of datagrams.
const MOST_SESSIONS: usize = 10_000;

/// A protocol, and the port that its server is to have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Also {
    protocol: Protocol,
    port: u16,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Protocol {
    Stamp,
    Twamp,
    Irtt,
    Iperf3,
    Rpm,
    Ndt7,
    Udpst,
    Page,
}

/// The port of the page.
const PAGE: u16 = 4_898;

impl Protocol {
    const ALL: [Self; 8] = [
        Self::Stamp,
        Self::Twamp,
        Self::Irtt,
        Self::Iperf3,
        Self::Rpm,
        Self::Ndt7,
        Self::Udpst,
        Self::Page,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Stamp => "stamp",
            Self::Twamp => "twamp",
            Self::Irtt => "irtt",
            Self::Iperf3 => "iperf3",
            Self::Rpm => "rpm",
            Self::Ndt7 => "ndt7",
            Self::Udpst => "udpst",
            Self::Page => "page",
        }
    }

    const fn port(self) -> u16 {
        match self {
            Self::Stamp => stamp::PORT,
            Self::Twamp => far_ends::twamp::PORT,
            Self::Irtt => irtt::PORT,
            Self::Iperf3 => far_ends::iperf3::PORT,
            Self::Rpm => web::responsiveness::server::PORT,
            Self::Ndt7 => web::ndt7::server::PORT,
            Self::Udpst => far_ends::udpst::PORT,
            Self::Page => PAGE,
        }
    }
}

impl FromStr for Also {
    type Err = String;

    /// A protocol, or `PROTOCOL:PORT`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "'{text}' is none of stamp, twamp, irtt, iperf3, rpm, ndt7, udpst, page, or one of these with :PORT"
            )
        };
        let (name, port) = match text.split_once(':') {
            Some((name, port)) => (name, Some(port.parse().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let mut all = Protocol::ALL.into_iter();
        let protocol = all.find(|protocol| protocol.name() == name);
        let protocol = protocol.ok_or_else(wrong)?;
        let port = port.unwrap_or_else(|| protocol.port());
        if port == 0 {
            Err(wrong())
        } else {
            Ok(Self { protocol, port })
        }
    }
}

impl Also {
    /// Whether its clients are shown a certificate.
    pub(crate) const fn shows_certificate(self) -> bool {
        matches!(
            self.protocol,
            Protocol::Rpm | Protocol::Ndt7 | Protocol::Page
        )
    }

    /// Whether its clients must have a key of its own.
    pub(crate) const fn wants_key(self) -> bool {
        matches!(self.protocol, Protocol::Udpst)
    }

    /// Whether it does without a UDP port that another wants.
    const fn shares_port(self) -> bool {
        matches!(self.protocol, Protocol::Twamp)
    }

    /// Its port on `address`, or on all.
    fn address(self, address: Option<IpAddr>) -> SocketAddr {
        let all = Ipv6Addr::UNSPECIFIED.into();
        SocketAddr::new(address.unwrap_or(all), self.port)
    }
}

/// A server at work.
pub struct Other {
    also: Also,
    server: Server,
}

enum Server {
    Datagrams(Datagrams),
    Twamp(Twamp),
    Iperf3(Iperf3),
    Rpm(web::responsiveness::server::Server),
    Ndt7(web::ndt7::server::Server),
    Udpst(Udpst),
    Page(Box<dyn Page>),
}

/// A page that measures with a browser.
pub trait Page: Send {
    /// Where it listens.
    fn local_addr(&self) -> Option<SocketAddr>;

    /// The scheme of its URL.
    fn scheme(&self) -> &'static str;

    /// Serves until `stop` is raised.
    ///
    /// # Errors
    /// When the socket cannot be used any more.
    fn run(self: Box<Self>, stop: &AtomicBool) -> io::Result<()>;
}

/// Makes one that takes connections of a listener, and datagrams of a socket on the same port, and keeps records below a folder; by HTTPS where it has credentials. It says who visits.
pub type MakePage =
    fn(TcpListener, UdpSocket, PathBuf, Option<&Credentials>, Visits) -> io::Result<Box<dyn Page>>;

/// What servers have in common.
pub struct Common<'a> {
    /// Where they listen; none: on all addresses.
    pub address: Option<IpAddr>,
    /// Whose certificate is shown to who wants one, where there are no credentials.
    pub identity: &'a Identity,
    /// What browsers and other people's clients trust.
    pub credentials: Option<&'a Credentials>,
    /// Who may have a UDPSTP test.
    pub keys: &'a [SharedKey],
    /// What clients share with us whose packets are to be signed.
    pub shared: &'a Keys,
    /// Whether STAMP's reflector repeats the sender's numbers instead of counting.
    pub is_stateless: bool,
    /// Where records of browsers go.
    pub records: &'a Path,
    /// Who has the page.
    pub register: &'static Register,
    /// Told of tests.
    pub log: &'a Arc<Log>,
}

impl Common<'_> {
    /// What is shown to clients that check no name: the credentials, or this server's identity.
    fn shown_to_clients(&self) -> io::Result<Credentials> {
        let own = || {
            let (certificate, key) = (self.identity.certificate(), self.identity.private_key());
            Credentials::from_der(certificate, key).map_err(io::Error::other)
        };
        self.credentials.cloned().map_or_else(own, Ok)
    }

    /// For servers that know no log.
    fn visits(&self) -> Visits {
        let log = Arc::clone(self.log);
        Arc::new(move |peer, what| Box::new(log.visit(peer, what)))
    }
}

impl Other {
    /// Has all of them listen.
    ///
    /// # Errors
    /// When a port is taken or may not be used.
    pub fn bind_all(also: &[Also], common: &Common<'_>) -> Result<Vec<Self>, Error> {
        let mut also = also.to_vec();
        also.sort_by_key(|also| also.shares_port());
        also.into_iter()
            .map(|also| Self::bind(also, common))
            .collect()
    }

    fn bind(also: Also, common: &Common<'_>) -> Result<Self, Error> {
        let address = common.address;
        let datagrams = |responder: Box<dyn Responder>| {
            Datagrams::bind(also.address(address), responder).map(Server::Datagrams)
        };
        let server = match also.protocol {
            Protocol::Stamp => {
                let key = common.shared.stamp.clone();
                datagrams(Box::new(if common.is_stateless {
                    stamp::Reflector::stateless(key)
                } else {
                    stamp::Reflector::new(MOST_SESSIONS, key)
                }))?
            }
            Protocol::Irtt => {
                let key = common.shared.irtt.clone();
                datagrams(Box::new(irtt::Server::new(MOST_SESSIONS, secret(), key)))?
            }
            Protocol::Twamp => {
                Server::Twamp(Twamp::bind(also.address(address), Arc::clone(common.log))?)
            }
            Protocol::Iperf3 => {
                Server::Iperf3(Iperf3::bind(also.address(address), Arc::clone(common.log))?)
            }
            Protocol::Rpm => Server::Rpm(responsiveness(also.address(address), common)?),
            Protocol::Ndt7 => Server::Ndt7(ndt7(also.address(address), common)?),
            Protocol::Udpst => {
                let (keys, log) = (common.keys.to_vec(), Arc::clone(common.log));
                Server::Udpst(Udpst::bind(also.address(address), keys, log)?)
            }
            Protocol::Page => Server::Page(page(also.address(address), common)?),
        };
        Ok(Self { also, server })
    }

    /// Serves until `stop` is raised.
    ///
    /// # Errors
    /// When the socket cannot be used any more.
    pub fn run(self, stop: &AtomicBool) -> Result<(), Error> {
        match self.server {
            Server::Datagrams(server) => server.run(stop),
            Server::Twamp(server) => server.run(stop),
            Server::Iperf3(server) => server.run(stop),
            Server::Udpst(server) => server.run(stop),
            Server::Rpm(server) => {
                let failed = |error| Error::io("serve", "responsiveness", error);
                server.run(stop).map_err(failed)
            }
            Server::Ndt7(server) => {
                let failed = |error| Error::io("serve", "ndt7", error);
                server.run(stop).map_err(failed)
            }
            Server::Page(page) => {
                let failed = |error| Error::io("serve", "the page", error);
                page.run(stop).map_err(failed)
            }
        }
    }
}

/// A server of responsiveness on `address`.
fn responsiveness(
    address: SocketAddr,
    common: &Common<'_>,
) -> Result<web::responsiveness::server::Server, Error> {
    let socket = datagrams_on(address)?;
    let serve = |listener| {
        let credentials = common.shown_to_clients()?;
        web::responsiveness::server::Server::new(listener, socket, &credentials)
    };
    serve(listen(address)?).map_err(|error| unusable(address, error))
}

/// A server of ndt7 on `address`.
fn ndt7(address: SocketAddr, common: &Common<'_>) -> Result<web::ndt7::server::Server, Error> {
    let serve = |listener| {
        let credentials = common.shown_to_clients()?;
        web::ndt7::server::Server::new(listener, &credentials, secret(), common.visits())
    };
    serve(listen(address)?).map_err(|error| unusable(address, error))
}

/// The page on `address`.
fn page(address: SocketAddr, common: &Common<'_>) -> Result<Box<dyn Page>, Error> {
    let make = common.register.page.ok_or_else(|| {
        let missing = io::Error::from(io::ErrorKind::Unsupported);
        Error::io("serve", "the page", missing).advise("this program has none")
    })?;
    let page = make(
        listen(address)?,
        datagrams_on(address)?,
        common.records.to_owned(),
        common.credentials,
        common.visits(),
    );
    page.map_err(|error| unusable(address, error))
}

fn datagrams_on(address: SocketAddr) -> Result<UdpSocket, Error> {
    UdpSocket::bind(address).map_err(|error| {
        Error::io("listen on", format!("UDP port {address}"), error)
            .advise("choose a free port and an address of this host")
    })
}

fn listen(address: SocketAddr) -> Result<TcpListener, Error> {
    tcp::listen(address).map_err(|error| unusable(address, error))
}

fn unusable(address: SocketAddr, error: io::Error) -> Error {
    Error::io("listen on", format!("TCP port {address}"), error)
        .advise("choose a free port and an address of this host")
}

impl fmt::Display for Other {
    /// As a client would name it, where the kernel tells the address.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.also.protocol.name();
        let address = match &self.server {
            Server::Datagrams(server) => server.local_addr(),
            Server::Twamp(server) => server.local_addr(),
            Server::Iperf3(server) => server.local_addr(),
            Server::Rpm(server) => server.local_addr(),
            Server::Ndt7(server) => server.local_addr(),
            Server::Udpst(server) => server.local_addr(),
            Server::Page(page) => page.local_addr(),
        };
        // What is asked for is a URL.
        let name = match &self.server {
            Server::Rpm(_) => "https",
            Server::Page(page) => page.scheme(),
            Server::Datagrams(_)
            | Server::Twamp(_)
            | Server::Iperf3(_)
            | Server::Ndt7(_)
            | Server::Udpst(_) => name,
        };
        match address {
            Some(address) => write!(f, "{name}://{address}"),
            None => write!(f, "{name}://:{}", self.also.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_else_is_served_is_named_with_or_without_a_port() {
        let read = |text: &str| {
            let also: Also = text.parse()?;
            Ok::<_, String>((also.protocol, also.port))
        };
        assert_eq!(read("stamp"), Ok((Protocol::Stamp, 862)));
        assert_eq!(read("irtt"), Ok((Protocol::Irtt, 2_112)));
        assert_eq!(read("stamp:8620"), Ok((Protocol::Stamp, 8_620)));
        assert_eq!(read("iperf3"), Ok((Protocol::Iperf3, 5_201)));
        for text in ["", "iperf", "stamp:", "stamp:0", "irtt:99999"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
