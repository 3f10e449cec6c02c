//! The far ends of a run: reached, and found out about.

use super::{Args, Far};
use record::Warning;
use rrul::run::Peer;
use schema::rrul::plan::{Families, Plan};
use session::Client;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// How long the far end may take to welcome us.
const CONNECT: Duration = Duration::from_secs(10);
/// How long the other version of IP may take to connect: as long as three lost SYNs.
const OTHER: Duration = Duration::from_secs(4);

/// The far ends, each with a session.
pub(super) struct FarEnds {
    pub(super) clients: Vec<Client>,
    pub(super) peers: Vec<Peer>,
    /// The versions of IP that reach all of them, the first the one of the control connections.
    pub(super) families: Vec<u8>,
    /// What was found on the way.
    pub(super) notes: Vec<Warning>,
}

impl FarEnds {
    /// Begins a session with each far end of the plan; those in `lab` come before the hosts that were named.
    pub(super) fn connect(args: &Args, plan: &Plan, lab: &[Far]) -> anyhow::Result<Self> {
        let mut ends = Self {
            clients: Vec::new(),
            peers: Vec::new(),
            families: Vec::new(),
            notes: Vec::new(),
        };
        let wanted = args.family();
        if lab.is_empty() {
            for (index, host) in args.host.iter().enumerate() {
                let key = args.key.get(index).or_else(|| args.key.first());
                let client = session::connect(host, wanted, key, CONNECT)?;
                let other = client.addresses.iter().copied();
                let other = other.clone().find(|a| a.is_ipv4() != client.peer.is_ipv4());
                ends.add(client, other);
            }
        } else {
            if lab.len() < usize::from(plan.servers) {
                anyhow::bail!(
                    "plan {} needs {} servers and this lab has {} - use a lab with more, such as rtt-fair",
                    plan.name,
                    plan.servers,
                    lab.len()
                );
            }
            for far in &lab[..plan.servers.into()] {
                let client = session::connect(&far.host(), wanted, Some(far.key()), CONNECT)?;
                ends.add(client, far.other());
            }
        }
        ends.families = vec![family(ends.clients.first().map(|client| client.peer))];
        let main = ends.families[0];
        let has = |peer: &Peer| if main == 6 { peer.v6 } else { peer.v4 }.is_some();
        if !ends.peers.iter().all(has) {
            anyhow::bail!(
                "not every server has an IPv{main} address - say -4 or -6 for one that all have"
            );
        }
        if plan.families == Families::Both && wanted.is_none() {
            ends.try_other_family();
        }
        Ok(ends)
    }

    fn add(&mut self, client: Client, other: Option<SocketAddr>) {
        let addresses = || [Some(client.peer), other].into_iter().flatten();
        self.peers.push(Peer {
            dialer: Arc::clone(&client.dialer),
            v4: addresses().find(SocketAddr::is_ipv4),
            v6: addresses().find(SocketAddr::is_ipv6),
            fingerprint: client.fingerprint.0,
        });
        self.clients.push(client);
    }

    /// Uses both versions of IP where all far ends can be reached by both.
    fn try_other_family(&mut self) {
        let other = if self.families == [4] { 6 } else { 4 };
        for peer in &self.peers {
            let address = if other == 6 { peer.v6 } else { peer.v4 };
            let reached = match address {
                None => Err("the server has no such address".to_owned()),
                Some(address) => TcpStream::connect_timeout(&address, OTHER)
                    .map(drop)
                    .map_err(|error| format!("{} does not answer: {error}", address.ip())),
            };
            if let Err(reason) = reached {
                self.notes.push(Warning {
                    code: format!("ipv{other}_missing"),
                    message: format!(
                        "there is no IPv{other} to the server ({reason}): all streams go over IPv{}",
                        10 - other
                    ),
                    advice: format!(
                        "give both hosts IPv{other}, or say -{} to leave it out",
                        10 - other
                    ),
                });
                return;
            }
        }
        self.families.push(other);
    }
}

fn family(peer: Option<SocketAddr>) -> u8 {
    if peer.is_some_and(|peer| peer.is_ipv6()) {
        6
    } else {
        4
    }
}
