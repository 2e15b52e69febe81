//! What code asks the host for.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use rlm_backend::{Context, QueryEvent, QueryModels, SessionTools, StopReason};
use serde_json::{Value, json};
use tool_core::{BoxFuture, ToolSpec};

use crate::support::{Bench, Program, Said, here, python};

/// Answers with the prompt in capitals; `fail` fails.
fn shouting() -> Arc<Program> {
    Program::new("leaf", |_, prompt: &str| {
        let reply =
            if prompt == "fail" { Err("gone".to_owned()) } else { Ok(prompt.to_uppercase()) };
        Said { reply, ..Said::from("") }
    })
}

/// What code that is the whole query gives.
async fn gives(code: &str) -> Value {
    let (root, leaf) = (Program::script([&*python(code), "FINAL(no answer)"]), shouting());
    let bench = Bench::with_leaf(&root, &leaf);
    let outcome = bench.about("some context").await;
    assert_eq!(outcome.turns, 1, "{:?}", bench.kept.outputs());
    outcome.answer
}

#[tokio::test]
async fn a_model_is_called_from_code() {
    here!();
    assert_eq!(gives("FINAL(llm_query('héllo'))").await, json!("HÉLLO"));
    assert_eq!(gives("FINAL(llm_query('a', model='leaf'))").await, json!("A"));
}

#[tokio::test]
async fn a_batch_keeps_its_order_and_its_failures_are_typed() {
    here!();
    let code = "r = llm_query_batched(['a', 'fail', 'c'])\nFINAL([r[0], type(r[1]).__name__, r[1].kind, r[2]])";
    assert_eq!(gives(code).await, json!(["A", "SubQueryError", "model_error", "C"]));
    assert_eq!(gives("FINAL(repr(llm_query_batched([])))").await, json!("[]"));
    let code =
        "try: llm_query('fail')\nexcept SubQueryError as e: FINAL([e.kind, 'gone' in str(e)])";
    assert_eq!(gives(code).await, json!(["model_error", true]));
    let code = "try: llm_query('a', model='none')\nexcept SubQueryError as e: FINAL(str(e))";
    let text = gives(code).await.to_string();
    assert!(text.contains("unknown_model") && text.contains("leaf, root"), "{text}");
}

#[tokio::test]
async fn threads_and_coroutines_ask_at_once() {
    here!();
    let code = "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(100) as pool: FINAL(list(pool.map(llm_query, 'abc' * 40)))";
    assert_eq!(gives(code).await.as_array().unwrap().len(), 120);
    let code = "import asyncio\nasync def one(p): return await asyncio.to_thread(llm_query, p)\nFINAL(await asyncio.gather(*map(one, 'xyz')) + [await one('q'), llm_query('s')])";
    assert_eq!(gives(code).await, json!(["X", "Y", "Z", "Q", "S"]));
}

#[tokio::test]
async fn batches_run_side_by_side_up_to_the_bound() {
    here!();
    let code = "import time\nbegan = time.monotonic()\nn = len(llm_query_batched(['x'] * 24))\nFINAL([n, time.monotonic() - began])";
    let root = Program::script([&*python(code)]);
    let leaf = Program::new("leaf", |_, _: &str| Said {
        after: Duration::from_millis(100),
        ..Said::from("y")
    });
    let models = QueryModels::new(root).with_leaf(Arc::clone(&leaf) as _);
    let bench = Bench::with(models, |config| config.concurrency = 6);
    let answer = bench.ask("?", Context::None).await.answer;
    assert_eq!(answer[0], json!(24));
    assert_eq!(leaf.most_in_flight.load(Ordering::SeqCst), 6);
    // One after the other they would take 2.4 s.
    assert!(answer[1].as_f64().unwrap() < 2.0, "{answer}");
}

#[tokio::test]
async fn large_prompts_do_not_break_the_channel() {
    here!();
    let code = "many = ['x' * 3_000_000] * 8\nr = llm_query_batched(many)\ntry: llm_query('y' * 9_000_000)\nexcept SubQueryError as e: FINAL([sum(map(len, r)), e.kind])";
    let (root, leaf) = (Program::script([&*python(code)]), shouting());
    let models = QueryModels::new(root).with_leaf(leaf as _);
    let bench = Bench::with(models, |config| config.max_tokens = 1 << 30);
    assert_eq!(bench.ask("?", Context::None).await.answer, json!([24_000_000, "too_large"]));
}

