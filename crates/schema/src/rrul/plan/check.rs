//! What parsing cannot see: whether a plan can be run.

use super::{Load, Plan, ProbeKind, Transport};
use std::time::Duration;
use units::Rate;

/// Shortest message of a probe, in octets: the header that every one has.
pub const SMALLEST_PROBE: u64 = 56;
/// Longest message of a probe, in octets: with all headers it fits one packet.
pub const LARGEST_PROBE: u64 = 1_400;
/// Most streams of a plan.
const MOST_STREAMS: usize = 256;
/// No plan runs longer.
const LONGEST: Duration = Duration::from_secs(3_600);
/// A call's packets come at most this often: more is a flood.
const LEAST_INTERVAL: Duration = Duration::from_millis(1);
/// A segment takes more than a second at less.
const LEAST_RATE: Rate = Rate::from_bps(16_000).expect("not zero");
/// A hundred thousand datagrams a second.
const MOST_UDP: Rate = Rate::from_bps(1_000_000_000).expect("not zero");
/// The specification's servers are one; a study of fairness has a few.
const MOST_SERVERS: u8 = 8;
/// Far ends beside the servers: the hosts of a path, and a few services.
const MOST_BESIDE: usize = 8;
/// No path on the Internet has more hops.
const MOST_HOPS: u8 = 64;

impl Plan {
    /// Checks what parsing cannot: call it again after changing a field.
    ///
    /// # Errors
    /// In one line what cannot be.
    pub fn check(&self) -> Result<(), String> {
        self.check_sizes()?;
        self.check_streams()?;
        self.check_servers()?;
        self.check_beside()?;
        self.check_parts()?;
        self.check_times()
    }

    fn check_sizes(&self) -> Result<(), String> {
        let sizes = SMALLEST_PROBE..=LARGEST_PROBE;
        let probes = self.probe.iter().map(|probe| probe.size.get());
        let calls = self.call.iter().map(super::Call::payload);
        let mut wrong = probes.chain(calls).filter(|size| !sizes.contains(size));
        wrong.next().map_or(Ok(()), |size| {
            Err(format!(
                "a probe's or call's size {size}B is not between {}B and {}B",
                sizes.start(),
                sizes.end()
            ))
        })
    }

    fn check_streams(&self) -> Result<(), String> {
        let load = self.load.iter().map(|load| usize::from(load.streams));
        let probes = self.probe.iter().map(|probe| usize::from(probe.streams));
        let others = 2 * self.call.len() + 2 + self.beside.len();
        if 2 * load.sum::<usize>() + probes.sum::<usize>() + others > MOST_STREAMS {
            return Err(format!("a plan has at most {MOST_STREAMS} streams"));
        }
        if self.load.iter().any(|load| load.streams == 0) {
            return Err("a load group has no streams - write at least streams = 1".to_owned());
        }
        for load in self.load.iter().filter(|load| load.cc.is_some()) {
            let has = match load.transport {
                Transport::Tcp => continue,
                Transport::Quic => "a load over QUIC has CUBIC",
                Transport::Udp => "a load over UDP has no congestion control",
            };
            return Err(format!("{has} - leave cc out of its group"));
        }
        let is_udp = |load: &&Load| load.transport == Transport::Udp;
        for load in self.load.iter().filter(is_udp) {
            let Some(rate) = load.rate else {
                return Err("a load over UDP has no congestion control - write its rate, such as rate = '2Mbit'".to_owned());
            };
            if rate > MOST_UDP {
                return Err(format!(
                    "a stream of UDP sends at most {MOST_UDP} - take more streams"
                ));
            }
        }
        let too_slow = |load: &Load| load.rate.is_some_and(|rate| rate < LEAST_RATE);
        if self.load.iter().any(too_slow) {
            return Err(format!("a load group's rate is below {LEAST_RATE}"));
        }
        if self.probe.iter().any(|probe| probe.streams == 0) {
            return Err("a probe has no streams - write at least streams = 1".to_owned());
        }
        let is_empty = self.load.is_empty()
            && self.probe.is_empty()
            && self.call.is_empty()
            && self.web.is_none()
            && self.trace.is_none();
        if is_empty {
            return Err(
                "a plan needs at least one [[load]], [[probe]], [[call]], [web] or [trace]"
                    .to_owned(),
            );
        }
        Ok(())
    }

