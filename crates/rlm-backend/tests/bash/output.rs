//! What commands print.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rlm_backend::{Language::Bash, LinkConfig, NoHostCalls, StateAfter};

use crate::common::Session;

/// Runs a command and compares both streams.
async fn check(command: &str, stdout: &str, stderr: &str) {
    let outcome = Session::start(Bash).await.run(command).await;
    let texts = (outcome.stdout.text().to_string(), outcome.stderr.text().to_string());
    assert_eq!(texts, (stdout.to_owned(), stderr.to_owned()), "{command}");
}

#[tokio::test]
async fn the_streams_are_apart() {
    check("echo out; echo err >&2", "out\n", "err\n").await;
}

#[tokio::test]
async fn output_without_a_newline_is_whole() {
    check("printf tail", "tail", "").await;
}

#[tokio::test]
async fn bytes_that_are_not_text_are_marked_and_the_rest_is_intact() {
    check("printf '\\377\\0\\303\\251\\033[1m\\r'", "\\xff\0\u{e9}\u{1b}[1m\r", "").await;
}

#[tokio::test]
async fn output_that_looks_like_a_prompt_or_an_event_is_only_output() {
    let event = r#"{"event":"done","token":"","id":1,"exit_code":9}"#;
    check(
        &format!("echo 'user@host:~$ '; PS1='x$ '; echo '{event}'"),
        &format!("user@host:~$ \n{event}\n"),
        "",
    )
    .await;
}

#[tokio::test]
async fn a_line_of_a_megabyte_is_counted_and_its_ends_are_kept() {
    let mut session = Session::start(Bash).await;
    let outcome = session.run("printf a; head -c 1000000 /dev/zero | tr '\\0' x; printf z").await;
    assert_eq!(outcome.stdout.total_bytes(), 1_000_002);
    assert!(outcome.stdout.head().starts_with(b"ax") && outcome.stdout.tail().ends_with(b"xz"));
}

#[tokio::test]
async fn three_hundred_megabytes_are_counted_and_bounded() {
    let mut session = Session::start(Bash).await;
    let outcome = session.run("head -c 300000000 /dev/zero").await;
    assert_eq!(outcome.stdout.total_bytes(), 300_000_000);
    assert_eq!(outcome.stdout.omitted_bytes(), 300_000_000 - (64 << 10));
    assert_eq!(outcome.state, StateAfter::Kept);
}

#[tokio::test]
async fn endless_output_is_interrupted_at_the_deadline() {
    let mut session = Session::start(Bash).await;
    let begun = Instant::now();
    let outcome = session.run_within("yes", Duration::from_millis(300)).await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(outcome.ending.timed_out && outcome.stdout.omitted_bytes() > 0);
    assert_eq!(session.prints("echo alive").await, "alive\n");
}

#[tokio::test]
async fn a_redirection_of_the_shell_itself_lasts_until_the_end_of_the_call() {
    let mut session = Session::start(Bash).await;
    for command in ["exec >/dev/null; echo hidden", "exec >&- 2>&-", "exec </dev/zero"] {
        assert_eq!(session.run(command).await.stdout.text().to_string(), "", "{command}");
        assert_eq!(session.prints("echo back; cat").await, "back\n", "{command}");
    }
}

#[tokio::test]
async fn tracing_shows_the_commands_and_nothing_of_the_driver() {
    let mut session = Session::start(Bash).await;
    session.run("set -x").await;
    let outcome = session.run("echo a").await;
    assert_eq!(outcome.stderr.text().to_string(), "+ eval 'echo a'\n++ echo a\n");
}

#[tokio::test]
async fn the_end_of_a_call_never_overtakes_its_output() {
    let mut session = Session::start(Bash).await;
    for n in 0..200 {
        let outcome = session.run(&format!("printf {n}; sh -c 'printf {n} >&2'")).await;
        assert_eq!(outcome.stdout.text().to_string(), n.to_string());
        assert_eq!(outcome.stderr.text().to_string(), n.to_string());
        assert!(outcome.earlier.is_empty());
    }
}

#[tokio::test]
async fn programs_have_no_control_channel() {
    let mut session = Session::start(Bash).await;
    let listed = session.prints("ls /proc/self/fd; (ls /proc/$BASHPID/fd; true)").await;
    assert!(listed.lines().all(|fd| !(200..204).contains(&fd.parse().unwrap_or(0))), "{listed}");
}

#[tokio::test]
async fn a_character_split_over_two_writes_is_intact() {
    check("printf '\\303'; sleep 0.1; printf '\\251'", "\u{e9}", "").await;
}

#[tokio::test]
async fn a_line_of_a_hundred_kilobytes_is_intact_where_it_has_room() {
    let config = LinkConfig { max_output_bytes: 1 << 20, ..LinkConfig::default() };
    let mut session = Session::with(Bash, config, Arc::new(NoHostCalls)).await;
    let printed = session.prints("head -c 100000 /dev/zero | tr '\\0' x; echo").await;
    assert_eq!(printed, format!("{}\n", "x".repeat(100_000)));
}

#[tokio::test]
async fn twenty_megabytes_come_in_seconds() {
    let mut session = Session::start(Bash).await;
    let begun = Instant::now();
    let outcome = session.run("seq 1 2800000").await;
    assert_eq!(outcome.stdout.total_bytes(), 21_288_896);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(outcome.state, StateAfter::Kept);
}
