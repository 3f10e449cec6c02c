//! The far end inside an agent, and who is let in.
//!
//! It has a new key each time the agent starts. The key is told to whoever asks for a run that is due about now, by the schedule, which the
//! agent knows as well as who asks, or because an operator has asked this agent, too.

use super::{State, wall};
use crate::Name;
use crate::bus::{Bus, parse, place};
use crate::messages::{Knock, Welcome};
use crate::revisions::Due;
use anyhow::Context as _;
use async_nats::Message;
use kit::log::Log;
use kit::register::Register;
use kit::server::Serving;
use session::{Identity, ServerConfig};
use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _, UdpSocket};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// By so much two hosts' clocks may differ.
pub(super) const SKEW: Duration = Duration::from_secs(10);
const DEFAULT_NATS_PORT: u16 = 4_222;

/// A far end at work.
pub(super) struct FarEnd {
    /// Where it listens.
    pub(super) address: SocketAddr,
    /// Its access key.
    pub(super) key: String,
    thread: JoinHandle<anyhow::Result<()>>,
}

impl FarEnd {
    /// Listens on `port`, to be reached at `advertise`, and serves what `register` has until `stop` is raised.
    ///
    /// # Errors
    /// When the port is taken.
    pub(super) fn start(
        port: u16,
        advertise: IpAddr,
        register: &'static Register,
        stop: Arc<AtomicBool>,
    ) -> anyhow::Result<Self> {
        let identity = Identity::generate()?;
        let key = identity.key().to_string();
        let serving = Serving::bind(
            ServerConfig::keyed(identity, port),
            register,
            Arc::new(Log::new(true)),
        )?;
        let address = SocketAddr::new(advertise, serving.local_addr().port());
        let thread = thread::Builder::new().name("far end".to_owned());
        let thread = thread.spawn(move || serving.run(&stop))?;
        Ok(Self {
            address,
            key,
            thread,
        })
    }

    /// Whether it serves.
    pub(super) fn is_up(&self) -> bool {
        !self.thread.is_finished()
    }
}

/// The address by which this host reaches the NATS server, and so perhaps others: those without a better one say `--advertise`.
///
/// # Errors
/// When there is no way to it.
pub(super) fn own_address(nats: &str) -> anyhow::Result<IpAddr> {
    let place = place(nats);
    let host = place.rsplit("//").next().unwrap_or(&place);
    let host = host.trim_end_matches('/');
    let with_port = || (host, DEFAULT_NATS_PORT).to_socket_addrs();
    let mut found = host.to_socket_addrs().or_else(|_| with_port())?;
    let server = found.next().context("the NATS server has no address")?;
    let any: IpAddr = if server.is_ipv6() {
        "::".parse()?
    } else {
        "0.0.0.0".parse()?
    };
    let socket = UdpSocket::bind((any, 0))?;
    // Nothing is sent: the kernel chooses the way, and with it the address.
    socket.connect(server)?;
    Ok(socket.local_addr()?.ip())
}

/// Answers those who knock, until there is no more connection.
pub(super) async fn doorkeeper(bus: Bus, state: Rc<RefCell<State>>) -> anyhow::Result<()> {
    let name = state.borrow().name.clone();
    let knocks = bus.knocks(&name).await?;
    let welcome = |message: &Message| {
        parse::<Knock>(&message.payload).map_or_else(
            || Welcome::No {
                reason: "it does not understand the request - update both agents".to_owned(),
            },
            |knock| {
                let who = Bus::knocker(message);
                state.borrow_mut().welcome(&knock, who.as_ref())
            },
        )
    };
    bus.answer_all(knocks, welcome).await
}

impl State {
    /// Lets whoever knocks in, if the schedule has the run about now.
    fn welcome(&mut self, knock: &Knock, who: Option<&Name>) -> Welcome {
        let no = |reason: String| Welcome::No { reason };
        let run = &knock.run;
        if who != Some(&run.from) {
            return no(format!("{run} does not belong to the agent that asks"));
        }
        if run.to != self.name {
            return no(format!("{run} is not a run towards this agent"));
        }
        if !self.verbs.contains(&knock.verb) {
            return no(format!("it does not know '{}' - update it", knock.verb));
        }
        if !self.far.is_up() {
            return no("its far end has ended - restart it".to_owned());
        }
        let now = wall();
        if now.since(run.instant) > super::state::LOOK_BACK {
            return no(format!(
                "{run} is not due by its schedule - compare the clocks"
            ));
        }
        let Some(revisions) = self.fleets.get_mut(&run.fleet) else {
            return no(format!("it knows no fleet '{}'", run.fleet));
        };
        let is_it = |due: &Due| due.id() == *run && due.over_by() + SKEW > now;
        // It begins when the file asks for it or later, but not after its patience.
        let from = run.instant;
        let until = now + SKEW;
        let due = revisions.between(from, until.max(from));
        if due.iter().chain(self.demands.all()).any(is_it) {
            Welcome::Come {
                address: self.far.address,
                key: self.far.key.clone(),
            }
        } else {
            no(format!(
                "{run} is not due by its schedule, and nobody has asked for it since this agent started - compare the clocks"
            ))
        }
    }
}
