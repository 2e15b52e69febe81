//! `cargo xtask smoke`: runs `scripts/*_smoke.sh`, one after the other, in the order of their names.
//!
//! Every script runs, also after one that failed, but those that say of themselves that they are started
//! by hand (because they download something). A folder without a script to run fails: a smoke test that
//! finds nothing to run has shown nothing.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::{
    error::Error,
    folder::entries,
    process::{Program, root},
};

/// The line by which a script says that it is started by hand.
const BY_HAND: &str = "# Started by hand.";

/// What one script gave.
#[derive(Debug)]
struct Outcome {
    script: String,
    result: Result<(), Error>,
    duration: Duration,
}

/// Runs the chore.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    crate::no_arguments("smoke", arguments)?;
    run_folder(&root().join("scripts"))
}

fn run_folder(folder: &Path) -> Result<(), Error> {
    let outcomes: Vec<_> = scripts(folder)?.iter().map(|script| run_script(script)).collect();
    print!("{}", table(&outcomes));
    match outcomes.iter().filter(|outcome| outcome.result.is_err()).count() {
        0 => Ok(()),
        failed => Err(Error::failed(format!("smoke: {failed} of {} failed", outcomes.len()))),
    }
}

fn scripts(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let is_smoke = |path: &PathBuf| path.to_string_lossy().ends_with("_smoke.sh");
    let is_ours = |path: &PathBuf| {
        !fs::read_to_string(path).is_ok_and(|text| text.lines().any(|line| line == BY_HAND))
    };
    let scripts: Vec<_> = entries(folder)?.into_iter().filter(is_smoke).filter(is_ours).collect();
    if scripts.is_empty() {
        let folder = folder.display();
        return Err(Error::failed(format!("smoke: {folder} holds no *_smoke.sh, nothing was run")));
    }
    Ok(scripts)
}

fn run_script(script: &Path) -> Outcome {
    let start = Instant::now();
    let result = Program::new("bash").args([script]).run();
    let name = script.file_name().unwrap_or(script.as_os_str()).to_string_lossy().into_owned();
    Outcome { script: name, result, duration: start.elapsed() }
}

fn table(outcomes: &[Outcome]) -> String {
    let width = outcomes.iter().map(|outcome| outcome.script.len()).max().unwrap_or_default();
    let mut text = format!("{:<width$}  result  seconds\n", "script");
    for Outcome { script, result, duration } in outcomes {
        let verdict = if result.is_ok() { "ok" } else { "FAILED" };
        text.push_str(&format!("{script:<width$}  {verdict:<6}  {:7.1}\n", duration.as_secs_f64()));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn folder(scripts: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in scripts {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    fn error(scripts: &[(&str, &str)]) -> String {
        run_folder(folder(scripts).path()).unwrap_err().to_string()
    }

    #[test]
    fn a_folder_with_nothing_to_run_fails() {
        assert!(error(&[]).contains("nothing was run"));
        assert!(error(&[("other.sh", "exit 0")]).contains("nothing was run"));
        assert!(run_folder(Path::new("no-such-folder")).is_err());
    }

    #[test]
    fn a_script_that_is_started_by_hand_is_not_run() {
        let by_hand = format!("{BY_HAND}\nexit 3");
        let files = folder(&[("a_smoke.sh", "exit 0"), ("b_smoke.sh", &by_hand)]);
        assert!(run_folder(files.path()).is_ok());
        assert!(error(&[("b_smoke.sh", &by_hand)]).contains("nothing was run"));
    }

    #[test]
    fn a_script_that_fails_fails_the_run_and_the_others_still_run() {
        let files = folder(&[("a_smoke.sh", "exit 3"), ("b_smoke.sh", "echo x >\"$0.ran\"")]);
        let error = run_folder(files.path()).unwrap_err().to_string();
        assert_eq!(error, "smoke: 1 of 2 failed");
        assert!(files.path().join("b_smoke.sh.ran").exists());
    }

    #[test]
    fn scripts_that_succeed_succeed() {
        assert!(run_folder(folder(&[("a_smoke.sh", "exit 0")]).path()).is_ok());
    }

    #[test]
    fn the_table_has_a_row_for_each_script() {
        let outcome = |script: &str, result| Outcome {
            script: script.to_owned(),
            result,
            duration: Duration::from_millis(1250),
        };
        let text = table(&[outcome("a_smoke.sh", Ok(())), outcome("b", Err(Error::failed("x")))]);
        assert!(text.contains("a_smoke.sh  ok          1.2\n"), "{text}");
        assert!(text.contains("b           FAILED      1.2\n"), "{text}");
    }
}
