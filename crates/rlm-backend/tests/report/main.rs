//! The page of a trajectory in a real browser, without a window: it renders, expands, filters, has no
//! error on its console, and keeps hostile texts as texts.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says why")]

use std::{
    path::Path,
    process::{Command, Stdio},
};

use rlm_backend::{QueryRecord, render_report};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const HOSTILE: &str = "</script><script>document.title='pwned'</script><img src=x \
                       onerror=\"document.title='pwned'\">\u{2028}${1}{{data}}";

fn records() -> Vec<QueryRecord> {
    let usage = |input: u64| json!({"input_tokens": input, "output_tokens": 7});
    let turn = |query: u64, turn: u64, at: u64, reply: &str| {
        json!({"at_ms": at, "event": "turn", "query": query, "turn": turn, "model": "m",
            "digest": "d", "reply": reply, "is_cut": false, "usage": usage(100 * turn), "ms": 20,
            "is_replayed": false})
    };
    let begin = |query: u64, parent: Value, at: u64, prompt: &str| {
        json!({"at_ms": at, "event": "begin", "query": query, "parent": parent, "depth": query,
            "prompt": prompt, "context": {"type": "str", "length": 9}, "model": "m",
            "allowance": {"tokens": 1000, "sub_calls": 5, "iterations": 3, "cost_micros": null}})
    };
    let end = |query: u64, at: u64, stop: &str, answer: &str| {
        json!({"at_ms": at, "event": "end", "query": query, "stop": stop, "answer": answer,
            "message": null, "spent": {"input_tokens": 300, "output_tokens": 21, "sub_calls": 2,
            "cost_micros": 0}, "turns": 2, "ms": at})
    };
    let steps = [
        begin(0, Value::Null, 1, &format!("The root question {HOSTILE}")),
        turn(0, 1, 30, "```python\nfor x in 'abc':  # note\n    print(x, 42)\n```"),
        begin(1, json!(0), 35, "The question below"),
        turn(1, 1, 60, "FINAL(1)"),
        end(1, 62, "final", "below"),
        json!({"at_ms": 70, "event": "call", "query": 0, "turn": 1, "target": "leaf", "is_tool": false,
            "digest": "d", "prompt": HOSTILE, "prompt_chars": 99, "reply": null,
            "error": {"kind": "model_error", "message": "the zebra is down"}, "usage": usage(0),
            "began_ms": 61, "ms": 9, "is_replayed": false}),
        json!({"at_ms": 80, "event": "block", "query": 0, "turn": 1, "block": 1, "language": "python",
            "code": "for x in 'abc':  # note\n    print(x, 42)", "output": HOSTILE, "is_ok": true,
            "ms": 45}),
        turn(0, 2, 99, "FINAL(done)"),
        end(0, 100, "final", HOSTILE),
    ];
    steps.into_iter().map(|step| serde_json::from_value(step).unwrap()).collect()
}

/// Looks at the page as a person would, and writes down what it saw.
const LOOK: &str = r##"
const seen = { errors: [], title: document.title };
window.addEventListener("error", (event) => seen.errors.push(String(event.message)));
const visible = () => [...document.querySelectorAll(".node")].filter((it) => it.checkVisibility()).length;
const set = (id, change) => {
  const it = document.getElementById(id);
  change(it);
  it.dispatchEvent(new Event("input"));
  it.dispatchEvent(new Event("change"));
};
seen.nodes = document.querySelectorAll(".node").length;
seen.atFirst = visible();
document.getElementById("expand").click();
seen.expanded = visible();
document.getElementById("collapse").click();
seen.collapsed = visible();
document.getElementById("expand").click();
set("filter", (it) => { it.value = "zebra"; });
seen.filtered = visible();
set("filter", (it) => { it.value = ""; });
set("only-errors", (it) => { it.checked = true; });
seen.failed = visible();
set("only-errors", (it) => { it.checked = false; });
seen.again = visible();
seen.question = document.getElementById("question").textContent;
seen.answer = document.querySelector("#tree > .node > .answer").textContent;
seen.keywords = [...document.querySelectorAll(".keyword")].map((it) => it.textContent);
seen.literals = [...document.querySelectorAll(".literal")].map((it) => it.textContent);
seen.images = document.querySelectorAll("img").length;
seen.scripts = document.querySelectorAll("script").length;
seen.widths = [...document.querySelectorAll(".row .fill")].every((it) => parseFloat(it.style.width) <= 100);
const said = document.createElement("pre");
said.id = "seen";
said.textContent = JSON.stringify(seen);
document.body.append(said);
"##;

