//! Frames on a connection: a header of 24 octets, and as many zeros as the frame has beyond it.
//!
//! | octets | meaning |
//! |---|---|
//! | 4 | octets of the frame, this header among them |
//! | 1 | stream |
//! | 1 | kind: 0 I, 1 P, 2 B |
//! | 2 | zero |
//! | 8 | number of the frame in its stream |
//! | 8 | when it was due, in nanoseconds of the sender's clock |

use super::frames::{Frame, Kind};
use units::Instant;

/// Octets of the header.
const HEADER: usize = 24;

/// The header of `frame`.
fn header(frame: &Frame) -> [u8; HEADER] {
    let mut octets = [0; HEADER];
    octets[..4].copy_from_slice(&frame.kind.octets().to_be_bytes());
    octets[4] = frame.stream;
    octets[5] = frame.kind as u8;
    octets[8..16].copy_from_slice(&frame.number.to_be_bytes());
    octets[16..].copy_from_slice(&frame.due.as_nanos().to_be_bytes());
    octets
}

/// The octets of `frame`.
pub(super) fn emit(frame: &Frame) -> Vec<u8> {
    let mut octets = header(frame).to_vec();
    octets.resize(frame.kind.octets() as usize, 0);
    octets
}

/// Reads frames from what a connection brings, however it is cut.
#[derive(Debug, Default)]
pub(super) struct Reader {
    header: Vec<u8>,
    /// The frame that is coming, and octets of it that have not come.
    coming: Option<(Frame, usize)>,
}

impl Reader {
    /// Takes octets; returns the frames that end in them.
    ///
    /// # Errors
    /// When they are no frames. Nothing that follows can be read then.
    pub(super) fn handle_octets(&mut self, mut octets: &[u8]) -> Result<Vec<Frame>, &'static str> {
        let mut frames = Vec::new();
        while !octets.is_empty() {
            let Some((_, left)) = &mut self.coming else {
                octets = self.begin(octets)?;
                continue;
            };
            let taken = (*left).min(octets.len());
            *left -= taken;
            octets = &octets[taken..];
            if *left == 0 {
                frames.extend(self.coming.take().map(|(frame, _)| frame));
            }
        }
        Ok(frames)
    }

    /// Takes what belongs to a header; returns the rest.
    fn begin<'a>(&mut self, octets: &'a [u8]) -> Result<&'a [u8], &'static str> {
        let missing = (HEADER - self.header.len()).min(octets.len());
        let (head, rest) = octets.split_at(missing);
        self.header.extend_from_slice(head);
        if self.header.len() == HEADER {
            let frame = parse(&self.header)?;
            self.header.clear();
            self.coming = Some((frame, frame.kind.octets() as usize - HEADER));
        }
        Ok(rest)
    }
}

fn parse(octets: &[u8]) -> Result<Frame, &'static str> {
    let number = |range: std::ops::Range<usize>| {
        let part = octets.get(range).unwrap_or_default();
        part.iter()
            .fold(0, |sum, octet| sum << 8 | u64::from(*octet))
    };
    let [stream, kind] = [4, 5].map(|place| octets.get(place).copied().unwrap_or_default());
    let kind = Kind::ALL.get(usize::from(kind));
    let kind = *kind.ok_or("there is no such kind of frame")?;
    if number(0..4) != u64::from(kind.octets()) {
        return Err("no frame of its kind is so long");
    }
    Ok(Frame {
        stream,
        kind,
        number: number(8..16),
        due: Instant::from_nanos(number(16..24)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frames() -> impl Strategy<Value = Vec<Frame>> {
        let frame = (any::<u8>(), 0_usize..3, any::<u64>(), any::<u64>());
        let frame = frame.prop_map(|(stream, kind, number, due)| Frame {
            stream,
            kind: Kind::ALL[kind],
            number,
            due: Instant::from_nanos(due),
        });
        prop::collection::vec(frame, 1..5)
    }

    proptest! {
        #[test]
        fn frames_arrive_however_they_are_cut(frames in frames(), cut in 1_usize..20_000) {
            let octets: Vec<u8> = frames.iter().flat_map(emit).collect();
            let mut reader = Reader::default();
            let mut arrived = Vec::new();
            for piece in octets.chunks(cut) {
                arrived.extend(reader.handle_octets(piece).unwrap());
            }
            prop_assert_eq!(arrived, frames);
        }

        #[test]
        fn no_octets_make_it_panic(octets in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = Reader::default().handle_octets(&octets);
        }
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        let frame = Frame {
            stream: 0,
            kind: Kind::B,
            number: 1,
            due: Instant::ZERO,
        };
        let mut octets = emit(&frame);
        assert_eq!(octets.len(), 2_850);
        octets[5] = 3;
        assert!(Reader::default().handle_octets(&octets).is_err());
        octets[5] = 1;
        assert!(Reader::default().handle_octets(&octets).is_err());
    }
}