#[tokio::test]
async fn a_query_below_has_a_session_of_its_own() {
    here!();
    let root = Program::new("root", |_, last: &str| {
        if last.starts_with("below") {
            python("mine = 1\nFINAL([context['n'] * 2, 'outer' in globals()])")
        } else {
            python("outer = 1\nFINAL([rlm_query('below', {'n': 21}), 'mine' in globals()])")
        }
    });
    let bench = Bench::new(&root);
    let outcome = bench.ask("above", Context::None).await;
    assert_eq!(outcome.answer, json!([[42, false], false]));
    assert_eq!((outcome.spent.sub_calls, outcome.spent.tokens(), outcome.levels_below), (1, 30, 1));
    assert_eq!(bench.manager.count(), 0);
    let begins = bench.kept.events().into_iter().filter_map(|event| match event {
        QueryEvent::Begin { query, parent, depth, .. } => Some((query, parent, depth)),
        _ => None,
    });
    assert_eq!(begins.collect::<Vec<_>>(), [(0, None, 0), (1, Some(0), 1)]);
}

#[tokio::test]
async fn a_large_context_is_handed_down() {
    here!();
    let root = Program::new("root", |_, last: &str| match last.split(' ').next() {
        Some("text") => python("FINAL([type(context).__name__, len(context), context[-1]])"),
        Some("list") => python("FINAL([type(context).__name__, len(context)])"),
        _ => python(
            "FINAL([rlm_query('text ?', 'é' * 5_000_000 + '!'), rlm_query('list ?', list(range(900_000)))])",
        ),
    });
    let bench = Bench::new(&root);
    let answer = bench.ask("above", Context::None).await.answer;
    assert_eq!(answer, json!([["str", 5_000_001, "!"], ["list", 900_000]]));
}

#[tokio::test]
async fn no_query_is_deeper_than_it_may_be() {
    here!();
    let root = Program::new("root", |_, last: &str| {
        if last.starts_with("deep") {
            python("try: rlm_query('deeper')\nexcept SubQueryError as e: FINAL(e.kind)")
        } else {
            python("FINAL(rlm_query('deep'))")
        }
    });
    assert_eq!(Bench::new(&root).ask("above", Context::None).await.answer, json!("depth"));
    let root = Program::script([&*python(
        "r = []\nfor _ in range(3):\n  try: r.append(rlm_query('x'))\n  except SubQueryError as e: r.append(e.kind)\nprint(r)",
    )]);
    let bench = Bench::with(QueryModels::new(root), |config| config.max_depth = 0);
    let outcome = bench.ask("above", Context::None).await;
    assert_eq!((outcome.stop, outcome.turns), (StopReason::Depth, 2));
}

#[tokio::test]
async fn variables_are_shown() {
    here!();
    let root = Program::script([&*python("x = [1, 2]\nimport os\nprint(SHOW_VARS())"), "FINAL(1)"]);
    let bench = Bench::new(&root);
    bench.about("c").await;
    assert_eq!(bench.kept.outputs(), ["x: list (2)\n"]);
}

/// One tool, which doubles; another is not offered.
#[derive(Debug)]
struct Doubling;

impl SessionTools for Doubling {
    fn offered(&self) -> Vec<ToolSpec> {
        vec![ToolSpec::new("double", "Doubles.", json!({"type": "object"})).unwrap()]
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: Value,
    ) -> BoxFuture<'a, Result<Value, rlm_backend::Problem>> {
        Box::pin(async move {
            match (name, arguments["n"].as_i64()) {
                ("double", Some(n)) => Ok(json!({"twice": n * 2})),
                _ => Err(rlm_backend::Problem {
                    kind: "invalid_arguments".to_owned(),
                    message: "n is missing".to_owned(),
                }),
            }
        })
    }
}

#[tokio::test]
async fn tools_of_the_operator_are_functions() {
    here!();
    let code = "r = [tools.double(n=4)['twice'], dir(tools)]\nfor call in (lambda: tools.double(), lambda: tools.fly()):\n  try: call()\n  except (ToolError, AttributeError) as e: r.append(str(e))\nFINAL(r)";
    let root = Program::new("root", move |_, _: &str| python(code));
    let bench = Bench::new(&root);
    bench.engine.offer(Arc::new(Doubling));
    let answer = bench.ask("?", Context::None).await.answer;
    let expected = json!([
        8,
        ["double"],
        "invalid_arguments: n is missing",
        "there is no tool 'fly'; the tools are: double"
    ]);
    assert_eq!(answer, expected);
    let system = format!("{:?}", root.last_request.lock().unwrap()[0]);
    assert!(system.contains("tools.double(**arguments)"), "{system}");
}
