//! What is printed, by whom ever, and in which order it comes.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rlm_backend::{Language::Python, LinkConfig, NoHostCalls, StateAfter};

use crate::common::Session;

/// Runs code and compares what it prints.
async fn check(code: &str, expected: &str) {
    let printed = Session::start(Python).await.prints(code).await;
    assert_eq!(printed, expected, "{code}");
}

#[tokio::test]
async fn output_of_children_comes_in_order() {
    let code = "import os, subprocess\nprint('a', end='')\nsubprocess.run(['echo', 'child'])\nprint('b', end='')\nos.system('echo system')\nprint('c')";
    check(code, "achild\nbsystem\nc\n").await;
}

#[tokio::test]
async fn output_of_threads_is_captured() {
    check("import threading\nt = threading.Thread(target=print, args=('thread',)); t.start(); t.join()", "thread\n").await;
}

#[tokio::test]
async fn buffered_output_of_the_c_library_comes_before_the_end() {
    check("import ctypes\nctypes.CDLL(None).printf(b'from C'); None", "from C").await;
}

#[tokio::test]
async fn bytes_that_are_not_utf_8_are_kept_and_marked() {
    let mut session = Session::start(Python).await;
    let outcome = session.run("import sys; sys.stdout.buffer.write(b'\\xff\\n');").await;
    assert_eq!(outcome.stdout.head(), b"\xff\n");
    assert_eq!(outcome.stdout.text().to_string(), "\\xff\n");
}

#[tokio::test]
async fn lone_surrogates_are_escaped() {
    check("print('\\ud800 \\u00e9')", "\\ud800 \u{e9}\n").await;
}

#[tokio::test]
async fn a_character_split_over_two_writes_is_intact() {
    let code =
        "import os, time\nos.write(1, b'\\xc3'); time.sleep(0.1); os.write(1, b'\\xa9'); None";
    check(code, "\u{e9}").await;
}

#[tokio::test]
async fn nul_bytes_and_escapes_are_kept() {
    check("print('\\0\\x1b[1mx\\r50%')", "\0\u{1b}[1mx\r50%\n").await;
}

#[tokio::test]
async fn a_print_without_newline_is_there_at_the_end() {
    check("print('tail', end='')", "tail").await;
}

#[tokio::test]
async fn standard_input_is_empty() {
    let mut session = Session::start(Python).await;
    let code = "import sys; print(repr(sys.stdin.readline()), repr(sys.stdin.buffer.read()))";
    // Also when it was found empty before, and nothing of the next request was taken for input.
    for _ in 0..2 {
        assert_eq!(session.prints(code).await, "'' b''\n");
    }
}

/// Code that takes a standard stream away; the next call has it again.
async fn check_stream_is_back(code: &str) {
    let mut session = Session::start(Python).await;
    let outcome = session.run(code).await;
    assert_eq!(outcome.state, StateAfter::Kept, "{code}");
    assert_eq!(session.prints("print('back')").await, "back\n", "{code}");
    let outcome = session.run("import sys; print('error', file=sys.stderr)").await;
    assert_eq!(outcome.stderr.text().to_string(), "error\n", "{code}");
}

#[tokio::test]
async fn a_stream_that_was_closed_or_replaced_is_back_in_the_next_call() {
    for code in [
        "import os; os.close(1); os.close(2)",
        "import sys; sys.stdout.close(); sys.stderr.close()",
        "import io, sys; sys.stdout = sys.stderr = io.StringIO(); print('gone')",
        "import sys; sys.stdout = sys.stderr = None",
        "import os; os.dup2(os.open('/dev/null', os.O_WRONLY), 1); print('gone')",
        "import sys; sys.stdout = 5",
        "import sys; sys.stdout.detach(); sys.stderr.detach()",
        "import sys; del sys.stdout, sys.stderr, sys.stdin",
    ] {
        check_stream_is_back(code).await;
    }
}

#[tokio::test]
async fn output_in_a_closed_stream_is_an_error_of_the_code() {
    let outcome = Session::start(Python).await.run("import os; os.close(1); print('x')").await;
    assert_eq!(outcome.error.unwrap().name, "OSError");
}

#[tokio::test]
async fn a_hundred_megabytes_are_counted_and_bounded() {
    let mut session = Session::start(Python).await;
    let outcome = session.run("print('A' + 'x' * 100_000_000 + 'Z')").await;
    assert_eq!(outcome.stdout.total_bytes(), 100_000_003);
    assert!(outcome.stdout.head().len() + outcome.stdout.tail().len() <= 64 << 10);
    assert!(outcome.stdout.head().starts_with(b"Ax"));
    assert!(outcome.stdout.tail().ends_with(b"xZ\n"));
}

#[tokio::test]
async fn two_hundred_thousand_prints_are_counted_and_quick() {
    let mut session = Session::start(Python).await;
    let begun = Instant::now();
    let outcome = session.run("for i in range(200_000): print(i)").await;
    assert_eq!(outcome.stdout.total_bytes(), 1_288_890);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn endless_output_is_interrupted_at_the_deadline() {
    let mut session = Session::start(Python).await;
    let begun = Instant::now();
    let code = "import os\nwhile True: os.write(1, b'y' * 65536)";
    let outcome = session.run_within(code, Duration::from_millis(300)).await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(outcome.ending.timed_out && outcome.stdout.omitted_bytes() > 0);
    assert_eq!(outcome.state, StateAfter::Kept);
}

#[tokio::test]
async fn the_end_of_a_call_never_overtakes_its_output() {
    let mut session = Session::start(Python).await;
    for n in 0..300 {
        let code = format!("import sys; print({n}, end=''); print({n}, end='', file=sys.stderr)");
        let outcome = session.run(&code).await;
        assert_eq!(outcome.stdout.text().to_string(), n.to_string());
        assert_eq!(outcome.stderr.text().to_string(), n.to_string());
        assert!(outcome.earlier.is_empty());
    }
}

#[tokio::test]
async fn later_output_of_a_thread_is_kept_apart() {
    let mut session = Session::start(Python).await;
    let code = "import threading, time\ndef late():\n  time.sleep(0.2); print('late')\nt = threading.Thread(target=late); t.start()";
    assert_eq!(session.prints(code).await, "");
    tokio::time::timeout(Duration::from_secs(1), session.link.attend()).await.unwrap_err();
    let outcome = session.run("print('now')").await;
    assert_eq!(outcome.earlier.stdout.text().to_string(), "late\n");
    assert_eq!(outcome.stdout.text().to_string(), "now\n");
}

#[tokio::test]
async fn a_line_of_a_hundred_kilobytes_is_intact_where_it_has_room() {
    let config = LinkConfig { max_output_bytes: 1 << 20, ..LinkConfig::default() };
    let mut session = Session::with(Python, config, Arc::new(NoHostCalls)).await;
    let expected = format!("{}\n", "\u{e9}".repeat(50_000));
    assert_eq!(session.prints("print('\u{e9}' * 50_000)").await, expected);
}

#[tokio::test]
async fn short_calls_after_a_long_one_and_long_ones_after_short_ones_are_whole() {
    let mut session = Session::start(Python).await;
    for n in 0..4 {
        let code = format!("import time\nprint('a'); time.sleep(0.02); print({n})");
        assert_eq!(session.prints(&code).await, format!("a\n{n}\n"));
        for short in ["print(1)", "print(2)", "print(3)"] {
            assert_eq!(session.prints(short).await, format!("{}\n", &short[6..7]));
        }
    }
}
