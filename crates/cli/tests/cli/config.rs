//! `remit config`: layers and their origins, the environment, and the schema.

use serde_json::{Value, json};

use crate::support::{Output, Place, repository};

/// The row of a key.
fn row<'a>(rows: &'a [Value], key: &str) -> &'a Value {
    rows.iter().find(|row| row["key"] == key).unwrap()
}

#[test]
fn flags_win_over_variables_and_those_over_the_file() {
    let place = Place::new();
    place.file(
        "remit.toml",
        "[limits]\ntimeout_ms = 1\njobs = 1\nmax_args_bytes = 1\n[tools]\nallow = [\"a\"]\n",
    );
    let args = ["config", "show", "--json", "--config", "remit.toml", "--exec-timeout-ms", "3"];
    let remit = place.remit(args).env("REMIT_LIMITS_TIMEOUT_MS", "2").env("REMIT_LIMITS_JOBS", "2");
    let rows = remit.env("REMIT_TOOLS_ASK", "x, y,").run().ended(0).json();
    let check = |key: &str, value: Value, from: &str| {
        assert_eq!(row(&rows, key), &json!({"key": key, "value": value, "from": from}));
    };
    check("limits.timeout_ms", json!(3), "--exec-timeout-ms");
    check("limits.jobs", json!(2), "REMIT_LIMITS_JOBS");
    check("limits.max_args_bytes", json!(1), "remit.toml");
    check("limits.max_output_bytes", json!(65536), "default");
    check("tools.allow", json!(["a"]), "remit.toml");
    check("tools.ask", json!(["x", "y"]), "REMIT_TOOLS_ASK");
    let keys: Vec<_> = rows.iter().map(|row| row["key"].as_str().unwrap()).collect();
    assert!(keys.is_sorted() && keys.len() > 30, "{keys:?}");
}

#[test]
fn every_flag_of_execution_is_a_key() {
    let place = Place::new();
    let args = [
        ("--tools", "tools.definitions", json!("f")),
        ("--exec-workdir", "tools.workdir", json!("f")),
        ("--audit", "audit.file", json!("f")),
        ("--allow-tool", "tools.allow", json!(["f"])),
        ("--ask-tool", "tools.ask", json!(["f"])),
        ("--exec-timeout-ms", "limits.timeout_ms", json!(9)),
        ("--exec-max-output-bytes", "limits.max_output_bytes", json!(9)),
        ("--exec-max-args-bytes", "limits.max_args_bytes", json!(9)),
        ("--jobs", "limits.jobs", json!(9)),
    ];
    for (flag, key, value) in args {
        let given = if value.is_number() { "9" } else { "f" };
        let rows = place.remit(["config", "show", "--json", flag, given]).run().ended(0).json();
        assert_eq!(row(&rows, key), &json!({"key": key, "value": value, "from": flag}));
    }
}

#[test]
fn the_table_for_people_has_the_same_keys() {
    let place = Place::new();
    let table = place.remit(["config", "show"]).env("REMIT_LIMITS_JOBS", "3").run().ended(0).stdout;
    insta::assert_snapshot!(table);
}

#[test]
fn a_file_can_be_named_by_a_variable() {
    let place = Place::new();
    place.file("a.toml", "[limits]\njobs = 2\n");
    let remit = place.remit(["config", "show", "--json"]).env("REMIT_CONFIG", "a.toml");
    assert_eq!(row(&remit.run().ended(0).json(), "limits.jobs")["from"], "a.toml");
    let missing = place.remit(["config", "show"]).env("REMIT_CONFIG", "b.toml").run().ended(2);
    assert!(missing.stderr.contains("REMIT_CONFIG: b.toml"), "{}", missing.stderr);
}

#[test]
fn a_variable_that_names_nothing_is_noted_and_never_secret() {
    let place = Place::new();
    let remit = place.remit(["config", "show"]).env("REMIT_LIMIT_JOBS", "hunter2");
    let output = remit.env("OTHER", "x").env("REMIT_LOG", "warn").run().ended(0);
    assert_eq!(output.stderr, "remit: REMIT_LIMIT_JOBS names no setting and is ignored\n");
}

/// Runs `config show` with this file, and looks for every part of what is said.
#[track_caller]
fn refused(toml: &str, expected: &[&str]) {
    let place = Place::new();
    place.file("remit.toml", toml);
    let output = place.remit(["config", "show", "--config", "remit.toml"]).run();
    is_refused(output, &[&["remit.toml"], expected].concat());
}

#[track_caller]
fn is_refused(output: Output, expected: &[&str]) {
    let output = output.ended(2);
    assert_eq!(output.stdout, "");
    for part in expected {
        assert!(output.stderr.contains(part), "{part:?} is not in: {}", output.stderr);
    }
}

