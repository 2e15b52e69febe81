//! The bounds of HTTP: rates, sessions, requests in flight, idle sessions.

use std::time::{Duration, Instant};

use mcp_server::HttpConfig;

use crate::served::{DEADLINE, Reply, Served, call};

/// Far more than a test asks for.
fn config() -> HttpConfig {
    let mut config = HttpConfig::default();
    config.max_per_second = 1_000_000;
    config.max_per_second_each = 1_000_000;
    config
}

#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < DEADLINE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_session_that_is_idle_ends() {
    let mut config = config();
    config.idle = Duration::from_millis(300);
    let served = Served::start(config);
    let session = served.session().unwrap();
    assert_eq!(served.post(Some(&session), &call("echo", None)).said(), "said");
    std::thread::sleep(Duration::from_secs(1));
    until("the session is gone", || {
        served.post(Some(&session), &call("echo", None)).status() == 404
    });
    assert!(served.session().is_ok());
}

#[test]
fn one_client_does_not_use_up_what_others_have() {
    let mut config = config();
    // So slow that nothing is filled up while the test asks.
    config.max_per_second_each = 1;
    let served = Served::start(config);
    // One address begins both, which takes its two.
    let (one, other) = (served.session(), served.session());
    let (one, other) = (one.unwrap(), other.unwrap());
    let statuses: Vec<_> = (0..8).map(|_| served.post(Some(&one), &call("echo", None))).collect();
    let refused = statuses.iter().find(|reply| reply.status() == 429).unwrap();
    assert_eq!(refused.header("retry-after").as_deref(), Some("1"));
    assert_eq!(served.post(Some(&other), &call("echo", None)).status(), 200);
}

#[test]
fn all_clients_together_are_bounded() {
    let mut config = config();
    config.max_per_second = 2;
    let served = Served::start(config);
    let replies: Vec<_> =
        (0..40).map(|_| served.post(None, &call("echo", None)).status()).collect();
    assert!(replies.contains(&429) && !replies.starts_with(&[429]), "{replies:?}");
}

#[test]
fn sessions_are_bounded() {
    let mut config = config();
    config.max_sessions = 2;
    let served = Served::start(config);
    let (one, _other) = (served.session().unwrap(), served.session().unwrap());
    let refused = served.session().unwrap_err();
    assert_eq!((refused.status(), refused.header("retry-after").as_deref()), (503, Some("10")));
    let ended = Reply::read(served.send("DELETE", &[("Mcp-Session-Id", &one)], b""));
    assert_eq!(ended.status(), 204, "{}", ended.text);
    until("there is room again", || served.session().is_ok());
}

#[test]
fn requests_in_flight_are_bounded() {
    let mut config = config();
    config.max_in_flight = 2;
    let served = Served::start(config);
    let session = served.session().unwrap();
    let headers = [("Mcp-Session-Id", session.as_str())];
    let body = call("wait", None).to_string();
    let mut waiting: Vec<_> =
        (0..2).map(|_| served.send("POST", &headers, body.as_bytes())).collect();
    let mut last = None;
    until("a third is refused", || {
        let reply = served.post(Some(&session), &call("echo", None));
        let is_refused = reply.status() == 503;
        last = Some(reply);
        is_refused
    });
    assert_eq!(last.unwrap().header("retry-after").as_deref(), Some("1"));
    // One is answered, and one is given up: both make room.
    served.tools.waiting.add_permits(1);
    drop(waiting.pop());
    until("there is room again", || {
        served.post(Some(&session), &call("echo", None)).status() == 200
    });
    served.tools.waiting.add_permits(1);
    drop(waiting);
}

#[test]
fn a_client_that_never_reads_holds_nobody_up() {
    let served = Served::start(config());
    let session = served.session().unwrap();
    let headers = [("Mcp-Session-Id", session.as_str())];
    let body = call("large", None).to_string();
    let unread: Vec<_> = (0..50).map(|_| served.send("POST", &headers, body.as_bytes())).collect();
    let other = served.session().unwrap();
    assert_eq!(served.post(Some(&other), &call("echo", None)).said(), "said");
    drop(unread);
}

#[test]
fn two_hundred_sessions_are_served_side_by_side() {
    let served = Served::start(config());
    let told: Vec<_> = std::thread::scope(|scope| {
        let one = || {
            let session = served.session().unwrap();
            (served.post(Some(&session), &call("echo", None)).said(), session)
        };
        let threads: Vec<_> = (0..200).map(|_| scope.spawn(one)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(told.iter().all(|(said, _)| said == "said"));
    let sessions: std::collections::HashSet<_> = told.iter().map(|(_, session)| session).collect();
    assert_eq!(sessions.len(), 200);
}
