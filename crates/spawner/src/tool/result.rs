//! Agents as a model reads them, within the ceiling of a call's output.

use serde_json::{Map, Value, json};
use tool_core::{ByteCount, ExitStatus, ToolOutput, clip};

use crate::{AgentRecord, Collected, OutputPiece, without_ansi};

/// Below this nothing more is gained by reading less.
pub(super) const LEAST_ROOM: usize = 64;

/// What is known of one agent.
pub(super) fn record(record: &AgentRecord) -> Value {
    let mut all = Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            all.insert(name.to_owned(), value);
        }
    };
    put("id", record.id.to_string().into());
    put("state", record.state.as_str().into());
    put("provider", record.provider.clone().into());
    put("fallback_for", record.fallback_for.clone().into());
    put("model", record.model.clone().into());
    put("task", record.task.clone().into());
    put("pid", record.pid.into());
    match record.exit {
        Some(ExitStatus::Code(code)) => put("exit_code", code.into()),
        Some(ExitStatus::Signal(signal)) => put("signal", signal.into()),
        None => {}
    }
    put("reason", record.reason.clone().into());
    put("allow_tools", record.scope.clone().into());
    put("started_ms", record.started_ms.into());
    put("ended_ms", record.ended_ms.into());
    put("timeout_ms", record.timeout_ms.into());
    put("stdout_bytes", record.stdout_bytes.into());
    put("stderr_bytes", record.stderr_bytes.into());
    put("restarts", (record.restarts > 0).then_some(record.restarts).into());
    put("tokens", record.tokens.into());
    put("cost_usd", record.cost_usd.into());
    put("session", record.session.clone().into());
    put("worktree", record.worktree.clone().into());
    Value::Object(all)
}

/// All agents, newest first, as many as have room; of the rest, how many they are.
pub(super) fn list(records: &[AgentRecord], max: ByteCount) -> Value {
    let room = max.as_usize().saturating_sub(64);
    let (mut shown, mut used) = (Vec::new(), 0);
    for one in records.iter().rev() {
        let line = json!({
            "id": one.id.to_string(),
            "state": one.state.as_str(),
            "provider": one.provider,
            "task": clip(&one.task, 80),
            "started_ms": one.started_ms,
        });
        used += line.to_string().len() + 1;
        if used > room {
            break;
        }
        shown.push(line);
    }
    match records.len() - shown.len() {
        0 => json!({"agents": shown}),
        more => json!({"agents": shown, "older": more}),
    }
}

/// What was read of an agent.
pub(super) fn collected(collected: &Collected, room: usize) -> ToolOutput {
    let mut all = match record(&collected.record) {
        Value::Object(all) => all,
        _ => Map::new(),
    };
    let mut omitted = 0;
    let pieces = collected.output.pieces.iter().map(|piece| match piece {
        OutputPiece::Bytes { stream, bytes } => {
            json!({"stream": stream, "text": without_ansi(&String::from_utf8_lossy(bytes))})
        }
        OutputPiece::Omitted { bytes } => {
            omitted += bytes;
            json!({"omitted_bytes": bytes})
        }
    });
    let pieces: Vec<Value> = pieces.collect();
    all.insert("output".to_owned(), pieces.into());
    all.insert("next".to_owned(), collected.output.next.into());
    all.insert("done".to_owned(), collected.is_done.into());
    if let Some(result) = &collected.result {
        let mut value = json!(result);
        value["text"] = clip(&result.text, room).into();
        all.insert("result".to_owned(), value);
    }
    let output = ToolOutput::json(Value::Object(all));
    if omitted > 0 { output.with_omitted(ByteCount(omitted)) } else { output }
}
