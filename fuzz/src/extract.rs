//! A capture, extracted: every packet is in the counters once, and what comes out can be written as cvec and read again.

use capture::dissect::{Dissected, dissect};
use capture::read::Reader;
use vectors::Transport;
use vectors::cvec;
use vectors::extract::{Extractor, Options};

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    let Ok(mut reader) = Reader::new(octets) else {
        return;
    };
    let options = Options {
        most_open: 8,
        ..Options::default()
    };
    let mut extractor = Extractor::new(options);
    let mut writer = cvec::Writer::new(Vec::new(), cvec::Format::Original);
    let [mut count, mut datagrams] = [0; 2];
    let mut vectors = 0;
    for _ in 0..10_000 {
        let Ok(Some(packet)) = reader.packet() else {
            break;
        };
        match dissect(&packet) {
            Dissected::Tcp(segment) => {
                count += 1;
                extractor.handle_segment(&segment);
            }
            Dissected::Udp(datagram) => {
                datagrams += 1;
                extractor.handle_datagram(&datagram);
            }
            Dissected::Other(_) => {}
        }
    }
    extractor.finish();
    while let Some(ended) = extractor.poll() {
        if ended.vector.transport == Transport::Udp {
            assert!(ended.vector.body.turns().iter().all(|turn| turn.bytes > 0));
            continue;
        }
        vectors += 1;
        writer.vector(&ended.vector).expect("memory can be written");
    }
    assert_eq!(extractor.counters().all.packets, count);
    assert_eq!(extractor.counters().udp.all.packets, datagrams);
    let text = writer.finish().expect("memory can be written");
    let read = cvec::Reader::new(&text[..]).expect("what was written can be read");
    let again = read.inspect(|vector| assert!(vector.is_ok(), "so can every vector"));
    assert_eq!(again.count(), vectors);
}
