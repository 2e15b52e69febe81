//! How children end, and that nothing of them is left.

use std::io::Read;
use std::time::{Duration, Instant};

use confine::{Command, Confinement, Limit, Limits, Outcome, SpawnError};

use crate::support::{check, default_in, run, start, workdir};

#[test]
fn an_exit_code_and_a_signal_are_told_apart() {
    let directory = workdir();
    let prepared = default_in(directory.path());
    assert_eq!(run(&prepared, "exit 3").outcome, Outcome::Code(3));
    assert_eq!(run(&prepared, "kill -SEGV $$").outcome, Outcome::Signal(libc_segv()));
}

/// `SIGSEGV` has one number on every architecture.
fn libc_segv() -> i32 {
    11
}

#[test]
fn a_program_that_is_not_there_is_an_error_of_the_spawn() {
    let directory = workdir();
    let prepared = default_in(directory.path());
    let error = prepared.spawn(Command::new("no-such-program")).unwrap_err();
    assert!(matches!(&error, SpawnError::Program { program, .. } if program == "no-such-program"));
}

#[test]
fn the_end_does_not_wait_for_a_background_process_that_holds_the_streams() {
    let directory = workdir();
    let prepared = default_in(directory.path());
    let started = Instant::now();
    let ran = run(&prepared, "setsid sleep 1000 & echo done");
    assert_eq!((ran.stdout.as_str(), ran.outcome), ("done\n", Outcome::Code(0)));
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn the_wall_clock_ends_a_tree_that_ignores_signals() {
    let directory = workdir();
    let mut limits = Limits::default();
    limits.wall_clock = Some(Duration::from_millis(300));
    let prepared = Confinement::builder(directory.path()).limits(limits).prepare().unwrap();
    let ran = run(
        &prepared,
        "trap '' TERM INT; (setsid sh -c \"trap '' TERM; sleep 1000\") & sleep 1000",
    );
    assert_eq!(ran.outcome, Outcome::LimitExceeded(Limit::WallClock));
}

#[test]
fn processor_time_and_file_size_are_limits_with_outcomes_of_their_own() {
    let directory = workdir();
    let mut limits = Limits::default();
    limits.cpu_time = Some(Duration::from_secs(1));
    limits.file_size = Some(1000);
    let prepared = Confinement::builder(directory.path()).limits(limits).prepare().unwrap();
    let spinning = run(&prepared, "while :; do :; done");
    assert_eq!(spinning.outcome, Outcome::LimitExceeded(Limit::CpuTime));
    let writing = run(&prepared, "exec head -c 100000 /dev/zero > large");
    assert_eq!(writing.outcome, Outcome::LimitExceeded(Limit::FileSize));
}

#[test]
fn an_interrupt_reaches_the_program() {
    let directory = workdir();
    let prepared = default_in(directory.path());
    let mut child = start(
        &prepared,
        "trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.05; done",
    );
    let mut stdout = child.take_stdout().unwrap();
    let mut ready = [0; 6];
    stdout.read_exact(&mut ready).unwrap();
    child.interrupt();
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), child.wait().unwrap().outcome), ("caught\n", Outcome::Code(7)));
}

#[test]
fn terminate_asks_first_and_kills_after_the_grace() {
    let directory = workdir();
    let prepared = default_in(directory.path());
    let mut willing = start(&prepared, "trap 'exit 5' TERM; while :; do sleep 0.05; done");
    std::thread::sleep(Duration::from_millis(200));
    let end = willing.terminate(Duration::from_secs(10)).unwrap();
    assert_eq!(end.outcome, Outcome::Code(5));
    let mut stubborn = start(&prepared, "trap '' TERM; while :; do sleep 0.05; done");
    std::thread::sleep(Duration::from_millis(200));
    let end = stubborn.terminate(Duration::from_millis(100)).unwrap();
    assert_eq!(end.outcome, Outcome::Signal(9));
}

#[test]
fn a_drop_ends_the_whole_tree() {
    let directory = workdir();
    let prepared = default_in(directory.path());
    let line = "(setsid sh -c 'while :; do date +%s%N > beat; sleep 0.02; done') & sleep 1000";
    let child = start(&prepared, line);
    let beat = directory.path().join("beat");
    while !beat.exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(child);
    let before = std::fs::read_to_string(&beat).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(std::fs::read_to_string(&beat).unwrap(), before);
}

#[test]
fn a_child_can_be_waited_for_in_steps() {
    let directory = workdir();
    let prepared = default_in(directory.path());
    let mut child = start(&prepared, "sleep 0.3; exit 4");
    assert_eq!(child.try_wait().unwrap(), None);
    assert_eq!(child.wait_for(Duration::from_millis(20)).unwrap(), None);
    assert_eq!(child.wait().unwrap().outcome, Outcome::Code(4));
    assert_eq!(child.try_wait().unwrap().unwrap().outcome, Outcome::Code(4));
}

#[test]
fn init_is_the_first_process_and_shows_nothing() {
    let directory = workdir();
    let prepared = default_in(directory.path());
    check(&prepared, "cat /proc/1/environ 2>/dev/null | wc -c", "0\n");
    check(&prepared, "ls /proc | grep -c '^[0-9]'", "4\n");
}
