//! Budgets: what ends a query, what is left, and what stays bounded.

use std::time::{Duration, Instant};

use model::{Message, Usage};
use rlm_backend::{Context, Query, QueryBudget, QueryModels, StopReason, Watch};
use serde_json::json;

use crate::support::{Bench, Program, Said, here, python};

fn query(budget: QueryBudget) -> Query {
    Query { prompt: "?".to_owned(), budget, ..Query::default() }
}

#[tokio::test]
async fn time_is_cumulative_over_commands() {
    here!();
    let root = Program::new("root", |_, _: &str| {
        python("import time; time.sleep(0.5); answer['content'] = 'so far'")
    });
    let bench = Bench::new(&root);
    let started = Instant::now();
    // The first turn starts an interpreter, which takes its time on a busy machine.
    let budget = QueryBudget { time_ms: Some(1500), ..QueryBudget::default() };
    let outcome = bench.run(query(budget)).await;
    assert_eq!((outcome.stop, &outcome.answer), (StopReason::TimeBudget, &json!("so far")));
    assert!(outcome.turns < 5 && started.elapsed() < Duration::from_secs(4), "{outcome:?}");
}

#[tokio::test]
async fn tokens_end_a_query_with_what_there_is() {
    here!();
    let root = Program::new("root", |_, _: &str| Said {
        usage: Usage { input_tokens: 900, output_tokens: 100 },
        ..Said::from(python("answer['content'] = 'draft'"))
    });
    let budget = QueryBudget { tokens: Some(4500), ..QueryBudget::default() };
    let outcome = Bench::new(&root).run(query(budget)).await;
    assert_eq!((outcome.stop, &outcome.answer), (StopReason::TokenBudget, &json!("draft")));
    assert!(outcome.spent.tokens() <= 4500 && outcome.turns >= 2, "{outcome:?}");
}

#[tokio::test]
async fn a_budget_is_never_more_than_the_operators() {
    here!();
    let root = Program::script([&*python("x = 1")]);
    let bench = Bench::with(QueryModels::new(root), |config| config.max_iterations = 3);
    let budget = QueryBudget { iterations: Some(50), ..QueryBudget::default() };
    let outcome = bench.run(query(budget)).await;
    assert_eq!((outcome.stop, outcome.turns), (StopReason::MaxIterations, 3));
    let budget = QueryBudget { iterations: Some(2), ..QueryBudget::default() };
    assert_eq!(bench.run(query(budget)).await.turns, 2);
}

#[tokio::test]
async fn the_last_turn_is_told_to_be_the_last() {
    here!();
    let root = Program::new("root", |_, last: &str| {
        if last.contains("last turn") { "FINAL(in time)".to_owned() } else { python("x = 1") }
    });
    let outcome = Bench::new(&root).ask("?", Context::None).await;
    assert_eq!((outcome.answer, outcome.turns), (json!("in time"), 30));
}

#[tokio::test]
async fn sub_calls_end_a_query_only_where_it_insists() {
    here!();
    let code = "r = llm_query_batched(['x'] * 5)\nprint([getattr(e, 'kind', e) for e in r])";
    let leaf = Program::new("leaf", |_, _: &str| "ok");
    let root = Program::new("root", move |number, last: &str| {
        assert!(number == 0 || last.contains("no more sub-calls"), "{last}");
        python(code)
    });
    let models = QueryModels::new(root).with_leaf(leaf as _);
    let bench = Bench::with(models, |config| config.max_sub_calls = 3);
    let outcome = bench.ask("?", Context::None).await;
    assert_eq!(
        (outcome.stop, outcome.turns, outcome.spent.sub_calls),
        (StopReason::SubCalls, 2, 3)
    );
    assert_eq!(bench.kept.outputs()[0], "['ok', 'ok', 'ok', 'sub_calls', 'sub_calls']\n");
}

#[tokio::test]
async fn a_batch_of_three_is_one_level_deep() {
    here!();
    let root = Program::new("root", |_, last: &str| {
        if last.starts_with("below") {
            python("FINAL(1)")
        } else {
            python(
                "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(3) as pool: FINAL(sum(pool.map(rlm_query, ['below'] * 3)))",
            )
        }
    });
    let bench = Bench::with(QueryModels::new(root), |config| config.max_depth = 2);
    let outcome = bench.ask("above", Context::None).await;
    assert_eq!((outcome.answer, outcome.levels_below, outcome.spent.sub_calls), (json!(3), 1, 3));
    assert_eq!(bench.manager.count(), 0);
}

