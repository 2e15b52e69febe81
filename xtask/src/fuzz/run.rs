//! Runs a fuzz target and reads what libFuzzer says about it.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

use super::{arguments::Asked, targets::Target};
use crate::{error::Error, process::Program};

/// Where a target's inputs are.
#[derive(Debug)]
pub(super) struct Folders {
    /// Inputs found so far; grows.
    pub(super) corpus: PathBuf,
    /// Checked-in inputs; read only.
    seeds: PathBuf,
    /// Inputs that broke a promise.
    findings: PathBuf,
}

impl Folders {
    /// Makes those that are missing.
    pub(super) fn prepare(target: &Target) -> Result<Self, Error> {
        let folder = |name: &str| {
            let path = target.folder.join(name).join(&target.name);
            match fs::create_dir_all(&path) {
                Ok(()) => Ok(path),
                Err(error) => Err(Error::failed(format!("{}: {error}", path.display()))),
            }
        };
        Ok(Self {
            corpus: folder("corpus")?,
            seeds: folder("seeds")?,
            findings: folder("artifacts")?,
        })
    }
}

/// What a run gave.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    executions: u64,
    executions_per_second: u64,
    corpus: u64,
    /// The file of the input that broke a promise, where there was one.
    finding: Option<String>,
    /// Whether the run ended as it should.
    is_complete: bool,
}

impl Summary {
    /// Takes in one line of libFuzzer's.
    fn read(&mut self, line: &str) {
        let number = |text: &str| text.trim().parse().unwrap_or_default();
        if let Some(count) = line.strip_prefix("stat::number_of_executed_units:") {
            self.executions = number(count);
        } else if let Some(rate) = line.strip_prefix("stat::average_exec_per_sec:") {
            self.executions_per_second = number(rate);
        } else if let Some((_, file)) = line.split_once("Test unit written to ") {
            self.finding = Some(file.to_owned());
        }
    }

    /// `Err` where the run found something or did not come to its end.
    pub(super) fn verdict(&self) -> Result<(), Error> {
        match &self.finding {
            Some(file) => Err(Error::failed(format!("an input breaks a promise: {file}"))),
            None if !self.is_complete => Err(Error::failed("the run broke off; see above")),
            None if self.executions == 0 => Err(Error::failed("nothing was executed")),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { executions, executions_per_second, corpus, finding, .. } = self;
        let findings = u8::from(finding.is_some());
        write!(
            f,
            "{executions} executions, {executions_per_second} a second, {corpus} inputs in the \
             corpus, {findings} findings"
        )
    }
}

/// Runs the program until the time or the number of runs is up, or an input breaks a promise.
pub(super) fn run(program: &Path, folders: &Folders, asked: &Asked<'_>) -> Result<Summary, Error> {
    let mut limits = vec![
        format!("-max_total_time={}", asked.seconds),
        "-timeout=10".to_owned(),
        "-rss_limit_mb=2048".to_owned(),
        "-max_len=16384".to_owned(),
        "-print_final_stats=1".to_owned(),
        format!("-artifact_prefix={}/", folders.findings.display()),
    ];
    limits.extend(asked.runs.map(|runs| format!("-runs={runs}")));
    let mut summary = Summary::default();
    let program = Program::new(program).args(limits).args([&folders.corpus, &folders.seeds]);
    summary.is_complete = program.each_error_line(|line| summary.read(line))?;
    summary.corpus = fs::read_dir(&folders.corpus).map_or(0, Iterator::count) as u64;
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(lines: &[&str], is_complete: bool) -> Summary {
        let mut summary = Summary { is_complete, ..Summary::default() };
        lines.iter().for_each(|line| summary.read(line));
        summary
    }

    const STATS: [&str; 2] =
        ["stat::number_of_executed_units: 1234", "stat::average_exec_per_sec:     56"];

    #[test]
    fn what_was_measured_is_read() {
        let done = summary(&STATS, true);
        assert!(done.verdict().is_ok());
        let text = done.to_string();
        assert_eq!(text, "1234 executions, 56 a second, 0 inputs in the corpus, 0 findings");
    }

    #[test]
    fn a_finding_and_a_run_that_did_nothing_fail() {
        let crash = "artifact_prefix='x/'; Test unit written to x/crash-1";
        let found = summary(&[STATS[0], crash], false).verdict().unwrap_err().to_string();
        assert!(found.contains("x/crash-1"), "{found}");
        assert!(summary(&STATS, false).verdict().is_err());
        assert!(summary(&[], true).verdict().is_err());
    }
}
