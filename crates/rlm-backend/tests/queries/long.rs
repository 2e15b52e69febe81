//! Long contexts, made by a program with a seed, and answered by a program that plays the model.

use std::{fmt::Write as _, io::Write as _, sync::Arc};

use rlm_backend::{Context, ContextFile, Query, QueryModels, StopReason};
use serde_json::{Value, json};

use crate::support::{Bench, Program, here, python};

/// Numbers that look random, the same for a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

fn haystack(chars: usize, seed: u64) -> (String, String) {
    let mut numbers = Numbers(seed);
    let words = ["river", "stone", "lamp", "winter", "glass", "paper", "road", "cloud"];
    let needle = format!("{:07}", numbers.below(10_000_000));
    let at = usize::try_from(numbers.below(chars as u64)).unwrap();
    let mut text = String::with_capacity(chars + 100);
    let mut is_hidden = false;
    while text.len() < chars {
        if text.len() >= at && !is_hidden {
            is_hidden = true;
            write!(text, "\nThe special magic number is {needle}.\n").unwrap();
        }
        text.push_str(words[usize::try_from(numbers.below(8)).unwrap()]);
        text.push(if numbers.below(12) == 0 { '\n' } else { ' ' });
    }
    (text, needle)
}

fn in_file(text: &str) -> (ContextFile, Context) {
    let mut file = ContextFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let context = Context::File(file.path().to_owned());
    (file, context)
}

#[tokio::test]
async fn a_needle_is_found_in_texts_of_any_length() {
    here!();
    for chars in [100_000, 1_000_000] {
        let (text, needle) = haystack(chars, 17);
        let root = Program::new("root", |number, last: &str| match number % 2 {
            0 => {
                assert!(last.len() < 300, "the context is not in the prompt");
                python(
                    "import re\nhits = re.findall(r'magic number is (\\d+)', context)\nprint(len(context), hits)",
                )
            }
            _ => python("FINAL_VAR('hits')"),
        });
        let (_file, context) = in_file(&text);
        for context in [context, Context::text(text).unwrap()] {
            let outcome = Bench::new(&root).ask("What is the magic number?", context).await;
            assert_eq!((outcome.stop, outcome.answer), (StopReason::FinalVar, json!([needle])));
        }
    }
}

/// Lines `id|text`; the label of a text is known to the leaf alone.
fn entries(chars: usize, seed: u64) -> (String, Vec<usize>) {
    let mut numbers = Numbers(seed);
    let (mut text, mut labels) = (String::new(), Vec::new());
    while text.len() < chars {
        let label = usize::try_from(numbers.below(5)).unwrap();
        let salt = numbers.below(1 << 40);
        writeln!(text, "{}|{}", labels.len(), code_of(label, salt)).unwrap();
        labels.push(label);
    }
    (text, labels)
}

/// A text whose label cannot be seen without the key.
fn code_of(label: usize, salt: u64) -> String {
    let sealed = (salt * 5 + label as u64) ^ 0x5a5a_5a5a_5a5a;
    format!("{sealed:020}")
}

fn label_of(text: &str) -> u64 {
    (text.parse::<u64>().unwrap() ^ 0x5a5a_5a5a_5a5a) % 5
}

/// A leaf that labels the lines of its prompt.
fn labelling() -> Arc<Program> {
    Program::new("leaf", |_, prompt: &str| {
        let labels: Vec<Value> = prompt
            .lines()
            .map(|line| {
                let (id, text) = line.split_once('|').unwrap();
                json!([id.parse::<u64>().unwrap(), label_of(text)])
            })
            .collect();
        Value::from(labels).to_string()
    })
}

async fn labelled(chars: usize, code: &str) -> (Value, Vec<usize>) {
    let (text, labels) = entries(chars, 5);
    let label = "import json\nlines = context.splitlines()\nparts = ['\\n'.join(lines[i:i + 500]) for i in range(0, len(lines), 500)]\nlabels = {}\nfor reply in llm_query_batched(parts): labels.update(json.loads(reply))\nprint(len(labels))";
    let root = Program::script([&*python(label), &*python(code)]);
    let models = QueryModels::new(root).with_leaf(labelling() as _);
    let bench = Bench::with(models, |config| config.max_tokens = 10_000_000);
    let (_file, context) = in_file(&text);
    let query = Query { prompt: "How many?".to_owned(), context, ..Query::default() };
    let outcome = bench.run(query).await;
    assert!(outcome.stop.is_answer(), "{outcome:?} {:?}", bench.kept.outputs());
    (outcome.answer, labels)
}

#[tokio::test]
async fn labels_that_only_a_model_sees_are_counted() {
    here!();
    for chars in [100_000, 1_000_000] {
        let (answer, labels) =
            labelled(chars, "FINAL([list(labels.values()).count(k) for k in range(5)])").await;
        let counts: Vec<_> = (0..5).map(|k| labels.iter().filter(|&&it| it == k).count()).collect();
        assert_eq!(answer, json!(counts));
    }
}

#[tokio::test]
async fn pairs_with_the_same_label_are_found() {
    here!();
    let code = "ids = sorted(i for i in labels if labels[i] == 3)[:40]\nFINAL([[a, b] for n, a in enumerate(ids) for b in ids[n + 1:]])";
    for chars in [100_000, 1_000_000] {
        let (answer, labels) = labelled(chars, code).await;
        assert_eq!(answer, json!(pairs(&labels)));
    }
}

/// The pairs of the first forty that have the label 3.
fn pairs(labels: &[usize]) -> Vec<[usize; 2]> {
    let ids: Vec<_> = (0..labels.len()).filter(|&at| labels[at] == 3).take(40).collect();
    let from = |n: usize| ids[n + 1..].iter().map(move |&b| [n, b]);
    (0..ids.len()).flat_map(from).map(|[n, b]| [ids[n], b]).collect()
}

#[tokio::test]
async fn a_file_can_be_read_and_not_written_and_a_huge_one_is_mapped() {
    here!();
    let text = "é line one\nsecond é\n".repeat(1000);
    let code = "r = [type(context).__name__, len(context), context[0:3], context.count('é'), 'second' in context, sum(1 for _ in context.lines()), ''.join(context.chunks(777)) == context[:]]\nimport os\ntry: open(next(l.split()[4] for l in open('/proc/self/mountinfo') if 'remit-context' in l), 'w')\nexcept OSError as e: r.append(type(e).__name__)\nFINAL(r)";
    let root = Program::script([&*python(code)]);
    let models = QueryModels::new(root);
    let bench = Bench::with(models, |config| config.max_text_bytes = 100);
    let mut file = ContextFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let outcome = bench.ask("?", Context::File(file.path().to_owned())).await;
    let answer = outcome.answer;
    assert_eq!(answer[0], "MappedText", "{:?}", bench.kept.outputs());
    assert_eq!(answer[1], json!(text.len()));
    assert_eq!(answer[2], "é ");
    assert_eq!(
        [&answer[3], &answer[4], &answer[5], &answer[6]],
        [&json!(2000), &json!(true), &json!(2000), &json!(true)]
    );
    assert!(answer[7] == "PermissionError" || answer[7] == "OSError", "{answer}");
    assert_eq!(std::fs::read_to_string(file.path()).unwrap(), text);
}
