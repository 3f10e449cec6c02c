//! Who is who in a lab, which link all share, and what others send there.

use lab::{Topology, profiles};
use path::{CrossSpec, Spec, StageSpec};
use std::time::Duration;
use units::Rate;

/// One direction of a link, as the lab's counters call it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Hop {
    /// The link: its two nodes, such as `x1-x2`.
    pub link: String,
    /// `up` is from the first node to the second, `down` the other way.
    pub direction: &'static str,
}

/// Who is who.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The host of the application and the tool, and the one that they send to: the lab's client and server.
    pub source: String,
    /// See `source`: the host that they send to.
    pub sink: String,
    /// Between whom others' connections go; nobody unless they are wanted.
    pub others: Option<[String; 2]>,
    /// The source's own link, behind which its packets come to the bottleneck.
    pub entry: Hop,
    /// The hop with the lowest rate on the way from source to sink.
    pub bottleneck: Hop,
    /// The bottleneck's rate.
    pub rate: Rate,
    /// How long a packet is on the bottleneck after it has left the queue.
    pub behind: Duration,
}

impl Place {
    /// Finds the place in `topology`, and has others send `cross` over the bottleneck if given. `with_others`: two more hosts are needed.
    ///
    /// # Errors
    /// One line: what the lab does not have.
    pub fn find(
        topology: &mut Topology,
        cross: Option<CrossSpec>,
        with_others: bool,
    ) -> Result<Self, String> {
        let way: Vec<String> = topology.way().into_iter().map(str::to_owned).collect();
        let hops: Vec<[&str; 2]> = way.windows(2).map(|two| [&*two[0], &*two[1]]).collect();
        let rate = |[from, to]: &[&str; 2]| profiles::rate(topology.direction(from, to)?.1);
        let rated = hops.iter().filter_map(|hop| Some((rate(hop)?, *hop)));
        let (rate, narrow) = rated
            .min_by_key(|(rate, _)| *rate)
            .ok_or("no link of this lab between client and server has a rate")?;
        let first = *hops.first().ok_or("client and server are one host")?;
        if narrow == first {
            return Err(
                "the client's own link is the bottleneck of this lab: others cannot share it - use manager-dumbbell"
                    .to_owned(),
            );
        }
        let spec = topology
            .direction(narrow[0], narrow[1])
            .map(|found| found.1);
        let behind = spec.map_or(Duration::ZERO, Spec::base_delay);
        let place = Self {
            source: topology.client.clone(),
            sink: topology.server.clone(),
            others: with_others.then(|| others(topology)).transpose()?,
            entry: hop(topology, first)?,
            bottleneck: hop(topology, narrow)?,
            rate,
            behind,
        };
        if let Some(cross) = cross {
            send(topology, &place.bottleneck, cross)?;
        }
        Ok(place)
    }
}

/// The two hosts that neither send nor receive for the application.
fn others(topology: &Topology) -> Result<[String; 2], String> {
    let ends = [&topology.client, &topology.server];
    let mut free = topology.hosts.iter().filter(|host| !ends.contains(host));
    match (free.next(), free.next()) {
        (Some(from), Some(to)) => Ok([from.clone(), to.clone()]),
        _ => Err(
            "others' connections need two more hosts in the lab - use manager-dumbbell".to_owned(),
        ),
    }
}

fn hop(topology: &Topology, [from, to]: [&str; 2]) -> Result<Hop, String> {
    let (link, _) = topology
        .direction(from, to)
        .ok_or("the lab has no such link")?;
    let direction = if link.between[0] == from {
        "up"
    } else {
        "down"
    };
    Ok(Hop {
        link: link.between.join("-"),
        direction,
    })
}

/// Others' packets into the queue of the link.
fn send(topology: &mut Topology, hop: &Hop, cross: CrossSpec) -> Result<(), String> {
    let mut links = topology.links.iter_mut();
    let link = links.find(|link| link.between.join("-") == hop.link);
    let spec = link.map(|link| match hop.direction {
        "up" => &mut link.up,
        _ => &mut link.down,
    });
    let stages = spec.into_iter().flat_map(|spec| &mut spec.0);
    let mut slots = stages.filter_map(|stage| match stage {
        StageSpec::Rate { cross, .. }
        | StageSpec::Trace { cross, .. }
        | StageSpec::TokenBucket { cross, .. } => Some(cross),
        _ => None,
    });
    match slots.next() {
        Some(slot @ None) => {
            *slot = Some(cross);
            Ok(())
        }
        Some(_) => {
            Err("others send in this lab already - use another lab, or send none".to_owned())
        }
        None => Err("the bottleneck of this lab has no queue".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use path::{Pace, Then};
    use units::Span;

    fn cross() -> CrossSpec {
        CrossSpec {
            pace: Pace::Even,
            rates: ["1Mbit", "3Mbit"]
                .map(|rate| rate.parse().unwrap())
                .to_vec(),
            each: Some(Span::from_millis(45_000)),
            then: Then::Repeat,
            sizes: Vec::new(),
            recording: Some("web-page".to_owned()),
            copies: 1,
        }
    }

    /// Holds manager/dumbbell, manager/cross-packets.
    #[test]
    fn the_dumbbell_has_its_place_and_others_send_as_asked() {
        let mut topology = profiles::find("manager-dumbbell").unwrap();
        let place = Place::find(&mut topology, Some(cross()), false).unwrap();
        assert_eq!((&*place.source, &*place.sink), ("m3", "m5"));
        assert_eq!(place.entry.link, "m3-x1");
        assert_eq!(
            (&*place.bottleneck.link, place.bottleneck.direction),
            ("x1-x2", "up")
        );
        assert_eq!(place.behind, Duration::from_millis(20));
        assert!(place.others.is_none());
        let text = toml::to_string(&topology).unwrap();
        let topology = Topology::parse(&text, "lab").unwrap();
        let StageSpec::Rate { rate, cross, .. } = &topology.links[0].up.0[0] else {
            panic!("{text}");
        };
        assert_eq!(rate.to_string(), "10Mbit");
        let cross = cross.as_ref().unwrap();
        assert_eq!(
            (cross.rates.len(), cross.each),
            (2, Some(Span::from_millis(45_000)))
        );
        assert_eq!(
            topology.links[0].down,
            profiles::find("manager-dumbbell").unwrap().links[0].down
        );
    }

    #[test]
    fn a_lab_that_will_not_do_is_refused() {
        let refused = |lab: &str, cross: Option<CrossSpec>, with_others: bool| {
            let mut topology = profiles::find(lab).unwrap();
            Place::find(&mut topology, cross, with_others).unwrap_err()
        };
        assert!(refused("step", Some(cross()), false).contains("send none"));
        assert!(refused("step", None, true).contains("two more hosts"));
        assert!(refused("dsl", None, false).contains("manager-dumbbell"));
        let mut topology = profiles::find("manager-dumbbell").unwrap();
        let place = Place::find(&mut topology, None, true).unwrap();
        assert_eq!(place.others, Some(["c1".to_owned(), "c2".to_owned()]));
    }
}
