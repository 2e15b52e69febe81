//! `cargo xtask bench NAME [FOLDER | -- ARGUMENTS]`: one benchmark of the workspace, found by its file.
//!
//! A benchmark is a file of a crate's `benches`, or a folder of it with a `main.rs`. It is built with the release profile and prints its
//! own numbers; nothing here judges them, because a time is a fact about one machine.

use std::path::Path;

use crate::{
    error::Error,
    folder::{entries, rust_files},
    process::{Program, root},
};

/// One benchmark: its name, and its crate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Benchmark {
    name: String,
    package: String,
}

/// Runs the chore.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let benchmarks = find(&root().join("crates"))?;
    let (asked, rest) = choose(arguments, &benchmarks)?;
    let args = ["bench", "--locked", "--package", &asked.package, "--bench", &asked.name, "--"];
    Program::new("cargo").args(args).args(rest).run()
}

fn choose<'a>(
    arguments: &'a [String],
    benchmarks: &'a [Benchmark],
) -> Result<(&'a Benchmark, &'a [String]), Error> {
    let known: Vec<_> = benchmarks.iter().map(|benchmark| benchmark.name.as_str()).collect();
    let usage = |problem: String| {
        let known = known.join(", ");
        Error::usage(format!(
            "{problem}\n\ncargo xtask bench NAME [-- ARGUMENTS]\n\nNames: {known}"
        ))
    };
    let Some((name, rest)) = arguments.split_first() else {
        return Err(usage("expected the name of a benchmark".to_owned()));
    };
    let rest = match rest.split_first() {
        None => rest,
        Some((dashes, rest)) if dashes == "--" => rest,
        Some((other, _)) if !other.starts_with('-') => rest,
        Some((other, _)) => return Err(usage(format!("expected -- before {other:?}"))),
    };
    let asked = benchmarks.iter().find(|benchmark| benchmark.name == *name);
    asked.map(|asked| (asked, rest)).ok_or_else(|| usage(format!("there is no benchmark {name:?}")))
}

/// Every benchmark, sorted. The folder of a crate has the name of its package.
fn find(crates: &Path) -> Result<Vec<Benchmark>, Error> {
    let mut benchmarks = Vec::new();
    for folder in entries(crates)? {
        let package = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let folder = folder.join("benches");
        let names = rust_files(&folder)?.into_iter().chain(programs(&folder)?);
        benchmarks.extend(names.map(|name| Benchmark { name, package: package.clone() }));
    }
    benchmarks.sort();
    Ok(benchmarks)
}

/// The names of the folders of a folder that are programs; none where it does not exist.
fn programs(folder: &Path) -> Result<Vec<String>, Error> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let programs = entries(folder)?.into_iter().filter(|entry| entry.join("main.rs").is_file());
    Ok(programs
        .filter_map(|entry| Some(entry.file_name()?.to_string_lossy().into_owned()))
        .collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn benchmarks_are_found_by_their_files() {
        let crates = tempfile::tempdir().unwrap();
        fs::create_dir_all(crates.path().join("a/benches")).unwrap();
        fs::create_dir_all(crates.path().join("b/src")).unwrap();
        for folder in ["three", "cases"] {
            fs::create_dir_all(crates.path().join("a/benches").join(folder)).unwrap();
        }
        fs::write(crates.path().join("a/benches/three/main.rs"), "").unwrap();
        for name in ["two.rs", "one.rs", "data.json"] {
            fs::write(crates.path().join("a/benches").join(name), "").unwrap();
        }
        let found = find(crates.path()).unwrap();
        let found: Vec<_> = found.iter().map(|b| (b.name.as_str(), b.package.as_str())).collect();
        assert_eq!(found, [("one", "a"), ("three", "a"), ("two", "a")]);
    }

    #[test]
    fn a_name_is_chosen_or_refused_with_the_known_ones() {
        let known = [Benchmark { name: "pipe".to_owned(), package: "a".to_owned() }];
        let line = words("pipe -- --quick");
        let (asked, rest) = choose(&line, &known).unwrap();
        assert_eq!((asked.package.as_str(), rest), ("a", &words("--quick")[..]));
        assert!(choose(&words("pipe"), &known).unwrap().1.is_empty());
        assert_eq!(choose(&words("pipe FOLDER"), &known).unwrap().1, &words("FOLDER")[..]);
        for line in ["", "pipes", "pipe --quick"] {
            let error = choose(&words(line), &known).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains("Names: pipe"), "{error}");
        }
    }
}
