//! What can be wrong with a file that can be read.

use super::{Config, PeerTable};
use crate::network::Network;
use session::AccessKey;
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// The most peers of a manager.
const MOST_PEERS: usize = 64;
/// The most networks behind all of them.
const MOST_ROUTES: usize = 1_024;
/// The longest delay: with a longer one applications would time out.
const LONGEST_DELAY: Duration = Duration::from_secs(1);
/// Octets that every interface with IPv6 must take (RFC 8200 section 5).
const LEAST_V6: usize = 1_280;
/// Octets that every host must take (RFC 791).
const LEAST_V4: usize = 576;
/// The longest name of an interface.
const LONGEST_INTERFACE: usize = 15;

impl Config {
    pub(super) fn check(&self) -> Result<(), String> {
        self.check_names()?;
        self.check_addresses()?;
        self.check_lengths()?;
        self.check_policy()?;
        self.check_listening()?;
        self.service.check()?;
        for peer in &self.peers {
            self.check_peer(peer)
                .map_err(|what| format!("peer '{}': {what}", peer.name))?;
        }
        self.check_routes()
    }

    fn check_names(&self) -> Result<(), String> {
        let ours = std::iter::once(self.name.as_str());
        let mut seen = BTreeSet::new();
        for name in ours.chain(self.peers.iter().map(|peer| peer.name.as_str())) {
            if !is_name(name) {
                return Err(format!(
                    "'{name}' is no name - use up to 64 letters, digits, dots, dashes"
                ));
            }
            if !seen.insert(name) {
                return Err(format!(
                    "the name '{name}' is there twice - each manager has its own"
                ));
            }
        }
        if self.peers.len() > MOST_PEERS {
            return Err(format!("a manager has at most {MOST_PEERS} peers"));
        }
        Ok(())
    }

    fn check_addresses(&self) -> Result<(), String> {
        let v4 = self.addresses.iter().filter(|own| own.address.is_ipv4());
        let count = v4.count();
        if self.addresses.is_empty() || count > 1 || self.addresses.len() - count > 1 {
            return Err(
                "addresses - give one IPv4 address, one IPv6 address, or one of each".to_owned(),
            );
        }
        Ok(())
    }

    fn check_lengths(&self) -> Result<(), String> {
        let name = &self.interface;
        let is_plain = |c: char| c.is_ascii_graphic() && c != '/' && c != ':' && c != '%';
        if name.is_empty() || name.len() > LONGEST_INTERFACE || !name.chars().all(is_plain) {
            return Err(format!(
                "interface '{name}' - a name has 1 to {LONGEST_INTERFACE} letters and digits"
            ));
        }
        let has_v6 = self.addresses.iter().any(|own| own.address.is_ipv6());
        let least = if has_v6 { LEAST_V6 } else { LEAST_V4 };
        let inside = self.inside_mtu();
        if inside < least {
            let more = usize::from(self.mtu) + least - inside;
            return Err(format!(
                "mtu {} leaves {inside} octets inside - give at least {more}",
                self.mtu
            ));
        }
        let delays = self.peers.iter().filter_map(|peer| peer.delay);
        let too_long = |delay: &units::Span| delay.0 > LONGEST_DELAY;
        match delays.chain([self.delay]).find(too_long) {
            Some(delay) => Err(format!("delay {delay} - give at most 1s, or 0s for none")),
            None => Ok(()),
        }
    }

    fn check_policy(&self) -> Result<(), String> {
        let ratio = self.policy.ratio;
        if (0.0..=1.0).contains(&ratio) {
            Ok(())
        } else {
            Err(format!("ratio {ratio} - give a number from 0 to 1"))
        }
    }

    fn check_listening(&self) -> Result<(), String> {
        let is_address =
            |text: &String| text.parse::<SocketAddr>().is_ok() || text.parse::<IpAddr>().is_ok();
        if let Some(text) = self.listen.as_ref().filter(|text| !is_address(text)) {
            return Err(format!(
                "listen '{text}' - write an address and a port, such as [::]:4890"
            ));
        }
        let dials = self.peers.iter().find(|peer| peer.endpoint.is_none());
        match (&self.listen, dials) {
            (None, Some(peer)) => Err(format!(
                "peer '{}' dials and nobody listens - add listen, or the peer's endpoint",
                peer.name
            )),
            _ => Ok(()),
        }
    }

