//! The findings of a run as rows of its record, and in memory for the summary.

use super::by_number::ByNumber;
use super::log::{Passed, Row, Sink, What};
use super::plan::{Plan, Round, Tool};
use super::results::{Outcome, Quality, ReceiverResult, SenderResult};
use super::tables::{EventRow, RoundTrip, SegmentRow, Transfer, WindowRow};
use kit::lab_counters::{LabCounters, LabRows};
use kit::thinned::Thinned;
use lab::Network;
use record::{Record, RecordWriter};
use schema::Direction;
use schema::LinkTruth;
use schema::tables::{Cpu, Queue};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// So many rows take a few hundred kilobytes.
const HEAVY: usize = 4_096;

/// Rows from all threads of this end.
#[derive(Default)]
pub struct Inbox(Mutex<Vec<Row>>);

impl Sink for Inbox {
    fn take(&self, rows: &mut Vec<Row>) {
        let mut inbox = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inbox.append(rows);
    }
}

impl kit::sampler::Sink for &Inbox {
    fn series(&self, _: schema::tables::Series) {}

    fn cpu(&self, row: Cpu) {
        self.take(&mut vec![Row::Cpu(row)]);
    }

    fn ended(&self, _: kit::sampler::StreamEnd) {}
}

impl Inbox {
    /// Whether more rows wait than stay near the processor.
    pub(crate) fn is_heavy(&self) -> bool {
        let inbox = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inbox.len() >= HEAVY
    }

    /// Exchanges all that has come for `rows`, whose memory takes what comes next.
    fn swap(&self, rows: &mut Vec<Row>) {
        let mut inbox = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *inbox, rows);
    }
}

/// What is known of a run.
#[derive(Default)]
pub struct Findings {
    /// Transfers that are over, in their order.
    pub transfers: Vec<Transfer>,
    /// How busy both hosts were, one row for each sample.
    pub cpu: Vec<Cpu>,
    /// Round trips of our transfers, in milliseconds.
    pub rtt_ms: Thinned,
    /// How good the instrument was at the ends of each transfer.
    pub quality: Vec<Ends>,
    /// Whether ICMP errors quoted so little that packets had to be known by their ports.
    pub is_by_port: bool,
    lab: Option<LabCounters>,
    lab_rows: LabRows,
    windows: Vec<WindowRow>,
    round_trips: Vec<RoundTrip>,
    events: Vec<EventRow>,
    segments: Vec<SegmentRow>,
    /// By transfer: at its receiving end, and at its sending end.
    numbers: Vec<[Numbers; 2]>,
    written: [usize; 2],
    /// Empty; the memory of what an inbox held.
    spare: Vec<Row>,
}

/// The quality of one transfer at its two ends.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    /// At the end that sent the data.
    pub sender: Quality,
    /// At the end that received it; empty when its counters are missing.
    pub receiver: Quality,
}

/// What has passed an end of a transfer so far.
#[derive(Default)]
struct Numbers {
    /// The latest number, not wrapped.
    latest: u64,
    /// How often each segment has passed.
    copies: ByNumber<u32>,
    /// The segment of each packet, by the counters in their identifiers.
    packets: ByNumber<u64>,
}

impl Findings {
    /// Nothing yet, of a run in `lab`.
    pub fn new(lab: Option<LabCounters>) -> Self {
        Self {
            lab,
            ..Self::default()
        }
    }

