//! The crates that decide about calls hold no shell and no eval: their sources name nothing that
//! could start a program.
//!
//! Comments are left out, so that they may say what is absent. Together with the fences of
//! `cargo xtask layers` (no dependency that could start a program) and the denied `unsafe` this
//! leaves no way to start one.

use super::{Inputs, expected::INERT_SOURCES, tree::File, words};

/// What no line may hold.
const FORBIDDEN: &[&str] = &[
    "std::process",
    "tokio::process",
    "rustix::process",
    "process::Command",
    "libc::",
    "execve",
    "execvp",
    "posix_spawn",
    "extern \"C\"",
    "sh -c",
    "/bin/sh",
    "/bin/bash",
    "\"sh\"",
    "\"bash\"",
];

/// What no line may hold as a word.
const FORBIDDEN_WORDS: &[&str] = &["Command", "fork", "asm!", "global_asm!", "include!", "unsafe"];

/// The check.
pub(super) fn no_shell(inputs: &Inputs) -> Vec<String> {
    let is_inert = |file: &&File| INERT_SOURCES.iter().any(|start| file.path.starts_with(start));
    let sources: Vec<_> = inputs.files.iter().filter(is_inert).collect();
    let missing = INERT_SOURCES
        .iter()
        .filter(|start| !sources.iter().any(|file| file.path.starts_with(**start)))
        .map(|start| format!("{start} holds no source, so nothing was proved"));
    missing.chain(sources.iter().flat_map(|file| judge(file))).collect()
}

fn judge(file: &File) -> Vec<String> {
    let code = file.lines().filter(|(_, line)| !line.trim_start().starts_with("//"));
    let found = code.filter_map(|(n, line)| {
        let text = FORBIDDEN.iter().find(|needle| line.contains(**needle));
        let word = FORBIDDEN_WORDS.iter().find(|needle| words::has_word(line, needle));
        text.or(word).map(|needle| format!("{}:{n} holds {needle}", file.path))
    });
    found.chain(imports(file)).collect()
}

/// `use` items may spread over lines and nest, so each is judged as a whole.
fn imports(file: &File) -> Vec<String> {
    let mut findings = Vec::new();
    let mut lines = file.lines();
    while let Some((n, line)) = lines.next() {
        let start = line.trim_start();
        if !(start.starts_with("use ") || start.starts_with("pub use ")) {
            continue;
        }
        let mut item = line.to_owned();
        while !item.contains(';') {
            let Some((_, more)) = lines.next() else { break };
            item.push_str(more);
        }
        if words::has_word(&item, "process") {
            findings.push(format!("{}:{n} imports process", file.path));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{super::tree::file, *};

    fn found(code: &str) -> Vec<String> {
        judge(&file("crates/sandbox/src/a.rs", code))
    }

    #[test]
    fn every_way_to_start_a_program_is_found() {
        for needle in FORBIDDEN.iter().chain(FORBIDDEN_WORDS) {
            assert!(!found(&format!("let x = {needle} (y);")).is_empty(), "{needle}");
        }
        assert!(!found("use std::{\n    fs,\n    process,\n};").is_empty());
        assert!(!found("use std::{fs, process as p};").is_empty());
        assert!(!found("    pub use std::process;").is_empty());
    }

    #[test]
    fn comments_and_longer_words_are_fine() {
        assert!(found("// No shell: std::process is absent.\n").is_empty());
        assert!(found("use crate::{CommandTool, processing};\n").is_empty());
        assert!(found("let forked = \"the process lives on\";\n").is_empty());
    }

    #[test]
    fn nothing_to_look_at_is_a_finding() {
        let findings = no_shell(&Inputs::default());
        assert_eq!(findings.len(), INERT_SOURCES.len());
        let files =
            INERT_SOURCES.iter().map(|dir| file(&format!("{dir}lib.rs"), "//! A.")).collect();
        assert!(no_shell(&Inputs { files, ..Inputs::default() }).is_empty());
    }
}
