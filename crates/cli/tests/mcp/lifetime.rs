//! Sessions belong to the connection: whatever ends it, nothing is left running.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::client::{Client, Place, is_running, marker, until};

/// A client whose session has one process that runs in a call, and one in the background.
fn busy(place: &Place) -> (Client, [String; 2]) {
    let mut client = place.client();
    let markers = [marker(), marker()];
    let command = format!("sleep {} & sleep {}", markers[0], markers[1]);
    let call = json!({"name": "sandbox_execute_bash", "arguments": {"command": command}});
    client.request("tools/call", call);
    until("both run", || markers.iter().all(|marker| is_running(marker)));
    (client, markers)
}

fn gone(markers: &[String]) {
    until("nothing is left", || !markers.iter().any(|marker| is_running(marker)));
}

#[test]
fn the_end_of_the_input_ends_everything() {
    let place = Place::new();
    let (mut client, markers) = busy(&place);
    let started = Instant::now();
    drop(client.stdin.take());
    assert_eq!(client.ended(), Some(0));
    assert!(started.elapsed() < Duration::from_secs(30));
    gone(&markers);
}

#[test]
fn an_output_that_nobody_reads_any_more_ends_everything() {
    let place = Place::new();
    let mut command = place.command(&["--config", "remit.toml"]);
    use std::{io::Write, process::Stdio};
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap();
    until("it ends", || child.try_wait().unwrap().is_some());
}

#[test]
fn a_server_that_is_killed_leaves_nothing() {
    let place = Place::new();
    let (mut client, markers) = busy(&place);
    client.signal(Signal::KILL);
    assert_eq!(client.ended(), None);
    gone(&markers);
}

#[test]
fn a_host_that_is_killed_leaves_nothing() {
    let place = Place::new();
    let markers = [marker(), marker()];
    let request = |id: u8, method: &str, params: serde_json::Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
    };
    let begin = request(
        0,
        "initialize",
        json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "host", "version": "1"},
        }),
    );
    let command = format!("sleep {} & sleep {}", markers[0], markers[1]);
    let call = request(
        1,
        "tools/call",
        json!({"name": "sandbox_execute_bash", "arguments": {"command": command}}),
    );
    // A host of its own, which holds the only ends of both pipes and is stopped by nothing but a kill.
    place.write("calls", &format!("{begin}\n{call}\n"));
    let host = "mkfifo in out; \"$0\" mcp --config remit.toml <in >out & exec 3>in 4<out; \
                cat calls >&3; while :; do read -r line <&4; done";
    let mut host_command = place.command(&[]);
    let program = host_command.get_program().to_owned();
    host_command = shell(&host_command, host, &program);
    let mut host = host_command.spawn().unwrap();
    until("both run", || markers.iter().all(|marker| is_running(marker)));
    host.kill().unwrap();
    host.wait().unwrap();
    gone(&markers);
}

/// A shell in the place of another program.
#[expect(clippy::disallowed_methods, reason = "a host is a program of its own")]
fn shell(
    like: &std::process::Command,
    script: &str,
    program: &std::ffi::OsStr,
) -> std::process::Command {
    let mut command = std::process::Command::new("bash");
    command.args(["-c", script]).arg(program);
    command.current_dir(like.get_current_dir().unwrap()).stderr(std::process::Stdio::null());
    command.env_clear().envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

#[test]
fn an_interrupt_ends_the_server_quietly() {
    let place = Place::new();
    let (mut client, markers) = busy(&place);
    client.signal(Signal::TERM);
    assert_eq!(client.ended(), Some(0));
    gone(&markers);
}
