//! `search_in_workdir`: the lines that hold a text or match a regular expression.
//!
//! Arguments: `pattern`, `regex` (false), `case_insensitive` (false), `path` (`.`), `glob`,
//! `max_matches` (100). Gives JSON: `matches` (`path`, `line`, `column` in bytes, both from 1, `text`),
//! how many files were searched and how many entries passed over, and `is_complete` with the reasons in
//! `incomplete_by` where it is false. Order is that of a walk, so it is the same every time.
//!
//! The walk and the ignore files go through the same lookup as every read: the walker of the `ignore`
//! crate opens by path, would wait for a FIFO named `.gitignore`, and follows one that links out. Only
//! its rules are used.

mod hits;
mod lines;
mod pattern;
mod rules;

use std::{fs::File, io::Read, path::Path, sync::Arc};

use ignore::overrides::{Override, OverrideBuilder};
use serde_json::{Value, json};
use tool_core::{
    Annotations, ExecContext, NameError, ToolError, ToolName, ToolOutput, ToolSpec, ValidatedArgs,
};

use self::{
    hits::{Gap, Hits},
    lines::Lines,
    pattern::Pattern,
    rules::Rules,
};
use super::{
    Workdir,
    arguments::{flag, integer},
    error::OpenError,
    kind::Kind,
    path::{checked, tidy},
    walk::{Found, Walk},
    watched::{Watched, read_error},
};
use crate::ToolExecutor;

const DESCRIPTION: &str = "Searches the text files below a path in the working directory for lines \
    that hold `pattern`, and returns JSON: `matches` with path, line, column and text. The pattern is \
    a plain text, or a regular expression (Rust syntax, no look-around) with `regex`. Files that \
    .gitignore or .ignore leave out, binary files and links are passed over and counted. `glob` \
    narrows to file names, for example \"*.py\" or \"src/**/*.h\". If `is_complete` is false, \
    `incomplete_by` says why; narrow the path, the glob or the pattern.";

const DEFAULT_MATCHES: usize = 100;
const MAX_MATCHES: usize = 1000;

/// How many entries a search keeps in mind at once.
const MAX_PENDING: usize = 50_000;

/// How much is searched between two looks at whether to stop, in bytes, besides those at each read.
const BYTES_BETWEEN_CHECKS: usize = 8 * 1024;

/// How much is read of a file that says it is empty (as those of /proc do), in bytes.
const UNSIZED: u64 = 1024 * 1024;

/// Searches the files in a [`Workdir`].
#[derive(Debug)]
pub struct SearchInWorkdir {
    workdir: Arc<Workdir>,
    spec: ToolSpec,
}

impl SearchInWorkdir {
    /// The executor of `search_in_workdir`.
    ///
    /// # Errors
    /// None: the name is a constant that is one.
    pub fn new(workdir: Arc<Workdir>) -> Result<Self, NameError> {
        let spec = ToolSpec::new("search_in_workdir", DESCRIPTION, parameters())?
            .with_title("Search in files")
            .with_output_schema(hits::schema())
            .with_annotations(Annotations {
                is_read_only: true,
                is_idempotent: true,
                ..Annotations::default()
            });
        Ok(Self { workdir, spec })
    }

    /// What the model sees.
    #[must_use]
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }
}

impl ToolExecutor for SearchInWorkdir {
    fn name(&self) -> &ToolName {
        self.spec.name()
    }

    fn execute(&self, args: &ValidatedArgs, ctx: &ExecContext) -> Result<ToolOutput, ToolError> {
        let text = args.get_str("pattern").unwrap_or_default();
        let pattern = Pattern::new(text, flag(args, "regex"), flag(args, "case_insensitive"))?;
        let glob = args.get_str("glob").map(file_glob).transpose()?;
        let max = integer(args, "max_matches").and_then(|max| usize::try_from(max).ok());
        let max = max.unwrap_or(DEFAULT_MATCHES).clamp(1, MAX_MATCHES);
        let hits = Hits::new(max, ctx.limits().max_output());
        let tool = self.name();
        let mut search = Search { tool, workdir: &self.workdir, ctx, pattern, glob, hits };
        search.run(args.get_str("path").unwrap_or("."))?;
        Ok(ToolOutput::json(search.hits.into_value()))
    }
}

fn file_glob(glob: &str) -> Result<Override, ToolError> {
    let mut builder = OverrideBuilder::new(".");
    let built = builder.add(glob).and_then(|builder| builder.build());
    built.map_err(|error| {
        let example = "\"*.py\" or \"src/**/*.h\"";
        ToolError::failed(format!("glob: {error}; give one such as {example}"))
    })
}

