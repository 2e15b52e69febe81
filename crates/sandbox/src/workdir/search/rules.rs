//! Which files a search leaves out: what `.gitignore` and `.ignore` files say, and everything named
//! `.git`.
//!
//! The files are read through the working directory's own lookup, like every other: one that is a
//! FIFO, or a link to the outside, has no effect. Those above the working directory, and a user's
//! global ones, are not read. Only the first 64 KiB of one count.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use tool_core::ExecContext;

use super::super::{Workdir, watched::Watched};

/// How much of an ignore file is read, in bytes.
const MAX_RULES: u64 = 64 * 1024;

/// The names of ignore files; what a later one says goes before.
const FILES: [&str; 2] = [".gitignore", ".ignore"];

/// The rules of the directories from the working directory down to where a walk is.
#[derive(Debug)]
pub(super) struct Rules<'a> {
    workdir: &'a Workdir,
    ctx: &'a ExecContext,
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    dir: PathBuf,
    matcher: Gitignore,
}

impl<'a> Rules<'a> {
    /// The rules for what lies in `dir`: its own, and those of the directories above it.
    pub(super) fn down_to(workdir: &'a Workdir, ctx: &'a ExecContext, dir: &Path) -> Self {
        let mut rules = Self { workdir, ctx, levels: Vec::new() };
        let mut above: Vec<&Path> = dir.ancestors().collect();
        above.reverse();
        for dir in above {
            rules.enter(dir);
        }
        rules
    }

    /// Adds the rules of a directory that the walk goes into, and drops those of directories that it
    /// has left.
    pub(super) fn enter(&mut self, dir: &Path) {
        self.levels.retain(|level| dir.starts_with(&level.dir));
        let mut builder = GitignoreBuilder::new(".");
        let mut has_rules = false;
        for name in FILES {
            for line in self.read(&dir.join(name)).lines() {
                // A line that is no rule has no effect, as in git.
                has_rules |= builder.add_line(None, line).is_ok();
            }
        }
        if !has_rules {
            return;
        }
        if let Ok(matcher) = builder.build() {
            self.levels.push(Level { dir: dir.to_owned(), matcher });
        }
    }

    fn read(&self, path: &Path) -> String {
        let Ok((file, _)) = self.workdir.open_file(path) else { return String::new() };
        let mut bytes = Vec::new();
        let read = Watched::new(file, self.ctx).take(MAX_RULES).read_to_end(&mut bytes);
        if read.is_err() {
            bytes.clear();
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Whether an entry is left out. The innermost directory that says anything about it decides.
    pub(super) fn is_ignored(&self, path: &Path, is_dir: bool) -> bool {
        if path.file_name().is_some_and(|name| name == ".git") {
            return true;
        }
        for level in self.levels.iter().rev() {
            let Ok(below) = path.strip_prefix(&level.dir) else { continue };
            match level.matcher.matched(below, is_dir) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }
}
