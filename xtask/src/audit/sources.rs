//! Checks on the text of sources: headers, leftovers, silenced lints, tests that do not run.

use super::{Inputs, expected::MARKERS, tree::File, words};

/// Every Rust file begins by saying what it is for.
pub(super) fn headers(inputs: &Inputs) -> Vec<String> {
    let lacks = |file: &&File| !file.text.starts_with("//!");
    rust(inputs)
        .filter(lacks)
        .map(|file| format!("{} begins without a header", file.path))
        .collect()
}

/// Nothing is left for later.
pub(super) fn leftovers(inputs: &Inputs) -> Vec<String> {
    let markers: Vec<_> = MARKERS.iter().map(|(a, b)| [*a, *b].concat()).collect();
    let is_source = |file: &&File| {
        matches!(file.ending(), "rs" | "toml" | "sh" | "yml" | "yaml") || file.path == ".ci/run"
    };
    let mut findings = Vec::new();
    for file in inputs.files.iter().filter(is_source) {
        for (n, line) in file.lines() {
            let found = markers.iter().filter(|marker| words::has_word(line, marker));
            findings.extend(found.map(|marker| format!("{}:{n} says {marker}", file.path)));
        }
    }
    findings
}

/// A lint is silenced only with its reason.
pub(super) fn silenced_lints(inputs: &Inputs) -> Vec<String> {
    let mut findings = Vec::new();
    for file in rust(inputs) {
        for start in ["[allow(", "![allow(", "[expect(", "![expect("].map(|s| format!("#{s}")) {
            for (at, _) in file.text.match_indices(&start) {
                let attribute = file.text[at..].split(")]").next().unwrap_or_default();
                if !attribute.contains("reason") {
                    let n = file.text[..at].lines().count().max(1);
                    findings.push(format!("{}:{n} silences a lint without a reason", file.path));
                }
            }
        }
    }
    findings
}

/// Every test runs, also those in documentation.
pub(super) fn ignored_tests(inputs: &Inputs) -> Vec<String> {
    let needles = ["#[ignor", "```ignor", ", ignor"].map(|start| format!("{start}e"));
    let is_ignored = |line: &str| {
        let line = line.trim_start();
        let is_attribute = line.starts_with(&needles[0])
            || (line.starts_with("#[cfg_attr(") && line.contains(&needles[2]));
        is_attribute || line.contains(&needles[1])
    };
    let lines = rust(inputs).flat_map(|file| file.lines().map(move |(n, line)| (file, n, line)));
    lines
        .filter(|(_, _, line)| is_ignored(line))
        .map(|(file, n, _)| format!("{}:{n} holds a test that does not run", file.path))
        .collect()
}

fn rust(inputs: &Inputs) -> impl Iterator<Item = &File> {
    inputs.files.iter().filter(|file| file.ending() == "rs")
}

#[cfg(test)]
mod tests {
    use super::{super::tree::file, *};

    fn tracked(path: &str, text: &str) -> Inputs {
        Inputs { files: vec![file(path, text)], ..Inputs::default() }
    }

    #[test]
    fn a_file_without_a_header_is_named() {
        assert_eq!(headers(&tracked("a/b.rs", "use x;\n")), ["a/b.rs begins without a header"]);
        assert_eq!(headers(&tracked("a/b.rs", "")).len(), 1);
        assert!(headers(&tracked("a/b.rs", "//! What for.\n")).is_empty());
        assert!(headers(&tracked("a/b.md", "text")).is_empty());
    }

    #[test]
    fn every_marker_is_found_with_its_line() {
        for (a, b) in MARKERS {
            let text = format!("fn f() {{}}\n// {a}{b} later\n");
            let found = leftovers(&tracked("a.rs", &text));
            assert_eq!(found, [format!("a.rs:2 says {a}{b}")]);
            assert_eq!(leftovers(&tracked(".ci/run", &text)).len(), 1);
            assert!(leftovers(&tracked("a.md", &text)).is_empty());
        }
        assert!(leftovers(&tracked("a.toml", "todo = \"warn\"\n")).is_empty());
    }

    #[test]
    fn a_silenced_lint_needs_its_reason() {
        let check = |attribute: &str, count| {
            let text = format!("//! A.\n#{attribute}\nfn f() {{}}\n");
            let found = silenced_lints(&tracked("a.rs", &text));
            assert_eq!(found.len(), count, "{text}: {found:?}");
        };
        check("[allow(dead_code)]", 1);
        check("![allow(dead_code)]", 1);
        check("[expect(\n    dead_code,\n)]", 1);
        check("[allow(dead_code, reason = \"why\")]", 0);
        check("![expect(\n    dead_code,\n    reason = \"why\"\n)]", 0);
    }

    #[test]
    fn a_test_that_does_not_run_is_found() {
        let check = |line: String, count| {
            assert_eq!(ignored_tests(&tracked("a.rs", &line)).len(), count, "{line}");
        };
        check(format!("    #[{}]", "ignore"), 1);
        check(format!("    #[{} = \"slow\"]", "ignore"), 1);
        check(format!("#[cfg_attr(miri, {})]", "ignore"), 1);
        check(format!("/// ```{}", "ignore"), 1);
        check("/// ```no_run".to_owned(), 0);
        check("use ignore::Walk;".to_owned(), 0);
    }
}
