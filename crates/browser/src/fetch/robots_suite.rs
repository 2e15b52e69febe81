//! The files of the crate `texting_robots`, judged by it and by us: for every rule of every file, paths
//! that fit it and paths that nearly do.

use std::{fs, path::PathBuf};

use texting_robots::Robot;

use super::robots::Rules;

/// The most paths of one file.
const MAX_PATHS: usize = 100;

/// The folder of the package, as cargo has it.
#[expect(clippy::disallowed_methods, reason = "cargo knows where the package is")]
fn folder() -> PathBuf {
    let output = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline"])
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let is_it = |package: &&serde_json::Value| package["name"] == "texting_robots";
    let package = metadata["packages"].as_array().unwrap().iter().find(is_it).unwrap();
    PathBuf::from(package["manifest_path"].as_str().unwrap()).parent().unwrap().join("testdata")
}

/// Paths that the rules of a file are about.
fn paths(file: &str) -> Vec<String> {
    let mut paths = vec!["/".to_owned(), "/a/b.html?c=d".to_owned()];
    for line in file.lines() {
        let Some((key, value)) = line.split('#').next().unwrap_or_default().split_once(':') else {
            continue;
        };
        let value = value.trim();
        let is_rule = ["allow", "disallow"].contains(&key.trim().to_ascii_lowercase().as_str());
        if is_rule && value.starts_with(['/', '*']) && value.is_ascii() && !value.contains('%') {
            let fitted = value.trim_end_matches('$').replace('*', "x");
            let fitted = if fitted.starts_with('/') { fitted } else { format!("/{fitted}") };
            paths.extend([
                format!("{fitted}more"),
                format!("{fitted}/more?a=b"),
                format!("/x{fitted}"),
                fitted[..fitted.len() - 1].to_owned(),
                fitted,
            ]);
        }
    }
    paths.retain(|path| path.starts_with('/') && !path.contains([' ', '#', '\\']));
    paths.sort_unstable();
    paths.dedup();
    // Some files have thousands of rules; a part of them, spread over the whole, is enough.
    let step = paths.len().div_ceil(MAX_PATHS);
    paths.into_iter().step_by(step).collect()
}

#[test]
fn its_files_are_judged_alike() {
    let mut compared = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let file = fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&file).into_owned();
        for agent in ["remit", "Googlebot"] {
            let Ok(theirs) = Robot::new(agent, &file) else { continue };
            let ours = Rules::parse(&file, agent);
            for url in paths(&text) {
                let allowed = theirs.allowed(&format!("https://example.com{url}"));
                assert_eq!(ours.allow(&url), allowed, "{agent} {} {url}", path.display());
                compared += 1;
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}
