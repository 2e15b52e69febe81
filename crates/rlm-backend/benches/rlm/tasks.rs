//! Long contexts: loaded, searched for a needle, and counted by sub-calls of 100,000 characters.

use std::{
    io::Write as _,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use rlm_backend::{Context, Query};
use tempfile::NamedTempFile;

use crate::{
    program::{Program, engine, median, python, row, time, watch},
    reference::Reference,
};

// Each says how long its own work took, which is no harness's.
const NEEDLE: [&str; 2] = [
    "import re, time\nbegan = time.perf_counter()\nhits = re.findall(r\"magic number is (\\d+)\", context)\nworked = time.perf_counter() - began\nprint(len(context), hits)",
    "answer[\"content\"] = f\"{hits[0]} {worked}\"\nanswer[\"ready\"] = True",
];
const COUNTING: [&str; 2] = [
    "import time\nbegan = time.perf_counter()\nparts = [context[i:i + 100_000] for i in range(0, len(context), 100_000)]\nworked = time.perf_counter() - began\ncounts = [int(reply) for reply in llm_query_batched(parts)]\nprint(len(counts))",
    "answer[\"content\"] = f\"{sum(counts)} {worked}\"\nanswer[\"ready\"] = True",
];

/// A text with a needle, and how often it has "river" within pieces of 100,000 characters.
fn text(millions: usize) -> (NamedTempFile, String) {
    let words = ["river", "stone", "lamp", "winter", "glass", "paper", "road", "cloud"];
    let (chars, mut state) = (millions * 1_000_000, 88172645463325252_u64);
    let mut text = String::with_capacity(chars + 100);
    let mut is_hidden = false;
    while text.len() < chars {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.push_str(words[usize::try_from(state % 8).unwrap()]);
        text.push(if state % 97 == 0 { '\n' } else { ' ' });
        if text.len() * 2 > chars && !is_hidden {
            is_hidden = true;
            text.push_str("\nThe magic number is 7421986.\n");
        }
    }
    let pieces = text.as_bytes().chunks(100_000);
    let counts = pieces.map(|piece| std::str::from_utf8(piece).unwrap().matches("river").count());
    let count = counts.sum::<usize>().to_string();
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    (file, count)
}

/// How often a text has "river"; by its rarest letter, so that the model is as quick as one in C.
fn rivers(text: &str) -> usize {
    let is_there = |at: usize| text.get(at.wrapping_sub(2)..at + 3) == Some("river");
    text.match_indices('v').filter(|(at, _)| is_there(*at)).count()
}

/// How long a task took, in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Took {
    pub(crate) whole: f64,
    /// Of it, what the programs took that play models.
    pub(crate) models: f64,
    /// Of it, what the code of the task did by itself.
    pub(crate) code: f64,
}

impl Took {
    fn harness(self) -> f64 {
        self.whole - self.models - self.code
    }
}

/// The answer of a task, and how long its code worked.
pub(crate) fn parts(answer: &str) -> (&str, f64) {
    let (answer, worked) = answer.split_once(' ').unwrap();
    (answer, worked.parse().unwrap())
}

async fn run(file: &Path, code: [&'static str; 2], right: &str) -> Took {
    let root = Program::new(Duration::ZERO, move |turn, _| python(code[turn.min(1)]));
    let leaf = Program::new(Duration::ZERO, |_, prompt| rivers(prompt).to_string());
    let engine = engine(Arc::clone(&root), Arc::clone(&leaf));
    let context = Context::File(file.to_owned());
    let query = Query { prompt: "?".to_owned(), context, ..Query::default() };
    let began = Instant::now();
    let outcome = engine.ask(query, watch(&Arc::default())).await.unwrap();
    let whole = began.elapsed().as_secs_f64();
    assert!(outcome.stop.is_answer(), "{outcome:?}");
    let (answer, code) = parts(outcome.answer.as_str().unwrap());
    assert_eq!(answer, right);
    Took { whole, models: root.played() + leaf.played(), code }
}

/// What a text adds to the begin of a query, against reading it in the same interpreter.
pub(crate) async fn loading(millions: usize) {
    let (file, _) = text(millions);
    let path = file.path().to_str().unwrap().to_owned();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        let code = format!(
            "import time\nbegan = time.perf_counter()\nwith open({path:?}, encoding='utf-8') as f: again = f.read()\nFINAL([time.perf_counter() - began, again == context])"
        );
        let reading = Program::new(Duration::ZERO, move |_, _| python(&code));
        let idle = Program::new(Duration::ZERO, |_, _| python("FINAL(0)"));
        let begin = async |root: Arc<Program>, context| {
            let engine = engine(Arc::clone(&root), root);
            let kept = Arc::<crate::program::Kept>::default();
            let query = Query { prompt: "?".to_owned(), context, ..Query::default() };
            let outcome = engine.ask(query, watch(&kept)).await.unwrap();
            let at_ms = kept.0.lock().unwrap()[0].at_ms;
            (at_ms / 1e3, outcome.answer)
        };
        let empty = NamedTempFile::new().unwrap();
        let (without, _) = begin(idle, Context::File(empty.path().to_owned())).await;
        let (with, answer) = begin(reading, Context::File(file.path().to_owned())).await;
        assert_eq!(answer[1], true);
        ours.push((with - without).max(1e-6));
        theirs.push(answer[0].as_f64().unwrap());
    }
    let name = format!("loading {millions} million characters");
    // Of a short text, what is measured is the import of a module.
    let bar = (millions > 1).then_some(1.5);
    row(&name, median(ours), "open().read() in Python", median(theirs), bar);
}

/// Both tasks, with the reference package where there is one.
pub(crate) async fn all(millions: usize, reference: Option<&str>) {
    let (file, count) = text(millions);
    for (task, code, right) in
        [("needle", NEEDLE, "7421986"), ("counting", COUNTING, count.as_str())]
    {
        let mut ours = Vec::new();
        let mut theirs = Vec::new();
        let peer = reference.map(Reference::new);
        for _ in 0..3 {
            ours.push(run(file.path(), code, right).await);
            if let Some(peer) = &peer {
                theirs.push(peer.run(file.path(), task, right));
            }
        }
        compare(&format!("{task}, {millions} million characters"), &ours, &theirs);
    }
    println!("| peak memory of the host until here | {} | | | | |", peak());
}

/// Rows for a task: all of its time; of the models and of the code; and what is the harness's.
fn compare(name: &str, ours: &[Took], theirs: &[Took]) {
    let of = |all: &[Took], part: fn(&Took) -> f64| median(all.iter().map(part).collect());
    type Part = (&'static str, fn(&Took) -> f64, Option<f64>);
    let rows: [Part; 4] = [
        ("all of it", |took| took.whole, None),
        ("its models", |took| took.models, None),
        ("its code", |took| took.code, None),
        ("its harness", |took| took.harness(), Some(0.2)),
    ];
    for (what, part, bar) in rows {
        match theirs.is_empty() {
            true => {
                println!("| {name}: {what} | {} | rlms | not given | | |", time(of(ours, part)))
            }
            false => row(&format!("{name}: {what}"), of(ours, part), "rlms", of(theirs, part), bar),
        }
    }
}

fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.trim_start_matches("VmHWM:").trim().to_owned()
}
