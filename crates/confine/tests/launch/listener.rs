//! A listener in the child's network is served by the host, and reached by the child alone.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::TcpStream;

use confine::{Command, Confinement, Mechanism, Network, Outcome, SpawnError};

use crate::support::{skip, workdir};

/// A port that nothing on a machine for tests listens to.
const PORT: u16 = 39_128;

/// Says a word to the listener, and prints the answer.
const TALK: &str =
    "exec 9<>/dev/tcp/127.0.0.1/39128; echo word >&9; read -r answer <&9; echo got $answer";

#[test]
fn the_host_serves_what_the_child_connects_to() {
    let directory = workdir();
    let prepared = Confinement::builder(directory.path()).prepare().unwrap();
    if !prepared.report().is_enforced(Mechanism::NetworkNamespace) {
        return skip("no network namespace can be had");
    }
    // The third is one that waited for its order.
    for _ in 0..3 {
        let command = Command::new("bash").args(["-c", TALK]).listener(PORT);
        let mut child = prepared.spawn(command).unwrap();
        let listener = child.take_listener().unwrap();
        assert!(child.take_listener().is_none());
        let (mut stream, _) = listener.accept().unwrap();
        let mut line = String::new();
        BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "word\n");
        let outside = TcpStream::connect(("127.0.0.1", PORT)).unwrap_err();
        assert_eq!(outside.kind(), ErrorKind::ConnectionRefused);
        stream.write_all(b"answer\n").unwrap();
        let stdout = std::io::read_to_string(child.take_stdout().unwrap()).unwrap();
        assert_eq!(stdout, "got answer\n");
        assert_eq!(child.wait().unwrap().outcome, Outcome::Code(0));
    }
}

#[test]
fn the_child_inherits_no_listener() {
    let directory = workdir();
    let prepared = Confinement::builder(directory.path()).prepare().unwrap();
    if !prepared.report().is_enforced(Mechanism::NetworkNamespace) {
        return skip("no network namespace can be had");
    }
    let list = Command::new("sh").args(["-c", "readlink /proc/self/fd/*"]).listener(PORT);
    let mut child = prepared.spawn(list).unwrap();
    let stdout = std::io::read_to_string(child.take_stdout().unwrap()).unwrap();
    assert!(!stdout.contains("socket"), "{stdout}");
    assert!(child.take_listener().is_some());
}

#[test]
fn in_the_hosts_network_there_is_no_such_listener() {
    let directory = workdir();
    let prepared = Confinement::builder(directory.path()).network(Network::Host).prepare().unwrap();
    let error = prepared.spawn(Command::new("true").listener(PORT)).unwrap_err();
    assert!(matches!(error, SpawnError::SharedNetwork), "{error}");
}