    fn check_peer(&self, peer: &PeerTable) -> Result<(), String> {
        match (&peer.endpoint, &peer.key) {
            (Some(_), None) => {
                return Err("endpoint without key - add the key that it prints".to_owned());
            }
            (None, Some(_)) => {
                return Err("key without endpoint - add the endpoint, or remove the key".to_owned());
            }
            _ => {}
        }
        if peer.endpoint.is_some() && peer.key_number.is_some() {
            return Err("key_number with endpoint - it belongs in that peer's file".to_owned());
        }
        if let Some(key) = &peer.key {
            let key: Result<AccessKey, _> = key.parse();
            key.map_err(|error| error.to_string())?;
        }
        if peer.routes.is_empty() {
            return Err("no routes - name at least its own overlay address".to_owned());
        }
        for route in peer.routes.iter().chain(&peer.marked) {
            self.check_route(route)?;
        }
        self.check_outside(peer)
    }

    fn check_route(&self, route: &Network) -> Result<(), String> {
        let first = route.first();
        if first != route.address {
            return Err(format!(
                "route {route} has bits beyond its prefix - write {first}/{}",
                route.prefix
            ));
        }
        if self.own(route).is_none() {
            return Err(format!(
                "route {route} - this manager has no address of that version"
            ));
        }
        let is_ours = |own: &&Network| Network::host(own.address) == *route;
        match self.addresses.iter().find(is_ours) {
            Some(own) => Err(format!("route {route} is this manager's own {own}")),
            None => Ok(()),
        }
    }

    /// Packets outside must not be sent inside.
    fn check_outside(&self, peer: &PeerTable) -> Result<(), String> {
        let Some(endpoint) = &peer.endpoint else {
            return Ok(());
        };
        let whole: Option<SocketAddr> = endpoint.parse().ok();
        let bare = endpoint.trim_matches(['[', ']']).parse().ok();
        let address = whole.map(|whole| whole.ip()).or(bare);
        let inside = address.and_then(|address| self.inside(address));
        inside.map_or(Ok(()), |route| {
            Err(format!(
                "endpoint {endpoint} lies in route {route} - give an address outside the overlay"
            ))
        })
    }

    /// The route that holds an address.
    pub fn inside(&self, address: IpAddr) -> Option<&Network> {
        let mut routes = self.peers.iter().flat_map(|peer| &peer.routes);
        routes.find(|route| route.contains(address))
    }

    fn check_routes(&self) -> Result<(), String> {
        let mut seen = BTreeSet::new();
        let of = |peer: &PeerTable| [peer.routes.clone(), peer.marked.clone()].concat();
        for route in self.peers.iter().flat_map(of) {
            if !seen.insert(route.to_string()) {
                return Err(format!(
                    "route {route} is there twice - one peer is behind it"
                ));
            }
        }
        if seen.len() > MOST_ROUTES {
            return Err(format!("{} routes, at most {MOST_ROUTES}", seen.len()));
        }
        Ok(())
    }
}

