//! A record as one file, to be sent or kept elsewhere: a tar archive (POSIX.1-2001, ustar) of its folder.

use crate::error::Error;
use crate::reader::{Record, is_part};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Component, Path, PathBuf};

/// Octets of all files together, and how many there may be: several times what any record has.
const MOST_OCTETS: u64 = 1 << 30;
const MOST_FILES: usize = 100;

/// Writes the record in `folder` to `out` as a tar archive, in a folder of the same name.
///
/// # Errors
/// When a file cannot be read, or `out` does not take it.
pub fn pack(folder: &Path, out: impl Write) -> Result<(), Error> {
    Record::open(folder)?;
    let within = PathBuf::from(folder.file_name().unwrap_or_else(|| "record".as_ref()));
    let mut archive = tar::Builder::new(out);
    // Neither whose it was nor when is anybody's business.
    archive.mode(tar::HeaderMode::Deterministic);
    let mut names: Vec<_> = fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect())
        .map_err(Error::read(folder))?;
    names.sort();
    for name in names {
        if name.to_str().is_some_and(is_part) {
            let path = folder.join(&name);
            let added = archive.append_path_with_name(&path, within.join(&name));
            added.map_err(Error::read(&path))?;
        }
    }
    archive.finish().map_err(Error::write(folder))
}

/// Makes a record in `folder`, which is created or empty, of the archive `input`, whose file is called `path`.
///
/// # Errors
/// When it is no archive of a record, or `folder` cannot be written; then nothing is left there.
pub fn unpack(input: impl Read, path: &Path, folder: &Path) -> Result<Record, Error> {
    let is_ours = !folder.exists();
    fs::create_dir_all(folder).map_err(Error::write(folder))?;
    let mut there = fs::read_dir(folder).map_err(Error::read(folder))?;
    if there.next().is_some() {
        return Err(Error::NotEmpty {
            path: folder.to_owned(),
        });
    }
    let mut written = Vec::new();
    let record = extract(input, path, folder, &mut written).and_then(|()| Record::open(folder));
    if record.is_err() {
        for path in written {
            let _ = fs::remove_file(path);
        }
        // Only when nothing else is in it.
        if is_ours {
            let _ = fs::remove_dir(folder);
        }
    }
    record
}

fn extract(
    input: impl Read,
    path: &Path,
    folder: &Path,
    written: &mut Vec<PathBuf>,
) -> Result<(), Error> {
    let mut archive = tar::Archive::new(input.take(MOST_OCTETS));
    let foreign = |reason: &str| Error::read(path)(io::Error::new(ErrorKind::InvalidData, reason));
    for entry in archive.entries().map_err(Error::read(path))? {
        let mut entry = entry.map_err(Error::read(path))?;
        if entry.header().entry_type().is_dir() {
            continue;
        }
        let named = entry.path().map_err(Error::read(path))?;
        let name = named.file_name().and_then(|name| name.to_str());
        let parts = named.components().filter(|part| *part != Component::CurDir);
        let name = name.filter(|name| is_part(name) && parts.count() <= 2);
        let is_file = entry.header().entry_type().is_file();
        let Some(name) = name.filter(|_| is_file && written.len() < MOST_FILES) else {
            return Err(foreign("this archive holds more than a record"));
        };
        let part = folder.join(name);
        let mut file = File::create_new(&part).map_err(Error::write(&part))?;
        written.push(part.clone());
        let copied = io::copy(&mut entry, &mut file).map_err(Error::read(path))?;
        if copied < entry.header().size().map_err(Error::read(path))? {
            return Err(foreign(
                "this archive is cut short, or longer than any record",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;
    use crate::{RecordWriter, Run};
    use jiff::Timestamp;
    use proptest::prelude::*;

    table! {
        /// What a test measures.
        struct Measured in "measured" {
            /// When.
            t_ns: u64 => "ns",
        }
    }

    fn packed(place: &Path) -> Vec<u8> {
        let folder = place.join("2026-11-28T09-00-00Z-page-here");
        let run = Run::new("rrul", Timestamp::UNIX_EPOCH, serde_json::json!({}));
        let mut writer = RecordWriter::create(&folder, &run).unwrap();
        writer
            .append(&[Measured { t_ns: 7 }, Measured { t_ns: 9 }])
            .unwrap();
        writer.finish(&run).unwrap();
        fs::write(folder.join("notes.txt"), "mine").unwrap();
        let mut octets = Vec::new();
        pack(&folder, &mut octets).unwrap();
        octets
    }

    #[test]
    fn a_record_comes_out_as_it_went_in_without_what_is_none_of_it() {
        let place = tempfile::tempdir().unwrap();
        let octets = packed(place.path());
        let out = place.path().join("out");
        let record = unpack(&*octets, Path::new("x.tar"), &out).unwrap();
        let rows: Vec<Measured> = record.rows().unwrap();
        assert_eq!(rows.iter().map(|row| row.t_ns).collect::<Vec<_>>(), [7, 9]);
        assert!(!out.join("notes.txt").exists());
        let again = unpack(&*octets, Path::new("x.tar"), &out);
        assert!(
            again
                .unwrap_err()
                .to_string()
                .contains("not an empty folder")
        );
    }

    #[test]
    fn an_archive_of_something_else_is_refused_and_leaves_nothing() {
        let place = tempfile::tempdir().unwrap();
        let whole = packed(place.path());
        let of = |name: &str| {
            let mut archive = tar::Builder::new(Vec::new());
            let mut header = tar::Header::new_ustar();
            header.set_size(2);
            // As whoever means harm would write it: the library's own setter refuses.
            header.as_ustar_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            archive.append(&header, &b"{}"[..]).unwrap();
            archive.into_inner().unwrap()
        };
        let link = || {
            let mut archive = tar::Builder::new(Vec::new());
            let mut header = tar::Header::new_ustar();
            header.set_entry_type(tar::EntryType::Symlink);
            header.set_size(0);
            let (path, target) = ("a/run.json", "/etc/passwd");
            archive.append_link(&mut header, path, target).unwrap();
            archive.into_inner().unwrap()
        };
        for (octets, said) in [
            (of("notes.txt"), "more than a record"),
            (of("../../run.json"), "more than a record"),
            (of("/etc/run.json"), "more than a record"),
            (of("a/run.json"), "damaged"),
            (of("./a/run.json"), "damaged"),
            (link(), "more than a record"),
            (whole[..700].to_vec(), "cannot read x.tar"),
            (Vec::new(), "no run.json"),
        ] {
            let out = place.path().join("out");
            let refused = unpack(&*octets, Path::new("x.tar"), &out)
                .unwrap_err()
                .to_string();
            assert!(
                refused.contains(said) && !refused.contains('\n'),
                "{refused}"
            );
            assert!(!out.exists(), "{refused}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]
        #[test]
        fn no_octets_panic(at in 0_usize..3_000, octet in any::<u8>()) {
            let place = tempfile::tempdir().unwrap();
            let mut octets = packed(place.path());
            let at = at % octets.len();
            octets[at] = octet;
            let _ = unpack(&*octets, Path::new("x.tar"), &place.path().join("out"));
        }
    }
}
