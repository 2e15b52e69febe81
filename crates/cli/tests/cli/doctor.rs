//! `remit doctor`, and commands as tools, from the command line.

use serde_json::{Value, json};

use crate::support::Place;

#[test]
fn every_mechanism_has_a_status_and_a_remedy_where_it_is_missing() {
    let run = Place::new().remit(["doctor", "--json"]).run();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(["full", "reduced", "landlock"].contains(&found["level"].as_str().unwrap()), "{found}");
    assert!(found["memory_held_by"].is_string(), "{found}");
    let is_namespaced = found["mechanisms"][0]["status"] == "enforced";
    assert_eq!(found["namespaces_made_by"].is_string(), is_namespaced, "{found}");
    let rows = found["mechanisms"].as_array().unwrap();
    assert!(rows.len() >= 10, "{rows:?}");
    for row in rows {
        let status = row["status"].as_str().unwrap();
        let is_missing = matches!(status, "unavailable" | "partial");
        assert!(["enforced", "partial", "unavailable", "not_requested"].contains(&status), "{row}");
        assert_eq!(row["how_to_enable"].is_string(), is_missing, "{row}");
    }
    for (interpreter, program) in
        found["interpreters"].as_array().unwrap().iter().zip(["python3", "bash"])
    {
        assert_eq!(interpreter["program"], program);
        assert_eq!(interpreter["is_usable"], true, "these tests need it: {interpreter}");
        assert!(interpreter["path"].as_str().unwrap().ends_with(program), "{interpreter}");
    }
    let browser = &found["browser"];
    assert_eq!(browser["is_usable"] == true, browser["version"].is_string(), "{browser}");
    assert_eq!(browser["is_usable"] == false, browser["why"].is_string(), "{browser}");
    let agents = found["agents"].as_array().unwrap();
    assert_eq!(agents.len(), 7);
    for row in agents {
        assert_eq!(row["path"].is_string(), row["status"] == "installed", "{row}");
        assert_eq!(row["how_to_install"].is_string(), row["status"] == "not_installed", "{row}");
    }
}

#[test]
fn a_person_reads_the_level_first_and_then_a_line_for_each() {
    let run = Place::new().remit(["doctor"]).run();
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert!(run.stdout.starts_with("level  "), "{}", run.stdout);
    for name in ["namespaces", "seccomp", "memory is held by", "python3", "bash", "chromium"] {
        let is_told = |line: &str| line.starts_with(name) && line.len() > 24;
        assert!(run.stdout.lines().any(is_told), "{name}: {}", run.stdout);
    }
}

#[test]
fn a_command_of_the_configuration_runs_confined() {
    let place = Place::new();
    place.file("work/note.txt", "one\ntwo\n");
    place.file("secret.txt", "canary-8810");
    let config = place.file(
        "remit.toml",
        r#"
        [tools]
        execute = true
        allow = ["count"]
        workdir = "work"
        [tools.command.count]
        argv = ["wc", "-l", "{path}"]
        parameters = { type = "object", properties = { path = { type = "string" } }, required = ["path"] }
        [tools.command.other]
        argv = ["true"]
        "#,
    );
    let calls = [
        json!({"id": "1", "name": "count", "arguments": {"path": "note.txt"}}),
        json!({"id": "2", "name": "count", "arguments": {"path": "../secret.txt"}}),
        json!({"id": "3", "name": "count", "arguments": {"path": "--files0-from=note.txt"}}),
        json!({"id": "4", "name": "other", "arguments": {}}),
    ];
    let calls = calls.map(|call| format!("{call}\n")).concat();
    let run = place.remit(["exec", "--config", &config]).input(calls).run();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let rows: Vec<Value> = run.stdout.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(rows[0]["content"][0]["json"]["stdout"], "2 note.txt\n");
    assert_eq!(rows[0]["confinement"]["seccomp"]["status"], "enforced");
    assert_eq!(rows[1]["error"]["details"]["exit_code"], 1);
    assert!(rows[2]["error"]["message"].as_str().unwrap().contains("begins with"));
    assert_eq!(rows[3]["error"]["kind"], "unauthorized");
}
