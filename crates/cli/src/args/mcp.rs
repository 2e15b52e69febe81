//! `remit mcp`.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, ValueEnum};

use super::{ExecutionArgs, SettingsArgs};

/// Serve the tools to a program that speaks the Model Context Protocol
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Without --http one client is served on standard input and output. SIGHUP reads the \
                  configuration\nanew. Sessions end with the client's connection.\n\nWhat --ask-tool \
                  names is asked for before it runs: with --http at this terminal, where somebody\nis \
                  there, else of the person behind the client.\n\nThe bearer token is that of \
                  --token-file, or of REMIT_MCP_TOKEN; without both one is made and shown \
                  once.\n\nExamples:\n  remit mcp --execute-tools --allow-tool sandbox --config \
                  remit.toml\n  remit mcp --execute-tools --allow-tool search_in_workdir \
                  --exec-workdir . --print-config claude\n  remit mcp --http 127.0.0.1:8787 --config \
                  remit.toml"
)]
pub(crate) struct McpArgs {
    /// Serve many clients over streamable HTTP at /mcp of this address
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<SocketAddr>,
    /// The file that holds the bearer token
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// Accept this name in Host headers, beside those of the loopback; repeat for more
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) allow_host: Vec<String>,
    /// Accept requests of web pages of this origin (its scheme, name and port); repeat for more
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(crate) allow_origin: Vec<String>,
    /// Print how a host is told of this server with these flags, and end
    #[arg(long, value_name = "HOST", conflicts_with = "http")]
    pub(crate) print_config: Option<HostName>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) execution: ExecutionArgs,
}

/// A program that takes MCP servers.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum HostName {
    Claude,
    Codex,
    Cursor,
    Vscode,
    Goose,
    Gemini,
}
