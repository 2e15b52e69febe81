//! How a call can end, and what the session is afterwards.

use std::time::{Duration, Instant};

use rlm_backend::{CallError, Language::Python, LinkConfig, NoHostCalls, StateAfter};

use crate::common::{PLENTY, Session};

const SHORT: Duration = Duration::from_millis(300);

#[tokio::test]
async fn sys_exit_is_a_status_and_the_session_lives_on() {
    let mut session = Session::start(Python).await;
    let cases =
        [("sys.exit(3)", 3), ("sys.exit()", 0), ("raise SystemExit(300)", 44), ("exit()", 0)];
    for (code, status) in cases {
        let outcome = session.run(&format!("import sys; x = 1; {code}")).await;
        assert_eq!(outcome.ending.exit_code, Some(status), "{code}");
        assert_eq!((outcome.state, outcome.error), (StateAfter::Kept, None), "{code}");
    }
    assert_eq!(session.prints("print('alive', x)").await, "alive 1\n");
}

#[tokio::test]
async fn sys_exit_with_a_text_prints_it() {
    let outcome = Session::start(Python).await.run("raise SystemExit('why')").await;
    assert_eq!(outcome.ending.exit_code, Some(1));
    assert_eq!(outcome.stderr.text().to_string(), "why\n");
}

/// Code that ends the process: the end is told at once, and the link takes no more calls.
async fn check_death(code: &str, exit_code: Option<i32>, signal: Option<i32>) {
    let mut session = Session::start(Python).await;
    let begun = Instant::now();
    let outcome = session.run(&format!("print('before', flush=True)\n{code}")).await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{code} was waited for");
    assert_eq!((outcome.ending.exit_code, outcome.ending.signal), (exit_code, signal), "{code}");
    assert_eq!(outcome.state, StateAfter::Lost, "{code}");
    assert_eq!(outcome.stdout.text().to_string(), "before\n", "{code}");
    assert_eq!(session.try_run("1", PLENTY).await.unwrap_err(), CallError::Lost, "{code}");
}

#[tokio::test]
async fn os_exit_is_told_at_once() {
    check_death("import os; os._exit(5)", Some(5), None).await;
}

#[tokio::test]
async fn a_segfault_is_told_at_once() {
    check_death("import ctypes; ctypes.string_at(0)", None, Some(11)).await;
}

#[tokio::test]
async fn a_kill_is_told_as_its_signal() {
    check_death("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", None, Some(9)).await;
}

#[tokio::test]
async fn a_program_that_takes_the_process_over_is_followed_to_its_end() {
    check_death("import os; os.execvp('sh', ['sh', '-c', 'sleep 0.2; exit 6'])", Some(6), None)
        .await;
}

#[tokio::test]
async fn a_child_that_holds_the_pipes_delays_nothing() {
    let code = "import os, subprocess; p = subprocess.Popen(['sleep', '60']); os._exit(2)";
    check_death(code, Some(2), None).await;
}

#[tokio::test]
async fn a_closed_control_channel_loses_the_session_and_hangs_nobody() {
    let mut session = Session::start(Python).await;
    let outcome = session.run("import os; os.closerange(3, 1024)").await;
    assert_eq!(outcome.state, StateAfter::Lost);
}

/// Code that does not end by itself, but follows the interrupt.
async fn check_timeout(code: &str) {
    let mut session = Session::start(Python).await;
    session.run("x = 5").await;
    let begun = Instant::now();
    let outcome = session.run_within(&format!("print('partial')\n{code}"), SHORT).await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{code}: {:?}", begun.elapsed());
    assert!(outcome.ending.timed_out && !outcome.ending.killed, "{code}: {outcome:?}");
    assert_eq!(outcome.ending.exit_code, Some(130), "{code}");
    assert_eq!(outcome.state, StateAfter::Kept, "{code}");
    assert_eq!(outcome.stdout.text().to_string(), "partial\n", "{code}");
    assert_eq!(outcome.error.unwrap().name, "KeyboardInterrupt", "{code}");
    assert_eq!(session.prints("print(x)").await, "5\n", "{code}");
}

#[tokio::test]
async fn an_endless_loop_is_interrupted_and_variables_survive() {
    check_timeout("while True: pass").await;
}

#[tokio::test]
async fn a_sleep_is_interrupted() {
    check_timeout("import time; time.sleep(60)").await;
}

