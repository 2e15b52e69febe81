//! Calls that take long, as tasks of clients without a session.

use std::time::{Duration, Instant};

use mcp_server::HttpConfig;
use serde_json::{Value, json};

use crate::served::{DEADLINE, Reply, Served};

const VERSION: &str = "2026-07-28";

/// Asks as a client that takes tasks, or as one that does not; gives the answer.
fn ask(served: &Served, takes_tasks: bool, method: &str, name: &str, mut params: Value) -> Value {
    let extensions =
        if takes_tasks { json!({"io.modelcontextprotocol/tasks": {}}) } else { json!({}) };
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"extensions": extensions},
    });
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let headers = [("MCP-Protocol-Version", VERSION), ("Mcp-Method", method), ("Mcp-Name", name)];
    let sent = served.send("POST", &headers, message.to_string().as_bytes());
    let reply = Reply::read(sent);
    let answer = reply.messages().into_iter().find(|message| message["id"] == 1);
    answer.unwrap_or_else(|| panic!("{}", reply.text))
}

fn call(served: &Served, takes_tasks: bool, tool: &str) -> Value {
    let params = json!({"name": tool, "arguments": {"text": "said"}});
    ask(served, takes_tasks, "tools/call", tool, params)["result"].clone()
}

fn of_task(served: &Served, method: &str, id: &str) -> Value {
    ask(served, true, method, id, json!({ "taskId": id }))
}

/// The task once it has this status.
fn until(served: &Served, id: &str, status: &str) -> Value {
    let started = Instant::now();
    loop {
        let task = of_task(served, "tasks/get", id)["result"].clone();
        if task["status"] == status {
            return task;
        }
        assert!(started.elapsed() < DEADLINE, "{task}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn task_of(created: &Value) -> &str {
    assert_eq!(created["resultType"], "task", "{created}");
    assert_eq!(created["status"], "working", "{created}");
    assert!(created["ttlMs"].is_u64() && created["pollIntervalMs"].is_u64(), "{created}");
    created["taskId"].as_str().unwrap()
}

#[test]
fn a_long_call_is_a_task_and_a_short_one_is_answered() {
    let served = Served::start(HttpConfig::default());
    let quick = call(&served, true, "echo");
    assert_eq!(quick["content"][0]["text"], "said", "{quick}");
    let created = call(&served, true, "wait");
    let id = task_of(&created);
    let working = of_task(&served, "tasks/get", id)["result"].clone();
    assert_eq!(working["status"], "working");
    assert!(working.get("result").is_none(), "{working}");
    served.tools.waiting.add_permits(1);
    let done = until(&served, id, "completed");
    assert_eq!(done["result"]["content"][0]["text"], "said", "{done}");
}

#[test]
fn what_a_task_writes_is_its_message() {
    let served = Served::start(HttpConfig::default());
    let created = call(&served, true, "lines");
    let done = until(&served, task_of(&created), "completed");
    assert_eq!(done["statusMessage"], "line 4", "{done}");
}

#[test]
fn a_task_is_cancelled_for_good() {
    let served = Served::start(HttpConfig::default());
    let created = call(&served, true, "wait");
    let id = task_of(&created);
    for _ in 0..2 {
        let cancelled = of_task(&served, "tasks/cancel", id);
        assert_eq!(cancelled["result"]["resultType"], "complete", "{cancelled}");
        until(&served, id, "cancelled");
    }
    // It waits no more, so the permit is left for another one.
    served.tools.waiting.add_permits(1);
    assert_eq!(call(&served, false, "wait")["content"][0]["text"], "said");
    until(&served, id, "cancelled");
}

#[test]
fn who_takes_no_tasks_waits_and_may_not_ask_for_them() {
    let served = Served::start(HttpConfig::default());
    assert_eq!(call(&served, false, "lines")["content"][0]["text"], "said");
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({"taskId": "x", "inputResponses": {}});
        let refused = ask(&served, false, method, "x", params.clone());
        assert_eq!(refused["error"]["code"], -32021, "{refused}");
        let unknown = ask(&served, true, method, "x", params);
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    }
}
