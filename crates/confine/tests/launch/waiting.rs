//! Children that wait for their order are what would be built now, or are not used.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::thread;
use std::time::Duration;

use confine::{Child, Command, Confinement, Limits, Outcome, Prepared, SpawnError, Step};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use crate::support::{check, default_in, run, start, workdir};

/// Prints for how many hundredths of a second the shell's process has existed.
const AGE: &str = "read -r line < /proc/$$/stat; set -- ${line##*)}; \
                   read -r up rest < /proc/uptime; \
                   echo $(( ${up%.*}${up#*.} - ${20} ))";

/// Launches twice, so that a child waits, and gives it a moment to get ready.
fn let_one_wait(prepared: &Prepared) {
    check(prepared, "echo 1", "1\n");
    check(prepared, "echo 2", "2\n");
    thread::sleep(Duration::from_millis(500));
}

/// How old the process of the next child is, in hundredths of a second.
fn age_of_next(prepared: &Prepared) -> u64 {
    let ran = run(prepared, AGE);
    ran.stdout.trim().parse().unwrap_or_else(|_| unreachable!("{:?} {}", ran.stdout, ran.stderr))
}

#[test]
fn a_waiting_child_is_used_and_its_time_counts_from_the_start() {
    let directory = workdir();
    let mut limits = Limits::default();
    limits.wall_clock = Some(Duration::from_millis(1500));
    let prepared = Confinement::builder(directory.path()).limits(limits).prepare().unwrap();
    assert!(age_of_next(&prepared) < 40, "the first has nobody to wait for it");
    check(&prepared, "echo 2", "2\n");
    thread::sleep(Duration::from_millis(1600));
    assert!(age_of_next(&prepared) >= 100, "none waited");
    thread::sleep(Duration::from_millis(1600));
    check(&prepared, "sleep 0.7; echo done", "done\n");
    thread::sleep(Duration::from_millis(300));
    assert_ne!(run(&prepared, "sleep 20").outcome, Outcome::Code(0));
}

#[test]
fn what_an_order_says_is_carried_out_by_a_waiting_child() {
    let directory = workdir();
    fs::create_dir(directory.path().join("sub")).unwrap();
    let prepared = Confinement::builder(directory.path()).env("NAMED", "value").prepare().unwrap();
    let_one_wait(&prepared);
    check(&prepared, "echo $NAMED; pwd; ls /proc/self/fd | wc -l", &{
        format!("value\n{}\n4\n", directory.path().display())
    });
    let command = Command::new("pwd").directory(directory.path().join("sub"));
    let mut child = prepared.spawn(command).unwrap();
    let expected = format!("{}\n", directory.path().join("sub").display());
    assert_eq!(io::read_to_string(child.take_stdout().unwrap()).unwrap(), expected);
    thread::sleep(Duration::from_millis(300));
    let long = "x".repeat(100_000);
    let mut child = prepared.spawn(Command::new("printf").args(["%s", &long])).unwrap();
    assert_eq!(io::read_to_string(child.take_stdout().unwrap()).unwrap(), long);
}

#[test]
fn what_a_waiting_child_can_not_start_is_an_error_and_the_next_one_starts() {
    let directory = workdir();
    let prepared = default_in(directory.path());
    let_one_wait(&prepared);
    let absent = prepared.spawn(Command::new("no-such-program"));
    assert!(matches!(absent, Err(SpawnError::Program { .. })), "{absent:?}");
    let nowhere = prepared.spawn(Command::new("true").directory("/nowhere"));
    let Err(SpawnError::Step { step: Step::WorkingDirectory, .. }) = nowhere else {
        panic!("{nowhere:?}")
    };
    check(&prepared, "echo 3", "3\n");
}

#[test]
fn a_working_directory_that_was_replaced_is_refused_not_shown_as_it_was() {
    let parent = workdir();
    let directory = parent.path().join("work");
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("file"), "old").unwrap();
    let prepared = default_in(&directory);
    let_one_wait(&prepared);
    fs::rename(&directory, parent.path().join("elsewhere")).unwrap();
    fs::create_dir(&directory).unwrap();
    let refused = prepared.spawn(Command::new("true"));
    let Err(SpawnError::Step { step: Step::OpenTrees, .. }) = refused else {
        panic!("{refused:?}")
    };
    fs::remove_dir(&directory).unwrap();
    fs::rename(parent.path().join("elsewhere"), &directory).unwrap();
    check(&prepared, "cat file", "old");
}

