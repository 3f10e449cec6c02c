//! Where a part was tested, as far as its record tells; and whether two parts can follow each other.
//!
//! RFC 6049 composes the losses of parts that a packet crosses one after the other. A part that is counted twice, alone or inside a longer one,
//! makes a path that nobody has. Records know the run, the addresses and names of both hosts, and in an emulated network the links that carried the
//! packets. They do not know routers in between, so a part inside a longer one that shares neither of its ends goes unseen in real networks.

use core::fmt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// One end of a part.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct End {
    /// The host's own name; empty when unknown.
    pub host: String,
    /// Its addresses in the run.
    pub addresses: Vec<IpAddr>,
}

impl End {
    /// Whether both are the same host: they share an address, and not by chance, as private addresses of two networks do.
    fn is(&self, other: &Self) -> bool {
        let is_shared = |address| other.addresses.contains(address);
        let is_named = self.host == other.host || self.host.is_empty() || other.host.is_empty();
        is_named && self.addresses.iter().any(is_shared)
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.addresses.first() {
            Some(address) => address.fmt(f),
            None => f.pad(&self.host),
        }
    }
}

/// Where a part was tested, in the direction of its packets. What is not known is empty.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Way {
    /// The run's id.
    pub run: String,
    /// The emulated network; null for a real one.
    pub lab: Option<String>,
    /// Where packets came from.
    pub from: End,
    /// Where they went.
    pub to: End,
    /// In an emulated network: the links that carried them, each with its direction.
    pub links: Vec<String>,
}

impl Way {
    /// Why no path has this part and `other`, one after the other; `None` when nothing tells against it.
    pub fn overlap(&self, other: &Self) -> Option<String> {
        if !self.run.is_empty() && self.run == other.run {
            return Some(format!("both are the run {}", self.run));
        }
        if self.lab != other.lab {
            return None;
        }
        if let Some(link) = self.links.iter().find(|link| other.links.contains(link)) {
            return Some(format!("both crossed the link {link}"));
        }
        let (from, to) = (self.from.is(&other.from), self.to.is(&other.to));
        let (there, back) = (self.from.is(&other.to), self.to.is(&other.from));
        match (from, to) {
            (true, true) => Some(format!("both lead from {} to {}", self.from, self.to)),
            (true, false) => Some(format!("both begin at {}", self.from)),
            (false, true) => Some(format!("both end at {}", self.to)),
            (false, false) if there && back => Some(format!(
                "one leads from {} to {} and the other back",
                self.from, self.to
            )),
            (false, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(address: [u8; 4], host: &str) -> End {
        End {
            host: host.to_owned(),
            addresses: vec![IpAddr::from(address)],
        }
    }

    fn way(run: &str, from: u8, to: u8) -> Way {
        Way {
            run: run.to_owned(),
            lab: None,
            from: end([192, 0, 2, from], &format!("h{from}")),
            to: end([192, 0, 2, to], &format!("h{to}")),
            links: Vec::new(),
        }
    }

    #[test]
    fn parts_that_follow_each_other_do_not_overlap() {
        assert_eq!(way("r1", 1, 2).overlap(&way("r2", 2, 3)), None);
        assert_eq!(way("r1", 2, 3).overlap(&way("r2", 1, 2)), None);
        assert_eq!(way("r1", 1, 2).overlap(&way("r2", 3, 4)), None);
        assert_eq!(Way::default().overlap(&Way::default()), None);
    }

    #[test]
    fn the_same_part_or_a_longer_one_with_the_same_end_overlaps() {
        let told = |one: Way, two: Way| {
            let said = one.overlap(&two);
            assert_eq!(said.is_some(), two.overlap(&one).is_some());
            said.unwrap_or_default()
        };
        assert_eq!(
            told(way("r1", 1, 2), way("r1", 1, 2)),
            "both are the run r1"
        );
        assert!(told(way("r1", 1, 2), way("r2", 1, 2)).contains("from 192.0.2.1 to 192.0.2.2"));
        assert!(told(way("r1", 1, 3), way("r2", 1, 2)).contains("begin at 192.0.2.1"));
        assert!(told(way("r1", 1, 3), way("r2", 2, 3)).contains("end at 192.0.2.3"));
        assert!(told(way("r1", 1, 2), way("r2", 2, 1)).contains("back"));
    }

    #[test]
    fn a_link_inside_of_a_longer_way_is_seen_in_a_lab() {
        let in_lab = |links: &[&str], from, to| Way {
            lab: Some("vantage-point".to_owned()),
            links: links.iter().map(|link| (*link).to_owned()).collect(),
            ..way(&format!("r{from}{to}"), from, to)
        };
        let whole = in_lab(&["a-b up", "b-c up", "c-d up"], 1, 4);
        let middle = in_lab(&["b-c up"], 2, 3);
        assert_eq!(
            whole.overlap(&middle).unwrap(),
            "both crossed the link b-c up"
        );
        assert_eq!(in_lab(&["a-b up"], 1, 2).overlap(&middle), None);
        let elsewhere = Way {
            lab: Some("another".to_owned()),
            ..middle.clone()
        };
        assert_eq!(
            middle.overlap(&Way {
                run: String::new(),
                ..elsewhere
            }),
            None
        );
    }

    #[test]
    fn private_addresses_of_hosts_with_other_names_are_others() {
        let home = |host: &str, to| Way {
            from: end([10, 0, 0, 1], host),
            ..way(host, 9, to)
        };
        assert_eq!(home("kitchen", 2).overlap(&home("office", 3)), None);
        assert!(home("", 2).overlap(&home("office", 3)).is_some());
    }
}
