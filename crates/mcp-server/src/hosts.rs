//! How the hosts that speak MCP are told of this server: a snippet of each one's configuration.

use serde_json::{Value, json};

/// A program that takes MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// Claude Code and Claude Desktop: `mcpServers` in JSON.
    Claude,
    /// Codex: `~/.codex/config.toml`.
    Codex,
    /// Cursor: `.cursor/mcp.json`.
    Cursor,
    /// Visual Studio Code: `.vscode/mcp.json`.
    Vscode,
    /// Goose: `~/.config/goose/config.yaml`.
    Goose,
    /// Gemini CLI: `~/.gemini/settings.json`.
    Gemini,
}

impl Host {
    /// Where its configuration stands.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::Claude => ".mcp.json, or claude_desktop_config.json",
            Self::Codex => "~/.codex/config.toml",
            Self::Cursor => ".cursor/mcp.json, or ~/.cursor/mcp.json",
            Self::Vscode => ".vscode/mcp.json",
            Self::Goose => "~/.config/goose/config.yaml",
            Self::Gemini => "~/.gemini/settings.json",
        }
    }
}

/// How long a host that asks for it waits for a call, in seconds; a minute is too short for many.
const PATIENCE: u32 = 300;

/// The snippet that starts `command` with `args` as a server named `remit`.
#[must_use]
pub fn snippet(host: Host, command: &str, args: &[String]) -> String {
    let server = json!({ "command": command, "args": args });
    let all = |key: &str, server: Value| pretty(&json!({ key: { "remit": server } }));
    match host {
        Host::Claude | Host::Cursor | Host::Gemini => all("mcpServers", server),
        Host::Vscode => {
            let server = json!({ "type": "stdio", "command": command, "args": args });
            all("servers", server)
        }
        // A string of JSON without control characters is one of TOML and of YAML, too.
        Host::Codex => format!(
            "[mcp_servers.remit]\ncommand = {}\nargs = {}\ntool_timeout_sec = {PATIENCE}\n",
            json!(command),
            json!(args)
        ),
        Host::Goose => format!(
            "extensions:\n  remit:\n    name: remit\n    description: Tools in a sandbox\n    type: stdio\n    \
             enabled: true\n    timeout: {PATIENCE}\n    cmd: {}\n    args: {}\n",
            json!(command),
            json!(args)
        ),
    }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
