//! Queries over files and texts of the host, by each way into a container.

use std::{io::Write, sync::Arc};

use rlm_backend::{
    Context, DockerBackend, DockerConfig, QueryModels, SandboxConfig, SessionManager, StopReason,
};
use serde_json::json;
use testkit::docker::{IMAGE, TestEngine, engine};

use crate::support::{Bench, Program, python};

fn bench(engine: &TestEngine, share_pipes: bool, models: QueryModels) -> Bench {
    let docker = DockerConfig {
        host: Some(engine.host()),
        image: IMAGE.to_owned(),
        share_pipes,
        ..DockerConfig::default()
    };
    let sandbox = SandboxConfig { warm_sessions: 0, docker, ..SandboxConfig::default() };
    let backend = Arc::new(DockerBackend::new(sandbox.clone()));
    let manager = SessionManager::new(backend, sandbox.clone());
    Bench::over(manager, &sandbox, models, |config| config.max_text_bytes = 100)
}

#[tokio::test]
async fn a_file_that_only_its_owner_reads_is_a_context_and_code_asks_the_host() {
    let Some(engine) = engine() else { return };
    for share_pipes in [true, false] {
        let root = Program::script([
            "```python\nreply = llm_query(context[:4])\nprint(len(context), reply)\n```",
            "```python\nFINAL([len(context), reply, sum(1 for _ in context.lines())])\n```",
        ]);
        let leaf = Program::new("leaf", |_, last: &str| format!("leaf saw {last}"));
        let models = QueryModels::new(root).with_leaf(leaf as _);
        let bench = bench(engine, share_pipes, models);
        let text = "one\n".repeat(50_000);
        // A temporary file is its owner's alone, and a session in a container is somebody else.
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let outcome = bench.ask("?", Context::File(file.path().to_owned())).await;
        assert_eq!(outcome.stop, StopReason::Final, "{outcome:?} {:?}", bench.kept.outputs());
        assert_eq!(outcome.answer, json!([200_000, "leaf saw one\n", 50_000]));
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), text);
    }
}

#[tokio::test]
async fn a_long_text_of_the_host_goes_in_and_variables_come_out() {
    let Some(engine) = engine() else { return };
    let root = Program::script([&*python("words = context.split()\nFINAL_VAR('words')")]);
    let bench = bench(engine, false, QueryModels::new(root));
    let text = "a b ".repeat(100_000);
    let outcome = bench.ask("?", Context::text(text).unwrap()).await;
    assert_eq!(outcome.answer.as_array().unwrap().len(), 200_000, "{:?}", outcome.stop);
}
