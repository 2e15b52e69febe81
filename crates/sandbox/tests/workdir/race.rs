//! Somebody swaps what a path names while executors run.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use sandbox::Resolution;
use serde_json::json;
use tool_core::ToolError;

use crate::bench::{BOTH, Bench, SECRET, json as value, text};

/// How many calls are made at least while the swapping goes on.
const CALLS: usize = 3000;

/// How long a test goes on until it saw both sides of the swap; a busy machine takes its time.
const PATIENCE: Duration = Duration::from_secs(60);

/// Calls `call` again and again while another thread calls `swap`, until `call` says that it has seen
/// enough.
fn while_swapping(swap: impl Fn() + Sync, call: impl FnMut() -> bool) {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                swap();
            }
        });
        // Also when `call` panics: the scope waits for the swapper.
        let end = EndOnDrop(&is_done);
        let mut call = call;
        let start = Instant::now();
        let mut calls = 0;
        while (!call() || calls < CALLS) && start.elapsed() < PATIENCE && !swapper.is_finished() {
            calls += 1;
        }
        drop(end);
        swapper.join().unwrap();
        assert!(calls >= CALLS, "only {calls} calls were made");
    });
}

struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Exchanges two names, each of which exists all the time.
fn exchange(a: &Path, b: &Path) {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).unwrap();
}

/// Counts what a call gave, so that a test can tell that it saw both sides of the swap.
#[derive(Default)]
struct Seen {
    inside: usize,
    refused: usize,
}

impl Seen {
    /// Checks and counts an outcome; true when both sides were seen.
    fn count(&mut self, outcome: Result<String, ToolError>) -> bool {
        match outcome {
            Ok(text) => {
                assert!(!text.contains(SECRET), "the outside got in");
                self.inside += 1;
            }
            Err(error) => {
                let message = error.for_model();
                assert!(!message.contains(SECRET), "{message}");
                assert!(message.contains("leaves the working directory"), "{message}");
                self.refused += 1;
            }
        }
        self.inside > 0 && self.refused > 0
    }

    fn assert_both(&self, by: Resolution) {
        assert!(self.inside > 0 && self.refused > 0, "{by:?}: {} / {}", self.inside, self.refused);
    }
}

fn read(bench: &Bench, path: &str) -> Result<String, ToolError> {
    bench.read(json!({"path": path})).map(|output| {
        let text = text(&output).to_owned();
        assert_eq!(text, "inside");
        text
    })
}

#[test]
fn t12_a_file_swapped_for_a_link_never_gives_the_outsides_content() {
    for by in BOTH {
        let bench = Bench::with(by);
        bench.write("file", "inside");
        bench.link("../outside/secret.txt", "link");
        let mut seen = Seen::default();
        let before = bench.open_descriptors();
        while_swapping(
            || exchange(&bench.path("file"), &bench.path("link")),
            || seen.count(read(&bench, "file")),
        );
        seen.assert_both(by);
        assert_eq!(bench.open_descriptors(), before);
    }
}

#[test]
fn t12_a_directory_in_the_middle_swapped_for_a_link_never_gives_the_outsides_content() {
    for by in BOTH {
        let bench = Bench::with(by);
        bench.write("dir/secret.txt", "inside");
        bench.link("../outside", "link");
        let mut seen = Seen::default();
        while_swapping(
            || exchange(&bench.path("dir"), &bench.path("link")),
            || seen.count(read(&bench, "dir/secret.txt")),
        );
        seen.assert_both(by);
    }
}

#[test]
fn t12_a_listed_directory_swapped_for_a_link_never_gives_the_outsides_names() {
    for by in BOTH {
        let bench = Bench::with(by);
        bench.write("dir/inside.txt", "");
        bench.link("../outside", "link");
        let mut seen = Seen::default();
        while_swapping(
            || exchange(&bench.path("dir"), &bench.path("link")),
            || {
                let listed = bench.list(json!({"path": "dir"}));
                seen.count(listed.map(|output| {
                    let listing = value(&output);
                    assert_eq!(listing["entries"][0]["path"], "dir/inside.txt", "{by:?}");
                    listing.to_string()
                }))
            },
        );
        seen.assert_both(by);
    }
}

#[test]
fn t12_a_directory_moved_out_during_a_lookup_through_its_parent_never_leads_further_out() {
    for by in BOTH {
        let bench = Bench::with(by);
        bench.write("a/b/x", "");
        bench.write("secret.txt", "inside");
        fs::write(bench.beside("secret.txt"), SECRET).unwrap();
        let (inside, outside) = (bench.path("a/b"), bench.beside("outside/b"));
        let mut gave = 0;
        while_swapping(
            || {
                fs::rename(&inside, &outside).unwrap();
                fs::rename(&outside, &inside).unwrap();
            },
            || {
                match bench.read(json!({"path": "a/b/../../secret.txt"})) {
                    Ok(output) => {
                        assert_eq!(text(&output), "inside");
                        gave += 1;
                    }
                    Err(error) => assert!(!error.for_model().contains(SECRET)),
                }
                gave > 0
            },
        );
        assert!(gave > 0, "{by:?}");
    }
}

#[test]
fn t12_search_and_list_never_give_the_outsides_content_or_names() {
    for by in BOTH {
        let bench = Bench::with(by);
        bench.write("dir/inside.txt", "inside");
        bench.write("file", "inside");
        bench.link("../outside", "link");
        bench.link("../outside/secret.txt", "file-link");
        let mut calls = 0;
        while_swapping(
            || {
                exchange(&bench.path("dir"), &bench.path("link"));
                exchange(&bench.path("file"), &bench.path("file-link"));
            },
            || {
                calls += 1;
                if calls % 10 != 0 {
                    return true;
                }
                let found = bench.search(json!({"pattern": SECRET})).unwrap();
                assert_eq!(value(&found)["matches"], json!([]), "{by:?}");
                let listed = bench.list(json!({"recursive": true})).unwrap();
                assert!(!value(&listed).to_string().contains("secret.txt"), "{by:?}");
                true
            },
        );
    }
}

#[test]
fn files_that_grow_shrink_and_are_replaced_are_read_as_they_are() {
    let bench = Bench::new();
    bench.write("file", "start");
    let sizes = [0, 10, 100_000, 5];
    let (file, next) = (bench.path("file"), bench.path("next"));
    while_swapping(
        || {
            for size in sizes {
                fs::write(&file, "x".repeat(size)).unwrap();
                fs::write(&next, "y".repeat(size)).unwrap();
                fs::rename(&next, &file).unwrap();
            }
        },
        || {
            let output = bench.read(json!({"path": "file"})).unwrap();
            let read = text(&output);
            assert!(read.len() <= 65_536);
            assert!(read == "start" || read.bytes().all(|byte| matches!(byte, b'x' | b'y')));
            bench.search(json!({"pattern": "z", "path": "file"})).unwrap();
            true
        },
    );
}
