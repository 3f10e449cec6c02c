//! Vectors as rows of a table: one for each ADU, with its connection's figures beside it.
//!
//! Columns that say the same in every row of a connection cost next to nothing in Parquet, and one table in one file is
//! what every reader of Parquet can group by connection.

use anyhow::{Context, bail};
use record::{Label, table};
use std::time::Duration;
use vectors::extract::Extracted;
use vectors::{Body, Loss, MAX_ADUS, Side, Transport, Vector};

table! {
    /// One ADU of a connection vector, with the figures of its connection.
    pub struct Turn in "vectors" {
        /// Number of the connection in the file, from 0; its rows follow each other.
        vector: u64,
        /// When the connection began, from the beginning of the trace.
        start_ns: u64 => "ns",
        /// `tcp` or `udp`.
        transport: Label,
        /// `sequential` or `concurrent`; of a flow of UDP, an exchange or an isochronous one.
        kind: Label,
        /// Number of the ADU in the connection, from 0, by when it began.
        adu: u32,
        /// Who sent it: `initiator` or `acceptor`.
        side: Label,
        /// Its size.
        adu_bytes: u64 => "bytes",
        /// Time since the end of the ADU before it; in a concurrent connection, of the one of the same end before it; for the first, since the connection was established.
        wait_ns: u64 => "ns",
        /// From its end to the close of the connection (of this end, in a concurrent one), for the last ADU; null for others, and when no close was seen.
        tail_ns: Option<u64> => "ns",
        /// Shortest round trip over the whole path; null when unknown.
        min_rtt_ns: Option<u64> => "ns",
        /// The half of it between the monitor and the initiator.
        rtt_initiator_ns: Option<u64> => "ns",
        /// The half of it between the monitor and the acceptor.
        rtt_acceptor_ns: Option<u64> => "ns",
        /// Largest receive window that the initiator advertised, scaled.
        window_initiator_bytes: u32 => "bytes",
        /// Largest receive window that the acceptor advertised, scaled.
        window_acceptor_bytes: u32 => "bytes",
        /// Segments lost of those that the initiator sent.
        loss_initiator: f64,
        /// Segments lost of those that the acceptor sent.
        loss_acceptor: f64,
        /// Largest segment that the initiator sends; null when a SYN was not seen.
        mss_initiator_bytes: Option<u32> => "bytes",
        /// Largest segment that the acceptor sends; null when a SYN was not seen.
        mss_acceptor_bytes: Option<u32> => "bytes",
        /// First number of the connection in the file it came from; 0 for a capture.
        id_first: u64,
        /// Second number of the connection in the file it came from; 0 for a capture.
        id_second: u64,
        /// Whether SYN and FIN or RST were seen; null when the vector is from no capture, as all below.
        complete: Option<bool>,
        /// Address and port of the initiator.
        initiator: Option<String>,
        /// Address and port of the acceptor.
        acceptor: Option<String>,
        /// Whether a SYN told who is who; else the ports did, or who was seen first.
        initiator_known: Option<bool>,
        /// From the first packet to the last.
        duration_ns: Option<u64> => "ns",
        /// Packets of the initiator.
        packets_initiator: Option<u64> => "packets",
        /// Packets of the acceptor.
        packets_acceptor: Option<u64> => "packets",
        /// Octets of the initiator's packets, IP headers included.
        bytes_initiator: Option<u64> => "bytes",
        /// Octets of the acceptor's packets, IP headers included.
        bytes_acceptor: Option<u64> => "bytes",
        /// Data of the initiator that must have been sent and is not in the capture.
        unseen_initiator_bytes: Option<u64> => "bytes",
        /// Data of the acceptor that must have been sent and is not in the capture.
        unseen_acceptor_bytes: Option<u64> => "bytes",
    }
}

