//! The host's end against a peer that is no driver: whatever it says, nobody waits for ever.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::{
    fs::File,
    io::{BufRead, BufReader, Write},
    os::fd::OwnedFd,
    sync::Arc,
    time::Duration,
};

use rlm_backend::{
    CallError, CallOutcome, Channels, DriverLink, DriverProcess, Language, LinkConfig, NoHostCalls,
    StartError, StateAfter,
};
use tokio::{sync::watch, time::Instant};
use tool_core::{BoxFuture, ExitStatus};

/// A process that is only a state: it ends when it is killed.
struct Pretended(watch::Sender<Option<ExitStatus>>);

impl DriverProcess for Pretended {
    fn interrupt(&mut self) {}

    fn kill(&mut self) {
        self.0.send_replace(Some(ExitStatus::Signal(9)));
    }

    fn ended(&mut self) -> BoxFuture<'_, ExitStatus> {
        let mut state = self.0.subscribe();
        Box::pin(async move { state.wait_for(Option::is_some).await.unwrap().unwrap() })
    }
}

/// The peer's ends. It holds all of them, so nothing ever ends by itself.
struct Peer {
    requests: BufReader<File>,
    events: File,
    _output: [OwnedFd; 2],
}

impl Peer {
    /// Reads the driver's text and the token out of the first message after it.
    fn token(&mut self) -> String {
        loop {
            let line = self.line();
            assert!(!line.is_empty(), "no message");
            if let Ok(serde_json::Value::Object(hello)) = serde_json::from_str(&line) {
                return hello["token"].as_str().unwrap().to_owned();
            }
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.requests.read_line(&mut line).unwrap();
        line
    }

    fn say(&mut self, text: &str) {
        self.events.write_all(text.as_bytes()).unwrap();
    }
}

/// A link that meets a peer which behaves as `peer` does, in a thread of its own.
async fn meet(peer: impl FnOnce(Peer) + Send + 'static) -> Result<DriverLink, StartError> {
    let (requests, control_in) = rustix::pipe::pipe().unwrap();
    let (control_out, events) = rustix::pipe::pipe().unwrap();
    let (stdout, out) = rustix::pipe::pipe().unwrap();
    let (stderr, err) = rustix::pipe::pipe().unwrap();
    let ends = Peer {
        requests: BufReader::new(File::from(requests)),
        events: File::from(events),
        _output: [out, err],
    };
    std::thread::spawn(move || peer(ends));
    let channels = Channels { control_in, control_out, stdout, stderr };
    let process = Box::new(Pretended(watch::Sender::new(None)));
    let grace = Duration::from_millis(100);
    let config = LinkConfig { max_line_bytes: 1000, grace, ..LinkConfig::default() };
    let (calls, soon) = (Arc::new(NoHostCalls), Instant::now() + Duration::from_millis(500));
    DriverLink::start(Language::Python, channels, process, calls, config, soon).await
}

fn ready(token: &str, version: &str) -> String {
    format!("{{\"event\":\"ready\",\"token\":\"{token}\",\"version\":\"{version}\"}}\n")
}

/// A link whose peer comes up, reads one request, says `then` and holds its ends for a while.
async fn call_against(then: impl Fn(&str) -> String + Send + 'static) -> CallOutcome {
    let link = meet(move |mut peer| {
        let token = peer.token();
        peer.say(&ready(&token, "3.12.0"));
        peer.line();
        peer.say(&then(&token));
        std::thread::sleep(Duration::from_secs(20));
    });
    let mut link = link.await.unwrap();
    let begun = std::time::Instant::now();
    let deadline = Instant::now() + Duration::from_millis(200);
    let outcome = link.run("1", deadline, std::future::pending()).await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    if outcome.state == StateAfter::Lost {
        let again = link.run("1", deadline, std::future::pending()).await;
        assert_eq!(again.unwrap_err(), CallError::Lost);
    }
    outcome
}

fn done(token: &str, id: u64) -> String {
    format!(
        "{{\"event\":\"done\",\"token\":\"{token}\",\"id\":{id},\"exit_code\":0,\"error\":null,\
         \"shown\":[],\"cwd\":\"/\",\"cwd_exists\":true,\"state\":\"kept\"}}\n"
    )
}

#[tokio::test]
async fn a_peer_that_answers_keeps_the_session() {
    let outcome = call_against(|token| done(token, 1)).await;
    assert_eq!((outcome.state, outcome.ending.timed_out), (StateAfter::Kept, false));
}

#[tokio::test]
async fn silence_ends_at_the_deadline_and_the_grace() {
    let outcome = call_against(|_| String::new()).await;
    assert!(outcome.ending.timed_out && outcome.ending.killed);
    assert_eq!(outcome.state, StateAfter::Lost);
}

#[tokio::test]
async fn noise_a_wrong_token_and_another_calls_end_are_not_the_end() {
    for lines in
        [|_: &str| "noise\n\n{}\n".to_owned(), |_: &str| done("wrong", 1), |t: &str| done(t, 9)]
    {
        assert!(call_against(lines).await.ending.timed_out);
    }
}

#[tokio::test]
async fn a_true_end_after_noise_is_the_end() {
    let outcome = call_against(|token| format!("noise\n{}", done(token, 1))).await;
    assert_eq!(outcome.state, StateAfter::Kept);
}

#[tokio::test]
async fn a_line_past_the_bound_kills_at_once() {
    let outcome = call_against(|_| "x".repeat(20_000)).await;
    assert!(outcome.ending.killed && !outcome.ending.timed_out, "{outcome:?}");
    assert_eq!((outcome.ending.signal, outcome.state), (Some(9), StateAfter::Lost));
}

#[tokio::test]
async fn a_peer_that_says_nothing_at_the_start_is_given_up() {
    let result = meet(|peer| {
        std::thread::sleep(Duration::from_secs(5));
        drop(peer);
    });
    assert!(matches!(result.await, Err(StartError::TimedOut)));
}

#[tokio::test]
async fn a_peer_that_closes_the_channel_at_the_start_is_an_error() {
    assert!(matches!(meet(drop).await, Err(StartError::Ended { .. })));
}

#[tokio::test]
async fn an_old_interpreter_is_refused_by_name() {
    let result = meet(|mut peer| {
        let token = peer.token();
        peer.say(&ready(&token, "3.8.20"));
    });
    let error = result.await.unwrap_err();
    assert_eq!(error.to_string(), "python3 3.8.20 is too old; 3.9 or later is needed");
}
