//! Reads a cvec file of either form and writes the form that is asked for:
//! `cargo run -p isobath-vectors --example convert -- original|alternate < IN > OUT`.
use isobath_vectors::cvec::{Format, Reader, Writer};
use std::error::Error;
use std::io::{self, BufWriter};

fn main() -> Result<(), Box<dyn Error>> {
    let format = match std::env::args().nth(1).as_deref() {
        Some("original") => Format::Original,
        Some("alternate") => Format::Alternate,
        _ => return Err("usage: convert original|alternate".into()),
    };
    let reader = Reader::new(io::stdin().lock())?;
    let mut writer = Writer::new(BufWriter::new(io::stdout().lock()), format);
    writer.comment(reader.preamble())?;
    for vector in reader {
        writer.vector(&vector?)?;
    }
    writer.finish()?;
    Ok(())
}
