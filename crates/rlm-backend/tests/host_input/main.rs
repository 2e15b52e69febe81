//! The host's standard input is no session's: code finds the end of input at once, and every byte that
//! waits for the host is still there for it.
//!
//! The program runs itself as the host, with data on its standard input.
#![cfg_attr(not(target_os = "linux"), allow(unused, reason = "sessions are for Linux"))]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "in a test a panic is the report, and the host tells on its output what it saw"
)]

#[cfg(target_os = "linux")]
#[path = "../common/host.rs"]
mod host;

#[cfg(target_os = "linux")]
use std::{
    io::{Read, Write},
    process::{Command, Stdio},
};

#[cfg(target_os = "linux")]
use rlm_backend::Language;

/// The argument that makes this program a host.
const HOST: &str = "--as-host";
/// What is on the host's standard input.
const DATA: &str = "a line for the host\nand another\n";

#[cfg(target_os = "linux")]
fn main() {
    if std::env::args().any(|word| word == HOST) {
        be_the_host();
    } else {
        start_the_host();
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}

/// Lets sessions read, then reads itself.
#[cfg(target_os = "linux")]
fn be_the_host() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let reads = [
            (Language::Bash, "cat; read x; cat /dev/stdin; echo \"[$x]\"", "[]\n"),
            (Language::Python, "import sys\nprint(repr(sys.stdin.read()))", "''\n"),
            (Language::Python, "import os\nprint(os.read(0, 10))", "b''\n"),
        ];
        for (language, code, expected) in reads {
            let mut session = host::Session::start(language).await;
            let outcome = session.run(code).await;
            assert_eq!(outcome.stdout.text().to_string(), expected, "{code}: {outcome:?}");
            session.end();
        }
    });
    let mut left = String::new();
    std::io::stdin().read_to_string(&mut left).unwrap();
    print!("{left}");
}

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the host is this program itself, not confined")]
fn start_the_host() {
    let mut host = Command::new(std::env::current_exe().unwrap())
        .arg(HOST)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    host.stdin.take().unwrap().write_all(DATA.as_bytes()).unwrap();
    let output = host.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), DATA);
    println!("sessions read nothing of the host's input, and the host all of it");
}
