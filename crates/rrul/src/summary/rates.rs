//! What the load carried, what its acknowledgements cost, and how evenly it was shared.

use super::view::View;
use probe::acks::{Basis, Encapsulation};
use record::Distribution;
use schema::rrul::{AckFigures, Acks, Fairness, LoadLoss, Retransmitted, Throughput, Transferred};
use schema::tables::{Series, Stream};
use std::collections::{BTreeMap, HashMap};

/// Full segments are about this long where the path does not tell: an Ethernet's packets less headers and timestamps.
const SEGMENT: u32 = 1_448;
/// The same over IPv6.
const SEGMENT_V6: u32 = 1_428;

/// A stream whose looks cover less than this of the loaded time ran for a part of it only.
const PART: f64 = 0.9;

impl View<'_> {
    pub(super) fn throughput(&self) -> Throughput {
        let acks = self.acks();
        let total = |figures: &AckFigures| figures.v4_mbps + figures.v6_mbps;
        let (ack_down, ack_up) = (acks.down.as_ref().map(total), acks.up.as_ref().map(total));
        let [down, up] = ["down", "up"].map(|direction| self.rate(direction, &|_| true));
        let headers = ["down", "up"].map(|direction| self.headers(direction, &|_| true));
        let wire = |payload: Option<f64>, headers: Option<f64>, acks: Option<f64>| {
            Some(payload? + headers? + acks.unwrap_or_default())
        };
        let wire_down = wire(down, headers[0], ack_down);
        let wire_up = wire(up, headers[1], ack_up);
        Throughput {
            down,
            up,
            sum: down
                .or(up)
                .map(|_| down.unwrap_or_default() + up.unwrap_or_default()),
            wire_down,
            wire_up,
            wire_sum: wire_down.zip(wire_up).map(|(down, up)| down + up),
            ack_down,
            ack_up,
            down_by_family: self.rates_by("down", &|s| format!("v{}", s.family)),
            up_by_family: self.rates_by("up", &|s| format!("v{}", s.family)),
            down_by_class: self.rates_by("down", &|s| s.class.clone().into_owned()),
            up_by_class: self.rates_by("up", &|s| s.class.clone().into_owned()),
        }
    }

    /// Payload of each load stream of `direction` in the loaded time: as delivered, or, where the server's side is
    /// missing, as acknowledged.
    pub(super) fn delivered(&self, direction: &str) -> BTreeMap<u16, u64> {
        let sum = |bins: &mut dyn Iterator<Item = &Series>, bytes: fn(&Series) -> Option<u64>| {
            let mut totals: BTreeMap<u16, u64> = BTreeMap::new();
            for row in bins {
                let total = totals.entry(row.stream).or_default();
                *total = total.saturating_add(bytes(row).unwrap_or_default());
            }
            totals
        };
        let delivered = sum(&mut self.bins(direction, true), |row| row.delivered_bytes);
        if !delivered.is_empty() {
            return delivered;
        }
        sum(&mut self.bins(direction, false), |row| row.acked_bytes)
    }

    /// Mbit/s of payload of the wanted load streams of `direction`.
    fn rate(&self, direction: &str, wanted: &dyn Fn(&Stream) -> bool) -> Option<f64> {
        let delivered = self.delivered(direction);
        let is_wanted = |id: &u16| self.streams.get(id).is_some_and(|stream| wanted(stream));
        let bytes = delivered.iter().filter(|(id, _)| is_wanted(id));
        let rate = bytes.map(|(_, bytes)| bytes).sum::<u64>() as f64 * 8e-6 / self.seconds();
        (!delivered.is_empty() && rate.is_finite()).then_some(rate)
    }

    fn rates_by(&self, direction: &str, key: &dyn Fn(&Stream) -> String) -> BTreeMap<String, f64> {
        let keys = self.load(direction).map(key);
        keys.filter_map(|name| {
            let rate = self.rate(direction, &|stream| key(stream) == name)?;
            Some((name, rate))
        })
        .collect()
    }

    /// Growth of a counter of each receiving end's over the loaded time, by stream, with the seconds between the looks.
    fn grown(
        &self,
        direction: &str,
        counter: fn(&Series) -> Option<u64>,
    ) -> HashMap<u16, (u64, f64)> {
        self.grown_at(direction, true, counter)
    }

    /// The same of the receiving or the sending end's.
    fn grown_at(
        &self,
        direction: &str,
        at_receiver: bool,
        counter: fn(&Series) -> Option<u64>,
    ) -> HashMap<u16, (u64, f64)> {
        // Of each stream the first look, the last, and the length of the bin before the first.
        let mut looks: HashMap<u16, ([(u64, u64); 2], u64)> = HashMap::new();
        for row in self.bins(direction, at_receiver) {
            if let Some(count) = counter(row) {
                let look = (row.t_ns, count);
                let first = ([look; 2], row.bin_ns);
                looks.entry(row.stream).or_insert(first).0[1] = look;
            }
        }
        let grown = looks.into_iter().map(|(id, ([first, last], bin_ns))| {
            let seconds = |ns: u64| ns.max(1) as f64 / 1e9;
            let between = last.0.saturating_sub(first.0);
            // One that ran for a part of the loaded time has its share of all of it.
            let is_part = seconds(between + bin_ns) < self.seconds() * PART;
            let over = if is_part {
                self.seconds()
            } else {
                seconds(between)
            };
            (id, (last.1.saturating_sub(first.1), over))
        });
        grown.collect()
    }

    /// Whether TCP alone loads `direction`: of QUIC it is not known what its headers and acknowledgements take.
    fn is_of_tcp(&self, direction: &str) -> bool {
        self.load(direction).all(|stream| stream.kind == "tcp_load")
    }

    /// Mbit/s of the headers of the data segments of the wanted load streams, as they arrived.
    fn headers(&self, direction: &str, wanted: &dyn Fn(&Stream) -> bool) -> Option<f64> {
        if !self.is_of_tcp(direction) {
            return None;
        }
        let mut grown = self.grown(direction, |row| row.data_segs_in);
        grown.retain(|id, _| self.streams.get(id).is_some_and(|stream| wanted(stream)));
        let rates = grown.iter().map(|(id, (segments, seconds))| {
            let bytes = probe::acks::counted(*segments, self.encapsulation(*id)).octets;
            bytes as f64 * 8e-6 / seconds
        });
        (!grown.is_empty()).then(|| rates.sum())
    }

    /// Share of the load's segments that were sent again, by the senders' counters.
    pub(super) fn retransmitted(&self) -> Retransmitted {
        let [down, up] = ["down", "up"].map(|direction| {
            let sum = |counter| -> u64 {
                let grown = self.grown_at(direction, false, counter);
                grown.values().map(|(count, _)| count).sum()
            };
            // UDP sends nothing again.
            let sent = sum(|row| row.retransmits.and(row.data_segs_out));
            (sent > 0).then(|| sum(|row| row.retransmits) as f64 / sent as f64 * 100.0)
        });
        Retransmitted { down, up }
    }

    /// Share of the datagrams of load by UDP that did not arrive; none where either end's count is missing.
    pub(super) fn load_loss(&self) -> LoadLoss {
        let [down, up] = ["down", "up"].map(|direction| {
            let streams = self
                .load(direction)
                .filter(|stream| stream.kind == "udp_load");
            let counts = streams.map(|stream| Some([stream.sent_bytes?, stream.total_bytes?]));
            let [sent, arrived] = counts.collect::<Option<Vec<_>>>()?.into_iter().fold(
                [0_u64; 2],
                |[sent, arrived], [more_sent, more_arrived]| {
                    [
                        sent.saturating_add(more_sent),
                        arrived.saturating_add(more_arrived),
                    ]
                },
            );
            let lost = sent.saturating_sub(arrived);
            // What found no room in the receiving host the path has carried.
            (sent > 0 && self.tables.overflows == 0).then(|| lost as f64 / sent as f64 * 100.0)
        });
        LoadLoss { down, up }
    }

    fn encapsulation(&self, stream: u16) -> Encapsulation {
        match self.streams.get(&stream).map(|stream| stream.family) {
            Some(6) => Encapsulation::Ipv6,
            _ => Encapsulation::Ipv4,
        }
    }

    /// Acknowledgements of both directions' loads: they travel the other way.
    pub(super) fn acks(&self) -> Acks {
        Acks {
            down: self.acks_for("up"),
            up: self.acks_for("down"),
        }
    }

    fn acks_for(&self, direction: &str) -> Option<AckFigures> {
        if !self.is_of_tcp(direction) {
            return None;
        }
        // Segments without data that the receivers sent.
        let counted = self.grown(direction, |row| {
            row.segs_out?.checked_sub(row.data_segs_out?)
        });
        if counted.is_empty() {
            return self.modelled_acks(direction);
        }
        let rates = counted
            .into_iter()
            .map(|(id, (count, seconds))| (id, count as f64 / seconds));
        Some(self.ack_figures(rates, Basis::Counted))
    }

    fn modelled_acks(&self, direction: &str) -> Option<AckFigures> {
        let delivered = self.delivered(direction);
        let seconds = self.seconds();
        let rates = delivered.iter().filter_map(|(id, bytes)| {
            let acks = probe::acks::modelled(*bytes, SEGMENT, self.encapsulation(*id))?;
            Some((*id, acks.segments as f64 / seconds))
        });
        (!delivered.is_empty() && seconds > 0.0).then(|| self.ack_figures(rates, Basis::Modelled))
    }

    fn ack_figures(&self, rates: impl Iterator<Item = (u16, f64)>, basis: Basis) -> AckFigures {
        let basis = match basis {
            Basis::Counted => "counted",
            Basis::Modelled => "modelled",
        };
        let mut figures = AckFigures {
            basis: basis.to_owned(),
            ..AckFigures::default()
        };
        for (id, per_s) in rates {
            figures.per_s += per_s;
            let mbps =
                |encapsulation| per_s * Encapsulation::ack_octets(encapsulation) as f64 * 8e-6;
            if self.encapsulation(id) == Encapsulation::Ipv6 {
                figures.v6_mbps += mbps(Encapsulation::Ipv6);
                figures.v6_encapsulated_mbps += mbps(Encapsulation::Ipv6InIpv4);
            } else {
                figures.v4_mbps += mbps(Encapsulation::Ipv4);
            }
        }
        figures
    }

    pub(super) fn fairness(&self) -> Fairness {
        Fairness {
            down: self.jain("down"),
            up: self.jain("up"),
            like_down: self.like_over_all("down"),
            like_up: self.like_over_all("up"),
            like_100ms_down: self.like_streams("down"),
            like_100ms_up: self.like_streams("up"),
            v6_over_v4_down: self.v6_over_v4("down"),
            v6_over_v4_up: self.v6_over_v4("up"),
        }
    }

    fn jain(&self, direction: &str) -> Option<f64> {
        let delivered = self.delivered(direction);
        let shares: Vec<f64> = self
            .lasting_load(direction)
            .map(|s| delivered.get(&s.id).copied().unwrap_or_default() as f64)
            .collect();
        (shares.len() > 1).then(|| stats::jain(&shares)).flatten()
    }

    /// The mean over the classes of Jain's index of their streams.
    fn like_over_all(&self, direction: &str) -> Option<f64> {
        let delivered = self.delivered(direction);
        let mut classes: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for stream in self.lasting_load(direction) {
            let bytes = delivered.get(&stream.id).copied().unwrap_or_default();
            classes.entry(&stream.class).or_default().push(bytes as f64);
        }
        let alike = classes.values().filter(|shares| shares.len() > 1);
        let indices: Vec<f64> = alike.filter_map(|shares| stats::jain(shares)).collect();
        (!indices.is_empty()).then(|| indices.iter().sum::<f64>() / indices.len() as f64)
    }

    /// Jain's index of the streams of one class in each bin.
    fn like_streams(&self, direction: &str) -> Option<Distribution> {
        let mut bins: HashMap<(u64, &str), Vec<f64>> = HashMap::new();
        for row in self.bins(direction, true) {
            let stream = self.streams.get(&row.stream);
            let Some(stream) = stream.filter(|stream| stream.kind != "udp_load") else {
                continue;
            };
            // All streams are looked at together, so one number stands for the bin.
            let bin = row.t_ns / 100_000_000;
            let bytes = row.delivered_bytes.unwrap_or_default() as f64;
            bins.entry((bin, &*stream.class)).or_default().push(bytes);
        }
        let alike = bins.values().filter(|shares| shares.len() > 1);
        Distribution::of(alike.filter_map(|shares| stats::jain(shares)))
    }

    /// A stream's mean rate over IPv6 by that over IPv4, headers included: an IPv6 segment carries 20 octets less, and that is no
    /// unfairness (RRUL: "accounting for ACK and MTU differences").
    fn v6_over_v4(&self, direction: &str) -> Option<f64> {
        if !self.is_of_tcp(direction) {
            return None;
        }
        let mean = |family: u8| {
            let is_of_family = |stream: &Stream| stream.family == family;
            let streams = self.load(direction).filter(|s| is_of_family(s)).count();
            let payload = self.rate(direction, &is_of_family)?;
            let (segment, headers) = if family == 6 {
                (SEGMENT_V6, Encapsulation::Ipv6)
            } else {
                (SEGMENT, Encapsulation::Ipv4)
            };
            let modelled = payload * headers.ack_octets() as f64 / f64::from(segment);
            let headers = self.headers(direction, &is_of_family).unwrap_or(modelled);
            (streams > 0).then(|| (payload + headers) / streams as f64)
        };
        let ratio = mean(6)? / mean(4)?;
        ratio.is_finite().then_some(ratio)
    }

    pub(super) fn slew(&self) -> Option<Distribution> {
        let tcp = self.tables.streams.iter().filter(|stream| {
            stream.is_load() && stream.kind != "udp_load" || stream.kind == "tcp_rr"
        });
        Distribution::of(tcp.filter_map(|stream| stream.slew_ms))
    }

    pub(super) fn transferred(&self) -> Transferred {
        let total = |direction| {
            let known = self.load(direction).filter_map(|stream| stream.total_bytes);
            known.reduce(u64::saturating_add)
        };
        let loaded = |direction| {
            let delivered = self.delivered(direction);
            (!delivered.is_empty()).then(|| delivered.values().sum())
        };
        Transferred {
            down: total("down"),
            up: total("up"),
            loaded_down: loaded("down"),
            loaded_up: loaded("up"),
        }
    }
}
