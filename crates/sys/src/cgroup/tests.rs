use super::*;

#[test]
fn the_group_is_found_in_both_generations() {
    let one = "4:cpu,cpuacct:/a/b\n1:name=systemd:/x\n0::/\n";
    let mounts = "30 25 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n\
                  31 25 0:27 /a /sys/fs/cgroup/cpu rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n";
    let home = Home::parse(one, mounts).unwrap();
    assert_eq!(home.generation, Generation::One);
    assert_eq!(home.folder, Path::new("/sys/fs/cgroup/cpu/b"));
    let home = Home::parse("0::/user.slice/x.scope\n", mounts).unwrap();
    assert_eq!(home.generation, Generation::Two);
    let expected = Path::new("/sys/fs/cgroup/unified/user.slice/x.scope");
    assert_eq!(home.folder, expected);
    assert_eq!(Home::parse("", mounts), None);
    assert_eq!(Home::parse(one, ""), None);
}

#[test]
fn the_quota_is_the_share_of_the_period_and_never_too_short_for_the_kernel() {
    assert_eq!(bandwidth(0.2), (2_000, 10_000));
    assert_eq!(bandwidth(1.0), (10_000, 10_000));
    assert_eq!(bandwidth(0.01), (1_000, 100_000));
    assert_eq!(bandwidth(f64::NAN), (10_000, 10_000));
}

/// A group with a tenth of a processor; none where this user may not make one.
fn tenth(name: &str) -> Option<(Group, PathBuf)> {
    let home = Home::find().ok()?;
    let name = format!("test-{}-{name}", std::process::id());
    let folder = home.folder.join(format!("{PREFIX}{name}"));
    match home.limited(&name, 0.1) {
        Ok(group) => Some((group, folder)),
        Err(error) => {
            let line = error.to_string();
            assert!(
                line.contains("run as root") && !line.contains('\n'),
                "{line}"
            );
            eprintln!("skipped: {line}");
            None
        }
    }
}

#[test]
fn a_thread_in_a_group_is_held_back_and_goes_home_when_the_group_ends() {
    let Some((group, folder)) = tenth("thread") else {
        return;
    };
    let before = Home::find().unwrap();
    let worker = std::thread::spawn(move || {
        group.enter().unwrap();
        assert_ne!(Home::find().unwrap(), before);
        let start = clock::thread_cpu();
        while clock::thread_cpu().saturating_sub(start) < Duration::from_millis(20) {
            std::hint::spin_loop();
        }
        let counters = fs::read_to_string(folder.join("cpu.stat")).unwrap();
        let throttled = counters
            .lines()
            .find_map(|line| line.strip_prefix("nr_throttled "));
        assert_ne!(throttled, Some("0"), "{counters}");
        drop(group);
        assert!(!folder.exists());
        assert_eq!(Home::find().unwrap(), before);
    });
    worker.join().unwrap();
}

#[test]
fn a_child_starts_in_the_group_and_this_thread_stays_outside() {
    let Some((group, folder)) = tenth("child") else {
        return;
    };
    let mut command = Command::new("cat");
    command.arg("/proc/self/cgroup");
    group.hold(&mut command);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let name = folder.file_name().unwrap().to_str().unwrap();
    assert!(text.contains(name), "{text}");
    assert!(
        !fs::read_to_string("/proc/thread-self/cgroup")
            .unwrap()
            .contains(name)
    );
}

#[test]
fn an_owned_group_is_not_swept() {
    let Some((group, folder)) = tenth("owned") else {
        return;
    };
    assert!(!is_abandoned(&folder));
    sweep();
    assert!(folder.exists());
    drop(group);
    assert!(!folder.exists());
}

#[test]
fn what_a_dead_process_left_is_swept() {
    let Some((group, folder)) = tenth("dead") else {
        return;
    };
    let left = folder.with_extension("left");
    fs::create_dir(&left).unwrap();
    let file = File::open(&left).unwrap();
    let made = file.metadata().unwrap().modified().unwrap();
    file.set_modified(made - Duration::from_secs(60)).unwrap();
    // Another test may sweep at the same time.
    sweep();
    assert!(!left.exists() && folder.exists());
    drop(group);
}

#[test]
fn what_a_group_says_of_its_quota_is_read_in_both_generations() {
    let first = "nr_periods 246\nnr_throttled 3\nthrottled_time 27508603\n";
    let second = "usage_usec 5\nnr_periods 246\nnr_throttled 3\nthrottled_usec 27508\n";
    let expected = Throttling {
        periods: 246,
        throttled: 3,
    };
    assert_eq!(Throttling::parse(first), Some(expected));
    assert_eq!(Throttling::parse(second), Some(expected));
    assert_eq!(Throttling::parse("nr_periods 0\nnr_throttled 0\n"), None);
    assert_eq!(Throttling::parse("nr_periods x"), None);
}

#[test]
fn sockets_of_a_marked_group_bear_its_mark() {
    let name = format!("test-{}-mark", std::process::id());
    let group = match Home::marked(&name, 4_321) {
        Ok(group) => group,
        Err(error) => {
            let line = error.to_string();
            assert!(line.contains("root") && !line.contains('\n'), "{line}");
            eprintln!("skipped: {line}");
            return;
        }
    };
    // A socket made in the group says its mark (SOL_SOCKET, SO_MARK).
    let script = "import socket; print(socket.socket().getsockopt(1, 36))";
    let mut command = Command::new("python3");
    command.args(["-c", script]);
    let outside = command.output().unwrap();
    group.hold(&mut command);
    let inside = command.output().unwrap();
    assert_eq!(String::from_utf8(outside.stdout).unwrap().trim(), "0");
    assert_eq!(String::from_utf8(inside.stdout).unwrap().trim(), "4321");
    let home = Home::find_in(Generation::Two).unwrap();
    drop(group);
    assert!(!home.folder.join(format!("{PREFIX}{name}")).exists());
}