#[tokio::test]
async fn a_large_output_does_not_make_large_prompts() {
    here!();
    let root = Program::new("root", |number, _: &str| match number {
        0 => python("print('x' * 10_000_000)"),
        20 => "FINAL(done)".to_owned(),
        _ => python("print('y' * 30_000)"),
    });
    let bench = Bench::new(&root);
    let outcome = bench.ask("?", Context::None).await;
    assert_eq!((outcome.answer, outcome.turns), (json!("done"), 21));
    assert!(bench.kept.outputs()[0].contains("left out"));
    let messages = root.last_request.lock().unwrap().clone();
    let sizes = messages.iter().map(|message| match message {
        Message::System(text) | Message::User(text) => text.len(),
        Message::Assistant(reply) => reply.text.len(),
        Message::Tool { .. } => 0,
    });
    assert!(sizes.sum::<usize>() < 64_000 * 4, "the conversation is bounded");
}

#[tokio::test]
async fn a_price_bounds_the_cost() {
    here!();
    let root = Program::new("root", |_, _: &str| Said {
        usage: Usage { input_tokens: 1000, output_tokens: 0 },
        ..Said::from(python("x = 1"))
    });
    let bench = Bench::with(QueryModels::new(root), |config| {
        let price = rlm_backend::Price { input_micros: 1_000_000, output_micros: 1_000_000 };
        config.prices.insert("root".to_owned(), price);
        config.max_cost_micros = 5000;
    });
    let outcome = bench.ask("?", Context::None).await;
    assert_eq!(outcome.stop, StopReason::CostBudget);
    assert!(outcome.spent.cost_micros <= 5000 && outcome.spent.cost_micros >= 2000, "{outcome:?}");
}

#[tokio::test]
async fn queries_of_one_session_share_its_budget() {
    here!();
    let root = Program::new("root", |_, _: &str| Said {
        usage: Usage { input_tokens: 900, output_tokens: 100 },
        ..Said::from(python("llm_query('x'); FINAL(1)"))
    });
    let bench = Bench::with(QueryModels::new(root.clone()), |config| {
        config.session_max_tokens = 3500;
        config.session_max_sub_calls = 1;
    });
    let session = bench.manager.create().await.unwrap();
    let next = || Query { session: Some(session), ..query(QueryBudget::default()) };
    let first = bench.run(next()).await;
    assert_eq!(
        (first.stop, first.spent.tokens(), first.spent.sub_calls),
        (StopReason::Final, 2000, 1)
    );
    let left = bench.engine.session_left(session);
    assert_eq!((left.tokens, left.sub_calls), (Some(1500), Some(0)));
    // The second has what the first left: no sub-call, and 1500 tokens.
    let second = bench.run(next()).await;
    assert_eq!((second.stop, second.spent.sub_calls), (StopReason::TokenBudget, 0), "{second:?}");
    assert!(second.spent.tokens() <= 1500, "{second:?}");
    // A query in a session of its own has its own budget.
    assert_eq!(bench.run(query(QueryBudget::default())).await.spent.tokens(), 2000);
    assert_eq!(bench.engine.session_use(session).unwrap().queries, 2);
}

#[tokio::test]
async fn the_time_of_a_session_is_cumulative_and_then_it_takes_no_more_queries() {
    here!();
    let root = Program::new("root", |number, _: &str| match number % 2 {
        0 => python("import time; time.sleep(0.7); answer['content'] = 1"),
        _ => python("FINAL(2)"),
    });
    let bench = Bench::with(QueryModels::new(root.clone()), |config| config.session_time_secs = 2);
    let session = bench.manager.create().await.unwrap();
    let next = || Query { session: Some(session), ..query(QueryBudget::default()) };
    let mut stops = Vec::new();
    let refused = loop {
        match bench.engine.ask(next(), Watch::default()).await {
            Ok(outcome) => stops.push((outcome.stop, outcome.message)),
            Err(error) => break error,
        }
        assert!(stops.len() < 4, "{stops:?}");
    };
    assert!(refused.to_string().contains("session_time_secs"), "{refused}");
    assert_eq!(stops.last().unwrap().0, StopReason::TimeBudget, "{stops:?}");
    let asked = root.requests();
    assert!(bench.engine.ask(next(), Watch::default()).await.is_err());
    assert_eq!(root.requests(), asked, "no model is asked for a query that is refused");
    assert!(bench.engine.session_use(session).unwrap().time < Duration::from_secs(4));
}

#[tokio::test]
async fn a_session_that_is_idle_spends_nothing() {
    here!();
    let root = Program::script([&*python("FINAL(1)")]);
    let bench = Bench::new(&root);
    let session = bench.manager.create().await.unwrap();
    bench.run(Query { session: Some(session), ..query(QueryBudget::default()) }).await;
    let before = bench.engine.session_use(session).unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let after = bench.engine.session_use(session).unwrap();
    assert_eq!((before.time, before.spent), (after.time, after.spent));
    assert!(!after.is_running && after.queries == 1);
}
