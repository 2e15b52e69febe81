//! Programs that a chore runs: cargo, git, bash. The only place in xtask that starts one.
//!
//! They run in the root of the workspace, inherit the environment, and are waited for. A program
//! that can't be started, or that fails, is an [`Error`] with its command line.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use crate::error::Error;

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_owned()
}

/// A program with its arguments, ready to run.
#[derive(Debug)]
pub(crate) struct Program {
    command: Command,
}

impl Program {
    /// A program found on the search path.
    #[expect(clippy::disallowed_methods, reason = "chores start developer tools; nothing confined")]
    pub(crate) fn new(program: impl AsRef<Path>) -> Self {
        let mut command = Command::new(program.as_ref());
        command.current_dir(root());
        Self { command }
    }

    /// With these arguments.
    pub(crate) fn args<A: AsRef<std::ffi::OsStr>>(
        mut self,
        args: impl IntoIterator<Item = A>,
    ) -> Self {
        self.command.args(args);
        self
    }

    /// With one more environment variable.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// In another folder than the root.
    pub(crate) fn dir(mut self, dir: &Path) -> Self {
        self.command.current_dir(dir);
        self
    }

    /// Runs it with our own output; `Err` where it fails.
    pub(crate) fn run(mut self) -> Result<(), Error> {
        let status = self.command.stdin(Stdio::null()).status().map_err(|e| self.no_start(&e))?;
        if status.success() {
            return Ok(());
        }
        Err(Error::failed(format!("{}: {status}", self.line())))
    }

    /// Runs it and gives what it wrote to its standard output; `Err` where it fails, with what it
    /// wrote to its standard error.
    pub(crate) fn output(mut self) -> Result<String, Error> {
        let output = self.command.stdin(Stdio::null()).output().map_err(|e| self.no_start(&e))?;
        let Output { status, stdout, stderr } = output;
        if status.success() {
            return String::from_utf8(stdout)
                .map_err(|_| Error::failed(format!("{}: output is not UTF-8", self.line())));
        }
        let stderr = String::from_utf8_lossy(&stderr);
        Err(Error::failed(format!("{}: {status}\n{}", self.line(), stderr.trim_end())))
    }

    /// Runs it, passes its standard error on line by line, and shows each line to `see`. Whether it
    /// ended with success.
    pub(crate) fn each_error_line(mut self, mut see: impl FnMut(&str)) -> Result<bool, Error> {
        self.command.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = self.command.spawn().map_err(|e| self.no_start(&e))?;
        let stderr = child.stderr.take().map(BufReader::new);
        for line in stderr.into_iter().flat_map(|reader| reader.split(b'\n')) {
            let line = line.map_err(|e| self.no_start(&e))?;
            let line = String::from_utf8_lossy(&line);
            eprintln!("{line}");
            see(&line);
        }
        Ok(child.wait().map_err(|e| self.no_start(&e))?.success())
    }

    fn no_start(&self, error: &std::io::Error) -> Error {
        Error::failed(format!("{}: {error}", self.line()))
    }

    fn line(&self) -> String {
        let mut line = self.command.get_program().to_string_lossy().into_owned();
        for argument in self.command.get_args() {
            line.push(' ');
            line.push_str(&argument.to_string_lossy());
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_workspace() {
        assert!(root().join("Cargo.lock").is_file());
        assert!(root().join("xtask").is_dir());
    }

    #[test]
    fn a_failure_names_the_command_and_what_it_said() {
        let program = Program::new("bash").args(["-c", "echo out; echo why >&2; exit 3"]);
        let error = program.output().unwrap_err().to_string();
        assert!(error.contains("bash -c") && error.contains("why"), "{error}");
        assert!(error.contains('3'), "{error}");
        assert!(Program::new("bash").args(["-c", "exit 1"]).run().is_err());
        assert!(Program::new("no-such-program-here").run().is_err());
    }

    #[test]
    fn lines_of_standard_error_are_shown_as_they_come() {
        let mut lines = Vec::new();
        let program = Program::new("bash").args(["-c", "echo out; echo a >&2; echo b >&2; exit 1"]);
        let is_success = program.each_error_line(|line| lines.push(line.to_owned())).unwrap();
        assert_eq!((is_success, lines), (false, vec!["a".to_owned(), "b".to_owned()]));
    }

    #[test]
    fn output_is_what_was_written() {
        let program = Program::new("bash").args(["-c", "echo $A; pwd"]).env("A", "b");
        assert_eq!(program.dir(Path::new("/")).output().unwrap(), "b\n/\n");
    }
}
