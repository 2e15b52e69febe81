//! Output that is watched while the code runs.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use rlm_backend::{
    Language::{self, Bash, Python},
    OutputSource, OutputWatcher,
};

use crate::common::{PLENTY, Session};

/// What was seen, and when.
#[derive(Debug, Default)]
struct Seen(Mutex<Vec<(OutputSource, String, Instant)>>);

impl OutputWatcher for Seen {
    fn output(&self, source: OutputSource, text: &str) {
        self.0.lock().unwrap().push((source, text.to_owned(), Instant::now()));
    }
}

impl Seen {
    fn of(&self, source: OutputSource) -> String {
        let seen = self.0.lock().unwrap();
        seen.iter().filter(|piece| piece.0 == source).map(|piece| piece.1.as_str()).collect()
    }
}

async fn watched(language: Language) -> (Session, Arc<Seen>) {
    let mut session = Session::start(language).await;
    let seen = Arc::new(Seen::default());
    session.link.watch(Some(Arc::clone(&seen) as _));
    (session, seen)
}

/// Code that prints, sleeps for half a second, and prints again: the first is seen long before the
/// end, and everything is seen when the outcome is there.
async fn check(language: Language, code: &str) {
    let (mut session, seen) = watched(language).await;
    let outcome = session.run(code).await;
    let ended = Instant::now();
    assert_eq!(seen.of(OutputSource::Stdout), "first\nlast\u{e9}", "{code}");
    assert_eq!(seen.of(OutputSource::Stderr), "warned\n", "{code}");
    assert_eq!(outcome.stdout.text().to_string(), "first\nlast\u{e9}");
    let first = seen.0.lock().unwrap()[0].2;
    assert!(ended - first > Duration::from_millis(300), "{:?}", ended - first);
}

#[tokio::test]
async fn output_is_seen_while_python_runs() {
    let code = "import sys, time\nprint('first'); time.sleep(0.5)\n\
                print('warned', file=sys.stderr); print('last\u{e9}', end='')";
    check(Python, code).await;
}

#[tokio::test]
async fn output_is_seen_while_bash_runs() {
    check(Bash, "echo first; sleep 0.5; echo warned >&2; printf 'last\u{e9}'").await;
}

#[tokio::test]
async fn the_end_never_overtakes_what_is_seen() {
    let (mut session, seen) = watched(Python).await;
    let mut expected = String::new();
    for n in 0..200 {
        session.run(&format!("print({n}, end='\u{20ac}')")).await;
        expected.push_str(&format!("{n}\u{20ac}"));
        assert_eq!(seen.of(OutputSource::Stdout), expected);
    }
}

#[tokio::test]
async fn a_character_in_two_writes_is_seen_whole_and_a_broken_one_at_the_end() {
    let (mut session, seen) = watched(Python).await;
    let code = "import os, time\nfor part in b'\\xe2', b'\\x82', b'\\xac': \
                os.write(1, part); time.sleep(0.1)\nos.write(1, b'\\xe2');";
    session.run(code).await;
    let pieces: Vec<_> = seen.0.lock().unwrap().iter().map(|piece| piece.1.clone()).collect();
    assert_eq!(pieces, ["\u{20ac}", "\\xe2"]);
}

#[tokio::test]
async fn nobody_watches_any_more_once_the_watcher_is_taken_away() {
    let (mut session, seen) = watched(Python).await;
    session.link.watch(None);
    assert_eq!(session.prints("print('unseen')").await, "unseen\n");
    assert_eq!(seen.of(OutputSource::Stdout), "");
}

#[tokio::test]
async fn what_was_printed_before_a_timeout_is_seen() {
    let (mut session, seen) = watched(Python).await;
    let code = "print('partial', end='', flush=True)\nwhile True: pass";
    let outcome = session.run_within(code, Duration::from_millis(500)).await;
    assert!(outcome.ending.timed_out);
    assert_eq!(seen.of(OutputSource::Stdout), "partial");
    assert!(session.try_run("1", PLENTY).await.is_ok());
}