    /// Those of a record.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(record: &Record) -> Result<Self, record::Error> {
        let mut findings = Self {
            transfers: record.rows()?,
            cpu: record.rows()?,
            ..Self::default()
        };
        let kernels: Vec<u16> = findings
            .transfers
            .iter()
            .filter(|transfer| transfer.tool == "kernel")
            .map(|transfer| transfer.transfer)
            .collect();
        for row in record.rows::<RoundTrip>()? {
            if !kernels.contains(&row.transfer) {
                findings.rtt_ms.add(row.rtt_ns as f64 / 1e6);
            }
        }
        Ok(findings)
    }

    /// Takes all that has come to `inbox`; `first_seq` is the number that all transfers begin with.
    pub fn collect(&mut self, inbox: &Inbox, first_seq: u32) {
        let mut rows = std::mem::take(&mut self.spare);
        inbox.swap(&mut rows);
        for row in rows.drain(..) {
            self.take(row, first_seq);
        }
        self.spare = rows;
    }

    /// Takes a row of either end; `first_seq` is the number that all transfers begin with.
    pub fn take(&mut self, row: Row, first_seq: u32) {
        match row {
            Row::Cpu(row) => self.cpu.push(row),
            Row::Event(row) => self.events.push(row),
            Row::Passed(passed) => {
                let place = usize::from(passed.transfer);
                if self.numbers.len() <= place {
                    self.numbers.resize_with(place + 1, Default::default);
                }
                let numbers = &mut self.numbers[place][usize::from(passed.at_sender)];
                self.segments.push(numbers.row(&passed, first_seq));
            }
            Row::RoundTrip(row) => {
                self.rtt_ms.add(row.rtt_ns as f64 / 1e6);
                self.round_trips.push(row);
            }
            Row::Window(row) => self.windows.push(row),
        }
    }

    /// What the links of an emulated network have dropped so far on the way of the data; none where a link's own cross traffic may be
    /// among it.
    pub fn dropped(&self, network: &Network, direction: Direction) -> Option<u64> {
        let topology = network.topology();
        let servers = topology.servers();
        let mut way = servers
            .first()
            .map(|server| topology.way_to(server))
            .unwrap_or_default();
        if direction == Direction::Down {
            way.reverse();
        }
        let met = |hop: &[&str]| topology.direction(hop[0], hop[1]);
        let mut stages = way.windows(2).filter_map(met).flat_map(|(_, spec)| &spec.0);
        if stages.any(|stage| stage.cross().is_some()) {
            return None;
        }
        let is_on_it = |link: &LinkTruth| {
            way.windows(2).any(|hop| match &*link.direction {
                "up" => link.link == format!("{}-{}", hop[0], hop[1]),
                _ => link.link == format!("{}-{}", hop[1], hop[0]),
            })
        };
        let links = self.truth();
        let links = links.iter().filter(|link| is_on_it(link));
        let dropped =
            |link: &LinkTruth| link.dropped_overflow + link.dropped_aqm + link.dropped_loss;
        Some(links.map(dropped).sum())
    }

    /// A transfer is over: what its two ends have to say of it.
    pub fn conclude(
        &mut self,
        plan: &Plan,
        round: &Round,
        sender: SenderResult,
        receiver: Option<ReceiverResult>,
    ) {
        self.transfers
            .push(transfer(plan, round, &sender, receiver.as_ref()));
        if let Some(numbers) = self.numbers.get_mut(usize::from(sender.id)) {
            *numbers = Default::default();
        }
        self.quality.push(Ends {
            sender: sender.quality,
            receiver: receiver
                .map(|counters| counters.quality)
                .unwrap_or_default(),
        });
    }

    /// Takes the counters of the emulated network.
    pub fn take_lab(&mut self, network: &Network) {
        if let Some(lab) = &mut self.lab {
            lab.take(network, &mut self.lab_rows);
        }
    }

    /// Takes how the queues of simulated links stand.
    pub fn take_queues(&mut self, rows: Vec<Queue>) {
        self.lab_rows.queue.extend(rows);
    }

    /// The counters of the emulated network, where there was one.
    pub fn truth(&self) -> Vec<LinkTruth> {
        self.lab
            .as_ref()
            .map(LabCounters::truth)
            .unwrap_or_default()
    }

    /// Writes what is new to `record`.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn write(&mut self, record: &mut RecordWriter) -> Result<(), record::Error> {
        let [transfers, cpu] = self.written;
        record.append(&self.transfers[transfers..])?;
        record.append(&self.cpu[cpu..])?;
        self.written = [self.transfers.len(), self.cpu.len()];
        append(record, &mut self.windows)?;
        append(record, &mut self.round_trips)?;
        append(record, &mut self.events)?;
        append(record, &mut self.segments)?;
        let rows = std::mem::take(&mut self.lab_rows);
        record.append(&rows.queue)?;
        record.append(&rows.counters)?;
        record.append(&rows.packets)?;
        record.flush()
    }
}

/// Writes `rows`, whose memory takes the next ones.
fn append<R: record::Row>(
    record: &mut RecordWriter,
    rows: &mut Vec<R>,
) -> Result<(), record::Error> {
    let written = record.append(rows);
    rows.clear();
    written
}

