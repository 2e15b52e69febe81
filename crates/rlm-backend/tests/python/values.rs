//! What is shown of a cell's value.

use rlm_backend::{Language::Python, Shown};

use crate::common::Session;

async fn shown(code: &str) -> Vec<Shown> {
    let outcome = Session::start(Python).await.run(code).await;
    assert_eq!(outcome.error, None, "{code}");
    outcome.shown
}

async fn check_text(code: &str, expected: &str) {
    assert_eq!(shown(code).await, [Shown::Text { text: expected.to_owned() }], "{code}");
}

#[tokio::test]
async fn the_last_expression_is_shown_as_its_repr() {
    check_text("1 + 1", "2").await;
    check_text("x = 'a'\nx", "'a'").await;
    check_text("import asyncio\nawait asyncio.sleep(0, 9)", "9").await;
}

#[tokio::test]
async fn nothing_is_shown_of_none_of_a_statement_and_before_a_semicolon() {
    for code in ["None", "x = 1", "5;", "", "# only a comment"] {
        assert_eq!(shown(code).await, [], "{code}");
    }
}

#[tokio::test]
async fn a_print_and_a_value_are_both_there() {
    let outcome = Session::start(Python).await.run("print('p')\n5").await;
    assert_eq!(outcome.stdout.text().to_string(), "p\n");
    assert_eq!(outcome.shown, [Shown::Text { text: "5".to_owned() }]);
}

#[tokio::test]
async fn a_large_value_is_bounded_with_head_and_tail() {
    for code in ["'a' + 'y' * 40_000_000 + 'z'", "[0] * 1_000_000 + [9]"] {
        let shown = shown(code).await;
        let [Shown::Text { text }] = &shown[..] else { panic!("{code}: {shown:?}") };
        assert!(
            text.len() < 40_000 && text.contains("characters left out"),
            "{code}: {}",
            text.len()
        );
    }
}

#[tokio::test]
async fn a_repr_that_raises_or_holds_surrogates_is_still_shown() {
    check_text(
        "class C:\n  def __repr__(self): raise KeyError\nC()",
        "<C object; its repr raised KeyError>",
    )
    .await;
    check_text("class D:\n  def __repr__(self): return '\\ud800'\nD()", "\u{fffd}").await;
}

#[tokio::test]
async fn html_and_png_of_an_object_are_content() {
    let code = "class C:\n  def _repr_html_(self): return '<b>x</b>'\n  def _repr_png_(self): return b'\\x89PNG'\n  def __repr__(self): return 'C'\nC()";
    let expected = [
        Shown::Image { media_type: "image/png".to_owned(), data: "iVBORw==".to_owned() },
        Shown::Html { html: "<b>x</b>".to_owned() },
        Shown::Text { text: "C".to_owned() },
    ];
    assert_eq!(shown(code).await, expected);
}

#[tokio::test]
async fn a_display_method_that_raises_leaves_the_text() {
    check_text("class C:\n  def _repr_html_(self): raise ValueError\n  def __repr__(self): return 'C'\nC()", "C").await;
}

#[tokio::test]
async fn an_image_past_the_bound_is_named_not_sent() {
    let code = "class C:\n  def _repr_png_(self): return bytes(3_000_000)\n  def __repr__(self): return 'C'\nC()";
    let shown = shown(code).await;
    assert_eq!(
        shown[0],
        Shown::Text { text: "[an image of 3000000 bytes was left out]".to_owned() }
    );
}

/// A stand-in with matplotlib's interface; the driver asks `sys.modules` for the real name.
const FIGURES: &str = "import sys, types
class Figure:
  def savefig(self, target, format): target.write(b'\\x89PNG')
pyplot = types.ModuleType('matplotlib.pyplot')
pyplot.open = [1, 2]
pyplot.get_fignums = lambda: pyplot.open
pyplot.figure = lambda number: Figure()
pyplot.close = lambda which: pyplot.open.clear()
sys.modules['matplotlib.pyplot'] = pyplot";

#[tokio::test]
async fn open_figures_are_drawn_once_and_closed() {
    let mut session = Session::start(Python).await;
    let image = Shown::Image { media_type: "image/png".to_owned(), data: "iVBORw==".to_owned() };
    assert_eq!(session.run(FIGURES).await.shown, [image.clone(), image]);
    assert_eq!(session.run("0;").await.shown, []);
}
