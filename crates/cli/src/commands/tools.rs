//! `remit tools`.

use std::process::ExitCode;

use serde_json::{Value, json};
use tool_core::{
    AuthorizationScope, RegisteredTool, ToolRegistry, clip, render_anthropic, render_mcp,
    render_openai,
};

use crate::{
    args::{Shape, ToolsArgs},
    failure::Failure,
    out,
    printable::one_line,
    session,
    settings::Layers,
};

/// How much of a description the list shows, in bytes.
const MAX_ABOUT: usize = 240;

pub(super) fn run(args: &ToolsArgs) -> Result<ExitCode, Failure> {
    let settings = Layers::read(&args.settings, &args.execution)?.finish()?;
    let registry = settings.registry()?;
    let tools = &settings.config().tools;
    let scope = settings.known("tools.allow", &registry, &tools.allow)?;
    settings.known("tools.ask", &registry, &tools.ask)?;
    session::limits(&settings)?;
    session::jobs(&settings)?;
    match args.format {
        Some(shape) => out::text_out(&format!("{:#}\n", definitions(&registry, shape)))?,
        None if args.json => {
            registry.list().try_for_each(|tool| out::json_line(&as_json(tool, &scope)))?;
        }
        None => out::text_out(&table(&registry, &scope))?,
    }
    if registry.is_empty() {
        out::note(
            "remit: no tool exists; give --exec-workdir DIR for the tools that read files, or \
             --tools FILE",
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn definitions(registry: &ToolRegistry, shape: Shape) -> Value {
    let render = match shape {
        Shape::Openai => render_openai,
        Shape::Anthropic => render_anthropic,
        Shape::Mcp => render_mcp,
    };
    registry.list().map(|tool| render(tool.spec())).collect()
}

/// What of the tool is authorized: all, some operations, or nothing.
fn authorized(tool: &RegisteredTool, scope: &AuthorizationScope) -> Vec<String> {
    let spec = tool.spec();
    if scope.is_authorized(spec.name().as_str()) {
        return vec![spec.name().to_string()];
    }
    let names = spec.operations().iter().map(|op| format!("{}.{op}", spec.name()));
    names.filter(|name| scope.is_authorized(name)).collect()
}

fn as_json(tool: &RegisteredTool, scope: &AuthorizationScope) -> Value {
    let spec = tool.spec();
    json!({
        "name": spec.name(),
        "description": spec.description(),
        "parameters": spec.parameters(),
        "operations": spec.operations(),
        "is_executable": tool.is_executable(),
        "authorized": authorized(tool, scope),
    })
}

fn table(registry: &ToolRegistry, scope: &AuthorizationScope) -> String {
    registry.list().map(|tool| entry(tool, scope)).collect()
}

fn entry(tool: &RegisteredTool, scope: &AuthorizationScope) -> String {
    let spec = tool.spec();
    let standing = match (tool.is_executable(), authorized(tool, scope)) {
        (false, _) => "declared only".to_owned(),
        (true, names) if names.is_empty() => "not authorized".to_owned(),
        (true, names) if names[0] == spec.name().as_str() => "authorized".to_owned(),
        (true, names) => format!("authorized: {}", names.join(", ")),
    };
    let about = about(spec.description());
    let parameters = parameters(spec.parameters());
    format!("{}  [{standing}]\n  {about}\n{parameters}", spec.name())
}

/// The first sentence of a description, cut at [`MAX_ABOUT`] bytes; `--json` has all of it.
fn about(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let sentence = line.find(". ").map_or(line, |end| &line[..=end]);
    let kept = clip(sentence, MAX_ABOUT);
    let dots = if kept.len() < sentence.len() { "…" } else { "" };
    format!("{}{dots}", one_line(kept))
}

/// One line for each parameter: its name, its type, and whether it must be there.
fn parameters(schema: &Value) -> String {
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|n| n == name))
    };
    let Some(properties) = schema["properties"].as_object() else { return String::new() };
    properties
        .iter()
        .map(|(name, property)| {
            let kind = match &property["type"] {
                Value::String(kind) => kind.clone(),
                Value::Null => "any".to_owned(),
                other => other.to_string(),
            };
            let must = if required(name) { ", required" } else { "" };
            format!("    {}: {kind}{must}\n", one_line(name))
        })
        .collect()
}