table! {
    /// What of [`Turn`] a vector is made of: the other columns are not read.
    pub(super) struct Said in "vectors" {
        /// As in [`Turn`], like all.
        vector: u64,
        /// .
        start_ns: u64 => "ns",
        /// .
        transport: Label,
        /// .
        kind: Label,
        /// .
        side: Label,
        /// .
        adu_bytes: u64 => "bytes",
        /// .
        wait_ns: u64 => "ns",
        /// .
        tail_ns: Option<u64> => "ns",
        /// .
        min_rtt_ns: Option<u64> => "ns",
        /// .
        window_initiator_bytes: u32 => "bytes",
        /// .
        window_acceptor_bytes: u32 => "bytes",
        /// .
        loss_initiator: f64,
        /// .
        loss_acceptor: f64,
        /// .
        mss_initiator_bytes: Option<u32> => "bytes",
        /// .
        mss_acceptor_bytes: Option<u32> => "bytes",
        /// .
        id_first: u64,
        /// .
        id_second: u64,
        /// .
        complete: Option<bool>,
    }
}

table! {
    /// What of [`Turn`] tells how its connection begins.
    pub(super) struct Beginning in "vectors" {
        /// As in [`Turn`], like all.
        vector: u64,
        /// .
        start_ns: u64 => "ns",
        /// .
        transport: Label,
        /// .
        min_rtt_ns: Option<u64> => "ns",
    }
}

const KINDS: [&str; 2] = ["sequential", "concurrent"];
const TRANSPORTS: [&str; 2] = ["tcp", "udp"];
const SIDES: [&str; 2] = ["initiator", "acceptor"];

impl Turn {
    /// The rows of a connection of a capture, one by one.
    pub fn of_extracted(
        number: u64,
        extracted: &Extracted,
    ) -> impl Iterator<Item = Self> + use<'_> {
        let seen = &extracted.seen;
        let [initiator, acceptor] = seen.ends.map(|end| end.to_string());
        let [rtt_acceptor_ns, rtt_initiator_ns] = seen.half_rtt.map(|half| half.map(nanos));
        Self::of(number, &extracted.vector).map(move |row| Self {
            rtt_initiator_ns,
            rtt_acceptor_ns,
            complete: Some(seen.complete),
            initiator: Some(initiator.clone()),
            acceptor: Some(acceptor.clone()),
            initiator_known: Some(seen.initiator_known),
            duration_ns: Some(nanos(seen.duration)),
            packets_initiator: Some(seen.packets[0]),
            packets_acceptor: Some(seen.packets[1]),
            bytes_initiator: Some(seen.bytes[0]),
            bytes_acceptor: Some(seen.bytes[1]),
            unseen_initiator_bytes: Some(seen.unseen[0]),
            unseen_acceptor_bytes: Some(seen.unseen[1]),
            ..row
        })
    }

    /// The rows of a vector, one by one: there may be a million of them.
    pub fn of(number: u64, vector: &Vector) -> impl Iterator<Item = Self> + use<'_> {
        let turns = vector.body.turns();
        let tails = tails(&vector.body);
        turns.iter().zip(0..).map(move |(turn, at)| Self {
            vector: number,
            start_ns: nanos(vector.start),
            transport: TRANSPORTS[vector.transport as usize].into(),
            kind: KINDS[usize::from(!vector.body.is_sequential())].into(),
            adu: at,
            side: SIDES[turn.side.index()].into(),
            adu_bytes: turn.bytes,
            wait_ns: nanos(turn.wait),
            tail_ns: tails
                .iter()
                .find(|(last, _)| *last == at)
                .and_then(|(_, tail)| tail.map(nanos)),
            min_rtt_ns: vector.min_rtt.map(nanos),
            rtt_initiator_ns: None,
            rtt_acceptor_ns: None,
            window_initiator_bytes: vector.windows[0],
            window_acceptor_bytes: vector.windows[1],
            loss_initiator: vector.loss[0].share(),
            loss_acceptor: vector.loss[1].share(),
            mss_initiator_bytes: vector.mss.map(|mss| mss[0]),
            mss_acceptor_bytes: vector.mss.map(|mss| mss[1]),
            id_first: vector.ids[0],
            id_second: vector.ids[1],
            complete: None,
            initiator: None,
            acceptor: None,
            initiator_known: None,
            duration_ns: None,
            packets_initiator: None,
            packets_acceptor: None,
            bytes_initiator: None,
            bytes_acceptor: None,
            unseen_initiator_bytes: None,
            unseen_acceptor_bytes: None,
        })
    }
}

