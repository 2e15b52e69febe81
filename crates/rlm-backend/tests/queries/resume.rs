//! Trajectories: written, read, and resumed without asking again.

use std::sync::Arc;

use rlm_backend::{Context, Query, QueryEvent, Replay, Trajectory, Watch, read_trajectory};
use serde_json::json;

use crate::support::{Bench, Program, Said, here, python};

fn leaf() -> Arc<Program> {
    Program::new("leaf", |_, prompt: &str| prompt.to_uppercase())
}

fn query() -> Query {
    let context = Context::Value(json!("ctx"));
    Query { prompt: "?".to_owned(), context, ..Query::default() }
}

/// Works for two turns; then the model is there, or is not.
fn root(is_there: bool) -> Arc<Program> {
    Program::new("root", move |_, last: &str| {
        if last.contains("['A', 'B']") {
            let reply =
                if is_there { Ok(python("FINAL(r + [context])")) } else { Err("down".to_owned()) };
            return Said { reply, ..Said::from("") };
        }
        python("r = llm_query_batched(['a', 'b'])\nprint(r)").into()
    })
}

#[tokio::test]
async fn a_query_is_resumed_without_asking_what_was_answered() {
    here!();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    let run = async |root: &Arc<Program>, leaf: &Arc<Program>, replay| {
        let trajectory = Arc::new(Trajectory::open(&path).unwrap());
        let bench = Bench::with_leaf(root, leaf);
        let watch = Watch { observer: Arc::clone(&trajectory) as _, replay, ..Watch::default() };
        let outcome = bench.engine.ask(query(), watch).await.unwrap();
        trajectory.finish().unwrap();
        outcome
    };
    let first = run(&root(false), &leaf(), Replay::default()).await;
    assert_eq!(first.answer, json!(null));
    let replay = || Replay::from_records(&read_trajectory(&path).unwrap());
    assert_eq!(replay().count(), 3);
    let (again, leaves) = (root(true), leaf());
    let second = run(&again, &leaves, replay()).await;
    assert_eq!(second.answer, json!(["A", "B", "ctx"]));
    assert_eq!((again.requests(), leaves.requests()), (1, 0));
    assert_eq!(second.spent.tokens(), 60, "what was paid before counts");
    let (third, leaves) = (root(false), leaf());
    assert_eq!(run(&third, &leaves, replay()).await.answer, second.answer);
    assert_eq!((third.requests(), leaves.requests()), (0, 0));
}

#[tokio::test]
async fn a_trajectory_holds_every_step_and_no_large_prompt() {
    here!();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    let code = python("llm_query('p' * 500_000)\nFINAL(1)");
    let root = Program::script([&*code]);
    let models = rlm_backend::QueryModels::new(root).with_leaf(leaf() as _);
    let bench = Bench::with(models, |config| config.max_tokens = 1 << 30);
    let trajectory = Arc::new(Trajectory::open(&path).unwrap());
    let watch = Watch { observer: Arc::clone(&trajectory) as _, ..Watch::default() };
    bench.engine.ask(query(), watch).await.unwrap();
    let events: Vec<_> = read_trajectory(&path).unwrap().into_iter().map(|it| it.event).collect();
    let prompt = events.iter().find_map(|event| match event {
        QueryEvent::Call { prompt, prompt_chars, .. } => Some((prompt.len(), *prompt_chars)),
        _ => None,
    });
    let (kept, chars) = prompt.unwrap();
    assert!(kept < 2100 && chars == 500_000);
    assert!(matches!(events[0], QueryEvent::Begin { .. }));
    assert!(matches!(events.last().unwrap(), QueryEvent::End { .. }));
}
