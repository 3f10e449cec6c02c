//! From a server's address to a test that has begun.

use far_ends::udpst::{
    Activation, Answer, Client, JUMBO, Load, SharedKey, TRADITIONAL_MTU, Terms, refusal,
};
use kit::control::Broken;
use kit::secret::secret;
use kit::udpst::BUFFER;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use sys::clock;
use sys::udp::{Outgoing, RecvBatch, UdpSocket};
use units::TrafficClass;

/// How long an answer is waited for, and how often it is asked for.
const PATIENCE: Duration = Duration::from_secs(1);
const ATTEMPTS: u32 = 4;
/// Longest datagram of a control connection.
const LONGEST: usize = 256;
/// How long is waited at once.
const LOOK: Duration = Duration::from_millis(50);

/// A test that the server has granted.
pub(crate) struct Opened {
    /// Connected to the test's port.
    pub(crate) socket: UdpSocket,
    /// What the server makes of the terms.
    pub(crate) activation: Activation,
}

/// Asks `server` for a test on `terms`.
///
/// # Errors
/// When there is none.
pub(crate) fn open(
    server: SocketAddr,
    key: Option<&SharedKey>,
    terms: &Terms,
    is_interrupted: &dyn Fn() -> bool,
) -> Result<Opened, Broken> {
    // Servers want their own settings of these two, and say so.
    let mut modifiers = JUMBO;
    for _ in 0..3 {
        let opening = Opening::new(server, key, is_interrupted)?;
        match opening.ask(terms, modifiers)? {
            Ok(opened) => return Ok(opened),
            Err(refusal::JUMBO) => modifiers ^= JUMBO,
            Err(refusal::MTU) => modifiers ^= TRADITIONAL_MTU,
            Err(response) => {
                return Err(Broken::Far(format!(
                    "the server {}",
                    refusal::reason(response)
                )));
            }
        }
    }
    Err(Broken::Far(
        "the server wants another setting for jumbo frames and the MTU, and takes none".to_owned(),
    ))
}

struct Opening<'a> {
    server: SocketAddr,
    key: Option<&'a SharedKey>,
    is_interrupted: &'a dyn Fn() -> bool,
    socket: UdpSocket,
    batch: RecvBatch,
}

impl<'a> Opening<'a> {
    fn new(
        server: SocketAddr,
        key: Option<&'a SharedKey>,
        is_interrupted: &'a dyn Fn() -> bool,
    ) -> Result<Self, Broken> {
        let any: IpAddr = if server.is_ipv4() {
            Ipv4Addr::UNSPECIFIED.into()
        } else {
            Ipv6Addr::UNSPECIFIED.into()
        };
        let socket = UdpSocket::bind(SocketAddr::new(any, 0))?;
        socket.set_buffers(BUFFER, BUFFER)?;
        Ok(Self {
            server,
            key,
            is_interrupted,
            socket,
            batch: RecvBatch::new(1, LONGEST),
        })
    }

    /// Setup and activation; the server's response where it refuses setup.
    fn ask(mut self, terms: &Terms, modifiers: u8) -> Result<Result<Opened, u8>, Broken> {
        let [high, low, ..] = secret().to_be_bytes();
        let group = u16::from_be_bytes([high, low]).max(1);
        // Each attempt is a request of its own: a server takes none twice.
        let mut clients = Vec::new();
        let mut answer = None;
        for _ in 0..ATTEMPTS {
            let client = Client::new(terms, modifiers, self.key, now_s(), group);
            self.send(client.setup(), Some(self.server))?;
            clients.push(client);
            answer = self.hear(|octets, from, server| {
                if from.ip().to_canonical() != server.ip().to_canonical() {
                    return None;
                }
                let mut all = clients.iter().enumerate();
                all.find_map(|(which, client)| {
                    let answer = client.handle_setup(octets, now_s().into())?;
                    let is_forged = matches!(answer, Answer::Forged(_));
                    // It may be the answer to another attempt.
                    (!is_forged || clients.len() == 1).then_some((which, answer))
                })
            })?;
            if answer.is_some() {
                break;
            }
        }
        let Some((which, answer)) = answer else {
            return Err(Broken::Far(format!(
                "{} does not answer by UDP",
                self.server
            )));
        };
        let port = match answer {
            Answer::Granted(port) => port,
            Answer::Refused(response) => return Ok(Err(response)),
            Answer::Forged(_) => {
                return Err(Broken::Far(
                    "the server's answer is signed with another key".to_owned(),
                ));
            }
        };
        let client = clients.swap_remove(which);
        // With the zone of a link-local address.
        let mut at = self.server;
        at.set_port(port);
        self.socket.connect(at)?;
        let activation = self.activate(&client, terms)?;
        Ok(Ok(Opened {
            socket: self.socket,
            activation,
        }))
    }

    fn activate(&mut self, client: &Client, terms: &Terms) -> Result<Activation, Broken> {
        for _ in 0..ATTEMPTS {
            self.send(&client.activation(terms, now_s()), None)?;
            let answer = self.hear(|octets, _, _| {
                // Where the response was lost, the load says the same.
                let begun = Load::parse(octets).map(|_| {
                    Answer::Granted(Activation {
                        response: None,
                        terms: *terms,
                        rate: far_ends::udpst::SendingRate::default(),
                    })
                });
                begun.or_else(|| client.handle_activation(octets, now_s().into()))
            })?;
            match answer {
                Some(Answer::Granted(activation)) if activation.terms.are_sound(terms) => {
                    return Ok(activation);
                }
                Some(Answer::Granted(_)) => {
                    return Err(Broken::Far(
                        "the server granted another test than was asked for".to_owned(),
                    ));
                }
                Some(Answer::Refused(_)) => {
                    return Err(Broken::Far(
                        "the server does not take a test on these terms".to_owned(),
                    ));
                }
                Some(Answer::Forged(_)) => {
                    return Err(Broken::Far(
                        "the server's answer is signed with another key".to_owned(),
                    ));
                }
                None => {}
            }
        }
        Err(Broken::Far(
            "the server granted a test and then did not answer: a firewall may block its port"
                .to_owned(),
        ))
    }

    fn send(&self, pdu: &[u8], to: Option<SocketAddr>) -> Result<(), Broken> {
        let out = Outgoing {
            payload: pdu,
            to,
            from: None,
            class: TrafficClass::default(),
        };
        self.socket.send(&[out])?;
        Ok(())
    }

    /// Waits for a datagram of which `read` makes something.
    fn hear<T>(
        &mut self,
        read: impl Fn(&[u8], SocketAddr, SocketAddr) -> Option<T>,
    ) -> Result<Option<T>, Broken> {
        let ends = clock::now() + PATIENCE;
        while clock::now() < ends {
            if (self.is_interrupted)() {
                return Err(Broken::Far("interrupted".to_owned()));
            }
            let wait = ends.since(clock::now()).min(LOOK);
            let ready = self.socket.wait(wait)?;
            if ready.event {
                while self.socket.poll_event()?.is_some() {}
            }
            if self.socket.recv(&mut self.batch)? == 0 {
                continue;
            }
            for datagram in self.batch.iter() {
                let read = read(datagram.payload, datagram.source, self.server);
                if read.is_some() {
                    return Ok(read);
                }
            }
        }
        Ok(None)
    }
}

fn now_s() -> u32 {
    u32::try_from(clock::stamp().wall_ns / 1_000_000_000).unwrap_or(u32::MAX)
}