/// A vector that is put together row by row.
pub(super) struct Gathering {
    number: u64,
    /// Whether a capture showed its beginning and its end; unknown of a vector that is from none.
    pub complete: Option<bool>,
    /// Without what the ends said.
    shell: Vector,
    turns: Vec<vectors::Turn>,
    tail: Option<Duration>,
    tails: [Option<Duration>; 2],
}

impl Gathering {
    /// Begins with the first row.
    pub(super) fn new(first: &Said) -> anyhow::Result<Self> {
        let body = match first.kind.as_ref() {
            "sequential" => Body::Sequential {
                turns: Vec::new(),
                tail: None,
            },
            "concurrent" => Body::Concurrent {
                turns: Vec::new(),
                tails: [None; 2],
            },
            other => bail!("vector {} is of the kind '{other}'", first.vector),
        };
        let mss = first.mss_initiator_bytes.zip(first.mss_acceptor_bytes);
        let shell = Vector {
            transport: transport(first.vector, &first.transport)?,
            start: Duration::from_nanos(first.start_ns),
            ids: [first.id_first, first.id_second],
            windows: [first.window_initiator_bytes, first.window_acceptor_bytes],
            min_rtt: first.min_rtt_ns.map(Duration::from_nanos),
            loss: [loss(first.loss_initiator)?, loss(first.loss_acceptor)?],
            mss: mss.map(|(initiator, acceptor)| [initiator, acceptor]),
            body,
        };
        let mut gathering = Self {
            number: first.vector,
            complete: first.complete,
            shell,
            turns: Vec::new(),
            tail: None,
            tails: [None; 2],
        };
        gathering.add(first)?;
        Ok(gathering)
    }

    /// Whether a row belongs to this vector.
    pub(super) const fn holds(&self, row: &Said) -> bool {
        row.vector == self.number
    }

    /// Adds the next row of this vector.
    pub(super) fn add(&mut self, row: &Said) -> anyhow::Result<()> {
        let side = match row.side.as_ref() {
            "initiator" => Side::Initiator,
            "acceptor" => Side::Acceptor,
            other => bail!("an ADU of vector {} was sent by '{other}'", row.vector),
        };
        if row.adu_bytes == 0 {
            bail!("vector {} has an ADU of no octets", row.vector);
        }
        if self.turns.len() >= MAX_ADUS {
            bail!("vector {} has more than {MAX_ADUS} ADUs", row.vector);
        }
        self.tail = row.tail_ns.map(Duration::from_nanos);
        self.tails[side.index()] = self.tail;
        self.turns.push(vectors::Turn {
            side,
            bytes: row.adu_bytes,
            wait: Duration::from_nanos(row.wait_ns),
        });
        Ok(())
    }

    /// The whole vector.
    pub(super) fn finish(self) -> Vector {
        let body = match self.shell.body {
            Body::Sequential { .. } => Body::Sequential {
                turns: self.turns,
                tail: self.tail,
            },
            Body::Concurrent { .. } => Body::Concurrent {
                turns: self.turns,
                tails: self.tails,
            },
        };
        Vector { body, ..self.shell }
    }
}

/// The last ADU of a sequential connection, or of each end of a concurrent one, and the time until the close.
fn tails(body: &Body) -> Vec<(u32, Option<Duration>)> {
    let number = |at: Option<usize>| at.and_then(|at| u32::try_from(at).ok());
    match body {
        Body::Sequential { turns, tail } => {
            let last = number(turns.len().checked_sub(1));
            last.map(|last| (last, *tail)).into_iter().collect()
        }
        Body::Concurrent { turns, tails } => {
            let last = |side| number(turns.iter().rposition(|turn| turn.side == side));
            let tails = Side::BOTH.map(|side| last(side).map(|last| (last, tails[side.index()])));
            tails.into_iter().flatten().collect()
        }
    }
}

