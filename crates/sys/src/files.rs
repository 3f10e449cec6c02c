//! Whom files belong to. On Windows the rights of a file are those of its folder, and those of a user's own folders are the user's
//! alone: so nothing is to be done there.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

/// Makes a file for its owner alone (mode 0600).
///
/// # Errors
/// When it cannot be made, or is there.
pub fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Makes a folder, and those that it is in, for their owner alone (mode 0700).
///
/// # Errors
/// When one cannot be made.
pub fn create_private_folders(path: &Path) -> io::Result<()> {
    let mut folders = DirBuilder::new();
    folders.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
    folders.create(path)
}

/// Opens a folder, to be locked: on Windows that wants a flag of its own.
///
/// # Errors
/// When there is none, or it may not be read.
pub fn open_folder(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(windows)]
    {
        // FILE_FLAG_BACKUP_SEMANTICS
        const FOLDER: u32 = 0x0200_0000;
        std::os::windows::fs::OpenOptionsExt::custom_flags(&mut options, FOLDER);
    }
    options.open(path)
}

/// Whether nobody but its owner may read or write it.
pub fn is_private(file: &Metadata) -> bool {
    mode(file).trailing_zeros() >= 6
}

/// Whether others than its owner and its group may read, write or run it.
pub fn is_everybodys(file: &Metadata) -> bool {
    mode(file).trailing_zeros() < 3
}

/// Whether it is a file that may be run.
pub fn is_program(file: &Metadata) -> bool {
    file.is_file() && mode(file) & 0o111 != 0
}

/// Lets everybody read a file, as those that are no drafts (mode 0644).
///
/// # Errors
/// When it is not this user's.
pub fn let_all_read(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    // A draft has no fewer rights there.
    #[cfg(not(unix))]
    let _ = fs::metadata(path)?;
    Ok(())
}

#[cfg(unix)]
fn mode(file: &Metadata) -> u32 {
    // Without the kind of the file, which is above.
    std::os::unix::fs::MetadataExt::mode(file) & 0o7777
}

#[cfg(not(unix))]
const fn mode(_file: &Metadata) -> u32 {
    0o700
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_is_private_is_its_owners_alone() {
        let folder = std::env::temp_dir().join(format!("isobath-files-{}", std::process::id()));
        create_private_folders(&folder.join("deep")).unwrap();
        let path = folder.join("deep/file");
        drop(create_private(&path).unwrap());
        assert!(create_private(&path).is_err(), "it is there");
        let of = |path: &Path| fs::metadata(path).unwrap();
        assert!(is_private(&of(&folder)) && is_private(&of(&path)));
        assert!(!is_program(&of(&path)) && !is_program(&of(&folder)));
        for (mode, private, everybodys) in [
            (0o600, true, false),
            (0o700, true, false),
            (0o640, false, false),
            (0o604, false, true),
        ] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(is_private(&of(&path)), private, "{mode:o}");
            assert_eq!(is_everybodys(&of(&path)), everybodys, "{mode:o}");
        }
        let_all_read(&path).unwrap();
        assert!(is_everybodys(&of(&path)));
        fs::remove_dir_all(&folder).unwrap();
    }
}
