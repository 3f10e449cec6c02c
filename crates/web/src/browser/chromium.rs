//! Where Chromium is, and how it is told to be quiet.

use super::Error;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Names under which Chromium and its kin are installed, the free ones first.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// The variable that names another one.
const VARIABLE: &str = "ISOBATH_CHROMIUM";

/// Switches for every start.
///
/// Most of them stop traffic of Chromium's own, which would be measured with the page; the last ones
/// make it run in containers and namespaces.
///
/// - `--proxy-server`: the discard port. What goes on outside the context of a page is Chromium's own
///   (updates, accounts), which the other switches reduce and do not end; it gets nowhere. A page's
///   context has a proxy of its own, or none.
/// - `--no-sandbox`: Chromium's sandbox needs user namespaces of its own. For root and inside the
///   user namespace of a lab the kernel refuses them, and Chromium then refuses to start. What is lost
///   is the wall between a page's scripts and this user's files; so only pages that the user trusts
///   should be loaded.
/// - `--disable-dev-shm-usage`: `/dev/shm` is small in containers.
const SWITCHES: &[&str] = &[
    "--headless",
    "--remote-debugging-pipe",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-component-extensions-with-background-pages",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--disable-features=MediaRouter,OptimizationHints,Translate",
    "--disable-breakpad",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--mute-audio",
    "--hide-scrollbars",
    "--password-store=basic",
    "--use-mock-keychain",
    "--proxy-server=socks5://127.0.0.1:9",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-sandbox",
];

/// An installed Chromium.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Chromium {
    program: PathBuf,
}

impl Chromium {
    /// The one that `ISOBATH_CHROMIUM` names, else the first of `chromium`, `chromium-browser` and
    /// `google-chrome` on `PATH`.
    ///
    /// # Errors
    ///
    /// When there is none; the message says how to get one.
    pub fn find() -> Result<Self, Error> {
        Self::find_in(env::var_os(VARIABLE), env::var_os("PATH"))
    }

    /// The one at `program`.
    pub fn at(program: &Path) -> Self {
        let program = program.to_owned();
        Self { program }
    }

    fn find_in(named: Option<OsString>, path: Option<OsString>) -> Result<Self, Error> {
        if let Some(program) = named.filter(|name| !name.is_empty()).map(PathBuf::from) {
            let name = program.display().to_string();
            return is_program(&program)
                .then_some(Self { program })
                .ok_or(Error::NotAProgram(name));
        }
        let folders: Vec<_> = env::split_paths(&path.unwrap_or_default()).collect();
        NAMES
            .iter()
            .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
            .find(|program| is_program(program))
            .map(|program| Self { program })
            .ok_or(Error::Missing)
    }

    /// Its path.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The command line without its own name, for a profile in `profile`.
    pub(super) fn arguments(profile: &Path, more: &[String]) -> Vec<OsString> {
        let mut folder = OsString::from("--user-data-dir=");
        folder.push(profile);
        let fixed = SWITCHES.iter().map(OsString::from);
        let more = more.iter().map(OsString::from);
        let page = OsString::from("about:blank");
        fixed.chain(more).chain([folder, page]).collect()
    }
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| sys::files::is_program(&file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    fn install(folder: &Path, name: &str, mode: u32) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn the_first_name_wins_over_the_first_folder() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        install(one.path(), "google-chrome", 0o755);
        let wanted = install(two.path(), "chromium", 0o755);
        let path = env::join_paths([one.path(), two.path()]).unwrap();
        let found = Chromium::find_in(None, Some(path)).unwrap();
        assert_eq!(found.program(), wanted);
    }

    #[test]
    fn a_missing_chromium_is_told_in_one_line_with_what_to_do() {
        let empty = tempfile::tempdir().unwrap();
        install(empty.path(), "chromium", 0o644);
        let error = Chromium::find_in(None, Some(empty.path().into())).unwrap_err();
        let line = error.to_string();
        assert!(line.contains("apt install chromium"), "{line}");
        assert!(line.contains("leave out --browser"), "{line}");
        assert!(!line.contains('\n'));
        assert!(Chromium::find_in(None, None).is_err());
    }

    #[test]
    fn the_variable_wins_and_must_name_a_program() {
        let folder = tempfile::tempdir().unwrap();
        let mine = install(folder.path(), "mine", 0o755);
        let path = Some(OsString::from(folder.path()));
        let found = Chromium::find_in(Some(mine.clone().into()), path.clone()).unwrap();
        assert_eq!(found.program(), mine);
        let error = Chromium::find_in(Some("/nowhere/at/all".into()), path).unwrap_err();
        assert!(error.to_string().contains("'/nowhere/at/all'"), "{error}");
    }
}
