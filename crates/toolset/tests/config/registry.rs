//! Which tools a configuration makes.

use std::{error::Error, path::Path, sync::Arc};

use sandbox::ToolSandbox;
use tempfile::TempDir;
use tool_core::{ErrorKind, ToolCall, ToolRegistry};
use toolset::{Config, ConfigBuilder, Toolset, ToolsetError, create_default_registry};

fn config(toml: &str) -> Config {
    let mut builder = ConfigBuilder::new();
    builder.file("remit.toml", toml).unwrap();
    builder.build().unwrap().config().clone()
}

fn names(registry: &ToolRegistry) -> Vec<&str> {
    registry.list().map(|tool| tool.spec().name().as_str()).collect()
}

/// The key and the whole text of an error.
#[track_caller]
fn refused(config: &Config) -> (String, String) {
    let error: ToolsetError = create_default_registry(config).unwrap_err();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    (error.key(), text)
}

#[test]
fn what_is_off_does_not_exist() {
    let off =
        "[sandbox]\nenabled = false\n[subagent]\nenabled = false\n[browser]\nenabled = false\n";
    for toml in ["", off] {
        let registry = create_default_registry(&config(toml)).unwrap();
        assert!(registry.is_empty());
        for tool in ["sandbox", "subagent", "browser", "browser.extract"] {
            assert!(!registry.has(tool));
            assert!(registry.scope([tool]).is_err(), "{tool} can't be allowed");
        }
    }
}

#[test]
fn the_web_is_there_when_it_is_on_and_names_what_is_wrong() {
    for (line, key, part) in [
        ("timeout_secs = 0", "browser.timeout_secs", "must be from 1 to 3600"),
        ("ports = [0]", "browser.ports", "none of them 0"),
        ("allow_hosts = ['https://a.example']", "browser.allow_hosts", "is no host pattern"),
        ("api_methods = ['TRACE']", "browser.api_methods", "GET, HEAD, POST"),
        ("proxy = 'socks5://a:1'", "browser.proxy", "http://host:port"),
        ("ca_file = '/nope.pem'", "browser.ca_file", "can't be read"),
    ] {
        let (found, text) = refused(&config(&format!("[browser]\nenabled = true\n{line}\n")));
        assert_eq!(found, key);
        assert!(text.contains(part), "{text}");
        create_default_registry(&config(&format!("[browser]\n{line}\n"))).unwrap();
    }
    let registry = create_default_registry(&config("[browser]\nenabled = true\n")).unwrap();
    assert_eq!(names(&registry), ["browser"]);
    for operation in ["browser.navigate", "browser.extract", "browser.api", "browser.click"] {
        assert!(registry.scope([operation]).is_ok(), "{operation}");
    }
    let (key, _) = refused(&config("[tools.lookup]\nbrowser = {x = 'y'}\n"));
    assert_eq!(key, "tools.lookup.browser");
}

#[test]
fn sub_agents_that_can_not_be_had_name_their_key() {
    for (line, key, part) in [
        ("max_depth = 9", "subagent.max_depth", "must be from 1 to 8"),
        ("provider = 'x'", "subagent.provider", "there is no provider \"x\""),
        ("[subagent.providers.a]\npreset = 'x'", "subagent.providers.a.preset", "valid: aider, "),
        ("state_dir = '/proc/x'", "subagent.state_dir", "the state folder"),
    ] {
        let (found, text) = refused(&config(&format!("[subagent]\nenabled = true\n{line}\n")));
        assert_eq!(found, key);
        assert!(text.contains(part), "{text}");
        create_default_registry(&config(&format!("[subagent]\n{line}\n"))).unwrap();
    }
    let registry = create_default_registry(&config("[subagent]\nenabled = true\n")).unwrap();
    assert_eq!(names(&registry), ["subagent"]);
    assert!(registry.scope(["subagent.collect"]).is_ok());
}

#[test]
fn sessions_that_can_not_be_had_name_their_key() {
    for (line, key, part) in [
        ("backend = 'e2b'", "sandbox.backend", "this build has no \"e2b\" backend"),
        ("backend = 'dcoker'", "sandbox.backend", "the valid names are \"local\" and \"docker\""),
        ("fallback = ['e2b']", "sandbox.fallback", "this build has no \"e2b\" backend"),
        ("docker.tmp_bytes = 0", "sandbox.docker.tmp_bytes", "must be from"),
        ("timeout_secs = 0", "sandbox.timeout_secs", "must be from 1 to 86400"),
        ("session_lifetime_secs = 1099511627776", "sandbox.session_lifetime_secs", "must be from"),
        ("idle_secs = 9223372036854775807", "sandbox.idle_secs", "must be from"),
    ] {
        let (found, text) = refused(&config(&format!("[sandbox]\nenabled = true\n{line}\n")));
        assert_eq!(found, key);
        assert!(text.contains(part), "{text}");
        create_default_registry(&config(&format!("[sandbox]\n{line}\n"))).unwrap();
    }
}

