//! `--print-config`, and the operator's mistakes.

use std::process::{Command, Output};

use serde_json::{Value, json};
use yaml_rust2::{Yaml, YamlLoader};

use crate::client::{CONFIG, Client, Place};

fn run(place: &Place, args: &[&str]) -> Output {
    place.command(args).stdin(std::process::Stdio::null()).output().unwrap()
}

/// What a host reads of its snippet: the whole entry of the server, and its program with the arguments.
fn entry(host: &str, printed: &str) -> (Value, Vec<String>) {
    let (all, key, command): (Value, _, _) = match host {
        "codex" => (toml::from_str(printed).unwrap(), "mcp_servers", "command"),
        "goose" => (from_yaml(printed), "extensions", "cmd"),
        "vscode" => (serde_json::from_str(printed).unwrap(), "servers", "command"),
        _ => (serde_json::from_str(printed).unwrap(), "mcpServers", "command"),
    };
    let entry = all[key]["remit"].clone();
    let words = [&entry[command]].into_iter().chain(entry["args"].as_array().unwrap());
    let words = words.map(|word| word.as_str().unwrap().to_owned()).collect();
    (entry, words)
}

fn from_yaml(text: &str) -> Value {
    fn value(node: &Yaml) -> Value {
        match node {
            Yaml::String(text) => json!(text),
            Yaml::Integer(number) => json!(number),
            Yaml::Boolean(is_so) => json!(is_so),
            Yaml::Array(items) => items.iter().map(value).collect(),
            Yaml::Hash(entries) => {
                let pair =
                    |(key, node): (&Yaml, _)| (key.as_str().unwrap().to_owned(), value(node));
                Value::Object(entries.iter().map(pair).collect())
            }
            other => panic!("{other:?}"),
        }
    }
    let documents = YamlLoader::load_from_str(text).unwrap();
    assert_eq!(documents.len(), 1);
    value(&documents[0])
}

/// The keys of an entry beside the program and its arguments, as each host documents them.
fn beside(host: &str) -> Value {
    match host {
        "codex" => json!({"tool_timeout_sec": 300}),
        "goose" => json!({
            "name": "remit",
            "description": "Tools in a sandbox",
            "type": "stdio",
            "enabled": true,
            "timeout": 300,
        }),
        "vscode" => json!({"type": "stdio"}),
        _ => json!({}),
    }
}

#[test]
fn a_snippet_starts_this_server_with_these_flags() {
    let place = Place::new();
    let folder = r#"it's "a": {b} # c\d é, -"#;
    std::fs::create_dir(place.path().join(folder)).unwrap();
    place.write(&format!("{folder}/remit.toml"), CONFIG);
    let typed = format!("{folder}/remit.toml");
    let config = place.path().canonicalize().unwrap().join(&typed);
    let config = config.to_str().unwrap();
    for host in ["claude", "codex", "cursor", "vscode", "goose", "gemini"] {
        let args = ["--config", &typed, "--allow-tool", "capitals", "--print-config", host];
        let output = run(&place, &args);
        let (mut entry, words) = entry(host, str::from_utf8(&output.stdout).unwrap());
        let program = env!("CARGO_BIN_EXE_remit");
        assert_eq!(
            words,
            [program, "mcp", "--config", config, "--allow-tool", "capitals"],
            "{host}"
        );
        for key in ["command", "cmd", "args"] {
            entry.as_object_mut().unwrap().remove(key);
        }
        assert_eq!(entry, beside(host), "{host}");
        assert_eq!(tools_of(&words), ["capitals"], "{host}");
    }
}

/// The tools of a server that a host starts, in a folder of its own.
#[expect(clippy::disallowed_methods, reason = "this is what a host does")]
fn tools_of(words: &[String]) -> Vec<String> {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).current_dir("/").env_clear().env("PATH", "/usr/bin:/bin");
    let mut client = Client::started(command);
    client.initialize("2025-06-18");
    client.names()
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