#[tokio::test]
async fn a_subprocess_is_interrupted() {
    check_timeout("import subprocess; subprocess.run(['sleep', '60'])").await;
}

#[tokio::test]
async fn an_await_is_interrupted() {
    check_timeout("import asyncio; await asyncio.sleep(60)").await;
}

#[tokio::test]
async fn an_endless_repr_is_interrupted() {
    check_timeout("class C:\n  def __repr__(self):\n    while True: pass\nC()").await;
}

#[tokio::test]
async fn code_that_swallows_the_interrupt_is_killed_after_the_grace() {
    let config = LinkConfig { grace: SHORT, ..LinkConfig::default() };
    let mut session = Session::with(Python, config, std::sync::Arc::new(NoHostCalls)).await;
    let code = "import time\nwhile True:\n  try: time.sleep(60)\n  except BaseException: pass";
    let begun = Instant::now();
    let outcome = session.run_within(code, SHORT).await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(outcome.ending.timed_out && outcome.ending.killed);
    assert_eq!((outcome.ending.signal, outcome.state), (Some(9), StateAfter::Lost));
    assert_eq!(session.try_run("1", PLENTY).await.unwrap_err(), CallError::Lost);
}

#[tokio::test]
async fn an_ignored_sigint_is_not_ignored_in_the_next_call() {
    let mut session = Session::start(Python).await;
    session.run("import signal; x = 5; signal.signal(signal.SIGINT, signal.SIG_IGN)").await;
    let outcome = session.run_within("while True: pass", SHORT).await;
    assert_eq!((outcome.state, outcome.ending.killed), (StateAfter::Kept, false));
}

#[tokio::test]
async fn a_cancelled_call_is_interrupted_and_says_so() {
    let mut session = Session::start(Python).await;
    let deadline = tokio::time::Instant::now() + PLENTY;
    let cancel = tokio::time::sleep(SHORT);
    let outcome = session.link.run("x = 5\nwhile True: pass", deadline, cancel).await.unwrap();
    assert!(outcome.ending.cancelled && !outcome.ending.timed_out);
    assert_eq!(session.prints("print(x)").await, "5\n");
}

#[tokio::test]
async fn a_call_that_was_dropped_loses_the_session() {
    let mut session = Session::start(Python).await;
    let never = session.run_within("import time; time.sleep(60)", PLENTY);
    assert!(tokio::time::timeout(SHORT, never).await.is_err());
    assert_eq!(session.try_run("1", PLENTY).await.unwrap_err(), CallError::Lost);
}

#[tokio::test]
async fn an_interrupt_between_calls_changes_nothing() {
    let mut session = Session::start(Python).await;
    let outcome = session.run("import os; x = 5; print(os.getpid())").await;
    let pid = outcome.stdout.text().to_string().trim().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(session.prints("print(x)").await, "5\n");
}

#[tokio::test]
async fn a_forked_child_that_leaves_the_cell_ends_there() {
    let mut session = Session::start(Python).await;
    let code =
        "import os\nif os.fork() == 0:\n  print('child')\nelse:\n  print('status', os.wait()[1])";
    assert_eq!(session.prints(code).await, "child\nstatus 0\n");
    assert_eq!(session.prints("print('once')").await, "once\n");
}

#[tokio::test]
async fn code_of_five_megabytes_runs_and_more_than_allowed_is_refused() {
    let mut session = Session::start(Python).await;
    let code = format!("x = '{}'\nprint(len(x))", "y".repeat(5_000_000));
    assert_eq!(session.prints(&code).await, "5000000\n");
    let refused = session.try_run(&" ".repeat(17 << 20), PLENTY).await.unwrap_err();
    assert_eq!(refused, CallError::TooLong { bytes: 17 << 20, max: 16 << 20 });
    assert_eq!(session.prints("print(len(x))").await, "5000000\n");
}

#[tokio::test]
async fn a_deadline_that_has_passed_interrupts_and_keeps_the_session() {
    let mut session = Session::start(Python).await;
    session.run("x = 5").await;
    for _ in 0..3 {
        let outcome = session.run_within("while True: pass", Duration::ZERO).await;
        assert!(outcome.ending.timed_out, "{outcome:?}");
        assert_eq!(outcome.state, StateAfter::Kept, "{outcome:?}");
    }
    assert_eq!(session.prints("print(x)").await, "5\n");
}