/// One call at work.
struct Search<'a> {
    tool: &'a ToolName,
    workdir: &'a Workdir,
    ctx: &'a ExecContext,
    pattern: Pattern,
    glob: Option<Override>,
    hits: Hits,
}

/// Whether there is a point in searching on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    GoOn,
    Stop,
}

impl Search<'_> {
    fn run(&mut self, path: &str) -> Result<(), ToolError> {
        let refused = |error: OpenError| error.into_tool_error(self.tool, path);
        let start = tidy(checked(path).map_err(refused)?);
        match Walk::start(self.workdir, self.ctx, &start, MAX_PENDING) {
            Ok(walk) => self.search_dir(walk, &start),
            // Perhaps it is a file; if not, opening it as one says what it is.
            Err(OpenError::NotADirectory) => {
                let (file, size) = self.workdir.open_file(&start).map_err(refused)?;
                self.search_file(&start, file, size).map(|_| ())
            }
            Err(error) => Err(refused(error)),
        }
    }

    fn search_dir(&mut self, walk: Walk<'_>, start: &Path) -> Result<(), ToolError> {
        let mut walk = walk;
        let mut rules = Rules::down_to(self.workdir, self.ctx, start);
        while let Some(found) = walk.next() {
            if self.ctx.is_cancelled() {
                return Err(ToolError::Cancelled);
            }
            if rules.is_ignored(&found.path, found.kind == Kind::Dir) {
                self.hits.ignored += 1;
            } else if found.kind == Kind::Dir {
                rules.enter(&found.path);
                walk.enter(&found).map_err(|_| ToolError::Cancelled)?;
            } else if self.search_found(&found)? == Flow::Stop {
                return Ok(());
            }
        }
        let left_out = walk.left_out();
        if left_out.entries > 0 {
            self.hits.note(Gap::TooManyEntries);
        }
        if left_out.dirs > 0 {
            self.hits.note(Gap::Unreadable);
        }
        Ok(())
    }

    fn search_found(&mut self, found: &Found) -> Result<Flow, ToolError> {
        if self.glob.as_ref().is_some_and(|glob| glob.matched(&found.path, false).is_ignore()) {
            return Ok(Flow::GoOn);
        }
        if found.kind != Kind::File {
            self.hits.special += 1;
            return Ok(Flow::GoOn);
        }
        match self.workdir.open_file(&found.path) {
            Ok((file, size)) => self.search_file(&found.path, file, size),
            Err(OpenError::NotFound) => Ok(Flow::GoOn),
            Err(_) => {
                self.hits.note(Gap::Unreadable);
                Ok(Flow::GoOn)
            }
        }
    }

    /// Searches up to where the file ended when it was opened, so that one that grows has an end.
    fn search_file(&mut self, path: &Path, file: File, size: u64) -> Result<Flow, ToolError> {
        let size = if size == 0 { UNSIZED } else { size };
        let reader = Watched::new(file, self.ctx).take(size);
        let mut lines = Lines::new(reader, self.pattern.max_line());
        let failed = |error| read_error(error, self.ctx, self.tool, &path.to_string_lossy());
        if lines.is_binary().map_err(failed)? {
            self.hits.binary += 1;
            return Ok(Flow::GoOn);
        }
        self.hits.files += 1;
        let mut unchecked = 0;
        while let Some(line) = lines.next().map_err(failed)? {
            if line.is_cut {
                self.hits.note(Gap::LongLines);
            }
            unchecked += line.bytes.len();
            if unchecked >= BYTES_BETWEEN_CHECKS {
                unchecked = 0;
                if self.ctx.is_cancelled() {
                    return Err(ToolError::Cancelled);
                }
            }
            let Some(start) = self.pattern.find(line.bytes) else { continue };
            if !self.hits.add(path, &line, start) {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::GoOn)
    }
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "pattern": {
                "type": "string",
                "minLength": 1,
                "description": "The text to look for in each line, or a regular expression.",
            },
            "regex": {
                "type": "boolean",
                "default": false,
                "description": "Whether the pattern is a regular expression.",
            },
            "case_insensitive": {
                "type": "boolean",
                "default": false,
                "description": "Whether upper and lower case are the same.",
            },
            "path": {
                "type": "string",
                "minLength": 1,
                "default": ".",
                "description": "The directory or file to search, relative to the working directory.",
            },
            "glob": {
                "type": "string",
                "minLength": 1,
                "maxLength": 256,
                "description": "Which files to search, relative to the working directory. A leading \
                    ! means all others.",
            },
            "max_matches": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_MATCHES,
                "default": DEFAULT_MATCHES,
                "description": "How many matching lines to return at most.",
            },
        },
        "required": ["pattern"],
        "additionalProperties": false,
    })
}
