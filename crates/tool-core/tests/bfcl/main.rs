//! Stages 1 to 4 on a selection of the Berkeley Function Calling Leaderboard (`data/bfcl`): real
//! definitions, the calls that are their right answers, and mutations of these.
//!
//! Every count is exact. `cargo xtask bfcl` runs the same over the whole data.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{fs, path::PathBuf};

use testkit::bfcl::{Category, Contradiction, Mutation, Summary, check_question, read_selection};

fn data(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../data/bfcl", name].iter().collect()
}

fn summary(category: Category) -> Summary {
    let questions = read_selection(&data(&format!("{}.jsonl", category.name()))).unwrap();
    let mut summary = Summary::default();
    for question in &questions {
        summary.add(question, check_question(question));
    }
    summary
}

/// Questions, definitions, calls, passed, contradicting, refused as expected.
fn check(category: Category, expected: [usize; 6]) {
    let summary = summary(category);
    assert_eq!(summary.unexpected, Vec::<String>::new());
    let counts = [
        summary.questions,
        summary.definitions,
        summary.calls,
        summary.passed,
        summary.contradictions.len(),
        summary.refused_total(),
    ];
    assert_eq!(counts, expected, "{}", category.name());
}

#[test]
fn right_calls_pass_and_mutations_are_refused_at_their_stage() {
    check(Category::SimplePython, [36, 36, 36, 36, 0, 288]);
    check(Category::SimpleJava, [39, 39, 39, 31, 8, 239]);
    check(Category::SimpleJavascript, [37, 37, 37, 30, 7, 235]);
    check(Category::Multiple, [36, 102, 36, 36, 0, 288]);
    check(Category::Parallel, [36, 36, 100, 100, 0, 800]);
    check(Category::ParallelMultiple, [37, 94, 114, 112, 2, 896]);
    check(Category::LiveSimple, [38, 38, 38, 35, 3, 278]);
    check(Category::LiveMultiple, [40, 158, 40, 34, 6, 262]);
    check(Category::LiveParallel, [16, 18, 39, 39, 0, 312]);
    check(Category::LiveParallelMultiple, [24, 95, 55, 54, 1, 431]);
}

#[test]
fn the_contradictions_of_the_selection_are_the_known_ones() {
    let known = fs::read(data("contradictions.json")).unwrap();
    let known: Vec<Contradiction> = serde_json::from_slice(&known).unwrap();
    let found: Vec<_> =
        Category::ALL.into_iter().flat_map(|category| summary(category).contradictions).collect();
    for one in &found {
        assert!(known.contains(one), "{one:?}");
    }
    assert_eq!((found.len(), known.len()), (27, 39));
}

#[test]
fn every_mutation_and_translation_is_counted() {
    let mut total = Summary::default();
    Category::ALL.into_iter().for_each(|category| total.merge(&summary(category)));
    let refused = Mutation::ALL.map(|mutation| total.refused[&mutation]);
    assert_eq!(refused, [507, 507, 507, 507, 507, 497, 490, 507]);
    assert_eq!(total.translations.total(), 976);
}
