//! What a turn, a sub-call and a batch cost.

use std::{sync::Arc, time::Duration};

use rlm_backend::{Query, QueryEvent};
use serde_json::Value;

use crate::program::{Kept, Program, engine, median, python, row, watch};

const AT_ONCE: Duration = Duration::ZERO;

fn query() -> Query {
    Query { prompt: "?".to_owned(), ..Query::default() }
}

fn instant_leaf() -> Arc<Program> {
    Program::new(AT_ONCE, |_, _| "yes".to_owned())
}

/// From one reply to the next, with a block that prints a line.
pub(crate) async fn turns() {
    const TURNS: usize = 300;
    let root = Program::new(AT_ONCE, |turn, _| {
        python(if turn + 1 < TURNS { "print('a line')" } else { "FINAL(1)" })
    });
    let kept = Arc::default();
    engine(root, instant_leaf()).ask(query(), watch(&kept)).await.unwrap();
    let kept: &Kept = &kept;
    let records = kept.0.lock().unwrap();
    let replies = records.iter().filter(|it| matches!(it.event, QueryEvent::Turn { .. }));
    let at: Vec<f64> = replies.map(|it| it.at_ms / 1e3).collect();
    let turns = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    row("a turn, without the model (median)", median(turns), "the bar", 2e-3, Some(1.0));
}

/// `llm_query` from code and back.
pub(crate) async fn round_trips() {
    let code = "import time\ntimes = []\nfor _ in range(1000):\n  began = time.perf_counter(); \
                llm_query('x'); times.append(time.perf_counter() - began)\n\
                FINAL(sorted(times)[500])";
    let root = Program::new(AT_ONCE, |_, _| python(code));
    let outcome = engine(root, instant_leaf()).ask(query(), watch(&Arc::default())).await.unwrap();
    let median = outcome.answer.as_f64().unwrap();
    row("llm_query and back (median)", median, "the bar", 1e-3, Some(1.0));
}

/// A batch against a model that takes 100 ms.
pub(crate) async fn batches() {
    let code = "import time\nbegan = time.perf_counter()\nllm_query_batched(['x'] * 100)\n\
                FINAL(time.perf_counter() - began)";
    let root = Program::new(AT_ONCE, |_, _| python(code));
    let leaf = Program::new(Duration::from_millis(100), |_, _| "yes".to_owned());
    let outcome = engine(root, leaf).ask(query(), watch(&Arc::default())).await.unwrap();
    let Value::Number(took) = outcome.answer else { panic!("{outcome:?}") };
    // Thirteen rounds of eight.
    let ideal = 1.3;
    row("100 sub-calls of 100 ms, 8 at once", took.as_f64().unwrap(), "ideal", ideal, Some(1.3));
}