/// Packets that left and did not arrive; without the receiver's counters, what was sent again.
///
/// Of a burst that comes by a TUN interface the kernel's TCP counts one. But a transfer that is complete has repaired every loss, so
/// no more was lost than was sent again.
fn lost(tool: Tool, sender: &SenderResult, receiver: Option<&ReceiverResult>) -> u64 {
    let Some(receiver) = receiver else {
        return sender.retransmits;
    };
    if let Some(dropped) = receiver.dropped {
        return dropped.min(sender.sent_packets);
    }
    let missing = sender.sent_packets.saturating_sub(receiver.packets);
    let is_repaired = tool == Tool::Kernel && sender.outcome == Outcome::Complete;
    missing.min(if is_repaired {
        sender.retransmits
    } else {
        u64::MAX
    })
}

fn transfer(
    plan: &Plan,
    round: &Round,
    sender: &SenderResult,
    receiver: Option<&ReceiverResult>,
) -> Transfer {
    let lost = lost(round.tool, sender, receiver);
    let is_true = !matches!(
        sender.outcome,
        Outcome::Lied | Outcome::Limited | Outcome::Failed
    );
    // The kernel's TCP keeps these to itself.
    let receiver = receiver.filter(|_| round.tool == Tool::Ours);
    let told = |figure: u64| (round.tool == Tool::Ours).then_some(figure);
    let rate = |seconds: f64| sender.bytes as f64 * 8e-6 / seconds;
    Transfer {
        transfer: sender.id,
        tool: plan.label(round.tool).into(),
        repeat: round.repeat,
        direction: plan.direction.label().into(),
        start_ns: sender.start_ns.unwrap_or_default(),
        seconds: sender.seconds,
        end_ns: sender.start_ns.zip(sender.seconds).map(end),
        segments: sender.segments,
        bytes: sender.bytes,
        throughput_mbps: sender.seconds.filter(|s| is_true && *s > 0.0).map(rate),
        sent_packets: sender.sent_packets,
        retransmits: sender.retransmits,
        lost,
        loss_pct: (sender.sent_packets > 0)
            .then(|| lost as f64 / sender.sent_packets as f64 * 100.0),
        reordered: receiver.map(|counters| counters.reordered),
        duplicates: receiver.map(|counters| counters.duplicates),
        timeouts: told(sender.timeouts),
        recoveries: told(sender.recoveries),
        marked: receiver.map(|counters| counters.marked),
        violations: told(sender.violations),
        cc: sender.cc.clone().into(),
        outcome: sender.outcome.label().into(),
        reason: sender.reason.clone(),
        reordered_by_3: receiver.and_then(|counters| counters.reordered_by_3),
        most_overtaking: receiver.and_then(|counters| counters.most_overtaking),
        multiple_losses: sender.multiple_losses,
        lost_windows: sender.lost_windows,
        largest_flight: sender.largest_flight,
        interface_dropped: sender.quality.interface_dropped,
    }
}

/// When a transfer was over that began at `start_ns` and took so long.
fn end((start_ns, seconds): (u64, f64)) -> u64 {
    let took = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    start_ns.saturating_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX))
}

impl Numbers {
    fn row(&mut self, passed: &Passed, first_seq: u32) -> SegmentRow {
        let mut row = SegmentRow {
            t_ns: passed.t_ns,
            transfer: passed.transfer,
            end: if passed.at_sender {
                "sender"
            } else {
                "receiver"
            }
            .into(),
            ecn: passed.ecn,
            ..SegmentRow::default()
        };
        match passed.what {
            What::Data {
                id,
                seq,
                len,
                probe,
            } => {
                row.kind = if probe { "probe" } else { "data" }.into();
                row.seq = self.unwrap(seq.wrapping_sub(first_seq));
                (row.id, row.len) = (id, len.into());
                let copies = self.copies.at(row.seq);
                row.copy = *copies;
                *copies += 1;
                *self.packets.at(counter(id)) = row.seq;
            }
            What::Answer { id } => {
                row.kind = "icmp".into();
                row.id = id;
                row.seq = self.packets.get(counter(id));
            }
            What::Ack {
                id,
                ack,
                window,
                blocks,
            } => {
                row.kind = "ack".into();
                row.id = id;
                row.seq = self.packets.get(counter(id));
                row.ack = Some(self.unwrap(ack.wrapping_sub(first_seq)));
                row.window = Some(window);
                let block = |[first, end]: [u32; 2]| {
                    let first = self.unwrap(first.wrapping_sub(first_seq));
                    let last = self.unwrap(end.wrapping_sub(first_seq).wrapping_sub(1));
                    format!("{first}-{last}")
                };
                let blocks = blocks.into_iter().filter(|[first, end]| first != end);
                row.sack = blocks.map(block).collect::<Vec<_>>().join(" ");
            }
        }
        if let What::Data { probe: false, .. } = passed.what {
            self.latest = self.latest.max(row.seq);
        }
        row
    }

