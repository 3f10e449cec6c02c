//! The far end of a run: what `isobath serve` does for one client.
//!
//! It has a socket of its own, connected to where the client's requests came from: nothing is sent to an address that has
//! not asked for it. Which trains, the client says one by one; how large and how fast they are, the session's limits bound.

use super::messages::{self, ARRIVALS_PER_LINE, Done, Far, Near, Order, Setup};
use super::plan::Plan;
use super::receiving::Arrivals;
use super::sending::Sender;
use super::{STREAM, terms};
use kit::datagrams::Link;
use kit::far::Equipment;
use kit::mailbox::HELLO;
use packet::ETHERNET_MTU;
use probe::train::Train;
use session::{Control, Error, Session};
use std::time::Duration;
use sys::clock;
use sys::proc::OwnCpu;
use sys::udp::UdpSocket;
use units::Instant;

/// A client that has set up a run says within this time what is next.
const NEXT: Duration = Duration::from_secs(60);
/// How often the datagrams are looked at.
const LOOK: Duration = Duration::from_millis(5);

/// Serves the run that the client of `session` set up. Returns when it is over or the client is gone.
///
/// # Errors
///
/// Those of the control connection.
pub fn serve(
    control: &mut Control,
    session: &Session,
    setup: &Setup,
    equipment: &Equipment,
) -> Result<(), Error> {
    let cpu_before = OwnCpu::now().ok();
    let mut run = match Run::open(session, &setup.plan, equipment) {
        Ok(run) => run,
        Err(reason) => return control.send(&Far::Refused(reason)),
    };
    control.send(&Far::Ready)?;
    while let Some(said) = run.next(control)? {
        match said {
            Near::Collect(extent) => {
                let arrived = run.collect(extent);
                hand_over(control, arrived)?;
            }
            Near::Send(order) => control.send(&run.send(&order))?,
            Near::Finish => break,
        }
    }
    let used = OwnCpu::now()
        .ok()
        .zip(cpu_before)
        .map(|(now, before)| now.since(&before).total());
    control.send(&Far::Done(Box::new(Done {
        process_cpu_s: used.unwrap_or_default().as_secs_f64(),
        quality: run.link.quality(),
        gap_error_ns: run.sender.gap_errors(),
    })))
}

/// A run at its far end.
struct Run<'a> {
    session: &'a Session,
    link: Link,
    sender: Sender,
    arrivals: Arrivals,
}

impl<'a> Run<'a> {
    /// Waits until the client has shown where it sends from, and opens a socket for it.
    fn open(session: &'a Session, plan: &Plan, equipment: &Equipment) -> Result<Self, String> {
        plan.check()?;
        let mailbox = equipment.mailboxes.open(session.id, STREAM, 0);
        let peer = mailbox.wait_for_peer(session, clock::now() + HELLO)?;
        let socket = equipment.socket.beside(peer.address, peer.local);
        let socket: UdpSocket = socket.map_err(|error| error.to_string())?;
        let socket = socket.metered(&session.meter);
        let v6 = peer.address.ip().to_canonical().is_ipv6();
        let keys = (session.keys.to_client, session.keys.to_server);
        let link = Link::new(socket, terms(session.id, keys, plan, v6));
        // Only where /proc is closed does this fail, and timers are later then.
        let _ = clock::timer_slack(1);
        Ok(Self {
            session,
            link: link.map_err(|error| error.to_string())?,
            sender: Sender::new(v6).map_err(|error| error.to_string())?,
            arrivals: Arrivals::default(),
        })
    }

    /// What the client says next; none when it says nothing for too long.
    fn next(&mut self, control: &mut Control) -> Result<Option<Near>, Error> {
        let deadline: Instant = clock::now() + NEXT;
        while clock::now() < deadline && !self.session.is_closed() {
            match control.recv(LOOK) {
                Ok(said) => return Ok(Some(said)),
                Err(Error::Timeout { .. }) => {}
                Err(error) => return Err(error),
            }
            // A socket that fails here fails again when its train is collected.
            let _ = self.arrivals.take(&mut self.link);
        }
        Ok(None)
    }

    fn collect(&mut self, extent: messages::Extent) -> Result<Vec<messages::Arrived>, String> {
        let closed = || self.session.is_closed();
        let arrived = self.arrivals.collect(&mut self.link, extent, &closed);
        arrived.map_err(|error| error.to_string())
    }

    fn send(&mut self, order: &Order) -> Far {
        let train = messages::train(&order.parts).and_then(|train| self.check(train));
        let sent = train.and_then(|train| {
            let sent = self.sender.send(&mut self.link, order.first, &train);
            sent.map_err(|error| error.to_string())
        });
        sent.map_or_else(Far::Refused, Far::Sent)
    }

    /// A train within what the session may do.
    fn check(&self, train: Train) -> Result<Train, String> {
        let allowed = self.session.limits.datagrams_per_s;
        let seconds = train.duration().as_secs_f64().max(1.0);
        let asked = train.probes.len() as f64 / seconds;
        if asked > f64::from(allowed) {
            return Err(format!(
                "{asked:.0} probes a second - this server allows {allowed}"
            ));
        }
        if train.probes.iter().any(|probe| probe.octets > ETHERNET_MTU) {
            return Err(format!("a probe of more than {ETHERNET_MTU} octets"));
        }
        Ok(train)
    }
}

fn hand_over(
    control: &mut Control,
    arrived: Result<Vec<messages::Arrived>, String>,
) -> Result<(), Error> {
    let rows = match arrived {
        Ok(rows) => rows,
        Err(reason) => return control.send(&Far::Refused(reason)),
    };
    control.send_rows(rows, ARRIVALS_PER_LINE, Far::Arrivals)?;
    control.send(&Far::Collected)
}
