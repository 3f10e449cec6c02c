//! Writes the page of one or several records: `cargo run -p isobath-report --example page -- OUT.html RUN [RUN...]`.

use isobath_report::Subject;
use record::Record;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let out = arguments
        .next()
        .ok_or("usage: page OUT.html RUN [RUN...]")?;
    let mut subjects = Vec::new();
    for run in arguments {
        subjects.push(Subject::from(Record::open(Path::new(&run))?));
    }
    std::fs::write(out, isobath_report::render(&subjects, None)?)?;
    Ok(())
}