    /// The number nearest to the latest one of which `wrapped` are the lower bits.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the lower bits are what is wanted"
    )]
    fn unwrap(&self, wrapped: u32) -> u64 {
        let offset = wrapped.wrapping_sub(self.latest as u32).cast_signed();
        self.latest.saturating_add_signed(offset.into())
    }
}

/// How many packets were named before `id` ([`transport::PacketId`]), modulo 2^32.
const fn counter(id: u64) -> u64 {
    id >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The identifier of the packet with `counter`.
    fn name(counter: u64) -> u64 {
        counter << 32 | 0x5eed
    }

    fn data(seq: u32, id: u64) -> Passed {
        Passed {
            t_ns: 0,
            transfer: 0,
            at_sender: true,
            ecn: 0,
            what: What::Data {
                id: name(id),
                seq,
                len: 1_448,
                probe: false,
            },
        }
    }

    #[test]
    fn numbers_go_on_past_the_wrap_and_copies_are_counted() {
        let mut numbers = Numbers::default();
        let first = u32::MAX - 1;
        let rows: Vec<_> = [(first, 1), (u32::MAX, 2), (0, 3), (u32::MAX, 4), (1, 5)]
            .into_iter()
            .map(|(seq, id)| numbers.row(&data(seq, id), first))
            .map(|row| (row.seq, row.copy))
            .collect();
        assert_eq!(rows, [(0, 0), (1, 0), (2, 0), (1, 1), (3, 0)]);
        let ack = Passed {
            what: What::Ack {
                id: name(5),
                ack: u32::MAX,
                window: 7,
                blocks: [[0, 2], [0, 0], [0, 0], [0, 0]],
            },
            ..data(0, 0)
        };
        let row = numbers.row(&ack, first);
        assert_eq!((row.seq, row.ack, row.sack.as_str()), (3, Some(1), "2-3"));
    }

    /// Holds btc/definition, btc/directions.
    #[test]
    fn what_is_lost_is_what_left_and_did_not_arrive() {
        let plan = serde_json::json!({
            "mode": "cooperative", "direction": "up", "limit": { "segments": 5 }, "parallel": 1, "repeat": 1,
            "compare": false, "options": {}, "class": "CS0", "patience": "30s", "seed": 1
        });
        let plan: Plan = serde_json::from_value(plan).unwrap();
        let sender = SenderResult {
            start_ns: Some(500_000_000),
            seconds: Some(2.0),
            bytes: 1_000_000,
            sent_packets: 200,
            retransmits: 9,
            outcome: Outcome::Complete,
            ..SenderResult::default()
        };
        let receiver = ReceiverResult {
            packets: 198,
            ..ReceiverResult::default()
        };
        let round = &plan.rounds()[0];
        let row = transfer(&plan, round, &sender, Some(&receiver));
        assert_eq!((row.lost, row.loss_pct), (2, Some(1.0)));
        assert_eq!(row.throughput_mbps, Some(4.0));
        assert_eq!(
            (row.start_ns, row.end_ns),
            (500_000_000, Some(2_500_000_000))
        );
        // A kernel that took bursts for one packet each lost no more than was sent again.
        let few = ReceiverResult {
            packets: 150,
            ..receiver
        };
        assert_eq!(lost(Tool::Ours, &sender, Some(&few)), 50);
        assert_eq!(lost(Tool::Kernel, &sender, Some(&few)), 9);
        let cut = SenderResult {
            outcome: Outcome::Stalled,
            ..sender.clone()
        };
        assert_eq!(lost(Tool::Kernel, &cut, Some(&few)), 50);
        // Without the receiver's counters the sender's guess has to do; a liar's figures are none.
        let sender = SenderResult {
            outcome: Outcome::Lied,
            ..sender
        };
        let row = transfer(&plan, round, &sender, None);
        assert_eq!((row.lost, row.throughput_mbps), (9, None));
    }
}