#[test]
fn the_name_of_the_sessions_is_taken() {
    let (key, _) = refused(&config("[tools.lookup.sandbox]\na = 'b'\n"));
    assert_eq!(key, "tools.lookup.sandbox");
    let (key, _) = refused(&config("[tools.lookup.subagent]\na = 'b'\n"));
    assert_eq!(key, "tools.lookup.subagent");
}

#[tokio::test]
async fn sessions_are_allowed_by_the_operation() {
    let registry =
        Arc::new(create_default_registry(&config("[sandbox]\nenabled = true\n")).unwrap());
    let scope = registry.scope(["sandbox.execute_code"]).unwrap();
    let sandbox = ToolSandbox::new(registry, scope, Default::default());
    let call = |arguments: &str| sandbox.execute(ToolCall::from_text("c", "sandbox", arguments));
    let refused = call(r#"{"op": "execute_bash", "command": "true"}"#).await.unwrap();
    assert_eq!(refused.error_kind(), Some(ErrorKind::Unauthorized));
    let answered = call(r#"{"op": "execute_code", "code": "6 * 7"}"#).await.unwrap();
    assert!(answered.for_model().contains(r#""value":"42""#), "{}", answered.for_model());

    let off = Arc::new(create_default_registry(&Config::default()).unwrap());
    let sandbox = ToolSandbox::new(off, Default::default(), Default::default());
    let call = ToolCall::from_text("c", "sandbox", r#"{"op": "execute_code", "code": "1"}"#);
    let unknown = sandbox.execute(call).await.unwrap();
    assert_eq!(unknown.error_kind(), Some(ErrorKind::UnknownTool));
}

#[tokio::test]
async fn the_tools_with_one_operation_each_exist_where_they_are_asked_for() {
    let registry = create_default_registry(&config("[sandbox]\nenabled = true\n")).unwrap();
    assert_eq!(names(&registry), ["sandbox"]);
    let asked = config("[sandbox]\nenabled = true\nseparate_tools = true\n");
    let registry = create_default_registry(&asked).unwrap();
    assert_eq!(names(&registry), ["rlm_code", "rlm_bash", "rlm_query", "sandbox"]);
    let answer = execute(registry, "rlm_code", r#"{"code": "6 * 7"}"#).await.unwrap();
    assert!(answer.contains(r#""value":"42""#), "{answer}");
    let off = config("[sandbox]\nseparate_tools = true\n");
    assert!(create_default_registry(&off).unwrap().is_empty());
    for name in ["rlm_code", "rlm_bash", "rlm_query"] {
        let (key, _) = refused(&config(&format!("[tools.lookup.{name}]\na = \"b\"\n")));
        assert_eq!(key, format!("tools.lookup.{name}"));
    }
}

#[test]
fn a_workdir_makes_the_tools_that_read_it() {
    let dir = TempDir::new().unwrap();
    let mut config = Config::default();
    config.tools.workdir = Some(dir.path().to_owned());
    let registry = create_default_registry(&config).unwrap();
    assert_eq!(names(&registry), Toolset::workdir_tools());
    assert!(registry.list().all(|tool| tool.is_executable()));
    config.tools.workdir = Some(dir.path().join("missing"));
    let (key, text) = refused(&config);
    assert_eq!(key, "tools.workdir");
    assert!(text.contains("missing"), "{text}");
}

/// Executes one call with everything allowed that can be.
async fn execute(registry: ToolRegistry, name: &str, arguments: &str) -> Result<String, ErrorKind> {
    let registry = std::sync::Arc::new(registry);
    let scope = registry.scope([name]).unwrap();
    let sandbox = ToolSandbox::new(registry, scope, Default::default());
    let result = sandbox.execute(ToolCall::from_text("c", name, arguments)).await.unwrap();
    result.error_kind().map_or_else(|| Ok(result.for_model()), Err)
}

#[tokio::test]
async fn tables_are_tools() {
    let toml = "[tools.lookup.capitals]\nFrance = \"Paris\"\n[tools.lookup.empty]\n";
    let registry = create_default_registry(&config(toml)).unwrap();
    assert_eq!(names(&registry), ["capitals", "empty"]);
    let told = registry.get("capitals").unwrap().spec().description().to_owned();
    assert!(told.contains("France") && !told.contains("Paris"), "{told}");
    assert_eq!(execute(registry, "capitals", r#"{"key": "France"}"#).await.as_deref(), Ok("Paris"));
}

#[test]
fn a_table_has_a_name_of_its_own() {
    for name in Toolset::workdir_tools() {
        // Also where the built-in tool does not exist.
        let (key, text) = refused(&config(&format!("[tools.lookup.{name}]\n")));
        assert_eq!(key, format!("tools.lookup.{name}"));
        assert!(text.contains("built-in"), "{text}");
    }
    let (key, text) = refused(&config("[tools.lookup.\"a b\"]\n"));
    assert_eq!(key, "tools.lookup");
    assert!(text.contains("\"a b\" is not a name"), "{text}");
    let twice = "[tools.lookup.t]\na = \"1\"\n[tools.lookup.t]\na = \"2\"\n";
    assert!(ConfigBuilder::new().file("remit.toml", twice).is_err());
}

/// A configuration with this definition file, and a table `t` with the keys `a` and `b`.
fn declared(dir: &Path, definitions: &str) -> Config {
    let path = dir.join("defs.json");
    std::fs::write(&path, definitions).unwrap();
    let mut config = config("[tools.lookup.t]\na = \"1\"\nb = \"2\"\n");
    config.tools.definitions = Some(path);
    config
}

#[tokio::test]
async fn a_definition_file_is_the_closed_list_and_narrows() {
    let dir = TempDir::new().unwrap();
    let narrow = r#"[
        {"name": "t", "description": "Declared.", "parameters":
            {"type": "object", "properties": {"key": {"enum": ["a"]}}}},
        {"name": "other", "parameters": {"type": "object"}}
    ]"#;
    let make = || create_default_registry(&declared(dir.path(), narrow)).unwrap();
    assert_eq!(names(&make()), ["t", "other"]);
    assert!(make().get("t").unwrap().is_executable());
    assert!(!make().get("other").unwrap().is_executable());
    assert_eq!(make().get("t").unwrap().spec().description(), "Declared.");
    assert_eq!(execute(make(), "t", r#"{"key": "a"}"#).await.as_deref(), Ok("1"));
    let refused = execute(make(), "t", r#"{"key": "b"}"#).await;
    assert_eq!(refused, Err(ErrorKind::InvalidArguments));
    assert_eq!(execute(make(), "other", "{}").await, Err(ErrorKind::BackendUnavailable));

    let wide = r#"{"name": "t", "parameters": {"type": "object"}}"#;
    let wide = create_default_registry(&declared(dir.path(), wide)).unwrap();
    let refused = execute(wide, "t", r#"{"key": "a", "more": 1}"#).await;
    assert_eq!(refused, Err(ErrorKind::InvalidArguments), "its own schema still counts");

    let without = create_default_registry(&declared(
        dir.path(),
        r#"{"name": "x", "parameters": {"type": "object"}}"#,
    ));
    assert_eq!(names(&without.unwrap()), ["x"], "a tool that is not declared does not exist");
}

#[test]
fn a_definition_file_that_does_not_fit_is_an_error_of_its_key() {
    let dir = TempDir::new().unwrap();
    let check = |definitions: &str, expected: &str| {
        let (key, text) = refused(&declared(dir.path(), definitions));
        assert_eq!(key, "tools.definitions");
        assert!(text.contains("defs.json") || text.contains("tool \""), "{text}");
        assert!(text.contains(expected), "{text}");
    };
    check("hello", "not JSON");
    check("{\"name\": \"a\"}\n{\"name\": \"b\"}", "one JSON value a line");
    check("{\"name\": \"a\"}\nhello", "one JSON value a line");
    check("[{\"name\": \"a\"},]", "not JSON");
    check(r#"{"name": "a", "parameters": {"$ref": "http://127.0.0.1:1/"}}"#, "nothing is fetched");
    check(r#"{"name": "a", "parameters": {"type": "dict"}}"#, "/type");
    let mut missing = Config::default();
    missing.tools.definitions = Some(dir.path().join("none.json"));
    let (key, text) = refused(&missing);
    assert_eq!(key, "tools.definitions");
    assert!(text.contains("none.json") && text.contains("No such file"), "{text}");
}
