//! Stages 1 to 4 from outside: which call is refused, by which stage, in which words.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use tool_core::{
    AdmittedCall, AuthorizationScope, ByteCount, ErrorKind, Gate, LimitSource, Limits,
    OperationName, Reading, RegisterError, ToolCall, ToolError, ToolRegistry, ToolSpec,
};

fn spec(name: &str, parameters: Value) -> ToolSpec {
    ToolSpec::new(name, "", parameters).unwrap()
}

fn read_file() -> ToolSpec {
    let parameters = json!({
        "type": "object",
        "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["path"],
        "additionalProperties": false,
    });
    spec("read_file", parameters)
}

fn browser() -> ToolSpec {
    let parameters = json!({
        "type": "object",
        "properties": {"op": {"enum": ["navigate", "extract"]}, "url": {"type": "string"}},
        "required": ["op"],
    });
    let operations = ["navigate", "extract"].map(|op| OperationName::new(op).unwrap());
    spec("browser", parameters).with_operations(operations)
}

fn registry(specs: impl IntoIterator<Item = ToolSpec>) -> Arc<ToolRegistry> {
    let mut registry = ToolRegistry::new();
    for spec in specs {
        registry.declare(spec).unwrap();
    }
    Arc::new(registry)
}

fn gate(allowed: &[&str]) -> Gate {
    let open = spec("open", json!({"type": "object", "additionalProperties": true}));
    let registry = registry([read_file(), browser(), open]);
    let scope = registry.scope(allowed).unwrap();
    Gate::new(registry, scope, Limits::default())
}

fn admit(gate: &Gate, name: &str, arguments: &str) -> Result<AdmittedCall, ToolError> {
    gate.admit(&ToolCall::from_text("c1", name, arguments))
}

fn kind(gate: &Gate, name: &str, arguments: &str) -> Result<Option<Reading>, ErrorKind> {
    admit(gate, name, arguments).map(|call| call.reading()).map_err(|error| error.kind())
}

