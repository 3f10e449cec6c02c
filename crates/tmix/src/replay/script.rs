//! What is played, as the far end is told: all of each vector but its start and its distance, in words that fit a line.

use super::messages::{Setup, Word};
use super::workload::{Host, Part};
use std::time::Duration;
use vectors::{Body, Loss, MAX_ADUS, Side, Transport, Turn, Vector};

/// The most connections, and the most ADUs of all of them, that one replay may have at a far end.
pub const MOST_CONNECTIONS: u64 = 1 << 18;
/// See [`MOST_CONNECTIONS`]: ADUs of all of them together.
pub const MOST_ADUS: u64 = 1 << 21;

/// The words of `part`.
pub fn words(part: &Part) -> impl Iterator<Item = Word> {
    let windows = part.vector.windows;
    let first = match &part.vector.body {
        Body::Sequential { .. } => Word::Sequential(windows),
        Body::Concurrent { tails, .. } => {
            Word::Concurrent(windows, tails.map(|tail| tail.map(super::nanos)))
        }
    };
    let adus = part.vector.body.turns().iter();
    let adus = adus.map(|turn| {
        let wait = super::nanos(turn.wait);
        Word::Adu(turn.side == Side::Acceptor, turn.bytes, wait)
    });
    std::iter::once(first).chain(adus)
}

/// What has been heard of a workload so far, and what may come.
pub struct Script {
    parts: Vec<Part>,
    connections: u64,
    adus: u64,
}

impl Script {
    /// For what `setup` announces.
    ///
    /// # Errors
    /// The reason to refuse it.
    pub fn new(setup: &Setup) -> Result<Self, String> {
        if setup.connections > MOST_CONNECTIONS || setup.adus > MOST_ADUS {
            return Err(format!(
                "{} connections with {} ADUs - a far end takes {MOST_CONNECTIONS} with {MOST_ADUS} in one replay",
                setup.connections, setup.adus
            ));
        }
        Ok(Self {
            parts: Vec::new(),
            connections: setup.connections,
            adus: setup.adus,
        })
    }

    /// Takes the next word.
    ///
    /// # Errors
    /// When it is one too many, or says what no vector does.
    pub fn take(&mut self, word: Word) -> Result<(), String> {
        let body = match word {
            Word::Adu(is_acceptors, bytes, wait) => return self.adu(is_acceptors, bytes, wait),
            Word::Sequential(_) => Body::Sequential {
                turns: Vec::new(),
                tail: None,
            },
            Word::Concurrent(_, tails) => Body::Concurrent {
                turns: Vec::new(),
                tails: tails.map(|tail| tail.map(Duration::from_nanos)),
            },
        };
        let (Word::Sequential(windows) | Word::Concurrent(windows, _)) = word else {
            return Ok(());
        };
        let left = self.connections.checked_sub(1);
        self.connections = left.ok_or("more connections than were announced")?;
        self.parts.push(Part {
            vector: vector(windows, body),
            initiator: Host::Client,
            was_sequential: true,
        });
        Ok(())
    }

    fn adu(&mut self, is_acceptors: bool, bytes: u64, wait: u64) -> Result<(), String> {
        let left = self.adus.checked_sub(1);
        self.adus = left.ok_or("more ADUs than were announced")?;
        let part = self.parts.last_mut().ok_or("an ADU of no connection")?;
        let (Body::Sequential { turns, .. } | Body::Concurrent { turns, .. }) =
            &mut part.vector.body;
        if bytes == 0 || turns.len() >= MAX_ADUS {
            return Err("an ADU of nothing, or one too many".to_owned());
        }
        turns.push(Turn {
            side: Side::BOTH[usize::from(is_acceptors)],
            bytes,
            wait: Duration::from_nanos(wait),
        });
        Ok(())
    }

    /// All that was announced.
    ///
    /// # Errors
    /// When something is missing.
    pub fn finish(self) -> Result<Vec<Part>, String> {
        if self.connections > 0 || self.adus > 0 {
            return Err("fewer connections or ADUs than were announced".to_owned());
        }
        Ok(self.parts)
    }
}

const fn vector(windows: [u32; 2], body: Body) -> Vector {
    Vector {
        transport: Transport::Tcp,
        start: Duration::ZERO,
        ids: [0; 2],
        windows,
        min_rtt: None,
        loss: [Loss::NONE; 2],
        mss: None,
        body,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn setup(connections: u64, adus: u64) -> Setup {
        Setup {
            connections,
            adus,
            open: 1,
            duration_ns: None,
            congestion_control: None,
        }
    }

    fn part(concurrent: bool, turns: Vec<Turn>) -> Part {
        let body = if concurrent {
            let tails = [Some(Duration::from_millis(3)), None];
            Body::Concurrent { turns, tails }
        } else {
            Body::Sequential { turns, tail: None }
        };
        Part {
            vector: vector([1_000, 70_000], body),
            initiator: Host::Client,
            was_sequential: true,
        }
    }

    proptest! {
        #[test]
        fn what_is_told_is_what_is_heard(
            parts in prop::collection::vec(
                (any::<bool>(), prop::collection::vec((any::<bool>(), 1_u64.., any::<u32>()), 0..9)),
                0..9,
            )
        ) {
            let turn = |(acceptor, bytes, wait_us): (bool, u64, u32)| Turn {
                side: Side::BOTH[usize::from(acceptor)],
                bytes,
                wait: Duration::from_micros(wait_us.into()),
            };
            let parts: Vec<Part> = parts
                .into_iter()
                .map(|(concurrent, turns)| part(concurrent, turns.into_iter().map(turn).collect()))
                .collect();
            let adus: usize = parts.iter().map(|part| part.vector.body.turns().len()).sum();
            let mut script = Script::new(&setup(parts.len() as u64, adus as u64)).unwrap();
            for word in parts.iter().flat_map(words) {
                let line = serde_json::to_string(&word).unwrap();
                script.take(serde_json::from_str(&line).unwrap()).unwrap();
            }
            let heard = script.finish().unwrap();
            let vectors = |parts: &[Part]| parts.iter().map(|part| part.vector.clone()).collect::<Vec<_>>();
            prop_assert_eq!(vectors(&heard), vectors(&parts));
        }
    }

    #[test]
    fn what_was_not_announced_is_refused() {
        assert!(Script::new(&setup(MOST_CONNECTIONS + 1, 0)).is_err());
        assert!(Script::new(&setup(0, MOST_ADUS + 1)).is_err());
        let mut script = Script::new(&setup(1, 1)).unwrap();
        assert!(script.take(Word::Adu(false, 1, 0)).is_err(), "of nobody");
        let mut script = Script::new(&setup(1, 2)).unwrap();
        script.take(Word::Sequential([1; 2])).unwrap();
        assert!(script.take(Word::Sequential([1; 2])).is_err());
        assert!(script.take(Word::Adu(false, 0, 0)).is_err());
        assert!(script.finish().is_err(), "an ADU is missing");
    }
}
