//! Less than everything: what is switched off is missed, reported, or refused.

use std::fs;
use std::time::{Duration, Instant};

use confine::{Confinement, Mechanism, Network, Outcome, PrepareError, Status};

use crate::support::{check, run, workdir};

#[test]
fn a_current_machine_enforces_everything_that_is_asked_for() {
    let directory = workdir();
    let prepared = Confinement::builder(directory.path()).prepare().unwrap();
    for mechanism in [
        Mechanism::Namespaces,
        Mechanism::NetworkNamespace,
        Mechanism::Landlock,
        Mechanism::Seccomp,
        Mechanism::NoNewPrivileges,
        Mechanism::Capabilities,
        Mechanism::ResourceLimits,
    ] {
        assert!(prepared.report().is_enforced(mechanism), "{mechanism}: {:?}", prepared.report());
    }
}

#[test]
fn there_is_no_network_but_a_loopback_interface() {
    let directory = workdir();
    let prepared = Confinement::builder(directory.path()).prepare().unwrap();
    check(&prepared, "grep -c : /proc/net/dev; grep -o 'lo:' /proc/net/dev", "1\nlo:\n");
    check(&prepared, "grep -c . /proc/net/route", "1\n");
}

#[test]
fn landlock_alone_keeps_files_and_network() {
    let (directory, outside) = (workdir(), workdir());
    fs::write(outside.path().join("file"), "secret").unwrap();
    let prepared =
        Confinement::builder(directory.path()).without(Mechanism::Namespaces).prepare().unwrap();
    assert!(matches!(prepared.report().status(Mechanism::Namespaces), Status::Unavailable { .. }));
    check(&prepared, "echo hello > made && cat made", "hello\n");
    let outside = outside.path().display();
    for line in [format!("cat {outside}/file"), format!("echo x > {outside}/new")] {
        assert_ne!(run(&prepared, &line).outcome, Outcome::Code(0), "`{line}` succeeded");
    }
    let dial = "exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/9'";
    let ran = run(&prepared, dial);
    assert!(!ran.stderr.contains("refused"), "a connection was tried: {}", ran.stderr);
}

#[test]
fn what_has_no_network_fails_at_once_at_either_level() {
    let directory = workdir();
    let asked = Confinement::builder(directory.path());
    for asked in [asked.clone(), asked.without(Mechanism::Namespaces)] {
        let prepared = asked.prepare().unwrap();
        for attempt in [
            "exec bash -c 'exec 3<>/dev/tcp/192.0.2.1/80'",
            "exec bash -c 'echo x > /dev/udp/192.0.2.1/53 && exit 0; exit 1'",
            "exec getent hosts example.com",
            "unset http_proxy https_proxy all_proxy; exec getent ahosts example.com",
        ] {
            let started = Instant::now();
            let ran = run(&prepared, attempt);
            assert_ne!(ran.outcome, Outcome::Code(0), "`{attempt}`: {}", ran.stdout);
            assert!(started.elapsed() < Duration::from_secs(10), "`{attempt}` hung");
        }
    }
}

#[test]
fn without_namespaces_a_drop_still_ends_the_tree() {
    let directory = workdir();
    let prepared =
        Confinement::builder(directory.path()).without(Mechanism::Namespaces).prepare().unwrap();
    let line = "(setsid sh -c 'while :; do date +%s%N > beat; sleep 0.02; done') & sleep 1000";
    let child = crate::support::start(&prepared, line);
    let beat = directory.path().join("beat");
    while !beat.exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    drop(child);
    let before = fs::read_to_string(&beat).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert_eq!(fs::read_to_string(&beat).unwrap(), before);
}

#[test]
fn a_property_that_nothing_can_give_is_refused_with_the_remedy() {
    let directory = workdir();
    let nothing = Confinement::builder(directory.path())
        .without(Mechanism::Namespaces)
        .without(Mechanism::Landlock)
        .prepare();
    let Err(PrepareError::Missing { what, remedy, .. }) = nothing else { panic!("{nothing:?}") };
    assert_eq!(what, "the file system");
    assert!(remedy.contains("user.max_user_namespaces"), "{remedy}");
    let unguarded = Confinement::builder(directory.path())
        .without(Mechanism::Namespaces)
        .hide(".env")
        .prepare();
    assert!(matches!(unguarded, Err(PrepareError::Missing { .. })), "{unguarded:?}");
    let open = Confinement::builder(directory.path())
        .without(Mechanism::NetworkNamespace)
        .without(Mechanism::Seccomp)
        .prepare();
    assert!(matches!(open, Err(PrepareError::Missing { .. })), "{open:?}");
}

#[test]
fn a_required_mechanism_is_not_done_without() {
    let directory = workdir();
    let asked = Confinement::builder(directory.path())
        .without(Mechanism::Landlock)
        .require(Mechanism::Landlock);
    let error = asked.prepare().unwrap_err().to_string();
    assert!(error.starts_with("Landlock can't be enforced here: switched off"), "{error}");
}

#[test]
fn the_host_network_is_there_only_when_asked_for() {
    let directory = workdir();
    let prepared = Confinement::builder(directory.path()).network(Network::Host).prepare().unwrap();
    let host = fs::read_to_string("/proc/net/dev").unwrap().matches(':').count();
    check(&prepared, "grep -c : /proc/net/dev", &format!("{host}\n"));
}
