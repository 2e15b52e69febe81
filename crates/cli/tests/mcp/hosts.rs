//! `--print-config`, and the operator's mistakes.

use std::process::Output;

use serde_json::{Value, json};

use crate::client::Place;

fn run(place: &Place, args: &[&str]) -> Output {
    place.command(args).stdin(std::process::Stdio::null()).output().unwrap()
}

#[test]
fn a_snippet_starts_this_server_with_these_flags() {
    let place = Place::new();
    let config = place.path().canonicalize().unwrap().join("remit.toml");
    for (host, key) in [
        ("claude", "mcpServers"),
        ("cursor", "mcpServers"),
        ("gemini", "mcpServers"),
        ("vscode", "servers"),
    ] {
        let args = ["--config", "remit.toml", "--allow-tool", "capitals", "--print-config", host];
        let output = run(&place, &args);
        let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
        let server = &printed[key]["remit"];
        assert_eq!(server["command"], env!("CARGO_BIN_EXE_remit"), "{host}");
        let expected = json!(["mcp", "--config", config, "--allow-tool", "capitals"]);
        assert_eq!(server["args"], expected, "{host}");
    }
    let codex = run(&place, &["--config", "remit.toml", "--print-config", "codex"]);
    let codex = String::from_utf8(codex.stdout).unwrap();
    assert!(codex.starts_with("[mcp_servers.remit]\ncommand = \""), "{codex}");
    let goose = run(&place, &["--config", "remit.toml", "--print-config", "goose"]);
    assert!(String::from_utf8(goose.stdout).unwrap().contains("\n    type: stdio\n"));
}

#[test]
fn mistakes_are_told_before_anything_is_served() {
    let place = Place::new();
    place.write("weak", "short\n");
    let config = ["--config", "remit.toml"];
    for (args, said) in [
        (&[][..], "--execute-tools"),
        (&["--execute-tools"][..], "--allow-tool"),
        (&[config[0], config[1], "--allow-tool", "nope"][..], "nope"),
        (&[config[0], config[1], "--http", "0.0.0.0:0"][..], "--token-file"),
        (&[config[0], config[1], "--http", "127.0.0.1:0", "--token-file", "weak"][..], "16"),
        (&[config[0], config[1], "--token-file", "weak"][..], "--http"),
    ] {
        let output = run(&place, args);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(said), "{args:?}: {stderr}");
        assert!(output.stdout.is_empty());
    }
}
