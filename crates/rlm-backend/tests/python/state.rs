//! What persists, and what brings it back.

use rlm_backend::{Language::Python, StateAfter};

use crate::common::Session;

/// Runs cells one after the other in one session, and compares what the last one prints.
async fn check(cells: &[&str], expected: &str) {
    let mut session = Session::start(Python).await;
    let (last, before) = cells.split_last().unwrap();
    for cell in before {
        let outcome = session.run(cell).await;
        assert_eq!(outcome.state, StateAfter::Kept, "{cell}: {outcome:?}");
    }
    let outcome = session.run(last).await;
    assert_eq!(outcome.stdout.text().to_string(), expected, "{cells:?}: {outcome:?}");
}

#[tokio::test]
async fn variables_persist() {
    check(&["x = 41", "print(x + 1)"], "42\n").await;
}

#[tokio::test]
async fn what_ran_before_an_error_persists() {
    check(&["a = 1; raise ValueError", "print(a)"], "1\n").await;
}

#[tokio::test]
async fn a_function_sees_a_variable_that_was_bound_again() {
    check(&["x = 1\ndef f(): return x", "x = 2; print(f())"], "2\n").await;
}

#[tokio::test]
async fn a_function_sees_another_that_was_defined_later() {
    check(&["def f(): return g()", "def g(): return 7", "print(f())"], "7\n").await;
}

#[tokio::test]
async fn a_deleted_variable_is_gone() {
    let mut session = Session::start(Python).await;
    session.run("x = 1").await;
    session.run("del x").await;
    let outcome = session.run("x").await;
    assert_eq!(outcome.error.unwrap().name, "NameError");
}

#[tokio::test]
async fn imports_and_the_working_directory_persist_and_it_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let mut session = Session::start(Python).await;
    let outcome = session.run(&format!("import os; os.chdir({path:?})")).await;
    assert_eq!(outcome.cwd.unwrap().path, path.to_str().unwrap());
    assert_eq!(session.prints("print(os.getcwd())").await, format!("{}\n", path.display()));
}

#[tokio::test]
async fn a_working_directory_that_was_deleted_is_reported_as_gone() {
    let code = "import os, tempfile\nd = tempfile.mkdtemp(); os.chdir(d); os.rmdir(d)";
    let outcome = Session::start(Python).await.run(code).await;
    assert!(!outcome.cwd.unwrap().exists);
    assert_eq!(outcome.state, StateAfter::Kept);
}

#[tokio::test]
async fn what_cannot_be_pickled_persists() {
    let first = "import threading\nlock = threading.Lock(); made = (i * i for i in range(4))\nf = open('/dev/null')";
    check(
        &[first, "next(made)", "print(lock.locked(), list(made), f.closed)"],
        "False [1, 4, 9] False\n",
    )
    .await;
}

#[tokio::test]
async fn builtins_are_the_real_ones() {
    let code = "try:\n  1/0\nexcept ZeroDivisionError:\n  print(frozenset([eval('1+1')]))";
    check(&[code], "frozenset({2})\n").await;
}

#[tokio::test]
async fn current_syntax_runs() {
    let code =
        "def g():\n  yield from (n for n in range(3))\nif (n := sum(g())) == 3: print('three')";
    check(&[code], "three\n").await;
}

#[tokio::test]
async fn a_match_statement_an_async_function_and_a_long_loop_run() {
    let matches = "import sys\nif sys.version_info >= (3, 10):\n  exec('match [1, 2]:\\n  case [a, b]: print(a + b)')\nelse: print(3)";
    check(&[matches], "3\n").await;
    check(&["async def f():\n  return 5", "print(await f())"], "5\n").await;
    let begun = std::time::Instant::now();
    check(&["n = 0\nfor i in range(200_000): n += i", "print(n)"], "19999900000\n").await;
    assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn functions_of_a_cell_can_be_pickled_and_run_by_multiprocessing() {
    let define = "import multiprocessing as mp, pickle\ndef square(x): return x * x";
    let run = "with mp.get_context('fork').Pool(2) as pool: print(pool.map(square, [1, 2, 3]))";
    check(&[define, "print(pickle.loads(pickle.dumps(square))(4))", run], "[1, 4, 9]\n").await;
}

#[tokio::test]
async fn await_works_at_top_level_and_the_loop_persists() {
    check(
        &[
            "import asyncio\nqueue = asyncio.Queue()",
            "await queue.put(3)",
            "print(await queue.get())",
        ],
        "3\n",
    )
    .await;
}

#[tokio::test]
async fn a_lowered_recursion_limit_does_not_break_the_session() {
    check(&["import sys; sys.setrecursionlimit(60)", "print('alive')"], "alive\n").await;
}