#[test]
fn each_stage_refuses_what_is_its_own_and_no_later_one_is_asked() {
    let gate = gate(&["read_file"]);
    let too_large = format!(r#"{{"path": "{}"}}"#, "x".repeat(9000));
    let cases = [
        ("read_file", r#"{"path": "a"}"#, Ok(None)),
        // A wrong name wins over everything that is wrong with the arguments.
        ("Read_File", "not json", Err(ErrorKind::UnknownTool)),
        ("mcp__fs__read_file", &too_large, Err(ErrorKind::UnknownTool)),
        ("read_file ", r#"{"path": "a"}"#, Err(ErrorKind::UnknownTool)),
        // So does a missing authorization.
        ("open", "not json", Err(ErrorKind::Unauthorized)),
        ("open", &too_large, Err(ErrorKind::Unauthorized)),
        // So does the size, which is measured before anything is parsed.
        ("read_file", &too_large, Err(ErrorKind::ArgumentsTooLarge)),
        ("read_file", "not json", Err(ErrorKind::InvalidArguments)),
        ("read_file", r#"{"path": 5}"#, Err(ErrorKind::InvalidArguments)),
        ("read_file", "{}", Err(ErrorKind::InvalidArguments)),
        ("read_file", r#"{"path": "a", "p": 1}"#, Err(ErrorKind::InvalidArguments)),
        ("read_file", r#"{"path": "a", "path": "b"}"#, Err(ErrorKind::InvalidArguments)),
        ("read_file", r#"["a"]"#, Err(ErrorKind::InvalidArguments)),
    ];
    for (name, arguments, expected) in cases {
        let shown = tool_core::clip(arguments, 60);
        assert_eq!(kind(&gate, name, arguments), expected, "{name} {shown}");
    }
}

#[test]
fn exactly_two_lossless_readings() {
    let gate = gate(&["read_file", "open"]);
    let decoded = Ok(Some(Reading::DecodedString));
    let empty = Ok(Some(Reading::EmptyAsObject));
    let cases = [
        ("read_file", r#""{\"path\": \"a\"}""#, decoded),
        ("open", "", empty),
        ("open", "  \n", empty),
        ("open", "null", empty),
        ("open", r#""""#, empty),
        ("open", "{}", Ok(None)),
        // Twice more encoded is once too often; so is anything that is not an object.
        ("read_file", r#""\"{\\\"path\\\": \\\"a\\\"}\"""#, Err(ErrorKind::InvalidArguments)),
        ("open", r#""null""#, Err(ErrorKind::InvalidArguments)),
        ("open", r#""[]""#, Err(ErrorKind::InvalidArguments)),
        ("open", r#""path=a""#, Err(ErrorKind::InvalidArguments)),
        ("open", r#""{\"a\": 1""#, Err(ErrorKind::InvalidArguments)),
        // An empty object still has to fit.
        ("read_file", "", Err(ErrorKind::InvalidArguments)),
    ];
    for (name, arguments, expected) in cases {
        assert_eq!(kind(&gate, name, arguments), expected, "{name} {arguments}");
    }
}

#[test]
fn nothing_is_coerced_and_null_is_not_dropped() {
    let gate = gate(&["read_file"]);
    for (arguments, pointer) in [
        (r#"{"path": "a", "limit": "5812"}"#, "/limit"),
        (r#"{"path": "a", "limit": "12px"}"#, "/limit"),
        (r#"{"path": "a", "limit": null}"#, "/limit"),
        (r#"{"path": "a", "limit": 1.5}"#, "/limit"),
    ] {
        let error = admit(&gate, "read_file", arguments).unwrap_err();
        let details = error.details().unwrap();
        assert_eq!(details["violations"][0]["pointer"], pointer, "{arguments}");
        assert_eq!(details["violations"][0]["expected"], "integer", "{arguments}");
    }
    assert!(admit(&gate, "read_file", r#"{"path": "a", "limit": 1.0}"#).is_ok());
}

#[test]
fn the_size_is_inclusive_and_counted_in_bytes() {
    let gate = gate(&["open"]);
    // 9 bytes around the text, 2 a character.
    let fits = format!(r#"{{"a": "x{}"}}"#, "é".repeat((8192 - 10) / 2));
    assert_eq!(fits.len(), 8192);
    assert!(admit(&gate, "open", &fits).is_ok());
    let error = admit(&gate, "open", &format!("{fits} ")).unwrap_err();
    assert_eq!(error.details().unwrap(), json!({"bytes": 8193, "max_bytes": 8192}));
    let value = ToolCall::from_json("c1", "open", json!({"a": "x".repeat(9000)}));
    assert_eq!(gate.admit(&value).unwrap_err().kind(), ErrorKind::ArgumentsTooLarge);
}

#[test]
fn an_operation_is_authorized_by_itself_or_by_its_tool() {
    let whole = gate(&["browser"]);
    assert!(admit(&whole, "browser", r#"{"op": "extract"}"#).is_ok());
    assert!(whole.scope().allowed().eq(["browser", "browser.extract", "browser.navigate"]));

    let one = gate(&["browser.extract"]);
    let admitted = admit(&one, "browser", r#"{"op": "extract"}"#).unwrap();
    assert_eq!(admitted.capability(), "browser.extract");
    let refused = admit(&one, "browser", r#"{"op": "navigate", "url": 5}"#).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unauthorized, "before the schema: {refused}");
    assert_eq!(kind(&one, "browser", r#"{"op": "fly"}"#), Err(ErrorKind::InvalidArguments));
    assert_eq!(kind(&one, "browser", "{}"), Err(ErrorKind::InvalidArguments));
    assert_eq!(kind(&one, "browser.extract", "{}"), Err(ErrorKind::UnknownTool));
    // Encoded once more, the operation is still seen.
    let encoded = r#""{\"op\": \"navigate\"}""#;
    assert_eq!(kind(&one, "browser", encoded), Err(ErrorKind::Unauthorized));
}

#[test]
fn a_narrowed_scope_never_grants_what_either_side_lacks() {
    let registry = registry([read_file(), browser()]);
    let parent = registry.scope(["browser.extract", "read_file"]).unwrap();
    let asked = registry.scope(["browser"]).unwrap();
    let child = parent.intersect(&asked);
    assert!(child.allowed().eq(["browser.extract"]));
    let gate = Gate::new(registry, child, Limits::default());
    assert!(admit(&gate, "browser", r#"{"op": "extract"}"#).is_ok());
    assert_eq!(kind(&gate, "browser", r#"{"op": "navigate"}"#), Err(ErrorKind::Unauthorized));
    assert_eq!(kind(&gate, "read_file", r#"{"path": "a"}"#), Err(ErrorKind::Unauthorized));
}

#[test]
fn an_unknown_name_hints_only_at_what_is_authorized() {
    let hint = |gate: &Gate| match admit(gate, "Read-File", "{}").unwrap_err() {
        ToolError::UnknownTool { closest, .. } => closest.map(|name| name.to_string()),
        other => panic!("{other}"),
    };
    assert_eq!(hint(&gate(&["read_file"])), Some("read_file".to_owned()));
    assert_eq!(hint(&gate(&["open"])), None);
}

#[test]
fn a_capability_that_nobody_has_is_an_operators_error() {
    let registry = registry([read_file(), browser()]);
    for (name, closest) in [
        ("read_fil", Some("read_file")),
        ("Browser.Extract", Some("browser.extract")),
        ("browser.fly", None),
        ("*", None),
        ("read_*", None),
        ("; rm -rf /", None),
    ] {
        let error = registry.scope([name]).unwrap_err();
        assert_eq!(error.name, name);
        if closest.is_some() {
            assert_eq!(error.closest.as_deref(), closest, "{name}");
        }
        assert!(error.to_string().contains("browser.navigate"), "{error}");
    }
}

#[test]
fn a_refused_registration_changes_nothing() {
    let mut registry = ToolRegistry::new();
    registry.declare(read_file()).unwrap();
    registry.declare(browser()).unwrap();
    registry.declare(spec("a.b", json!({"type": "object"}))).unwrap();
    let other = spec("read_file", json!({"type": "object", "additionalProperties": true}));
    let no_op =
        spec("c", json!({"type": "object"})).with_operations([OperationName::new("x").unwrap()]);
    let above = spec("a", json!({"type": "object", "properties": {"op": {}}, "required": ["op"]}))
        .with_operations([OperationName::new("x").unwrap()]);
    let refused = [
        (other, "registered already"),
        (spec("browser.extract", json!({"type": "object"})), "both a tool and an operation"),
        (spec("browser.other", json!({"type": "object"})), "both a tool and an operation"),
        (above, "both a tool and an operation"),
        (no_op, "must require a string \"op\""),
        (spec("d", json!({"type": "array"})), "schema at \"/type\""),
    ];
    for (spec, message) in refused {
        let error = registry.declare(spec).unwrap_err();
        let source = std::error::Error::source(&error).map(ToString::to_string);
        let text = format!("{error} {}", source.unwrap_or_default());
        assert!(text.contains(message), "{text}");
    }
    let names: Vec<_> = registry.list().map(|tool| tool.spec().name().to_string()).collect();
    assert_eq!(names, ["read_file", "browser", "a.b"]);
    let first = registry.get("read_file").unwrap();
    assert_eq!(first.spec(), &read_file(), "the first definition stays in force");
    assert!(matches!(
        registry.declare(read_file()),
        Err(RegisterError::Duplicate(name)) if name.as_str() == "read_file"
    ));
}

#[test]
fn a_call_narrows_its_own_deadline_and_never_widens_it() {
    let parameters = json!({
        "type": "object", "properties": {"timeout_ms": {"type": "integer", "minimum": 1}},
    });
    let plain = json!({"type": "object"});
    let registry = registry([spec("slow", parameters), spec("plain", plain)]);
    let scope = registry.scope(["slow", "plain"]).unwrap();
    let gate = Gate::new(registry, scope, Limits::default());
    let timeout = |name, arguments| {
        let timeout = admit(&gate, name, arguments).unwrap().timeout();
        (timeout.after.as_millis(), timeout.source)
    };
    assert_eq!(timeout("slow", r#"{"timeout_ms": 100}"#), (100, LimitSource::Call));
    assert_eq!(timeout("slow", r#"{"timeout_ms": 999999999}"#), (5000, LimitSource::Default));
    assert_eq!(timeout("slow", "{}"), (5000, LimitSource::Default));
    assert_eq!(timeout("plain", r#"{"timeout_ms": 100}"#), (5000, LimitSource::Default));
}

#[test]
fn what_a_model_is_offered_is_what_it_may_call() {
    // Declared tools have nothing behind them, so they are never offered.
    assert!(gate(&["read_file", "browser"]).offered().is_empty());
}

#[test]
fn errors_read_well() {
    let gate = gate(&["read_file", "browser.extract"]);
    let mut texts = String::new();
    for (name, arguments) in [
        ("read-file", "{}"),
        ("send_mail", "{}"),
        ("open", "{}"),
        ("browser", r#"{"op": "navigate"}"#),
        ("read_file", &"x".repeat(9000)),
        ("read_file", r#"{"path": "a",}"#),
        ("read_file", "[1]"),
        ("read_file", r#"{"paht": "a", "limit": "5"}"#),
    ] {
        let error = admit(&gate, name, arguments).unwrap_err();
        texts.push_str(&format!("{}: {}\n", error.kind(), error.for_model()));
    }
    insta::assert_snapshot!(texts);
}

#[test]
fn deep_and_circular_schemas_do_not_overflow() {
    let list = spec("list", json!({"type": "object", "properties": {"next": {"$ref": "#"}}}));
    let circular = spec(
        "circular",
        json!({"type": "object", "$ref": "#/$defs/a", "$defs": {
            "a": {"anyOf": [{"$ref": "#/$defs/b"}, {"type": "object"}]},
            "b": {"properties": {"x": {"$ref": "#/$defs/a"}}, "required": ["x"]},
        }}),
    );
    let registry = registry([list, circular]);
    let scope = registry.scope(["list", "circular"]).unwrap();
    let limits = Limits::default().with_max_args(ByteCount(1 << 20)).unwrap();
    let gate = Gate::new(registry, scope, limits);
    let nested = |depth: usize| r#"{"next":"#.repeat(depth) + "{}" + &"}".repeat(depth);
    assert!(admit(&gate, "list", &nested(127)).is_ok());
    assert_eq!(kind(&gate, "list", &nested(128)), Err(ErrorKind::InvalidArguments));
    assert_eq!(kind(&gate, "list", &nested(20_000)), Err(ErrorKind::InvalidArguments));
    assert!(admit(&gate, "circular", r#"{"x": {"x": {}}}"#).is_ok());
}

#[test]
fn a_reference_that_leaves_is_refused_without_a_connection() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let outside = format!("http://{}/schema.json", server.local_addr().unwrap());
    for uri in [outside.as_str(), "file:///etc/passwd"] {
        let parameters = json!({"type": "object", "properties": {"a": {"$ref": uri}}});
        let error = ToolRegistry::new().declare(spec("remote", parameters)).unwrap_err();
        let RegisterError::Schema { tool, source } = error else { panic!("{error}") };
        assert_eq!((tool.as_str(), source.place.as_str()), ("remote", "/properties/a/$ref"));
    }
    let accepted = server.accept();
    assert_eq!(accepted.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn format_is_an_annotation() {
    let parameters = json!({"type": "object", "properties": {"mail": {"format": "email"}}});
    let registry = registry([spec("send", parameters)]);
    let scope = registry.scope(["send"]).unwrap();
    let gate = Gate::new(registry, scope, Limits::default());
    assert!(admit(&gate, "send", r#"{"mail": "not an address"}"#).is_ok());
}

proptest! {
    #[test]
    fn no_text_gets_past_a_closed_scope(name in "\\PC{0,20}", arguments in "\\PC{0,40}") {
        let registry = registry([read_file(), browser()]);
        let gate = Gate::new(registry, AuthorizationScope::empty(), Limits::default());
        prop_assert!(admit(&gate, &name, &arguments).is_err());
        prop_assert!(admit(&gate, "browser", &arguments).is_err());
    }

    #[test]
    fn every_refusal_says_something_short(name in "\\PC{0,200}", arguments in "[\\[\\]{}:,\"a0-9 ]{0,60}") {
        let gate = gate(&["read_file"]);
        for name in [name.as_str(), "read_file", "open"] {
            if let Err(error) = admit(&gate, name, &arguments) {
                prop_assert!((1..=4096).contains(&error.for_model().len()));
            }
        }
    }
}
