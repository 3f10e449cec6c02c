//! Rewrites a cvec file by a model of structure, one of round-trip times and one of windows, and prints the counters:
//! `cargo run -p isobath-vectors --example transform -- a-b da:30 empirical < IN > OUT`.
//! Of *harpoon* only the connections that the initiators open are written; the others belong into a file of the other side.
use isobath_vectors::Vector;
use isobath_vectors::cvec::{Reader, Writer};
use isobath_vectors::model::rtt::{Model, Summary};
use isobath_vectors::model::{Conserved, Latencies, Transform};
use std::error::Error;
use std::io::{self, BufWriter};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [structure, rtt, windows] = arguments.as_slice() else {
        return Err("usage: transform STRUCTURE RTT WINDOWS < IN > OUT".into());
    };
    let reader = Reader::new(io::stdin().lock())?;
    let Some(format) = reader.format() else {
        return Ok(());
    };
    let set: Vec<Vector> = reader.collect::<Result<_, _>>()?;
    let mut summary = Summary::default();
    for vector in &set {
        summary.enter(vector.min_rtt);
    }
    let transform = Transform {
        structure: structure.parse()?,
        latencies: Latencies::default(),
        rtts: Some(rtt.parse::<Model>()?.resolve(&summary)),
        windows: windows.parse()?,
        seed: 1,
    };
    let mut counters = Conserved::default();
    let mut writer = Writer::new(BufWriter::new(io::stdout().lock()), format);
    for (index, vector) in (0..).zip(set) {
        if let Some(forth) = transform.apply(vector, index, &mut counters).forth {
            writer.vector(&forth)?;
        }
    }
    writer.finish()?;
    eprintln!(
        "{:?}\n{counters:?}\nholds: {}",
        transform.rtts,
        counters.holds()
    );
    Ok(())
}
