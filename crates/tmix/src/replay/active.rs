//! How many connections are alive in a second, as a monitor on the link sees them.
//!
//! A connection is active from its first SYN to the first FIN or RST; one that is so for any part of a second counts for that
//! second (D, sections 4.5.5 and 5.1.4). A second is coarse: connections that come and go within it count as if they had been
//! there at once.

use super::tables::Active;
use std::collections::HashSet;
use units::FlowId;

/// What a segment says of its connection.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Signal {
    /// It has SYN: it asks for the connection, or agrees to it.
    pub syn: bool,
    /// It has FIN.
    pub fin: bool,
    /// It has RST.
    pub rst: bool,
}

/// The second at hand, and what went before.
#[derive(Debug, Default)]
pub struct Seconds {
    open: HashSet<FlowId>,
    row: Row,
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    second: u64,
    signals: [u32; 3],
    connections: u32,
}

impl Seconds {
    /// Goes on to `second`; appends those that are over to `rows`. Never goes back.
    pub fn advance(&mut self, second: u64, rows: &mut Vec<Active>) {
        while self.row.second < second {
            let [syn, fin, rst] = self.row.signals;
            rows.push(Active {
                t_ns: self.row.second * 1_000_000_000,
                syn,
                fin,
                rst,
                connections: self.row.connections,
            });
            self.row = Row {
                second: self.row.second + 1,
                signals: [0; 3],
                connections: u32::try_from(self.open.len()).unwrap_or(u32::MAX),
            };
        }
    }

    /// A segment of `connection` in the second at hand.
    pub fn enter(&mut self, connection: FlowId, signal: Signal) {
        let flags = [signal.syn, signal.fin, signal.rst];
        for (count, flag) in self.row.signals.iter_mut().zip(flags) {
            *count += u32::from(flag);
        }
        if signal.fin || signal.rst {
            self.open.remove(&connection);
        } else if signal.syn && self.open.insert(connection) {
            self.row.connections += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYN: Signal = Signal {
        syn: true,
        fin: false,
        rst: false,
    };
    const FIN: Signal = Signal {
        syn: false,
        fin: true,
        rst: false,
    };

    /// Holds tmix/active, tmix/signals.
    #[test]
    fn whoever_is_there_for_a_moment_counts_for_the_second() {
        let mut seconds = Seconds::default();
        let mut rows = Vec::new();
        seconds.enter(FlowId(1), SYN);
        seconds.enter(FlowId(1), SYN);
        seconds.enter(FlowId(2), SYN);
        seconds.enter(FlowId(2), FIN);
        seconds.enter(FlowId(2), FIN);
        seconds.advance(2, &mut rows);
        seconds.enter(FlowId(1), FIN);
        seconds.advance(4, &mut rows);
        let counts: Vec<_> = rows.iter().map(|row| row.connections).collect();
        // Two in the first second, of whom one stays until it ends in the third.
        assert_eq!(counts, [2, 1, 1, 0]);
        assert_eq!((rows[0].syn, rows[0].fin), (3, 2));
    }
}
