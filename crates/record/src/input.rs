//! Files of a record, which may come from anywhere: what is no file is not waited for, and what is too long is not read.

use crate::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

/// Opens a file for reading; a pipe or a device, which might have no end or never begin, is refused.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    without_waiting(options.read(true));
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is no regular file",
        ))
    }
}

/// A pipe is opened without waiting for a writer.
#[cfg(unix)]
fn without_waiting(options: &mut OpenOptions) {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    options.custom_flags(flags.cast_signed());
}

/// Windows has no pipes among its files.
#[cfg(not(unix))]
fn without_waiting(_options: &mut OpenOptions) {}

/// All of a file, if it has at most `most` octets.
pub(crate) fn read(path: &Path, most: u64) -> Result<Vec<u8>, io::Error> {
    let mut octets = Vec::new();
    open(path)?.take(most + 1).read_to_end(&mut octets)?;
    if octets.len() as u64 > most {
        let longer = format!("it is longer than {most} octets");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, longer));
    }
    Ok(octets)
}

/// For `map_err`: the file `path` could not be opened.
pub(crate) fn open_file(path: &Path) -> Result<File, Error> {
    open(path).map_err(Error::read(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    #[test]
    fn a_pipe_that_nobody_writes_to_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for failed in [open(&path).unwrap_err(), read(&path, 10).unwrap_err()] {
            assert_eq!(failed.to_string(), "it is no regular file");
        }
        assert!(open(folder.path()).is_err(), "a folder is no file either");
        assert!(open(Path::new("/dev/zero")).is_err());
        let message = crate::Record::open(folder.path()).unwrap_err().to_string();
        assert!(message.contains("it is no regular file"), "{message}");
    }

    #[test]
    fn what_is_too_long_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, [7; 10]).unwrap();
        assert_eq!(read(&path, 10).unwrap(), [7; 10]);
        let failed = read(&path, 9).unwrap_err().to_string();
        assert_eq!(failed, "it is longer than 9 octets");
        // Without end, and without a room for it.
        let file = File::create(folder.path().join("run.json")).unwrap();
        file.set_len(1 << 40).unwrap();
        let message = crate::Record::open(folder.path()).unwrap_err().to_string();
        assert!(message.contains("it is longer than"), "{message}");
    }
}
