//! Ends that nobody planned: cancelled queries, models that fail, interpreters that die.

use std::time::{Duration, Instant};

use model::FinishReason;
use rlm_backend::{Context, Query, QueryError, SessionError, StopReason, Watch};
use serde_json::json;

use crate::support::{Bench, Program, Said, here, python};

fn slow(seconds: u64) -> Said {
    Said { after: Duration::from_secs(seconds), ..Said::from("FINAL(late)") }
}

/// How a query ends that is cancelled after a second, and how long after that.
async fn cancelled(bench: &Bench, prompt: &str) {
    let watch = bench.watch();
    let cancel = watch.cancel.clone();
    let query = Query { prompt: prompt.to_owned(), ..Query::default() };
    let ask = bench.engine.ask(query, watch);
    let stop = async {
        tokio::time::sleep(Duration::from_millis(1200)).await;
        cancel.cancel();
        Instant::now()
    };
    let (outcome, since) = tokio::join!(ask, stop);
    assert_eq!(outcome.unwrap().stop, StopReason::Cancelled, "{prompt}");
    assert!(since.elapsed() < Duration::from_millis(2500), "{prompt}: {:?}", since.elapsed());
    assert_eq!(bench.manager.count(), 0, "{prompt}");
}

#[tokio::test]
async fn a_cancel_reaches_models_code_sub_calls_and_queries_below() {
    here!();
    let root = Program::new("root", |_, last: &str| match last.split('\n').next().unwrap() {
        "model" => slow(30),
        "code" => python("import time; time.sleep(25)").into(),
        "deaf" => {
            python("import time\nwhile True:\n  try: time.sleep(25)\n  except BaseException: pass")
                .into()
        }
        "bash" => "```bash\nsleep 25\n```".into(),
        "sub-calls" => python("llm_query_batched(['leaf'] * 20)").into(),
        "below" => python("rlm_query('code')").into(),
        "leaf" => slow(30),
        other => panic!("{other}"),
    });
    for prompt in ["model", "code", "deaf", "bash", "sub-calls", "below"] {
        cancelled(&Bench::new(&root), prompt).await;
    }
}

#[tokio::test]
async fn a_query_that_is_dropped_leaves_no_session() {
    here!();
    let root = Program::new("root", |_, last: &str| match last.split('\n').next().unwrap() {
        "above" => python("rlm_query('code')"),
        _ => python("import time; time.sleep(25)"),
    });
    let bench = Bench::new(&root);
    let ask = bench.ask("above", Context::None);
    assert!(tokio::time::timeout(Duration::from_millis(1500), ask).await.is_err());
    for _ in 0..100 {
        if bench.manager.count() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{} sessions were left", bench.manager.count());
}

#[tokio::test]
async fn a_model_that_fails_ends_the_query_with_its_words() {
    here!();
    let failing = || Said { reply: Err("no route".to_owned()), ..Said::from("") };
    let root = Program::new("root", move |number, _: &str| match number {
        0 => python("answer['content'] = 'half'").into(),
        _ => failing(),
    });
    let outcome = Bench::new(&root).ask("?", Context::None).await;
    assert_eq!((outcome.stop, outcome.answer), (StopReason::ModelError, json!("half")));
    assert!(outcome.message.unwrap().contains("no route"));
}

#[tokio::test]
async fn a_reply_that_is_cut_off_in_a_block_is_not_run() {
    here!();
    let root = Program::new("root", |number, last: &str| match number {
        0 => Said { finish: FinishReason::Length, ..Said::from("```python\nFINAL('half") },
        _ => {
            assert!(last.contains("cut off"), "{last}");
            Said::from(python("FINAL('whole')"))
        }
    });
    assert_eq!(Bench::new(&root).ask("?", Context::None).await.answer, json!("whole"));
}

#[tokio::test]
async fn garbage_is_survived() {
    here!();
    let root = Program::script(["", "\u{0}\u{fffd}```\u{202e}", &python("FINAL(1)")]);
    let outcome = Bench::new(&root).ask("?", Context::None).await;
    assert_eq!(outcome.stop, StopReason::NoProgress);
    let root = Program::script(["", &python("FINAL(\"a\u{0}b\")"), &python("FINAL(1)")]);
    assert_eq!(Bench::new(&root).ask("?", Context::None).await.turns, 3);
}

#[tokio::test]
async fn an_interpreter_that_dies_is_started_anew_with_its_context() {
    here!();
    let root = Program::new("root", |number, last: &str| match number {
        0 => python("x = 1\nimport os, signal; os.kill(os.getpid(), signal.SIGKILL)"),
        1 => {
            assert!(last.contains("started anew"), "{last}");
            python("print('x' in globals(), llm_query); FINAL(context)")
        }
        _ => "FINAL(no)".to_owned(),
    });
    let bench = Bench::new(&root);
    assert_eq!(
        bench.about("still here").await.answer,
        json!("still here"),
        "{:?}",
        bench.kept.outputs()
    );
}

#[tokio::test]
async fn a_session_that_is_missing_or_busy_is_an_error() {
    here!();
    let root = Program::new("root", |_, _: &str| slow(1));
    let bench = Bench::new(&root);
    let unknown = Some("01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap());
    let query = |session| Query { prompt: "?".to_owned(), session, ..Query::default() };
    let error = bench.engine.ask(query(unknown), Watch::default()).await.unwrap_err();
    assert!(matches!(error, QueryError::Session(SessionError::Unknown(_))), "{error}");
    let session = Some(bench.manager.create().await.unwrap());
    let ask = || bench.engine.ask(query(session), Watch::default());
    let (first, second) = tokio::join!(ask(), ask());
    assert_eq!(first.unwrap().answer, json!("late"));
    assert!(matches!(second.unwrap_err(), QueryError::Session(SessionError::Busy(_))));
    let model = Some("gpt-9".to_owned());
    let error =
        bench.engine.ask(Query { model, ..query(None) }, Watch::default()).await.unwrap_err();
    assert!(error.to_string().contains("the models are: root"), "{error}");
}
