//! `bwrap` as the maker of namespaces: everything that holds without it.

use std::fs;
use std::time::{Duration, Instant};

use confine::{
    Command, Confinement, Limits, Mechanism, NamespaceMaker, Outcome, PrepareError, Prepared,
};

use crate::support::{check, run, start, workdir};

/// A confinement whose namespaces `bwrap` makes; nothing where it is not installed.
#[expect(clippy::panic, reason = "a test fails by panicking")]
fn by_bwrap(asked: Confinement) -> Option<Prepared> {
    match asked.namespaces_by(NamespaceMaker::Bubblewrap).require(Mechanism::Namespaces).prepare() {
        Ok(prepared) => Some(prepared),
        Err(PrepareError::Missing { why, .. }) if why.contains("bwrap is not installed") => {
            crate::support::skip(&why);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn the_report_says_who_makes_them() {
    let directory = workdir();
    let own = Confinement::builder(directory.path()).prepare().unwrap();
    assert_eq!(own.report().namespaces_made_by(), Some(NamespaceMaker::Launcher));
    let none =
        Confinement::builder(directory.path()).without(Mechanism::Namespaces).prepare().unwrap();
    assert_eq!(none.report().namespaces_made_by(), None);
    let Some(prepared) = by_bwrap(Confinement::builder(directory.path())) else { return };
    for mechanism in [
        Mechanism::Namespaces,
        Mechanism::NetworkNamespace,
        Mechanism::Landlock,
        Mechanism::Seccomp,
    ] {
        assert!(prepared.report().is_enforced(mechanism), "{:?}", prepared.report());
    }
    let json = serde_json::to_value(prepared.report()).unwrap();
    assert_eq!(json["namespaces_made_by"], "bubblewrap");
}

#[test]
fn a_child_sees_the_same() {
    let directory = workdir();
    let Some(through) = by_bwrap(Confinement::builder(directory.path())) else { return };
    let own = Confinement::builder(directory.path()).prepare().unwrap();
    for line in [
        "id -u; id -g; pwd; umask; hostname",
        "env | sort | grep -v ^_",
        "ls / /dev /etc /tmp; stat -c '%a %U %n' /tmp /dev/shm /etc/passwd; cat /etc/passwd",
        "ls -l /proc/self/fd | wc -l; grep -c : /proc/net/dev; grep -E '^(Cap|NoNew|Seccomp:)' \
         /proc/self/status; cat /proc/1/environ | wc -c",
        "touch /x /usr/x /etc/x /dev/x; echo $?; echo made > file; cat file; rm file",
        "mount -t tmpfs none /tmp; unshare -U true; echo $?",
        "ulimit -n; ulimit -c; cat < /dev/zero | head -c 3 | wc -c; echo > /proc/sys/kernel/hostname",
    ] {
        let (expected, found) = (run(&own, line), run(&through, line));
        let told = |ran: &crate::support::Ran| (ran.stdout.clone(), ran.outcome);
        assert_eq!(told(&found), told(&expected), "`{line}`: {}", found.stderr);
    }
}

#[test]
fn files_are_as_writable_and_as_guarded() {
    let (directory, outside) = (workdir(), workdir());
    fs::write(outside.path().join("secret"), "x").unwrap();
    fs::create_dir_all(directory.path().join("kept/in")).unwrap();
    fs::write(directory.path().join("kept/in/file"), "ours").unwrap();
    fs::write(directory.path().join(".env"), "KEY=x").unwrap();
    fs::create_dir(directory.path().join("hidden")).unwrap();
    fs::write(directory.path().join("hidden/file"), "x").unwrap();
    let asked = Confinement::builder(directory.path())
        .protect("kept/in")
        .hide(".env")
        .hide("hidden")
        .readable(outside.path());
    let Some(prepared) = by_bwrap(asked) else { return };
    check(&prepared, "cat kept/in/file", "ours");
    check(&prepared, "cat .env 2>/dev/null; ls hidden 2>/dev/null; echo $?", "2\n");
    let secret = outside.path().join("secret");
    check(&prepared, &format!("cat {}", secret.display()), "x");
    for line in [
        "echo theirs > kept/in/file",
        "rm -rf kept/in",
        "mv kept away",
        "mv kept/in away",
        "rm .env",
        &format!("echo y > {}", secret.display()),
    ] {
        assert_ne!(run(&prepared, line).outcome, Outcome::Code(0), "`{line}` succeeded");
    }
    assert_eq!(fs::read_to_string(directory.path().join("kept/in/file")).unwrap(), "ours");
    assert_eq!(fs::read_to_string(&secret).unwrap(), "x");
}

#[test]
fn limits_end_it_and_its_end_ends_everything() {
    let directory = workdir();
    let mut limits = Limits::default();
    limits.wall_clock = Some(Duration::from_secs(1));
    let Some(prepared) = by_bwrap(Confinement::builder(directory.path()).limits(limits)) else {
        return;
    };
    let begun = Instant::now();
    let outcome = run(&prepared, "(setsid sh -c 'sleep 60') & sleep 60").outcome;
    assert!(matches!(outcome, Outcome::LimitExceeded(_)), "{outcome:?}");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_handle_that_is_dropped_ends_the_tree() {
    let directory = workdir();
    let Some(prepared) = by_bwrap(Confinement::builder(directory.path())) else { return };
    let line = "(setsid sh -c 'while :; do date +%s%N > beat; sleep 0.02; done') & sleep 1000";
    let child = start(&prepared, line);
    let beat = directory.path().join("beat");
    while !beat.exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(child);
    std::thread::sleep(Duration::from_millis(200));
    let before = fs::read_to_string(&beat).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(fs::read_to_string(&beat).unwrap(), before);
}

#[test]
fn a_name_that_looks_like_an_option_is_a_name() {
    let directory = workdir();
    let dashed = directory.path().join("--ro-bind");
    fs::create_dir(&dashed).unwrap();
    let Some(prepared) = by_bwrap(Confinement::builder(&dashed)) else { return };
    check(&prepared, "basename $PWD", "--ro-bind\n");
    for program in ["--ro-bind", "--bind", "--", "--dev-bind"] {
        let error = prepared.spawn(Command::new(program).args(["/", "/", "id"])).unwrap_err();
        assert!(error.to_string().contains(program), "{error}");
    }
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let directory = workdir();
    let Some(prepared) = by_bwrap(Confinement::builder(directory.path())) else { return };
    let error = prepared.spawn(Command::new("no-such-program")).unwrap_err().to_string();
    assert!(error.contains("no-such-program"), "{error}");
    let mut child = prepared.spawn(Command::new("true")).unwrap();
    assert_eq!(child.wait().unwrap().outcome, Outcome::Code(0));
}