#[test]
fn guards_are_those_of_the_moment_of_the_launch() {
    let directory = workdir();
    let place = |name: &str| directory.path().join(name);
    let prepared = Confinement::builder(directory.path())
        .protect("late")
        .hide("sub/secret")
        .prepare()
        .unwrap();
    let_one_wait(&prepared);
    fs::write(place("late"), "made after the child began to wait").unwrap();
    assert_ne!(run(&prepared, "echo x > late").outcome, Outcome::Code(0));
    let_one_wait(&prepared);
    fs::write(place("new"), "renamed over it").unwrap();
    fs::rename(place("new"), place("late")).unwrap();
    check(&prepared, "cat late", "renamed over it");
    assert_ne!(run(&prepared, "echo x > late").outcome, Outcome::Code(0));
    let_one_wait(&prepared);
    fs::create_dir(place("sub")).unwrap();
    fs::write(place("sub/secret"), "secret").unwrap();
    check(&prepared, "cat sub/secret 2>/dev/null; mv sub other 2>/dev/null; ls", "late\nsub\n");
}

#[test]
fn what_is_mounted_while_a_child_waits_is_seen() {
    let directory = workdir();
    let place = directory.path().join("mounted");
    fs::create_dir(&place).unwrap();
    let prepared = default_in(directory.path());
    let_one_wait(&prepared);
    if mount("none", &place, "tmpfs", MountFlags::empty(), None).is_err() {
        println!("skipped: only the superuser mounts");
        return;
    }
    fs::write(place.join("file"), "fresh").unwrap();
    let ran = run(&prepared, "cat mounted/file");
    unmount(&place, UnmountFlags::DETACH).unwrap();
    assert_eq!(ran.stdout, "fresh");
}

#[test]
fn no_two_children_share_namespaces() {
    let directory = workdir();
    let prepared = default_in(directory.path());
    let_one_wait(&prepared);
    let children: Vec<_> = (0..6).map(|_| speaker(&prepared)).collect();
    let mut seen: Vec<_> = children.iter().flat_map(|(_, namespaces)| namespaces.clone()).collect();
    assert_eq!(seen.len(), 6 * 6);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 6 * 6, "{seen:?}");
}

/// A child that names its namespaces and stays.
fn speaker(prepared: &Prepared) -> (Child, Vec<String>) {
    let line =
        "for n in user mnt pid ipc uts net; do readlink /proc/self/ns/$n; done; echo; sleep 60";
    let mut child = start(prepared, line);
    let lines = BufReader::new(child.take_stdout().unwrap()).lines();
    let said = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    (child, said)
}

#[test]
fn nothing_of_a_waiting_child_is_left_on_the_host() {
    let directory = workdir();
    let prepared = default_in(directory.path());
    let_one_wait(&prepared);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!table.contains(&*Path::new(directory.path()).to_string_lossy()), "{table}");
}

#[test]
fn a_confinement_like_the_last_one_uses_its_child_and_is_decided_anew() {
    let directory = workdir();
    let asked = |value: &str| {
        Confinement::builder(directory.path()).read_only_workdir().env("NAMED", value)
    };
    let first = asked("one").prepare().unwrap();
    let_one_wait(&first);
    thread::sleep(Duration::from_millis(1000));
    let next = asked("two").prepare_like(&first).unwrap();
    drop(first);
    assert!(age_of_next(&next) >= 100, "the child that waited was not used");
    check(&next, "echo $NAMED", "two\n");

    // What is there now counts, and not what was there before.
    let _socket = std::os::unix::net::UnixListener::bind(directory.path().join("socket")).unwrap();
    let later = asked("three").prepare_like(&next).unwrap();
    check(&later, "test -S socket && echo seen; echo $NAMED", "three\n");
    let mut limits = Limits::default();
    limits.open_files = Some(17);
    let other = asked("four").limits(limits).prepare_like(&later).unwrap();
    check(&other, "ulimit -n; echo $NAMED", "17\nfour\n");
    fs::remove_dir_all(directory.path()).unwrap();
    assert!(asked("five").prepare_like(&other).is_err());
}
