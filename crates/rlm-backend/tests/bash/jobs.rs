//! Jobs in the background.

use std::time::{Duration, Instant};

use rlm_backend::{Language::Bash, StateAfter};

use crate::common::Session;

/// A command that leaves something running; the call returns at once with what it printed.
async fn check_returns(command: &str) {
    let mut session = Session::start(Bash).await;
    let begun = Instant::now();
    let outcome = session.run_within(&format!("{command}\necho hi"), Duration::from_secs(20)).await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{command}");
    assert!(!outcome.ending.timed_out, "{command}");
    assert!(outcome.stdout.text().to_string().contains("hi\n"), "{command}");
    assert_eq!(outcome.state, StateAfter::Kept, "{command}");
}

#[tokio::test]
async fn a_call_returns_while_its_job_holds_the_pipes() {
    for command in [
        "sleep 30 &",
        "nohup sleep 30 &",
        "setsid sleep 30 & pid=$!; trap 'kill $pid' EXIT",
        "sleep 30 & disown",
        "(sleep 30 &)",
    ] {
        check_returns(command).await;
    }
}

#[tokio::test]
async fn a_call_returns_while_its_job_is_noisy() {
    check_returns("(while :; do echo noise; sleep 0.001; done) &").await;
}

#[tokio::test]
async fn later_output_of_a_job_is_kept_apart() {
    let mut session = Session::start(Bash).await;
    assert_eq!(session.prints("(sleep 0.2; echo late) &").await, "");
    tokio::time::timeout(Duration::from_secs(1), session.link.attend()).await.unwrap_err();
    assert_eq!(session.link.background().stdout.text().to_string(), "late\n");
    assert_eq!(session.link.take_background().stdout.text().to_string(), "late\n");
    assert!(session.link.background().is_empty());
    assert_eq!(session.prints("echo now").await, "now\n");
}

#[tokio::test]
async fn jobs_and_wait_work_from_call_to_call() {
    let mut session = Session::start(Bash).await;
    session.run("(sleep 0.1; exit 5) & job=$!").await;
    assert_eq!(session.run("wait $job").await.ending.exit_code, Some(5));
}

#[tokio::test]
async fn a_timeout_spares_the_jobs_of_earlier_calls() {
    let mut session = Session::start(Bash).await;
    session.run("sleep 30 & old=$!").await;
    session.run_within("sleep 31 & new=$!; sleep 32", Duration::from_millis(300)).await;
    // One that was killed and not reaped yet is a zombie.
    let lives = "lives() { grep -qs '^State:.[^Z]' /proc/$2/status && echo $1; }";
    let printed = session.run(&format!("{lives}; lives old $old; lives new $new")).await.stdout;
    assert_eq!(printed.text().to_string(), "old\n");
}

#[tokio::test]
async fn the_end_of_the_process_between_calls_is_noticed() {
    let mut session = Session::start(Bash).await;
    session.run("(sleep 0.1; kill -9 $$) &").await;
    tokio::time::timeout(Duration::from_secs(10), session.link.attend()).await.unwrap();
    assert!(session.link.is_lost());
}
