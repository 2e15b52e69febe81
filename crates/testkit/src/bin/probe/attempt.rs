//! What an attempt is, what it is given, and how it ends.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// How an attempt ended: `Ok` says what it reached.
pub(crate) type Tried = Result<String, Stop>;

/// Why an attempt did not reach anything.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Something in the way: the errno, where there was one, and the text.
    Denied(Option<i32>, String),
    /// It cannot be tried with what it was given.
    Untried(String),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Denied(error.raw_os_error(), error.to_string())
    }
}

/// A refusal that is seen in a value, not in an errno.
pub(crate) fn denied(why: impl Into<String>) -> Stop {
    Stop::Denied(None, why.into())
}

/// What must be true outside the sandbox for the attempt to be able to succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Any user can do it.
    Nothing,
    /// The superuser alone can do it.
    Root,
}

/// Who can tell whether the attempt got out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judge {
    /// The attempt itself: its exit code.
    Itself,
    /// The world outside alone: inside the sandbox success may be an illusion.
    World,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) needs: Needs,
    pub(crate) judge: Judge,
    /// Whether it is on a path that is protected or hidden within the workdir.
    pub(crate) guarded: bool,
    pub(crate) run: fn(&Given) -> Tried,
}

impl Attempt {
    /// An attempt that any user can make and that can judge itself.
    pub(crate) const fn new(
        name: &'static str,
        about: &'static str,
        run: fn(&Given) -> Tried,
    ) -> Self {
        Self { name, about, needs: Needs::Nothing, judge: Judge::Itself, guarded: false, run }
    }

    /// The same, for the superuser only.
    pub(crate) const fn root(mut self) -> Self {
        self.needs = Needs::Root;
        self
    }

    /// The same, judged from outside only.
    pub(crate) const fn judged_by_world(mut self) -> Self {
        self.judge = Judge::World;
        self
    }

    /// The same, on a path that is protected or hidden within the workdir.
    pub(crate) const fn on_guarded(mut self) -> Self {
        self.guarded = true;
        self
    }

    /// The part of the name before the dot.
    pub(crate) fn group(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(group, _)| group)
    }
}

/// The `KEY=VALUE` arguments: where the canaries, listeners and victims are.
#[derive(Debug, Default)]
pub(crate) struct Given(BTreeMap<String, String>);

impl Given {
    /// Reads the arguments; one without `=` is a key with an empty value.
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Self {
        let pair = |text: String| {
            let (key, value) = text.split_once('=').unwrap_or((&text, ""));
            (key.to_owned(), value.to_owned())
        };
        Self(arguments.map(pair).collect())
    }

    /// The text under `key`.
    pub(crate) fn text(&self, key: &str) -> Result<&str, Stop> {
        let missing = || Stop::Untried(format!("the argument {key}=... is missing"));
        self.0.get(key).map(String::as_str).ok_or_else(missing)
    }

    /// The number under `key`.
    pub(crate) fn number<T: FromStr>(&self, key: &str) -> Result<T, Stop> {
        let text = self.text(key)?;
        text.parse().map_err(|_| Stop::Untried(format!("{key}={text} is not a number")))
    }

    /// The number under `key`, or `default` where none was given.
    pub(crate) fn number_or<T: FromStr>(&self, key: &str, default: T) -> T {
        self.number(key).unwrap_or(default)
    }

    /// The path under `key`, with `rest` joined to it.
    pub(crate) fn path(&self, key: &str, rest: &str) -> Result<PathBuf, Stop> {
        let base = Path::new(self.text(key)?);
        Ok(if rest.is_empty() { base.to_owned() } else { base.join(rest) })
    }
}

/// `path` for a raw call.
pub(crate) fn c_path(path: &Path) -> Result<CString, Stop> {
    CString::new(path.as_os_str().as_bytes())
        .map_err(|_| Stop::Untried("a path with a NUL".to_owned()))
}

/// The outcome of a call that was made with invalid arguments on purpose: `errno` means that it
/// got past its permission check and failed on the arguments alone.
pub(crate) fn past_check<T>(result: io::Result<T>, errno: i32) -> Tried {
    match result {
        Ok(_) => Ok("the call succeeded".to_owned()),
        Err(error) if error.raw_os_error() == Some(errno) => {
            Ok("past the permission check".to_owned())
        }
        Err(error) => Err(error.into()),
    }
}
