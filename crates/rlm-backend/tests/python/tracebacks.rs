//! What a call that raised tells.

use rlm_backend::{CodeError, Language::Python, StateAfter};

use crate::common::Session;

async fn raised(cells: &[&str]) -> CodeError {
    let mut session = Session::start(Python).await;
    let mut error = None;
    for cell in cells {
        let outcome = session.run(cell).await;
        assert_eq!(outcome.state, StateAfter::Kept, "{cell}");
        error = outcome.error;
    }
    error.expect("the last cell raises")
}

#[tokio::test]
async fn a_traceback_has_the_lines_of_the_cells_and_nothing_of_the_driver() {
    let error = raised(&["def half(x):\n\n  return x / 0", "a = 1\nhalf(a)"]).await;
    assert_eq!(
        (error.name.as_str(), error.message.as_str()),
        ("ZeroDivisionError", "division by zero")
    );
    for part in [
        "File \"<cell 2>\", line 2, in <module>\n    half(a)\n",
        "File \"<cell 1>\", line 3, in half\n    return x / 0\n",
    ] {
        assert!(error.traceback.contains(part), "{part:?} in {}", error.traceback);
    }
    assert!(!error.traceback.contains("driver"), "{}", error.traceback);
}

#[tokio::test]
async fn a_syntax_error_points_at_its_line() {
    let error = raised(&["x = 1\nfor"]).await;
    assert_eq!(error.name, "SyntaxError");
    assert!(error.traceback.contains("File \"<cell 1>\", line 2\n    for"), "{}", error.traceback);
}

#[tokio::test]
async fn a_chain_of_exceptions_is_told() {
    let code = "try:\n  1/0\nexcept ZeroDivisionError as e:\n  raise KeyError('k') from e";
    let error = raised(&[code]).await;
    assert!(
        error.traceback.contains("ZeroDivisionError") && error.traceback.contains("direct cause")
    );
    assert!(!error.traceback.contains("driver"));
}

#[tokio::test]
async fn endless_recursion_is_told_briefly() {
    let error = raised(&["def f(): f()", "f()"]).await;
    assert_eq!(error.name, "RecursionError");
    assert!(error.traceback.len() < 4096 && error.traceback.contains("more times"));
}

#[tokio::test]
async fn a_huge_message_is_bounded() {
    let error = raised(&["raise ValueError('x' * 10_000_000 + 'end')"]).await;
    assert!(error.message.len() < 5000 && error.message.ends_with("end"));
    assert!(error.traceback.len() < 20_000, "{}", error.traceback.len());
}

#[tokio::test]
async fn an_exception_whose_text_raises_is_still_told() {
    let error =
        raised(&["class Odd(Exception):\n  def __str__(self): raise ValueError", "raise Odd"])
            .await;
    assert_eq!(error.name, "Odd");
    assert!(error.traceback.contains("line 1, in <module>\n    raise Odd"), "{}", error.traceback);
}

#[tokio::test]
async fn an_exception_group_is_told_without_the_driver() {
    let code = "import sys\nif sys.version_info < (3, 11): raise ValueError('inner')\nraise ExceptionGroup('outer', [ValueError('inner')])";
    let error = raised(&[code]).await;
    assert!(error.traceback.contains("inner") && !error.traceback.contains("driver"));
}

#[tokio::test]
async fn input_is_refused_with_its_reason() {
    let error = raised(&["input('name? ')"]).await;
    assert_eq!(error.name, "EOFError");
    assert!(error.message.contains("empty"), "{}", error.message);
}

#[tokio::test]
async fn a_warning_and_getsource_know_the_cell() {
    let mut session = Session::start(Python).await;
    let outcome = session.run("import warnings; warnings.warn('careful')").await;
    assert!(outcome.stderr.text().to_string().starts_with("<cell 1>:1: UserWarning: careful"));
    session.run("def f():\n  return 1").await;
    let source = session.prints("import inspect; print(inspect.getsource(f).strip())").await;
    assert_eq!(source, "def f():\n  return 1\n");
}

#[tokio::test]
async fn a_traceback_that_code_prints_itself_has_its_lines() {
    let code =
        "import traceback\ntry:\n  1/0 # here\nexcept ZeroDivisionError:\n  traceback.print_exc()";
    let stderr = Session::start(Python).await.run(code).await.stderr.text().to_string();
    assert!(stderr.contains("line 3, in <module>\n    1/0 # here\n"), "{stderr}");
}
