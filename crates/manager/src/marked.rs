//! Packets that go to peers because they bear a mark, and not for where they go.
//!
//! A network that is `marked` in the file is reached as ever by whoever has no mark, the manager itself among them. What bears [`MARK`]
//! and goes there takes the interface: a rule of routing sends it to a table of its own first, which has those networks only.
//! `isobath manager run` gives the mark to a program that knows nothing of it.

use super::config::Config;
use super::network::Network;
use sys::{Error, iface, netns};

/// The mark (`SO_MARK`).
pub const MARK: u32 = 4_890;
/// The number of the table of routes.
const TABLE: u32 = MARK;

/// The rules, which are gone when this is dropped. The routes are gone with the interface.
#[derive(Debug)]
pub(super) struct Rules {
    /// For IPv4, for IPv6.
    versions: Vec<bool>,
}

impl Rules {
    /// Rules and routes for all networks that are marked in `config`; none at all when none is.
    ///
    /// # Errors
    ///
    /// When this user may not.
    pub(super) fn add(config: &Config) -> Result<Self, Error> {
        let mut rules = Self {
            versions: Vec::new(),
        };
        let name = &config.interface;
        for network in config.marked() {
            let is_v4 = network.address.is_ipv4();
            if rules.versions.is_empty() {
                accept_answers(name)?;
            }
            if !rules.versions.contains(&is_v4) {
                iface::add_mark_rule(MARK, TABLE, is_v4)?;
                rules.versions.push(is_v4);
            }
            if let Some(own) = config.own(network) {
                let Network { address, prefix } = *network;
                iface::add_network_route(name, address, prefix, own.address, Some(TABLE))?;
            }
        }
        Ok(rules)
    }
}

impl Drop for Rules {
    fn drop(&mut self) {
        for is_v4 in self.versions.drain(..) {
            // Somebody was faster.
            let _ = iface::remove_mark_rule(MARK, TABLE, is_v4);
        }
    }
}

/// Answers come by an interface by which nothing without a mark goes to their sender. RFC 3704 section 2.4: loose, any route to it will do.
fn accept_answers(interface: &str) -> Result<(), Error> {
    netns::set_sysctl(&format!("net/ipv4/conf/{interface}/rp_filter"), "2")
}