#[test]
fn keys_and_values_that_do_not_fit_are_named_with_what_would() {
    refused("[limits\n", &["line 1"]);
    refused("[limits]\njobs = 1\njobs = 2\n", &["line 3", "duplicate key"]);
    refused("[limit]\njobs = 1\n", &["unknown key \"limit\"", "\"limits\""]);
    refused("[limits]\ntimeout = 1\n", &["\"limits.timeout\"", "\"limits.timeout_ms\""]);
    refused("[tools]\ntimeout_ms = 1\n", &["\"tools.timeout_ms\"", "\"limits.timeout_ms\""]);
    refused("[model]\napi_key = \"x\"\n", &["\"model.api_key\"", "\"model.api_key_env\""]);
    refused("max_turns = 1\n", &["\"max_turns\"", "\"chain.max_turns\""]);
    refused(
        "[limits]\ntimeout_ms = \"x\"\n",
        &["limits.timeout_ms: expected integer, found a string"],
    );
    refused("[chain]\nmax_turns = 99\n", &["chain.max_turns: expected at most 64"]);
    refused("[tools]\nallow = \"x\"\n", &["tools.allow: expected array"]);
    refused("[tools]\nallow = [1]\n", &["tools.allow.0: expected string"]);
    refused(
        "[model]\nprovider = \"gpt\"\n",
        &["expected \"openai\" or \"anthropic\", found a string \"gpt\""],
    );
    refused("[chain]\neviction = \"x\"\n", &["chain.eviction: expected \"drop_oldest\" or"]);
    refused("limits = 5\n", &["limits: expected object"]);
}

#[test]
fn a_variable_of_the_wrong_kind_is_named() {
    let place = Place::new();
    let check = |name: &str, value: &str, expected: &str| {
        is_refused(place.remit(["config", "show"]).env(name, value).run(), &[name, expected]);
    };
    check(
        "REMIT_LIMITS_TIMEOUT_MS",
        "x",
        "limits.timeout_ms: expected a whole number, found \"x\"",
    );
    check("REMIT_LIMITS_TIMEOUT_MS", "", "expected a whole number");
    check("REMIT_MODEL_STREAM", "yes", "expected true or false");
    check("REMIT_MODEL_TEMPERATURE", "hot", "expected a number");
    check("REMIT_MODEL_PROVIDER", "gpt", "expected \"openai\" or \"anthropic\"");
    check("REMIT_TOOLS_LOOKUP", "a=b", "can only be set in a file");
}

#[test]
fn a_mistake_in_a_file_is_told_with_the_file_when_it_is_used() {
    let place = Place::new();
    place.workdir();
    place.file("r.jsonl", r#"{"text": "hi"}"#);
    let check = |toml: &str, expected: &[&str]| {
        place.file("remit.toml", format!("{toml}\n"));
        let exec = ["exec", "--config", "remit.toml", "--execute-tools", "--allow-tool", "x"];
        is_refused(place.remit(exec).run(), &[&["remit.toml"], expected].concat());
    };
    check("[limits]\ntimeout_ms = 0", &["limits.timeout_ms", "from 1 to"]);
    check("[limits]\nexecutor_threads = 0", &["limits.executor_threads", "from 1 to 512"]);
    check("[browser]\nenabled = true\nports = [0]", &["browser.ports", "none of them 0"]);
    check("[tools]\nworkdir = \"/nope\"", &["tools.workdir", "/nope"]);
    check("[tools]\ndefinitions = \"/nope\"", &["tools.definitions", "/nope"]);
    check("[tools.lookup]\n\"a b\" = {x = \"y\"}", &["tools.lookup", "\"a b\" is not a name"]);
    check("[tools.lookup]\nread_file_in_workdir = {x = \"y\"}", &["built-in tool"]);
    check(
        "[tools]\nask = [\"nope\"]\nworkdir = \"work\"\n[tools.lookup]\nx = {}",
        &["tools.ask", "\"nope\""],
    );
    place
        .file("remit.toml", "[chain]\ncontext_window_tokens = 100\ncontext_reserve_tokens = 100\n");
    let agent = ["agent", "task", "--replay", "r.jsonl", "--config", "remit.toml"];
    is_refused(place.remit(agent).run(), &["remit.toml", "context_reserve_tokens"]);
}

#[test]
fn a_file_may_hold_what_this_run_does_not_use() {
    let place = Place::new();
    place.workdir();
    place.file("remit.toml", "[tools]\nworkdir = \"work\"\nask = [\"read_file_in_workdir\"]\n[tools.lookup.capitals]\nFrance = \"Paris\"\n");
    let args = ["exec", "--config", "remit.toml", "--execute-tools", "--allow-tool", "capitals"];
    let call = r#"{"id": "1", "name": "capitals", "arguments": {"key": "France"}}"#;
    let output = place.remit(args).input(call).run().ended(0);
    assert_eq!(output.json()[0]["content"][0]["text"], "Paris");
}

#[test]
fn the_schema_that_is_checked_in_is_the_schema() {
    let place = Place::new();
    let schema = place.remit(["config", "schema"]).run().ended(0).stdout;
    let path = repository("docs/remit.schema.json");
    let checked_in = std::fs::read_to_string(&path).unwrap();
    assert!(
        schema == checked_in,
        "docs/remit.schema.json is old: remit config schema > docs/remit.schema.json"
    );
}
