//! How a task gets to a program, and what else does.

use std::{ffi::OsString, path::Path, sync::Arc};

use spawner::{
    AgentHost, AgentPool, AgentRequest, AgentState, ChainParts, ChainRequest, OutputStream,
    SpawnError,
};
use tool_core::AuthorizationScope;

use crate::support::{config, ended, pool, spawn, written};

/// What would be something else to a shell, or to a parser of flags.
const AWKWARD: [&str; 5] = [
    "--help",
    "- [ ] do it",
    "--dangerously-skip-permissions",
    "two\nlines, 'quotes', \"double\", $(touch x) `touch x` ; touch x & {task}",
    "-- %s \\n \u{1b}[31m é",
];

async fn delivered(provider: &str, task: &str) -> Vec<u8> {
    let pool = pool("", provider);
    let id = spawn(&pool, task).await;
    assert_eq!(ended(&pool, id).await.state, AgentState::Exited, "{task:?}");
    written(&pool, id, OutputStream::Stdout).await
}

#[tokio::test]
async fn a_task_arrives_as_it_is_in_every_way() {
    let long = "0123456789".repeat(5_000);
    for task in AWKWARD.into_iter().chain([long.as_str()]) {
        let stdin = delivered("args = [\"echo\"]", task).await;
        assert_eq!(String::from_utf8(stdin).unwrap(), task);
        let attached = "task = \"argument\"\nargs = [\"argument\", \"--prompt={task}\"]";
        let attached = delivered(attached, task).await;
        assert_eq!(String::from_utf8(attached).unwrap(), format!("--prompt={task}"));
        let file = "program = \"cat\"\ntask = \"file\"\nargs = [\"--\", \"{task_file}\"]";
        assert_eq!(String::from_utf8(delivered(file, task).await).unwrap(), task);
        assert!(!Path::new("x").exists());
    }
    let apart = "program = \"printf\"\ntask = \"argument\"\nargs = [\"%s\", \"--\", \"{task}\"]";
    assert_eq!(delivered(apart, "--help").await, b"----help");
}

#[tokio::test]
async fn a_task_that_does_not_fit_says_so() {
    let pool = pool("", "task = \"argument\"\nargs = [\"argument\", \"--\", \"{task}\"]");
    let error = pool.spawn(AgentRequest::new("x".repeat(200_000))).await.unwrap_err();
    assert!(error.to_string().contains("task = \"stdin\""), "{error}");
    let error = pool.spawn(AgentRequest::new("  \n")).await.unwrap_err();
    assert!(matches!(error, SpawnError::NoTask));
    for model in ["-x", "--help", "a b", "", "a\nb"] {
        let request = AgentRequest { model: Some(model.to_owned()), ..AgentRequest::new("x") };
        assert!(matches!(pool.spawn(request).await.unwrap_err(), SpawnError::Model(_)));
    }
}

#[tokio::test]
async fn large_tasks_and_large_output_do_not_block_each_other() {
    let task = "t".repeat(1_000_000);
    assert_eq!(delivered("args = [\"echo\"]", &task).await.len(), 1_000_000);
    let late = delivered("args = [\"late-echo\", \"400000\"]", &task).await;
    assert!(late.ends_with(b"\nread 1000000\n"));
    // One that reads nothing at all.
    assert_eq!(delivered("args = [\"argument\", \"done\"]", &task).await, b"done");
}

/// A host with two variables.
#[derive(Debug)]
struct Variables;

impl AgentHost for Variables {
    fn variable(&self, name: &str) -> Option<OsString> {
        match name {
            "MODEL_KEY" => Some("the-key-of-the-model".into()),
            "OTHER_KEY" => Some("the-other-key".into()),
            _ => None,
        }
    }

    fn scope(&self, names: &[String]) -> Result<AuthorizationScope, String> {
        AuthorizationScope::new(names).map_err(|error| error.to_string())
    }

    fn chain(&self, _request: ChainRequest<'_>) -> Result<ChainParts, String> {
        Err("no model".to_owned())
    }
}

#[tokio::test]
async fn only_named_variables_are_passed_on() {
    let provider = "args = [\"environment\"]\ncredentials = [\"MODEL_KEY\"]\n\
                    env = { WHERE = \"{workdir}\", WHICH = \"{model}\" }";
    let pool = AgentPool::new(config("", provider), Arc::new(Variables)).unwrap();
    let id = spawn(&pool, "x").await;
    let record = ended(&pool, id).await;
    let text = String::from_utf8(written(&pool, id, OutputStream::Stdout).await).unwrap();
    // It is there; and it looks like a secret, so it is not shown.
    assert!(text.contains("MODEL_KEY=") && !text.contains("OTHER"), "{text}");
    assert!(text.contains(&format!("WHERE={}\n", record.workdir)), "{text}");
    assert!(!text.contains("WHICH=") && !text.contains("CARGO"), "{text}");

    let missing = config("", "args = [\"environment\"]\ncredentials = [\"ABSENT_KEY\"]");
    let pool = AgentPool::new(missing, Arc::new(Variables)).unwrap();
    let error = pool.spawn(AgentRequest::new("x")).await.unwrap_err().to_string();
    assert!(error.contains("ABSENT_KEY"), "{error}");
}

#[tokio::test]
async fn an_agent_writes_only_where_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let run = |provider: &'static str| {
        let mut config = config("", provider);
        config.workdir = Some(folder.path().to_owned());
        async move {
            let pool = AgentPool::new(config, Arc::new(Variables)).unwrap();
            let parent_scope = AuthorizationScope::new(["files.read"]).unwrap();
            let request = AgentRequest { parent_scope, ..AgentRequest::new("x") };
            let id = pool.spawn(request).await.unwrap();
            ended(&pool, id).await.state
        }
    };
    let touch = "program = \"touch\"\nargs = [\"made\"]";
    assert_eq!(run(touch).await, AgentState::Failed);
    let needs = "program = \"touch\"\nargs = [\"made\"]\nworkdir_access = \"read_write\"\n\
                 write_needs = [\"sandbox\"]";
    assert_eq!(run(needs).await, AgentState::Failed);
    assert!(!folder.path().join("made").exists());
    let held = "program = \"touch\"\nargs = [\"made\"]\nworkdir_access = \"read_write\"\n\
                write_needs = [\"files\"]";
    assert_eq!(run(held).await, AgentState::Exited);
    assert!(folder.path().join("made").exists());
}
