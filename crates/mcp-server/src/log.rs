//! What a client hears of its calls as log messages, from the level on that it asked for.
//!
//! At `debug` what a call writes, at `info` that it is done, at `warning` that it failed. A session has
//! one level, and none before the client asked. The revision without sessions has deprecated log
//! messages, so its requests get none.

// Log messages are part of every revision with sessions, and deprecated in the newest.
#![expect(deprecated, reason = "older revisions have log levels")]

use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{CallToolResponse, LoggingLevel, LoggingMessageNotificationParam},
    service::RequestContext,
};
use serde_json::{Value, json};
use tool_core::clip;

use crate::{ask::is_stateless, connection::Connection};

/// How much of a name is shown, in bytes.
const MAX_NAME: usize = 128;

/// The severity of a level; more is worse.
pub(crate) fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

/// Whether the client wants to read what a call writes.
pub(crate) fn wants_lines(connection: &Connection, context: &RequestContext<RoleServer>) -> bool {
    wants(connection, context, LoggingLevel::Debug)
}

fn wants(
    connection: &Connection,
    context: &RequestContext<RoleServer>,
    level: LoggingLevel,
) -> bool {
    !is_stateless(context) && connection.wants(rank(level))
}

/// Tells what a call wrote.
pub(crate) async fn line(peer: &Peer<RoleServer>, tool: &str, line: &str) {
    let data = json!({ "tool": clip(tool, MAX_NAME), "output": line });
    send(peer, LoggingLevel::Debug, data).await;
}

/// Tells how a call ended.
pub(crate) async fn ended(
    connection: &Connection,
    name: &str,
    result: &Result<CallToolResponse, ErrorData>,
    context: &RequestContext<RoleServer>,
) {
    let (level, ended) = match result {
        Ok(CallToolResponse::Complete(result)) if result.is_error == Some(true) => {
            (LoggingLevel::Warning, "failed")
        }
        Ok(CallToolResponse::InputRequired(_)) => (LoggingLevel::Info, "needs approval"),
        Ok(_) => (LoggingLevel::Info, "done"),
        Err(_) => (LoggingLevel::Error, "refused"),
    };
    if wants(connection, context, level) {
        send(&context.peer, level, json!({ "tool": clip(name, MAX_NAME), "call": ended })).await;
    }
}

async fn send(peer: &Peer<RoleServer>, level: LoggingLevel, data: Value) {
    let message = LoggingMessageNotificationParam::new(level, data).with_logger("remit");
    // A client that is gone reads nothing.
    let _ = peer.notify_logging_message(message).await;
}
