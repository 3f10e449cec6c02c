//! Extracts the vectors of captures: `extract counters|list|original|alternate FILE...` (`-` is standard input).
//!
//! `counters` prints the counters and the speed, `list` a line for each connection and flow of UDP, the others cvec files of the
//! connections in the order of ends.
use capture::dissect::{Dissected, dissect};
use capture::read::Reader;
use isobath_vectors::cvec::{Format, Writer};
use isobath_vectors::extract::{Extracted, Extractor, Options};
use isobath_vectors::{Side, Transport, Vector};
use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Write};

type Sink = Box<dyn FnMut(&Extracted) -> io::Result<()>>;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let what = args
        .next()
        .ok_or("usage: extract counters|list|original|alternate FILE...")?;
    let mut sink = sink(&what)?;
    let mut extractor = Extractor::new(Options::default());
    let mut packets = 0_u64;
    let mut segments = Vec::with_capacity(64);
    for file in args {
        let input: Box<dyn Read> = match file.as_str() {
            "-" => Box::new(io::stdin().lock()),
            path => Box::new(File::open(path)?),
        };
        let mut capture = Reader::new(input)?;
        while let Some(packet) = capture.packet()? {
            packets += 1;
            match dissect(&packet) {
                Dissected::Tcp(segment) => segments.push(segment),
                Dissected::Udp(datagram) => extractor.handle_datagram(&datagram),
                Dissected::Other(_) => continue,
            }
            if segments.len() == segments.capacity() {
                extractor.handle_segments(&segments);
                segments.clear();
                while let Some(ended) = extractor.poll() {
                    sink(&ended)?;
                }
            }
        }
    }
    extractor.handle_segments(&segments);
    extractor.finish();
    while let Some(ended) = extractor.poll() {
        sink(&ended)?;
    }
    if what == "counters" {
        println!(
            "{packets} packets, {} connections at once",
            extractor.most_open()[0]
        );
        println!("{:#?}", extractor.counters());
    }
    Ok(())
}

fn sink(what: &str) -> Result<Sink, Box<dyn Error>> {
    let format = match what {
        "counters" => return Ok(Box::new(|_| Ok(()))),
        "list" => return Ok(Box::new(list)),
        "original" => Format::Original,
        "alternate" => Format::Alternate,
        _ => return Err("counters, list, original or alternate".into()),
    };
    let mut writer = Writer::new(io::stdout().lock(), format);
    Ok(Box::new(move |ended| match ended.vector.transport {
        Transport::Tcp => writer.vector(&ended.vector),
        Transport::Udp => Ok(()),
    }))
}

fn list(ended: &Extracted) -> io::Result<()> {
    let (vector, seen) = (&ended.vector, &ended.seen);
    let Vector {
        transport,
        start,
        min_rtt,
        body,
        windows,
        loss,
        ..
    } = vector;
    let kind = if body.is_sequential() { "seq" } else { "conc" };
    let [from, to] = seen.ends;
    let bytes = Side::BOTH.map(|side| body.bytes(side));
    let adus = Side::BOTH.map(|side| body.adus(side));
    let rtt = min_rtt.map_or(-1.0, |rtt| rtt.as_secs_f64() * 1e3);
    writeln!(
        io::stdout().lock(),
        "{from} {to} {transport:?} {kind} {} start {:.6} s, {:.6} s, bytes {} {}, adus {} {}, packets {} {}, rtt {rtt:.3} ms, \
         windows {} {}, loss {} {}, again {:?}, filled {:?}, overtaken {:?}, unseen {:?}, {:?}",
        if seen.complete {
            "complete"
        } else {
            "incomplete"
        },
        start.as_secs_f64(),
        seen.duration.as_secs_f64(),
        bytes[0],
        bytes[1],
        adus[0],
        adus[1],
        seen.packets[0],
        seen.packets[1],
        windows[0],
        windows[1],
        loss[0],
        loss[1],
        seen.again,
        seen.filled,
        seen.overtaken,
        seen.unseen,
        seen.end,
    )
}
