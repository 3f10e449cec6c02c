//! A cvec file: refused, or vectors that are written and read again as they were.

use vectors::Vector;
use vectors::cvec::{Format, Reader, Writer};

fn written(vectors: &[Vector], format: Format) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), format);
    for vector in vectors {
        writer.vector(vector).expect("memory can be written");
    }
    writer.finish().expect("memory can be written")
}

fn read(octets: &[u8]) -> Option<Vec<Vector>> {
    Reader::new(octets).ok()?.collect::<Result<_, _>>().ok()
}

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    let Some(vectors) = read(octets) else { return };
    for format in [Format::Original, Format::Alternate] {
        let once = written(&vectors, format);
        let again = read(&once).expect("what was written can be read");
        assert_eq!(written(&again, format), once);
    }
}
