//! The tools that the suite's scenarios name.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use mcp_server::Server;
use serde_json::{Value, json};
use tool_core::{
    BoxFuture, Content, ExecContext, OutputKind, Progress, Tool, ToolError, ToolOutput, ToolSpec,
    ValidatedArgs,
};

/// A picture of one red point.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// Between two lines that a tool writes: more than the server takes to show one.
const PAUSE: Duration = Duration::from_millis(150);

/// What a tool does.
#[derive(Debug, Clone)]
enum Deed {
    Say(&'static str),
    Greet,
    Show,
    Fail,
    /// Waits for the seconds of its arguments.
    Wait,
    FailLate,
    /// Writes three lines, each with a pause after it.
    Write(Duration),
    Reload(Arc<OnceLock<Server>>),
}

/// A tool of the suite.
#[derive(Debug)]
pub(crate) struct Diagnostic {
    spec: ToolSpec,
    deed: Deed,
    is_asked_for: bool,
}

impl Diagnostic {
    fn new(name: &str, schema: Value, deed: Deed) -> Self {
        let spec = ToolSpec::new(name, "A tool of the conformance suite.", schema).unwrap();
        Self { spec, deed, is_asked_for: false }
    }

    fn asked_for(mut self) -> Self {
        self.is_asked_for = true;
        self
    }

    pub(crate) fn name(&self) -> &str {
        self.spec.name().as_str()
    }

    /// Whether a person is asked before it runs.
    pub(crate) fn is_asked_for(&self) -> bool {
        self.is_asked_for
    }
}

impl Tool for Diagnostic {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute(
        &self,
        args: ValidatedArgs,
        ctx: ExecContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            match &self.deed {
                Deed::Say(text) => Ok(ToolOutput::text(*text)),
                Deed::Greet => {
                    let name = args.get_str("name").unwrap_or_default();
                    Ok(ToolOutput::text(format!("Hello, {name}!")))
                }
                Deed::Show => Ok(picture()),
                Deed::Fail => Err(ToolError::failed("This tool intentionally fails.")),
                Deed::Wait => {
                    let seconds =
                        args.as_object().get("seconds").and_then(Value::as_u64).unwrap_or_default();
                    tokio::time::sleep(Duration::from_secs(seconds)).await;
                    Ok(ToolOutput::text("It is computed."))
                }
                Deed::FailLate => {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    Err(ToolError::failed("This tool intentionally fails."))
                }
                Deed::Write(pause) => {
                    write(&ctx, *pause).await;
                    Ok(ToolOutput::text("Three lines were written."))
                }
                Deed::Reload(server) => {
                    if let Some(server) = server.get() {
                        server.reload().await;
                    }
                    Ok(ToolOutput::text("The list has changed."))
                }
            }
        })
    }
}

fn picture() -> ToolOutput {
    let image = Content::Image { media_type: "image/png".to_owned(), data: PNG.to_owned() };
    ToolOutput { content: vec![image], ..ToolOutput::default() }
}

async fn write(ctx: &ExecContext, pause: Duration) {
    for text in ["started\n", "half\n", "done\n"] {
        ctx.progress(Progress::Output { kind: OutputKind::Stdout, text });
        tokio::time::sleep(pause).await;
    }
}

/// All of them.
pub(crate) fn all(server: &Arc<OnceLock<Server>>) -> Vec<Diagnostic> {
    let nothing = || json!({"type": "object", "properties": {}, "additionalProperties": false});
    let plain = |name, deed| Diagnostic::new(name, nothing(), deed);
    let asked = |name| plain(name, Deed::Say("state-ok")).asked_for();
    let message = json!({
        "type": "object",
        "properties": {"message": {"type": "string"}},
        "required": ["message"],
    });
    let seconds = json!({
        "type": "object",
        "properties": {"seconds": {"type": "integer"}, "label": {"type": "string"}},
    });
    let name = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    vec![
        Diagnostic::new("greet", name, Deed::Greet),
        Diagnostic::new("slow_compute", seconds, Deed::Wait),
        plain("failing_job", Deed::FailLate),
        plain("test_simple_text", Deed::Say("This is a simple text response for testing.")),
        plain("test_image_content", Deed::Show),
        plain("test_error_handling", Deed::Fail),
        plain("test_tool_with_logging", Deed::Write(PAUSE)),
        // The suite gives it half a second.
        plain("test_logging_tool", Deed::Write(PAUSE / 10)),
        plain("test_tool_with_progress", Deed::Write(PAUSE)),
        plain("test_reconnection", Deed::Write(PAUSE)),
        plain("test_trigger_tool_change", Deed::Reload(Arc::clone(server))),
        Diagnostic::new("json_schema_2020_12_tool", of_2020_12(), Deed::Say("fits")),
        Diagnostic::new("test_elicitation", message, Deed::Say("allowed")).asked_for(),
        asked("test_streaming_elicitation"),
        asked("test_input_required_result_elicitation"),
        asked("test_input_required_result_request_state"),
        asked("test_input_required_result_tampered_state"),
        asked("test_input_required_result_capabilities"),
    ]
}

/// A schema with what the newest draft of JSON Schema has.
fn of_2020_12() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}
