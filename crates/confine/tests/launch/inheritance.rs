//! What a child has of the host: what was named, and nothing else.

use std::fs::File;
use std::io::{Read, Write};

use confine::{Command, Confinement, Stream};
use rustix::io::{FdFlags, fcntl_setfd};

use crate::support::{check, default_in, workdir};

#[test]
fn the_environment_is_a_short_list_and_what_was_named() {
    let directory = workdir();
    let prepared = Confinement::builder(directory.path())
        .env("NAMED", "yes")
        .without_env("TZ")
        .prepare()
        .unwrap();
    check(
        &prepared,
        "/usr/bin/env | cut -d= -f1 | grep -v '^_$\\|^PWD$\\|^OLDPWD$\\|^SHLVL$' | sort | tr '\\n' ' '",
        "HOME LANG NAMED PATH TMPDIR ",
    );
}

#[test]
fn no_descriptor_is_inherited_but_those_named() {
    let directory = workdir();
    let prepared = default_in(directory.path());
    let leaked = File::open("/dev/null").unwrap();
    fcntl_setfd(&leaked, FdFlags::empty()).unwrap();
    // The last one is the listing's own.
    check(&prepared, "exec ls /proc/self/fd", "0\n1\n2\n3\n");
}

#[test]
fn a_named_descriptor_has_the_next_number() {
    let directory = workdir();
    let prepared = default_in(directory.path());
    let (mut ours, theirs) = std::io::pipe().unwrap();
    let command = Command::new("sh").args(["-c", "echo through >&3"]).inherit(theirs.into());
    let mut child = prepared.spawn(command).unwrap();
    let mut said = String::new();
    ours.read_to_string(&mut said).unwrap();
    child.wait().unwrap();
    assert_eq!(said, "through\n");
}

#[test]
fn standard_input_is_empty_unless_it_is_a_pipe() {
    let directory = workdir();
    let prepared = default_in(directory.path());
    check(&prepared, "cat", "");
    let mut child = prepared.spawn(Command::new("cat").stdin(Stream::Pipe)).unwrap();
    child.take_stdin().unwrap().write_all(b"typed").unwrap();
    let mut said = String::new();
    child.take_stdout().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "typed");
}

#[test]
fn there_is_no_terminal_no_capability_and_no_way_to_gain_one() {
    let directory = workdir();
    let prepared = default_in(directory.path());
    check(
        &prepared,
        "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status | tr -s '\\t\\n' '  '",
        "CapInh: 0000000000000000 CapPrm: 0000000000000000 CapEff: 0000000000000000 \
         CapBnd: 0000000000000000 CapAmb: 0000000000000000 NoNewPrivs: 1 Seccomp: 2 ",
    );
    check(&prepared, "(: < /dev/tty) 2>/dev/null || echo none", "none\n");
    check(
        &prepared,
        "umask; grep -E '^Sig(Blk|Ign)' /proc/self/status | cut -f2 | tr '\\n' ' '",
        "0022\n0000000000000000 0000000000000000 ",
    );
}
