//! What goes wrong elsewhere, as a model meets it: each a call, and what its result must say.

use std::time::{Duration, Instant};

use rlm_backend::SandboxConfig;
use serde_json::{Value, json};

use crate::support::{Tool, processes_with, soon};

async fn bash_for(tool: &Tool, command: &str, ms: u64) -> Value {
    tool.answer(json!({"op": "execute_bash", "command": command, "timeout_ms": ms})).await
}

#[tokio::test]
async fn there_is_no_input_and_asking_for_it_ends_at_once() {
    crate::support::here!();
    let tool = Tool::new();
    let started = Instant::now();
    assert_eq!(tool.bash("cat; read x; echo \"<$x>\"").await["stdout"], "<>\n");
    let asked = tool.python("import sys; print(repr(sys.stdin.readline())); input('name? ')").await;
    assert_eq!(asked["error"]["type"], "EOFError", "{asked}");
    assert_eq!(asked["stdout"], "''\nname? ");
    assert!(started.elapsed() < Duration::from_secs(10));
    assert_eq!(tool.python("'alive'").await["value"], "'alive'");
}

#[tokio::test]
async fn what_a_timed_out_call_started_does_not_live_on() {
    crate::support::here!();
    let tool = Tool::new();
    // The shell is there before its time counts.
    tool.bash("true").await;
    let late = bash_for(&tool, "sleep 48171 & sleep 48172", 1500).await;
    assert_eq!(late["timed_out"], true);
    soon("both are gone", || processes_with("4817").is_empty()).await;
    assert_eq!(bash_for(&tool, "echo alive", 5000).await["stdout"], "alive\n");
}

#[tokio::test]
async fn a_job_in_the_background_is_not_waited_for() {
    crate::support::here!();
    let tool = Tool::new();
    tool.bash("true").await;
    for job in
        ["sleep 30 &", "nohup sleep 30 &", "setsid sleep 30 &", "(sleep 30; echo late) & disown;"]
    {
        let started = Instant::now();
        let result = bash_for(&tool, &format!("{job} echo hi"), 25_000).await;
        assert_eq!(
            (&result["stdout"], &result["timed_out"]),
            (&json!("hi\n"), &json!(false)),
            "{job}"
        );
        assert!(started.elapsed() < Duration::from_secs(15), "{job}");
    }
}

#[tokio::test]
async fn three_hundred_megabytes_are_a_bounded_result_with_a_count() {
    crate::support::here!();
    let tool = Tool::new();
    let result =
        bash_for(&tool, "head -c 300000000 /dev/zero | tr '\\0' x; echo end", 60_000).await;
    let stdout = &result["stdout"];
    assert!(stdout["tail"].as_str().unwrap().ends_with("xend\n"), "{}", result["stderr"]);
    let kept = stdout["head"].as_str().unwrap().len() + stdout["tail"].as_str().unwrap().len();
    assert_eq!(stdout["omitted_bytes"].as_u64().unwrap() + kept as u64, 300_000_004);
    assert_eq!(result["truncated"], true);
    assert!(result.to_string().len() <= 64 << 10);
}

#[tokio::test]
async fn a_command_of_two_hundred_kilobytes_runs() {
    crate::support::here!();
    let tool = Tool::new();
    let long = "x".repeat(200_000);
    assert_eq!(tool.prints(&format!("v={long}; echo ${{#v}}")).await, "200000\n");
    assert_eq!(tool.python(&format!("len('{long}')")).await["value"], "200000");
}

#[tokio::test]
async fn a_working_directory_that_is_not_there_is_named() {
    crate::support::here!();
    let workdir = Some("/no/such/place".into());
    let tool = Tool::with(SandboxConfig { workdir, ..SandboxConfig::default() });
    for call in [
        json!({"op": "execute_bash", "command": "true"}),
        json!({"op": "execute_code", "code": "1"}),
        json!({"op": "file_get", "path": "f"}),
    ] {
        let (kind, text) = tool.error(call).await;
        assert_eq!(kind, "backend_unavailable");
        assert!(text.contains("/no/such/place"), "{text}");
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_are_readable_and_nothing_is_lost() {
    crate::support::here!();
    let tool = Tool::new();
    let result = tool.bash(r"printf 'a\0b\xff\x1b[31mred\r10%%\r20%%\n\xc3\xa9'").await;
    assert_eq!(result["stdout"], "a\0b\\xff\u{1b}[31mred\r10%\r20%\né");
}

#[tokio::test]
async fn the_directory_is_said_with_each_result() {
    crate::support::here!();
    let tool = Tool::new();
    let first = tool.bash("mkdir -p d/e; cd d/e").await;
    let here = first["cwd"].as_str().unwrap();
    assert!(here.ends_with("/d/e"), "{first}");
    assert_eq!(tool.bash("true").await["cwd"], first["cwd"]);
    let python = tool.python("import os; os.chdir('d')").await;
    assert_eq!(python["cwd"].as_str().unwrap(), here.trim_end_matches("/e"));
    let gone = tool.bash("rm -r ../e").await;
    assert_eq!(gone["cwd_is_gone"], true, "{gone}");
    assert_eq!(tool.bash("cd / && pwd").await["stdout"], "/\n");
}

#[tokio::test]
async fn a_session_that_expires_makes_room() {
    crate::support::here!();
    let config = SandboxConfig { idle_secs: 3, max_sessions: 1, ..SandboxConfig::default() };
    let tool = Tool::with(config);
    tool.create().await;
    assert_eq!(tool.error(json!({"op": "session_create"})).await.0, "limit_exceeded");
    let end = Instant::now() + Duration::from_secs(20);
    while !tool.call(json!({"op": "session_create"})).await.is_ok() {
        assert!(Instant::now() < end, "there is no room");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn a_secret_of_the_host_is_not_in_a_session() {
    crate::support::here!();
    // Every test has variables of cargo; a session has none of them, whatever they are called.
    #[expect(clippy::disallowed_methods, reason = "the test looks at its own environment")]
    let names: Vec<String> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| {
            name.starts_with("CARGO") && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
        .collect();
    assert!(!names.is_empty());
    let tool = Tool::new();
    for name in &names {
        assert_eq!(tool.prints(&format!("echo \"${{{name}}}\"")).await, "\n", "{name}");
    }
    let seen = tool.python("import os; [n for n in os.environ if n.startswith('CARGO')]").await;
    assert_eq!(seen["value"], "[]");
}
