//! Prints how far a built-in fit is from what was published, makes vectors of it, and says what they are like; with a file, writes
//! them there: `cargo run -p isobath-vectors --example mix -- unc-2008 60 [SHARE [SEED [OUT.cvec]]]` (60 is seconds).
use isobath_vectors::cvec::{Format, Writer};
use isobath_vectors::describe::Describer;
use isobath_vectors::synth::{Fit, Synthesis};
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, seconds, rest @ ..] = arguments.as_slice() else {
        return Err("usage: mix FIT SECONDS [SHARE [SEED [OUT.cvec]]]".into());
    };
    let fit = Fit::named(name)?;
    for statement in fit.statements() {
        println!("{statement}");
    }
    let share = rest.first().map_or(Ok(1.0), |share| share.parse())?;
    let seed = rest.get(1).map_or(Ok(1), |seed| seed.parse())?;
    let out = rest.get(2).map(File::create).transpose()?;
    let mut out = out.map(|file| Writer::new(BufWriter::new(file), Format::Alternate));
    let mut describer = Describer::default();
    for vector in Synthesis::new(&fit, Duration::from_secs(seconds.parse()?), share, seed) {
        describer.enter(&vector);
        if let Some(out) = &mut out {
            out.vector(&vector)?;
        }
    }
    if let Some(out) = out {
        out.finish()?;
    }
    let description = describer.describe(name);
    println!("{:?}\n{:?}", description.connections, description.bytes);
    println!("{:#?}", description.shares);
    for (measure, quantity) in &description.quantities {
        println!(
            "{:<20} {:>9} values  mean {:>14.3}  p50 {:>12.3}  p80 {:>12.3}  p90 {:>12.3} {:?}",
            format!("{measure:?}"),
            quantity.count,
            quantity.mean,
            quantity.p50,
            quantity.p80,
            quantity.p90,
            quantity.unit
        );
    }
    Ok(())
}
