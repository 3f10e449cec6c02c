//! A user without capabilities: a lab in a user namespace, or one line that says what is missing.
//!
//! These tests start as root and give everything up, in a mount namespace of their own where `/dev/net/tun` is a device
//! file with the mode that the test wants. The machine's own file is not touched.

use crate::support::{
    Machine, PROGRAM, Ran, Running, SMALL_LAB, TempDir, eventually, folder, is_alive, run,
    short_plan, skip, succeeds,
};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;

/// What the preparation ends with where the machine does not allow it.
const CANNOT: i32 = 99;
/// Arguments: mode of the TUN device, then the program and its arguments.
const AS_NOBODY: &str = r#"
mode=$1; program=$2; shift 2
mknod -m "$mode" tun c 10 200 && mount --bind tun /dev/net/tun || exit 99
: > isobath && mount --bind "$program" isobath || exit 99
exec setpriv --reuid 65534 --regid 65534 --clear-groups ./isobath "$@"
"#;
/// As root of a user namespace that may have no others, without the capabilities of root.
const WITHOUT_NAMESPACES: &str = r#"
program=$1; shift
echo 0 > /proc/sys/user/max_user_namespaces || exit 99
exec setpriv --bounding-set=-all --inh-caps=-all "$program" "$@"
"#;

/// A folder that anybody may use.
fn place() -> TempDir {
    let place = folder(&[("small.toml", SMALL_LAB), ("plan.toml", &short_plan(2))]);
    fs::set_permissions(place.path(), Permissions::from_mode(0o777)).unwrap();
    place
}

/// Runs the program as nobody, with a TUN device of this mode; `None` where that cannot be arranged.
fn as_nobody(place: &Path, mode: &str, arguments: &[&str]) -> Option<Ran> {
    let drop = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
    if !succeeds("setpriv", &[&drop[..], &["true"]].concat()) {
        skip("it has to start as root");
        return None;
    }
    if !succeeds(
        "setpriv",
        &[&drop[..], &["unshare", "-Urn", "true"]].concat(),
    ) {
        skip("user namespaces are forbidden here");
        return None;
    }
    let mut command = Command::new("unshare");
    command
        .args(["-m", "sh", "-c", AS_NOBODY, "sh", mode, PROGRAM])
        .args(arguments)
        .current_dir(place);
    let ran = Running::start(command).finish();
    if ran.code() == Some(CANNOT) {
        skip(ran.stderr.trim());
        return None;
    }
    Some(ran)
}

/// Holds rrul/userspace.
#[test]
fn nobody_measures_in_a_lab_of_their_own() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let arguments = [
        "rrul",
        "--lab",
        "small.toml",
        "--plan",
        "plan.toml",
        "--json",
        "-o",
        "run",
    ];
    let Some(ran) = as_nobody(place.path(), "0666", &arguments) else {
        return;
    };
    let told = ran.measured();
    let shown = run(place.path(), &["show", "run", "--json"]);
    assert_eq!(shown.ended(0).json(), told);
    let record = fs::metadata(place.path().join("run")).unwrap();
    assert_eq!(record.uid(), 65_534);
}

#[test]
fn nobody_s_manager_says_what_it_may_not() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let config = crate::manager::FAR.replace("[::]:4890", "[::]:4897");
    fs::write(place.path().join("m5.toml"), config).unwrap();
    let up = ["manager", "up", "--config", "m5.toml"];
    let Some(ran) = as_nobody(place.path(), "0666", &up) else {
        return;
    };
    let line = ran.ended(3).stderr.trim();
    assert!(
        line.ends_with("run as root, or with CAP_NET_ADMIN") && !line.contains('\n'),
        "{line}"
    );
}

/// Each of their labs has a user namespace of its own, into which the next cannot look. Alone: any other lab of root's
/// would do the same.
#[test]
fn quiet_what_nobodys_lab_left_running_is_swept_by_nobodys_next() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = place();
    let escape = "setsid sleep 600 >/dev/null 2>&1 & echo $! >escaped.pid; kill -KILL $PPID";
    let lab = ["lab", "run", "small.toml", "--", "sh", "-c"];
    let Some(killed) = as_nobody(place.path(), "0666", &[&lab[..], &[escape]].concat()) else {
        return;
    };
    assert_eq!(killed.code(), None, "{killed:#?}");
    let pid = fs::read_to_string(place.path().join("escaped.pid")).unwrap();
    let pid = pid.trim().parse().unwrap();
    assert!(is_alive(pid), "it was meant to outlive its lab");
    for left in ["tun", "isobath"] {
        fs::remove_file(place.path().join(left)).unwrap();
    }
    let next = as_nobody(place.path(), "0666", &[&lab[..], &["true"]].concat());
    next.unwrap().ended(0);
    eventually("it is swept", || !is_alive(pid));
}

#[test]
fn a_tun_device_that_is_closed_is_told() {
    let _machine = Machine::without_networks();
    let place = place();
    let arguments = [
        "rrul",
        "--lab",
        "small.toml",
        "--plan",
        "plan.toml",
        "-o",
        "run",
    ];
    let Some(ran) = as_nobody(place.path(), "0600", &arguments) else {
        return;
    };
    let line = ran.refused(3);
    assert!(
        line.starts_with("rrul: open /dev/net/tun: Permission denied"),
        "{line}"
    );
    assert!(line.contains("sudo chmod 666 /dev/net/tun"), "{line}");
    assert!(!place.path().join("run").exists());
}

#[test]
fn a_system_without_user_namespaces_is_told() {
    let _machine = Machine::without_networks();
    let place = place();
    let mut command = Command::new("unshare");
    command
        .args(["-Ur", "sh", "-c", WITHOUT_NAMESPACES, "sh", PROGRAM])
        .args(["lab", "run", "small.toml", "--", "true"])
        .current_dir(place.path());
    let ran = Running::start(command).finish();
    if ran.code() == Some(CANNOT) || ran.stderr.starts_with("unshare") {
        skip(ran.stderr.trim());
        return;
    }
    let line = ran.refused(3);
    assert!(
        line.starts_with(
            "lab: make a network namespace: this user may not, and user namespaces are forbidden"
        ),
        "{line}"
    );
    assert!(line.contains("run as root, or allow them"), "{line}");
}
