//! The JSON-Schema-Test-Suite (`data/json-schema-test-suite`) through the path that tools take.
//!
//! Every required test of drafts 4, 6, 7, 2019-09 and 2020-12. Every count is exact, and what is not
//! right is listed by name. Two things are outside of what is promised, and refused when the schema
//! is compiled: a reference that leaves the schema (the suite serves those over HTTP), and a
//! `$schema` that is none of the five drafts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde::Deserialize;
use serde_json::Value;
use tool_core::CompiledSchema;

/// Where the suite serves the schemas that its references leave for.
const REMOTES: &str = "http://localhost:1234/";

/// A schema with its cases.
#[derive(Deserialize)]
struct Group {
    description: String,
    schema: Value,
    tests: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    description: String,
    data: Value,
    valid: bool,
}

/// What became of the cases of one draft.
#[derive(Default)]
struct Tally {
    right: usize,
    /// Cases whose schema is refused, by the reason.
    refused: BTreeMap<&'static str, usize>,
    wrong: Vec<String>,
}

fn groups(draft: &str) -> Vec<(String, Group)> {
    let folder: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "../../data/json-schema-test-suite", draft].iter().collect();
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let groups: Vec<Group> = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        groups.into_iter().map(move |group| (name.clone(), group))
    };
    files.into_iter().flat_map(read).collect()
}

/// The suite's older drafts say by their folder which draft they are; a schema says it by `$schema`.
fn with_draft(mut schema: Value, uri: Option<&str>) -> Value {
    if let (Some(uri), Some(schema)) = (uri, schema.as_object_mut()) {
        schema.entry("$schema").or_insert_with(|| uri.into());
    }
    schema
}

fn run(draft: &str, uri: Option<&str>) -> Tally {
    let mut tally = Tally::default();
    for (file, group) in groups(draft) {
        let schema = with_draft(group.schema, uri);
        let place = format!("{file}: {}", group.description);
        match CompiledSchema::compile_any(&schema) {
            Ok(compiled) => {
                group.tests.iter().for_each(|c| run_case(&mut tally, &compiled, &place, c))
            }
            Err(error) => {
                let reason = if error.place == "/$schema" {
                    "unknown draft"
                } else if error.place.ends_with("/$ref") && error.message.contains(REMOTES) {
                    "remote reference"
                } else {
                    panic!("{place}: {error}")
                };
                *tally.refused.entry(reason).or_default() += group.tests.len();
            }
        }
    }
    tally
}

fn run_case(tally: &mut Tally, schema: &CompiledSchema, place: &str, case: &Case) {
    let place = format!("{place}: {}", case.description);
    let is_valid = schema.is_valid(&case.data);
    match schema.check(&case.data) {
        Ok(()) => assert!(is_valid, "{place}: check and is_valid disagree"),
        Err(violations) => {
            assert!(!is_valid, "{place}: check and is_valid disagree");
            assert!(!violations.shown().is_empty(), "{place}: refused without a reason");
            let text = violations.to_string();
            assert!(!text.is_empty() && text.len() < 4096, "{place}: {} bytes", text.len());
        }
    }
    if is_valid == case.valid { tally.right += 1 } else { tally.wrong.push(place) }
}

/// Cases that are right, refused for a remote reference, and refused for an unknown draft; and the
/// wrong ones by name.
fn check(draft: &str, uri: Option<&str>, counts: [usize; 3], wrong: &[&str]) {
    let tally = run(draft, uri);
    assert_eq!(tally.wrong, wrong, "{draft}");
    let refused = |reason| tally.refused.get(reason).copied().unwrap_or_default();
    assert_eq!(
        [tally.right, refused("remote reference"), refused("unknown draft")],
        counts,
        "{draft}"
    );
}

#[test]
fn draft_2020_12() {
    check("draft2020-12", None, [1208, 44, 5], &[]);
}

#[test]
fn draft_2019_09() {
    let uri = "https://json-schema.org/draft/2019-09/schema";
    check("draft2019-09", Some(uri), [1191, 31, 5], &[]);
}

#[test]
fn draft_7() {
    check("draft7", Some("http://json-schema.org/draft-07/schema#"), [890, 23, 0], &[]);
}

#[test]
fn draft_6() {
    check("draft6", Some("http://json-schema.org/draft-06/schema#"), [806, 23, 0], &[]);
}

#[test]
fn draft_4() {
    check("draft4", Some("http://json-schema.org/draft-04/schema#"), [593, 17, 0], &[]);
}
