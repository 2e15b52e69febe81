//! Running a shell line in a confinement and reading what it wrote.

use std::io::Read;
use std::path::Path;

use confine::{Child, Command, Confinement, Outcome, Prepared};

/// What a shell line did.
pub(crate) struct Ran {
    pub(crate) outcome: Outcome,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// An empty directory to work in.
pub(crate) fn workdir() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// A confinement of defaults.
pub(crate) fn default_in(directory: &Path) -> Prepared {
    Confinement::builder(directory).prepare().unwrap()
}

/// Starts `sh -c LINE`.
pub(crate) fn start(prepared: &Prepared, line: &str) -> Child {
    prepared.spawn(Command::new("sh").args(["-c", line])).unwrap()
}

/// Runs `sh -c LINE` to its end.
pub(crate) fn run(prepared: &Prepared, line: &str) -> Ran {
    let mut child = start(prepared, line);
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.take_stdout().unwrap().read_to_string(&mut stdout).unwrap();
    child.take_stderr().unwrap().read_to_string(&mut stderr).unwrap();
    Ran { outcome: child.wait().unwrap().outcome, stdout, stderr }
}

/// Checks that a line prints exactly this and succeeds.
#[track_caller]
pub(crate) fn check(prepared: &Prepared, line: &str, expected: &str) {
    let ran = run(prepared, line);
    assert_eq!(
        (ran.stdout.as_str(), ran.outcome),
        (expected, Outcome::Code(0)),
        "`{line}` said on standard error: {}",
        ran.stderr
    );
}

/// Says why something is not tested here, and fails where nothing may be left out.
#[expect(clippy::disallowed_methods, reason = "how a build says that nothing may be skipped")]
#[expect(clippy::print_stdout, reason = "a reader of the tests sees what was left out")]
pub(crate) fn skip(why: &str) {
    assert!(std::env::var_os("REMIT_TEST_NO_SKIP").is_none(), "this can't be tested here: {why}");
    println!("skipped: {why}");
}
