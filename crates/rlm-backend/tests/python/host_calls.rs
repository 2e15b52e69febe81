//! Variables from outside, and calls back to the host.

use std::{sync::Arc, time::Duration};

use rlm_backend::{CodeError, HostCalls, Language::Python, LinkConfig, StateAfter, VariableError};
use serde_json::{Value, json};
use tool_core::BoxFuture;

use crate::common::Session;

/// Doubles numbers, refuses the rest, and sleeps when asked to.
struct Double;

impl HostCalls for Double {
    fn call(&self, name: String, args: Value) -> BoxFuture<'static, Result<Value, String>> {
        Box::pin(async move {
            match (name.as_str(), args.as_i64()) {
                ("double", Some(number)) => Ok(json!(number * 2)),
                ("sleep", _) => std::future::pending().await,
                _ => Err(format!("cannot {name}")),
            }
        })
    }
}

async fn session() -> Session {
    Session::with(Python, LinkConfig::default(), Arc::new(Double)).await
}

fn message(error: Option<CodeError>) -> String {
    error.expect("it raises").message
}

#[tokio::test]
async fn code_calls_the_host_and_gets_its_answer() {
    assert_eq!(session().await.prints("print(host.call('double', 21))").await, "42\n");
}

#[tokio::test]
async fn an_error_of_the_host_is_an_exception() {
    let outcome = session().await.run("host.call('fly')").await;
    assert_eq!(message(outcome.error), "cannot fly");
}

#[tokio::test]
async fn threads_call_the_host_at_the_same_time() {
    let code = "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(8) as pool: print(sum(pool.map(lambda n: host.call('double', n), range(100))))";
    assert_eq!(session().await.prints(code).await, "9900\n");
}

#[tokio::test]
async fn an_interrupt_ends_a_call_to_the_host_and_the_channel_stays_sound() {
    let mut session = session().await;
    let outcome = session.run_within("host.call('sleep')", Duration::from_millis(300)).await;
    assert!(outcome.ending.timed_out);
    assert_eq!(
        (outcome.error.unwrap().name.as_str(), outcome.state),
        ("KeyboardInterrupt", StateAfter::Kept)
    );
    assert_eq!(session.prints("print(host.call('double', 4))").await, "8\n");
}

#[tokio::test]
async fn a_thread_that_outlives_its_call_is_refused_and_the_next_call_works() {
    let mut session = session().await;
    let code = "import threading\nsaid = []\ndef ask():\n  try: host.call('sleep')\n  except RuntimeError as e: said.append(str(e))\nt = threading.Thread(target=ask); t.start()\nimport time; time.sleep(0.5)";
    session.run(code).await;
    assert_eq!(
        session.prints("t.join(); print(said)").await,
        "['the call that asked has ended']\n"
    );
}

#[tokio::test]
async fn a_forked_child_cannot_call_the_host() {
    let code = "import os\nif os.fork() == 0:\n  try: host.call('double', 1)\n  except RuntimeError as e: print(e)\nelse: os.wait();";
    assert_eq!(session().await.prints(code).await, "a forked process has no channel to the host\n");
}

#[tokio::test]
async fn a_line_without_the_token_is_not_believed() {
    let mut session = session().await;
    let code = "import os\nfor fd in range(3, 256):\n  try: os.write(fd, b'{\"event\":\"done\",\"token\":\"x\",\"id\":1,\"exit_code\":9,\"error\":null,\"shown\":[],\"cwd\":\"\",\"cwd_exists\":true,\"state\":\"kept\"}\\nnoise\\n')\n  except OSError: pass";
    assert_eq!(session.run(code).await.ending.exit_code, Some(0));
    assert!(session.prints("print('alive')").await.ends_with("alive\n"));
}

#[tokio::test]
async fn a_program_that_a_cell_starts_has_no_control_channel() {
    let code = "import subprocess\nprint(subprocess.run(['ls', '/proc/self/fd'], close_fds=False, capture_output=True, text=True).stdout)";
    let listed = session().await.prints(code).await;
    let controls = 200..204;
    assert!(listed.lines().all(|fd| !controls.contains(&fd.parse().unwrap_or(0))), "{listed}");
}

#[tokio::test]
async fn variables_are_set_read_and_listed_by_the_host() {
    let mut session = session().await;
    let value = json!({"a": [1, "\u{e9}\u{d7ff}", null]});
    session.link.set_variable("given", &value, false).await.unwrap();
    assert_eq!(session.prints("given['a'].append(2.5); print(len(given['a']))").await, "4\n");
    let read = session.link.variable("given").await.unwrap();
    assert_eq!(read, json!({"a": [1, "\u{e9}\u{d7ff}", null, 2.5]}));
    session.run("big = 'x' * 40_000_000").await;
    let listed = session.link.variables().await.unwrap();
    let described: Vec<_> =
        listed.iter().map(|v| (v.name.as_str(), v.type_name.as_str(), v.size)).collect();
    assert_eq!(described, [("given", "dict", 1), ("big", "str", 40_000_000)]);
}

#[tokio::test]
async fn a_pinned_variable_is_there_again_after_it_was_bound_to_something_else() {
    let mut session = session().await;
    session.link.set_variable("context", &json!("raw"), true).await.unwrap();
    assert_eq!(session.prints("context = 'mine'; print(context)").await, "mine\n");
    assert_eq!(session.prints("print(context); del context, host").await, "raw\n");
    assert_eq!(session.prints("print(context, host.call('double', 1))").await, "raw 2\n");
}

#[tokio::test]
async fn a_variable_that_cannot_be_read_is_an_error_and_harms_nothing() {
    let mut session = session().await;
    session.run("import threading; lock = threading.Lock(); big = 'x' * 40_000_000").await;
    for (name, part) in
        [("lock", "not JSON serializable"), ("big", "too much"), ("none", "not defined")]
    {
        let Err(VariableError::Refused(text)) = session.link.variable(name).await else {
            panic!("{name} was read")
        };
        assert!(text.contains(part), "{name}: {text}");
    }
    let bad = session.link.set_variable("a b", &json!(1), false).await;
    assert_eq!(bad, Err(VariableError::Name("a b".to_owned())));
    assert_eq!(session.prints("print('alive')").await, "alive\n");
}

#[tokio::test]
async fn arguments_that_json_cannot_hold_are_an_error_of_the_code() {
    let mut session = session().await;
    let deep = "args = []\nfor _ in range(500): args = [args]\nhost.call('double', args)";
    for code in [
        deep,
        "host.call('double', float('nan'))",
        "host.call('double', 10 ** 400)",
        "host.call('double', {1, 2})",
    ] {
        let outcome = session.run(code).await;
        assert!(outcome.error.is_some(), "{code}");
        assert_eq!(outcome.state, StateAfter::Kept, "{code}");
    }
}
