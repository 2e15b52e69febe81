//! `list_dir_in_workdir`: the entries of a directory.
//!
//! Arguments: `path` (`.`), `recursive` (false), `limit` (1000). Gives JSON: `entries`, each with
//! `path`, `type` (`file`, `dir`, `symlink`, `other`) and, for a file, `bytes`; `omitted` where entries
//! were left out; `unread_dirs` where directories could not be entered; `is_complete`. A name that is
//! not UTF-8 is shown with replacement characters and marked `is_lossy`.

use std::sync::Arc;

use serde_json::{Value, json};
use tool_core::{
    Annotations, ExecContext, NameError, ToolError, ToolName, ToolOutput, ToolSpec, ValidatedArgs,
};

use crate::ToolExecutor;

use super::{
    Workdir,
    arguments::{flag, integer},
    bounded::BoundedList,
    error::OpenError,
    kind::Kind,
    path::{checked, tidy},
    walk::{Found, LeftOut, Walk},
};

const DESCRIPTION: &str = "Lists a directory in the working directory, sorted by name, as JSON: \
    `entries` with `path` (relative to the working directory, ready for other tools), `type` (file, \
    dir, symlink, other) and `bytes` for files. With `recursive` also everything below. Links are \
    listed, not followed. If `is_complete` is false, `omitted` entries did not fit: list a deeper \
    path, or raise `limit`.";

const DEFAULT_LIMIT: usize = 1000;
const MAX_LIMIT: usize = 10_000;

/// Lists a directory in a [`Workdir`].
#[derive(Debug)]
pub struct ListDirInWorkdir {
    workdir: Arc<Workdir>,
    spec: ToolSpec,
}

impl ListDirInWorkdir {
    /// The executor of `list_dir_in_workdir`.
    ///
    /// # Errors
    /// None: the name is a constant that is one.
    pub fn new(workdir: Arc<Workdir>) -> Result<Self, NameError> {
        let spec = ToolSpec::new("list_dir_in_workdir", DESCRIPTION, parameters())?
            .with_title("List a directory")
            .with_output_schema(output())
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

    fn list(&self, path: &str, is_recursive: bool, limit: usize, ctx: &ExecContext) -> Listing {
        let dir = tidy(checked(path)?);
        let mut walk = Walk::start(&self.workdir, ctx, &dir, limit)?;
        let mut entries = BoundedList::new(ctx.limits().max_output());
        let mut unfit = 0;
        while let Some(found) = walk.next() {
            if !entries.push(entry(&found)) {
                unfit += 1;
                break;
            }
            walk.set_room(limit - entries.len());
            if is_recursive && found.kind == Kind::Dir {
                walk.enter(&found)?;
            }
        }
        let mut left_out = walk.left_out();
        left_out.entries += unfit;
        Ok((entries, left_out))
    }
}

/// What it gives.
fn output() -> serde_json::Value {
    let count = json!({"type": "integer", "minimum": 0});
    let entry = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "type": {"type": "string"},
            "bytes": count,
            "is_lossy": {"type": "boolean"},
        },
        "required": ["path", "type"],
    });
    json!({
        "type": "object",
        "properties": {
            "entries": {"type": "array", "items": entry},
            "is_complete": {"type": "boolean"},
            "omitted": count,
            "unread_dirs": count,
        },
        "required": ["entries", "is_complete"],
    })
}

type Listing = Result<(BoundedList, LeftOut), OpenError>;

impl ToolExecutor for ListDirInWorkdir {
    fn name(&self) -> &ToolName {
        self.spec.name()
    }

    fn execute(&self, args: &ValidatedArgs, ctx: &ExecContext) -> Result<ToolOutput, ToolError> {
        let path = args.get_str("path").unwrap_or(".");
        let limit = integer(args, "limit").and_then(|limit| usize::try_from(limit).ok());
        let limit = limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
        let listing = self.list(path, flag(args, "recursive"), limit, ctx);
        let (entries, left_out) =
            listing.map_err(|error| error.into_tool_error(self.name(), path))?;
        let mut result = json!({
            "entries": entries.into_value(),
            "is_complete": left_out.entries == 0 && left_out.dirs == 0,
        });
        if left_out.entries > 0 {
            result["omitted"] = left_out.entries.into();
        }
        if left_out.dirs > 0 {
            result["unread_dirs"] = left_out.dirs.into();
        }
        Ok(ToolOutput::json(result))
    }
}

fn entry(found: &Found) -> Value {
    let path = found.path.to_string_lossy();
    let mut entry = json!({ "path": path, "type": found.kind.as_str() });
    if found.kind == Kind::File {
        entry["bytes"] = found.bytes.into();
    }
    if found.path.to_str().is_none() {
        entry["is_lossy"] = true.into();
    }
    entry
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "minLength": 1,
                "default": ".",
                "description": "The directory, relative to the working directory.",
            },
            "recursive": {
                "type": "boolean",
                "default": false,
                "description": "Whether to list everything below it too.",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_LIMIT,
                "default": DEFAULT_LIMIT,
                "description": "How many entries to list at most.",
            },
        },
        "additionalProperties": false,
    })
}
