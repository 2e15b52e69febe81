//! The tools over the Model Context Protocol: standard streams and streamable HTTP.
//!
//! A [`Server`] takes its tools from a [`Source`], which makes a `ToolSandbox` for each connection, so
//! that sessions belong to the connection and end with it. Every call goes through the sandbox's six
//! stages: what is not authorized is not listed, and calling it is refused all the same. The protocol
//! itself (versions, framing of results, sessions of HTTP) is `rmcp`'s; what a client sends is read
//! here first (`intake`), so that arguments reach the sandbox as the text that came. Where the operator
//! wants a person's yes, the person behind the client can be asked (`ask`).
//!
//! Not here: who is asked and what is allowed (the source decides), printing and reading the
//! environment (the program's), OAuth, resources and prompts.

mod arguments;
mod ask;
mod call;
mod catalogue;
mod connection;
mod handler;
pub mod hosts;
mod http;
mod instructions;
mod intake;
mod log;
mod progress;
mod random;
mod result;
mod server;
mod stdio;
mod tasks;

pub use http::{HttpConfig, HttpError, Token, TokenError};
pub use server::{Client, Server, Source, SourceError};
pub use stdio::StdioError;