    fn check_servers(&self) -> Result<(), String> {
        if !(1..=MOST_SERVERS).contains(&self.servers) {
            return Err(format!("servers is not between 1 and {MOST_SERVERS}"));
        }
        let named = self.load.iter().map(|load| load.server);
        let named = named.chain(self.probe.iter().map(|probe| probe.server));
        named
            .max()
            .filter(|most| *most >= self.servers)
            .map_or(Ok(()), |most| {
                Err(format!(
                    "server = {most} is not one of this plan's {} - they count from 0, and servers says how many",
                    self.servers
                ))
            })
    }

    fn check_beside(&self) -> Result<(), String> {
        if self.beside.len() > MOST_BESIDE {
            return Err(format!(
                "a plan has at most {MOST_BESIDE} far ends beside its servers"
            ));
        }
        let twice = |(index, far_end): (usize, &String)| self.beside[..index].contains(far_end);
        match (0..).zip(&self.beside).find(|each| twice(*each)) {
            Some((_, far_end)) => Err(format!("{far_end} is named twice beside the servers")),
            None => Ok(()),
        }
    }

    fn check_parts(&self) -> Result<(), String> {
        if self.call.iter().any(|call| call.every.0 < LEAST_INTERVAL) {
            return Err("a call sends at most every 1ms - use a longer interval".to_owned());
        }
        if self
            .web
            .as_ref()
            .is_some_and(|web| web.protocols.is_empty())
        {
            return Err("[web] has no protocols - write protocols = [\"h2\"]".to_owned());
        }
        if let Some(trace) = &self.trace {
            if !(1..=MOST_HOPS).contains(&trace.hops) {
                return Err(format!("hops is not between 1 and {MOST_HOPS}"));
            }
            if trace.every.0 < Duration::from_millis(100) {
                return Err("a trace asks each hop at most every 100ms".to_owned());
            }
        }
        let far_page = |probe: &&super::Probe| probe.kind == ProbeKind::Https && probe.server != 0;
        if self.probe.iter().any(|probe| far_page(&probe)) {
            return Err("pages are with server 0: a probe of kind https has no other".to_owned());
        }
        if self.probe.iter().any(|probe| probe.kind.is_of_browsers()) {
            return Err("probes of kinds ws_rr and wt_rr are a browser's - write udp_rr, or open the page of 'isobath serve --also page'".to_owned());
        }
        let mut kinds = self.probe.iter().map(|probe| probe.kind);
        let mut kinds = kinds.by_ref().filter(|kind| kind.is_latency());
        if let Some(first) = kinds.next()
            && kinds.any(|kind| kind != first)
        {
            return Err(
                "udp_rr, icmp_rr and tcp_connect tell the same - write probes of one of them"
                    .to_owned(),
            );
        }
        let marks = self
            .probe
            .iter()
            .find(|probe| !probe.kind.is_udp() && probe.ecn != super::EcnField::None);
        marks.map_or(Ok(()), |_| {
            Err("ecn is for probes of kind udp_rr and udp_paced: TCP sets its own".to_owned())
        })
    }

    fn check_times(&self) -> Result<(), String> {
        if let Some(late) = self
            .load
            .iter()
            .find(|load| load.start.0 >= self.duration.0)
        {
            return Err(format!(
                "a load group starts after {}, when the load of {} is over - use a longer --duration",
                late.start, self.duration
            ));
        }
        let settled = self.last_start() + self.settle.0;
        if !self.load.is_empty() && settled >= self.duration.0 {
            return Err(format!(
                "a load of {} is over before its last group has settled after {} - use a longer --duration",
                self.duration,
                units::Span(settled)
            ));
        }
        if self.total() > LONGEST {
            return Err("a run lasts at most 1h in all - use a shorter --duration".to_owned());
        }
        Ok(())
    }
}
