//! Seeds for a corpus, made from the files of `data/`: calls, tool definitions, schemas.
//!
//! | target | a seed is |
//! | --- | --- |
//! | `parse_call` | a line of a `.jsonl` file |
//! | `load_definitions` | a `.json` file, or the tools of a question |
//! | `explain_schema` | a schema, a line break, an instance |
//!
//! A target that is not in the table has only its checked-in seeds.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::targets::Target;
use crate::{error::Error, process::root};

/// The longest seed, in bytes, and the most seeds of a target.
const MAX_BYTES: usize = 16 * 1024;
const MAX_SEEDS: usize = 4000;

/// Writes the seeds into a corpus, and gives how many there are.
pub(super) fn write(target: &Target, corpus: &Path) -> Result<usize, Error> {
    let mut seeds = BTreeSet::new();
    for path in files_below(&root().join("data")) {
        if let Ok(text) = fs::read_to_string(&path) {
            let is_lines = path.extension().is_some_and(|ending| ending == "jsonl");
            seeds.extend(seeds_of(&target.name, &text, is_lines));
        }
    }
    seeds.retain(|seed| seed.len() <= MAX_BYTES);
    for (index, seed) in seeds.iter().take(MAX_SEEDS).enumerate() {
        let path = corpus.join(format!("data-{index:04}"));
        fs::write(&path, seed)
            .map_err(|error| Error::failed(format!("{}: {error}", path.display())))?;
    }
    Ok(seeds.len().min(MAX_SEEDS))
}

/// All files, in a fixed order. What can't be listed is left out.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    entries
        .into_iter()
        .flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] })
        .collect()
}

/// The seeds that one file gives.
fn seeds_of(target: &str, text: &str, is_lines: bool) -> Vec<String> {
    let texts: Vec<&str> = if is_lines { text.lines().collect() } else { vec![text] };
    match target {
        "parse_call" if is_lines => texts.into_iter().map(str::to_owned).collect(),
        "load_definitions" => texts.into_iter().map(str::to_owned).collect(),
        "explain_schema" => texts
            .into_iter()
            .filter_map(|text| serde_json::from_str(text).ok())
            .flat_map(|value| pairs(&value))
            .collect(),
        _ => Vec::new(),
    }
}

/// Schemas with instances: of the groups of a schema test suite, or of tools, which get an empty
/// object.
fn pairs(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(pairs).collect(),
        Value::Object(object) => {
            let schema = ["schema", "parameters", "inputSchema", "input_schema"]
                .iter()
                .find_map(|key| object.get(*key));
            match (schema, object.get("tests")) {
                (Some(schema), Some(Value::Array(tests))) => {
                    let instances = tests.iter().filter_map(|test| test.get("data"));
                    instances.map(|instance| format!("{schema}\n{instance}")).collect()
                }
                (Some(schema), _) => vec![format!("{schema}\n{{}}")],
                (None, _) => object.values().flat_map(pairs).collect(),
            }
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_gets_its_own_kind_of_seed() {
        assert_eq!(seeds_of("parse_call", "{}\n[]\n", true), ["{}", "[]"]);
        assert!(seeds_of("parse_call", "{}", false).is_empty());
        assert_eq!(seeds_of("load_definitions", "{}", false), ["{}"]);
        assert!(seeds_of("other", "{}", false).is_empty());
        let suite = r#"[{"schema": true, "tests": [{"data": 1}, {"data": null}]}]"#;
        assert_eq!(seeds_of("explain_schema", suite, false), ["true\n1", "true\nnull"]);
        let tools = r#"[{"type": "function", "function": {"name": "a", "parameters": {"x": 1}}}]"#;
        assert_eq!(seeds_of("explain_schema", tools, false), ["{\"x\":1}\n{}"]);
        assert!(seeds_of("explain_schema", "not json", false).is_empty());
    }

    #[test]
    fn the_data_of_this_workspace_gives_seeds() {
        let corpus = tempfile::tempdir().unwrap();
        for name in ["explain_schema", "load_definitions", "parse_call"] {
            let target = Target { name: name.to_owned(), folder: corpus.path().to_owned() };
            let count = write(&target, corpus.path()).unwrap();
            assert!(count > 0, "{name}");
            assert!(corpus.path().join("data-0000").is_file());
        }
    }
}
