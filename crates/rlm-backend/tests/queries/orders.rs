//! Whatever a model says, in whatever order, and whenever the caller has had enough: the query ends in
//! time and with a reason, its budget is not overdrawn, and no session is left.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use model::{FinishReason, Usage};
use rlm_backend::{Query, QueryBudget, QueryEvent, QueryModels, StopReason};
use serde_json::json;

use crate::support::{Bench, Program, Said, here, python};

const TOKENS: u64 = 3000;

/// One of many things that a model says.
fn said(number: u64) -> Said {
    let reply = match number % 14 {
        0 => python("x = llm_query('leaf')\nprint(x)"),
        1 => python("r = llm_query_batched(['leaf'] * 9)\nprint(len(r))"),
        2 => python("try: print(rlm_query('below', 'text'))\nexcept SubQueryError as e: print(e)"),
        3 => python("1 / 0"),
        4 => python("import time; time.sleep(0.2)"),
        5 => python("import os; os._exit(3)"),
        6 => "```bash\necho hello; exit 3\n```".to_owned(),
        7 => python(
            "import threading\nfor _ in range(3): threading.Thread(target=llm_query, args=('leaf',)).start()",
        ),
        8 => "Let me think about FINAL(it).".to_owned(),
        9 => "```json\n{}\n```".to_owned(),
        10 => python("answer['content'] = 'draft'"),
        11 => "FINAL_VAR(nothing)".to_owned(),
        12 => python("print('x' * 100_000)"),
        _ => python("FINAL('answer')"),
    };
    let is_failing = number.is_multiple_of(23);
    Said {
        reply: if is_failing { Err("down".to_owned()) } else { Ok(reply) },
        after: Duration::from_millis(number % 5 * 10),
        finish: if number.is_multiple_of(17) { FinishReason::Length } else { FinishReason::Stop },
        usage: Usage { input_tokens: 20 + number % 40, output_tokens: number % 15 },
    }
}

async fn one(seed: u64) {
    let state = AtomicU64::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let root = Program::new("root", move |_, _: &str| {
        let next = |it: u64| {
            it.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
        };
        let was =
            state.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |it| Some(next(it))).unwrap();
        said(next(was) >> 33)
    });
    let models = QueryModels::new(root);
    let bench = Bench::with(models, |config| config.max_sub_calls = 12);
    let budget = QueryBudget {
        tokens: Some(TOKENS),
        time_ms: Some(6000),
        iterations: Some(8),
        ..QueryBudget::default()
    };
    let query = Query { prompt: "?".to_owned(), budget, ..Query::default() };
    let watch = bench.watch();
    let cancel = watch.cancel.clone();
    let is_cancelled = seed.is_multiple_of(3);
    let stop = async {
        if is_cancelled {
            tokio::time::sleep(Duration::from_millis(100 + seed * 37 % 900)).await;
            cancel.cancel();
        }
    };
    let since = Instant::now();
    let (outcome, ()) = tokio::join!(bench.engine.ask(query, watch), stop);
    let outcome = outcome.unwrap();
    assert!(since.elapsed() < Duration::from_secs(10), "{seed}: {outcome:?}");
    assert!(
        outcome.spent.tokens() <= TOKENS && outcome.spent.sub_calls <= 12,
        "{seed}: {outcome:?}"
    );
    assert!(is_cancelled || outcome.stop != StopReason::Cancelled, "{seed}");
    assert_eq!(outcome.stop.is_answer(), outcome.answer == json!("answer"), "{seed}: {outcome:?}");
    assert_eq!(bench.manager.count(), 0, "{seed}: a session was left");
    // Every query that began has ended, the first one last.
    let events = bench.kept.events();
    let ends = events.iter().filter(|event| matches!(event, QueryEvent::End { .. })).count();
    let begins = events.iter().filter(|event| matches!(event, QueryEvent::Begin { .. })).count();
    assert!(ends <= begins + 1 && ends > 0, "{seed}");
    assert!(matches!(events.last(), Some(QueryEvent::End { query: 0, .. })), "{seed}: {events:?}");
}

#[tokio::test]
async fn no_order_of_events_loses_an_answer_a_session_or_the_count() {
    here!();
    for seed in 0..12 {
        one(seed).await;
    }
}
