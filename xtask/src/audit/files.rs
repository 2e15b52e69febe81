//! Checks on what is tracked: the root, sizes and kinds of files, fences, workflows, paths.

use std::collections::BTreeSet;

use super::{
    Inputs,
    expected::{LEFTOVER_ENDINGS, MACHINE_PATHS, MAX_FILE_BYTES, MODEL_ENDINGS, ROOT, WORKFLOWS},
    words,
};

/// The root holds the expected entries and no other.
pub(super) fn root_entries(inputs: &Inputs) -> Vec<String> {
    let expected: BTreeSet<_> = ROOT.iter().copied().collect();
    let first = |path: &'_ str| path.split('/').next().unwrap_or_default().to_owned();
    let found: BTreeSet<_> = inputs.files.iter().map(|file| first(&file.path)).collect();
    let found: BTreeSet<_> = found.iter().map(String::as_str).collect();
    let missing = expected.difference(&found).map(|name| format!("{name} is missing"));
    let unexpected = found.difference(&expected).map(|name| format!("{name} is not expected"));
    missing.chain(unexpected).collect()
}

/// No weights of a model.
pub(super) fn model_artifacts(inputs: &Inputs) -> Vec<String> {
    let is_model = |ending: &str| MODEL_ENDINGS.contains(&ending.to_lowercase().as_str());
    let models = inputs.files.iter().filter(|file| is_model(file.ending()));
    models.map(|file| format!("{} looks like a model artifact", file.path)).collect()
}

/// No file that a tool left behind.
pub(super) fn leftover_files(inputs: &Inputs) -> Vec<String> {
    let left = inputs.files.iter().filter(|file| LEFTOVER_ENDINGS.contains(&file.ending()));
    left.map(|file| format!("{} was left behind by a tool", file.path)).collect()
}

/// No large file.
pub(super) fn file_sizes(inputs: &Inputs) -> Vec<String> {
    let large = inputs.files.iter().filter(|file| file.len > MAX_FILE_BYTES);
    large
        .map(|file| format!("{}: {} bytes; at most {MAX_FILE_BYTES}", file.path, file.len))
        .collect()
}

/// One clippy configuration: another one closer to a crate would replace it silently.
pub(super) fn one_clippy_configuration(inputs: &Inputs) -> Vec<String> {
    let is_local = |path: &str, name: &str| {
        matches!(name, "clippy.toml" | ".clippy.toml") && path != "clippy.toml"
    };
    let local = inputs.files.iter().filter(|file| is_local(&file.path, file.name()));
    local.map(|file| format!("{} replaces the one at the root", file.path)).collect()
}

/// Nothing that a machine runs publishes a crate.
pub(super) fn no_publishing(inputs: &Inputs) -> Vec<String> {
    let publishes = |line: &str| {
        let mut words = line.split(|c: char| c.is_whitespace() || "\"',[]".contains(c));
        words.any(|word| word.ends_with("cargo")) && words.any(|word| word == "publish")
    };
    let is_workflow = |path: &str| WORKFLOWS.iter().any(|start| path.starts_with(start));
    let workflows = inputs.files.iter().filter(|file| is_workflow(&file.path));
    let lines = workflows.flat_map(|file| file.lines().map(move |(n, line)| (file, n, line)));
    lines
        .filter(|(_, _, line)| publishes(line))
        .map(|(file, n, _)| format!("{}:{n} publishes a crate", file.path))
        .collect()
}

/// No path of the machine that something was written on.
pub(super) fn machine_paths(inputs: &Inputs) -> Vec<String> {
    let paths: Vec<_> = MACHINE_PATHS.iter().map(|(a, b)| [*a, *b].concat()).collect();
    let mut findings = Vec::new();
    for file in &inputs.files {
        for (n, line) in file.lines() {
            let named = paths.iter().filter(|path| words::starts_a_path(line, path));
            findings.extend(named.map(|path| format!("{}:{n} names {path}", file.path)));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{super::tree::file, *};

    fn tracked(files: &[(&str, &str)]) -> Inputs {
        let files = files.iter().map(|(path, text)| file(path, text)).collect();
        Inputs { files, ..Inputs::default() }
    }

    #[test]
    fn a_missing_and_an_unexpected_entry_are_named() {
        let whole: Vec<_> = ROOT.iter().map(|name| (*name, "")).collect();
        assert!(root_entries(&tracked(&whole)).is_empty());
        let mut files = whole.clone();
        files.retain(|(name, _)| *name != "docs");
        files.push(("notes/a.md", ""));
        assert_eq!(root_entries(&tracked(&files)), ["docs is missing", "notes is not expected"]);
    }

    #[test]
    fn weights_are_found_by_their_ending() {
        let inputs = tracked(&[("data/a.GGUF", ""), ("data/b.bin", ""), ("data/c.jsonl", "")]);
        assert_eq!(model_artifacts(&inputs).len(), 2);
    }

    #[test]
    fn what_a_tool_left_behind_is_found() {
        let inputs = tracked(&[("a/.b.rs.pending-snap", ""), ("a/c.snap.new", ""), ("a.rs", "")]);
        assert_eq!(leftover_files(&inputs).len(), 2);
    }

    #[test]
    fn a_file_of_one_byte_too_many_is_found() {
        let mut inputs = tracked(&[("data/a", ""), ("data/b", "")]);
        inputs.files[0].len = MAX_FILE_BYTES;
        inputs.files[1].len = MAX_FILE_BYTES + 1;
        assert_eq!(file_sizes(&inputs), ["data/b: 1048577 bytes; at most 1048576"]);
    }

    #[test]
    fn a_second_clippy_configuration_is_found() {
        let files = [("clippy.toml", ""), ("crates/a/clippy.toml", ""), ("xtask/.clippy.toml", "")];
        assert_eq!(one_clippy_configuration(&tracked(&files)).len(), 2);
    }

    #[test]
    fn publishing_is_found_where_machines_run_things() {
        let text = "run: cargo  +stable publish -p a\n- [\"cargo\", \"publish\"]\ncargo test\n";
        assert_eq!(
            no_publishing(&tracked(&[(".github/workflows/a.yml", text), ("docs/a.md", text)])),
            [
                ".github/workflows/a.yml:1 publishes a crate",
                ".github/workflows/a.yml:2 publishes a crate"
            ]
        );
    }

    #[test]
    fn a_path_of_one_machine_is_found() {
        let path = ["/wo", "rk/main"].concat();
        let text = format!("see {path}\nsee target{path}\n({path})");
        let found = machine_paths(&tracked(&[("docs/a.md", &text)]));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("docs/a.md:1 "), "{found:?}");
    }
}