/// Whether a manager may be called so.
pub fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    (1..=64).contains(&name.len()) && name.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "iso1-uwslvjnfuws2ljnfuws2ljnfuws2ljnfuws2ljnfuws2ljnfuws2k";

    fn text(top: &str, peer: &str) -> String {
        format!(
            "name = \"m3\"\naddresses = [\"10.99.0.1/24\", \"fd99::1/64\"]\nlisten = \"[::]:4890\"\n{top}\n\
             [[peer]]\nname = \"m5\"\n{peer}\n"
        )
    }

    fn wrong(top: &str, peer: &str) -> String {
        Config::parse(&text(top, peer)).unwrap_err()
    }

    /// Holds manager/small-delay, manager/global-delay.
    #[test]
    fn a_file_says_as_little_as_it_must() {
        let config = Config::parse(&text("", "routes = [\"10.99.0.2/32\"]")).unwrap();
        assert_eq!(config.inside_mtu(), 1_420);
        assert_eq!(config.listen(), Some((None, 4_890)));
        let routes = config.routes();
        assert_eq!(routes.find("10.99.0.2".parse().unwrap()), Some(0));
        let session = config.of_session(&config.peers[0], mgrp::envelope::Carrier::UdpV4);
        assert_eq!(session.delay, Duration::from_millis(10));
        assert!(session.policy.riding && session.budget.is_none());
        assert_eq!(session.hold, mgrp::peer::Hold::WhileProbing);
    }

    #[test]
    fn a_file_says_all_that_it_may() {
        let top = "interface = \"lo9\"\nmtu = 9000\ndelay = \"0s\"\nhold = \"always\"\nprompt = [\"EF\", \"8\"]\nsocket = \"s\"\nmetrics = \"127.0.0.1:9\"\n\
                   identity = \"i\"\npolicy = { ratio = 0.5, first = 3, fragments = false }\nbudget = { rate = \"8kbit\" }";
        let config =
            Config::parse(&text(top, "routes = [\"10.99.0.2\"]\ndelay = \"1ms\"")).unwrap();
        let session = config.of_session(&config.peers[0], mgrp::envelope::Carrier::UdpV4);
        assert_eq!(session.delay, Duration::from_millis(1));
        assert!(session.policy.riding && session.policy.first == 3);
        assert_eq!(session.hold, mgrp::peer::Hold::Always);
        assert_eq!(session.budget.unwrap().burst, 1_000);
        assert_eq!(config.prompt, [units::Dscp::EF, "CS1".parse().unwrap()]);
    }

    #[test]
    fn what_is_wrong_is_told_in_a_line() {
        let fine = "routes = [\"10.99.0.2/32\"]";
        for (top, peer, part) in [
            ("colour = 1", fine, "line 4: unknown field `colour`"),
            ("delay = \"2s\"", fine, "at most 1s"),
            ("mtu = 1300", fine, "give at least 1360"),
            ("interface = \"a/b\"", fine, "1 to 15"),
            ("policy = { ratio = 1.5 }", fine, "from 0 to 1"),
            ("", "routes = []", "peer 'm5': no routes"),
            ("", "routes = [\"10.99.0.2/24\"]", "write 10.99.0.0/24"),
            ("", "routes = [\"10.99.0.1\"]", "own 10.99.0.1/24"),
            ("", "routes = [\"::/0\", \"::/0\"]", "there twice"),
            (
                "",
                "routes = [\"::/0\"]\nmarked = [\"::/0\"]",
                "there twice",
            ),
            (
                "",
                &format!("{fine}\nmarked = [\"10.0.0.1/8\"]"),
                "10.0.0.0/8",
            ),
            ("", "routes = [\"::/0\"]\nendpoint = \"h\"", "without key"),
            ("", &format!("{fine}\nkey = \"{KEY}\""), "without endpoint"),
            (
                "",
                &format!("{fine}\nkey = \"{KEY}\"\nendpoint = \"h\"\nkey_number = 2"),
                "belongs in that peer's file",
            ),
            (
                "",
                &format!("{fine}\nkey = \"x\"\nendpoint = \"h\""),
                "not an isobath key",
            ),
            (
                "",
                &format!("{fine}\n[[peer]]\nname = \"m3\"\n{fine}"),
                "'m3' is there twice",
            ),
        ] {
            let line = wrong(top, peer);
            assert!(line.contains(part) && !line.contains('\n'), "{line}");
        }
    }

    #[test]
    fn a_peer_may_be_dialled_in_a_network_that_only_marked_packets_reach_through_it() {
        let key = session::Identity::generate().unwrap().key();
        let peer = format!(
            "routes = [\"10.99.0.2\"]\nmarked = [\"198.51.100.7\"]\nendpoint = \"198.51.100.7\"\nkey = \"{key}\""
        );
        let config = Config::parse(&text("", &peer)).unwrap();
        let outside = "198.51.100.7".parse().unwrap();
        assert_eq!(config.routes().find(outside), Some(0));
        assert!(config.inside(outside).is_none());
    }

    #[test]
    fn a_peer_is_not_dialled_through_the_overlay() {
        let key = session::Identity::generate().unwrap().key();
        for endpoint in ["10.99.0.2:4890", "[fd99::2]:4890", "fd99::2", "[fd99::2]"] {
            let peer = format!(
                "routes = [\"10.99.0.0/24\", \"fd99::/64\"]\nendpoint = \"{endpoint}\"\nkey = \"{key}\""
            );
            let line = wrong("", &peer);
            assert!(line.contains("outside the overlay"), "{line}");
        }
    }
}
