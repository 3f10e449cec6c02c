//! Files of a record, which may come from anywhere: what is no file is not waited for, and what is too long is not read.

use crate::error::Error;
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a file for reading; a pipe or a device, which might have no end or never begin, is refused.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    // The file or the pipe is opened without waiting for a writer.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.cast_signed())
        .open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is no regular file",
        ))
    }
}

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
