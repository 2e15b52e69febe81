//! Pages that are made to be slow, large or deep: each is answered in time and in bounds, and none ends
//! the process. Alone in its binary, since the memory of the whole process is looked at.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod shapes;

use std::time::{Duration, Instant};

use browser::{ExtractError, ExtractLimits, ExtractOptions, Format, Scope, extract};

/// Time for one answer: a second where the code is optimised, and more for a build with all checks on a
/// machine that does other things.
const TIME: Duration = Duration::from_secs(if cfg!(debug_assertions) { 30 } else { 4 });
/// Memory for all of them.
const MEMORY: u64 = 512 * 1024;

/// The most memory that this process had, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn every_hostile_shape_is_answered_in_time_and_memory() {
    let url = "https://example.com/".parse().unwrap();
    let main = ExtractOptions::default();
    let whole = ExtractOptions { scope: Scope::Whole, ..main.clone() };
    let html = ExtractOptions { format: Format::Html, ..whole.clone() };
    let selector =
        Some("div:has(p.a + p b), :not(p) > p:nth-last-child(2n+1) ~ p, p p b".to_owned());
    let selected = ExtractOptions { selector, ..main.clone() };
    let others = [&whole, &html, &selected];
    for (at, (name, media_type, bytes)) in shapes::all().into_iter().enumerate() {
        for options in [&main, others[at % others.len()]] {
            let start = Instant::now();
            let answer = extract(&bytes, Some(media_type), &url, options);
            let took = start.elapsed();
            assert!(took < TIME, "{name}: {took:?}");
            let refused =
                matches!(answer, Err(ExtractError::Pdf { .. } | ExtractError::NoElements { .. }));
            assert!(answer.is_ok() || refused, "{name}: {answer:?}");
        }
    }
    let peak = peak_kib();
    assert!(peak < MEMORY, "{peak} KiB");
}

#[test]
fn what_is_deeper_than_the_cap_is_flattened_and_not_lost() {
    let url = "https://example.com/".parse().unwrap();
    let limits = ExtractLimits { time: Duration::from_secs(60), ..ExtractLimits::default() };
    let options = ExtractOptions { scope: Scope::Whole, limits, ..ExtractOptions::default() };
    for (name, _, bytes) in shapes::all().into_iter().take(6) {
        let extracted = extract(&bytes, Some("text/html"), &url, &options).unwrap();
        assert!(extracted.content.contains("words in the middle"), "{name}");
    }
}