/// The transport that the rows of vector `number` name.
pub(super) fn transport(number: u64, name: &str) -> anyhow::Result<Transport> {
    match name {
        "tcp" => Ok(Transport::Tcp),
        "udp" => Ok(Transport::Udp),
        other => bail!("vector {number} was carried by '{other}'"),
    }
}

fn loss(share: f64) -> anyhow::Result<Loss> {
    Loss::from_share(share).with_context(|| format!("{share} is no share of lost segments"))
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Row;

    fn turn(side: Side, bytes: u64, wait_ms: u64) -> vectors::Turn {
        vectors::Turn {
            side,
            bytes,
            wait: Duration::from_millis(wait_ms),
        }
    }

    fn gathered(rows: &[Turn]) -> anyhow::Result<Vector> {
        let rows = Said::from_batch(&Turn::batch(rows)?)?;
        let mut gathering = Gathering::new(&rows[0])?;
        for row in &rows[1..] {
            gathering.add(row)?;
        }
        Ok(gathering.finish())
    }

    fn vector(body: Body) -> Vector {
        Vector {
            transport: Transport::Tcp,
            start: Duration::from_nanos(1_234_567_891),
            ids: [3, 4],
            windows: [65_535, 1 << 20],
            min_rtt: Some(Duration::from_micros(40_001)),
            loss: [Loss::from_millionths(157_901), Loss::NONE],
            mss: Some([1_460, 536]),
            body,
        }
    }

    #[test]
    fn what_became_rows_becomes_the_vector_again() {
        let one = vec![
            turn(Side::Initiator, 10, 5),
            turn(Side::Acceptor, 20, 0),
            turn(Side::Acceptor, 30, 600),
        ];
        let tail = Some(Duration::from_millis(7));
        for body in [
            Body::Sequential {
                turns: one.clone(),
                tail,
            },
            Body::Sequential {
                turns: one.clone(),
                tail: None,
            },
            Body::Concurrent {
                turns: one.clone(),
                tails: [tail, None],
            },
            Body::Concurrent {
                turns: one[1..].to_vec(),
                tails: [None, tail],
            },
        ] {
            for transport in [Transport::Tcp, Transport::Udp] {
                let vector = Vector {
                    transport,
                    ..vector(body.clone())
                };
                let rows: Vec<_> = Turn::of(8, &vector).collect();
                assert_eq!(gathered(&rows).unwrap(), vector);
            }
        }
    }

    #[test]
    fn every_column_is_documented_in_its_order() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/output.md");
        let document = std::fs::read_to_string(path).unwrap();
        let (_, section) = document.split_once("\n### vectors\n").unwrap();
        let section = section.split("\n#").next().unwrap_or_default();
        let names = section
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
        let fields = Turn::fields();
        let columns = fields.iter().map(|field| field.name().as_str());
        assert!(names.map(|(name, _)| name).eq(columns));
    }

    #[test]
    fn rows_that_say_something_else_are_refused() {
        let body = Body::Sequential {
            turns: vec![turn(Side::Initiator, 10, 5)],
            tail: None,
        };
        let rows: Vec<_> = Turn::of(8, &vector(body)).collect();
        let changed = |change: fn(&mut Turn)| {
            let mut rows = rows.clone();
            change(&mut rows[0]);
            gathered(&rows).unwrap_err().to_string()
        };
        assert_eq!(
            changed(|row| row.side = "both".into()),
            "an ADU of vector 8 was sent by 'both'"
        );
        assert_eq!(
            changed(|row| row.transport = "sctp".into()),
            "vector 8 was carried by 'sctp'"
        );
        assert_eq!(
            changed(|row| row.adu_bytes = 0),
            "vector 8 has an ADU of no octets"
        );
        assert_eq!(
            changed(|row| row.loss_acceptor = f64::NAN),
            "NaN is no share of lost segments"
        );
        assert_eq!(
            changed(|row| row.kind = "x".into()),
            "vector 8 is of the kind 'x'"
        );
    }
}