/// The page with one more script, which its policy is told of by its digest.
fn page_with(script: &str) -> String {
    let digest = Sha256::digest(script.as_bytes());
    let page = render_report(&records());
    let policy = format!("script-src 'sha256-{}' ", base64(&digest));
    let page = page.replacen("script-src ", &policy, 1);
    page.replacen("</body>", &format!("<script>{script}</script></body>"), 1)
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits =
            (0..3).fold(0_usize, |bits, at| bits << 8 | usize::from(*group.get(at).unwrap_or(&0)));
        let digit = |at: usize| {
            if at <= group.len() { char::from(DIGITS[bits >> (18 - 6 * at) & 63]) } else { '=' }
        };
        text.extend((0..4).map(digit));
    }
    text
}

#[expect(clippy::disallowed_methods, reason = "the page is for a browser that is started as it is")]
fn browser() -> Option<&'static str> {
    let found = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    let found = found.into_iter().find(|path| Path::new(path).exists());
    assert!(
        found.is_some() || std::env::var_os("REMIT_TEST_NO_SKIP").is_none(),
        "chromium is not installed"
    );
    found
}

/// The page as the browser has it at the end, and what it logged.
#[expect(clippy::disallowed_methods, reason = "the page is for a browser that is started as it is")]
fn dump(program: &str, page: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    std::fs::write(&file, page).unwrap();
    let profile = format!("--user-data-dir={}", folder.path().join("profile").display());
    let output = Command::new(program)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom", &profile])
        .arg(format!("file://{}", file.display()))
        .env("HOME", folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_browser_shows_the_page() {
    let Some(program) = browser() else {
        eprintln!("skipped: chromium is not installed (apt-get install chromium)");
        return;
    };
    let (dom, log) = dump(program, &page_with(LOOK));
    let (_, rest) = dom.split_once("<pre id=\"seen\">").unwrap_or_else(|| panic!("{dom}\n{log}"));
    let seen = rest.split_once("</pre>").unwrap().0;
    let seen = seen
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&");
    let seen: Value = serde_json::from_str(&seen).unwrap();
    let console: Vec<_> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert_eq!((&seen["errors"], console.len()), (&json!([]), 0), "{console:?}");
    // Two queries, three turns, a block, a sub-call.
    assert_eq!(
        [&seen["nodes"], &seen["atFirst"], &seen["expanded"]],
        [&json!(7), &json!(4), &json!(7)]
    );
    assert_eq!([&seen["collapsed"], &seen["again"]], [&json!(1), &json!(7)]);
    assert_eq!(seen["filtered"], 3, "the sub-call, its turn and its query");
    assert_eq!(seen["failed"], 3, "what failed, and what it is in");
    assert_eq!(seen["answer"], HOSTILE);
    assert_eq!(seen["question"], format!("The root question {HOSTILE}"));
    assert!(seen["title"].as_str().unwrap().starts_with("Query: The root question"));
    assert_eq!([&seen["images"], &seen["scripts"]], [&json!(0), &json!(3)]);
    assert_eq!((&seen["keywords"], &seen["literals"]), (&json!(["for", "in"]), &json!(["42"])));
    assert_eq!(seen["widths"], true);
}
