//! Connections, found in some of the shares of a capture.

use super::reading::Batch;
use std::sync::mpsc::{Receiver, Sender, SyncSender};
use std::time::Duration;
use vectors::extract::{Counters, Extracted, Extractor, Options};

/// Connections that go to the collector at once when the capture has ended.
const LEFT: usize = 1_024;

/// What a worker tells.
pub(super) enum Message {
    /// What ended in a batch, in the order of last packets, and the most connections and flows that were open in it.
    Batch(Vec<Extracted>, [usize; 2]),
    /// What was open when the capture ended; first of all nothing, to say so.
    Left(Vec<Extracted>),
}

/// When the last packet of a connection came, from the beginning of the trace.
pub(super) fn last_packet(extracted: &Extracted) -> Duration {
    let seen = extracted.seen.duration;
    extracted.vector.start.saturating_add(seen)
}

/// Finds connections in so many shares, whose packets come in batches, until none do.
pub(super) fn work(
    shares: usize,
    options: Options,
    full: &Receiver<Batch>,
    empty: &Sender<Batch>,
    told: &SyncSender<Message>,
) -> Counters {
    let extractor = || Extractor::new(options.of_share());
    let mut extractors: Vec<_> = std::iter::repeat_with(extractor).take(shares).collect();
    for batch in full {
        let mut ended = Vec::new();
        let mut most_open = [0; 2];
        for (extractor, packets) in extractors.iter_mut().zip(&batch.shares) {
            extractor.begin(batch.origin_ns);
            extractor.handle_segments(&packets.segments);
            for datagram in &packets.datagrams {
                extractor.handle_datagram(datagram);
            }
            ended.extend(std::iter::from_fn(|| extractor.poll()));
            let most = extractor.most_open();
            most_open = [most_open[0] + most[0], most_open[1] + most[1]];
        }
        ended.sort_by_cached_key(last_packet);
        // A reader that has ended needs none.
        let _ = empty.send(batch);
        if told.send(Message::Batch(ended, most_open)).is_err() {
            break;
        }
    }
    // Nobody listens after a failure.
    let _ = told.send(Message::Left(Vec::new()));
    let mut counters = Counters::default();
    for mut extractor in extractors {
        extractor.finish();
        loop {
            let left = std::iter::from_fn(|| extractor.poll());
            let left: Vec<_> = left.take(LEFT).collect();
            if left.is_empty() || told.send(Message::Left(left)).is_err() {
                break;
            }
        }
        counters += *extractor.counters();
    }
    counters
}
