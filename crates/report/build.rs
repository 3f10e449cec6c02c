//! Packs the page: unpacked it is a fiftieth of the program.

use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use std::path::Path;
use std::{env, fs};

fn main() -> std::io::Result<()> {
    let page = "page/index.html";
    println!("cargo::rerun-if-changed={page}");
    let out = env::var("OUT_DIR").map_err(std::io::Error::other)?;
    let file = fs::File::create(Path::new(&out).join("index.html.gz"))?;
    let mut packed = GzEncoder::new(file, Compression::best());
    packed.write_all(&fs::read(page)?)?;
    packed.finish()?;
    Ok(())
}
