//! `read_file_in_workdir`: the text of one file.
//!
//! Arguments: `path`, `offset` (bytes, 0), `limit` (bytes, as many as the output ceiling allows). Gives
//! one text, cut on character borders, and says how many bytes of the file lie behind it. What is not
//! UTF-8 is an error, not replacement characters: a model must never take a mangled text for the file.

use std::{fs::File, io, sync::Arc};

use serde_json::{Value, json};
use tool_core::{
    Annotations, ByteCount, ExecContext, NameError, OutputPolicy, ToolError, ToolName, ToolOutput,
    ToolSpec, ValidatedArgs,
};

use crate::ToolExecutor;

use super::{
    Workdir,
    arguments::{MAX_INTEGER, integer},
    error::shown,
    path::checked,
    watched::{Watched, read_error},
    window::{CutError, Window},
};

const DESCRIPTION: &str = "Reads a text file (UTF-8) in the working directory and returns its text. \
    The path is relative to the working directory, for example \"src/main.c\"; absolute paths, and \
    paths or links that lead out, are refused. Large files are cut: the result then says how many \
    bytes are left, and the rest can be read with `offset` (where to begin, in bytes) and `limit` \
    (how many bytes). Text is cut between characters, never inside one.";

/// Reads a file in a [`Workdir`].
///
/// Regular files only; a FIFO, a device, a socket or a directory is refused without being opened.
#[derive(Debug)]
pub struct ReadFileInWorkdir {
    workdir: Arc<Workdir>,
    spec: ToolSpec,
}

/// What a call asks for.
struct Part<'a> {
    path: &'a str,
    offset: u64,
    limit: u64,
    max: usize,
}

impl ReadFileInWorkdir {
    /// The executor of `read_file_in_workdir`.
    ///
    /// # Errors
    /// None: the name is a constant that is one.
    pub fn new(workdir: Arc<Workdir>) -> Result<Self, NameError> {
        let spec = ToolSpec::new("read_file_in_workdir", DESCRIPTION, parameters())?
            .with_title("Read a file")
            .with_output_policy(OutputPolicy::Truncate)
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

    fn read(&self, part: &Part<'_>, ctx: &ExecContext) -> Result<ToolOutput, ToolError> {
        let refused =
            |error: super::error::OpenError| error.into_tool_error(self.name(), part.path);
        let path = checked(part.path).map_err(refused)?;
        let (file, _) = self.workdir.open_file(path).map_err(refused)?;
        self.read_open(&file, part, ctx)
    }

    fn read_open(
        &self,
        file: &File,
        part: &Part<'_>,
        ctx: &ExecContext,
    ) -> Result<ToolOutput, ToolError> {
        let failed = |error: io::Error| read_error(error, ctx, self.name(), part.path);
        let window = Window::read(Watched::new(file, ctx), part.offset, part.limit);
        let window = window.map_err(failed)?;
        // Asked after reading, and never less than what was read: the file may have grown, and files
        // of /proc say 0.
        let size = file.metadata().map_err(failed)?.len().max(window.end());
        let cut = window.cut(part.max).map_err(|error| explain(&error, part, size))?;
        let output = ToolOutput::text(cut.text);
        Ok(match size - cut.end {
            0 => output,
            left => output.with_omitted(ByteCount(left)),
        })
    }
}

fn explain(error: &CutError, part: &Part<'_>, size: u64) -> ToolError {
    let path = shown(part.path);
    let offset = part.offset;
    ToolError::failed(match *error {
        CutError::PastEnd => format!(
            "{path}: offset {offset} is past the end of the file, which has {size} bytes; an \
             offset from 0 to {size} is accepted"
        ),
        CutError::NotUtf8 { offset, byte } => format!(
            "{path}: not UTF-8 text: the byte at offset {offset} (0x{byte:02x}) belongs to no \
             character; the file has {size} bytes, and only text can be read"
        ),
        CutError::TooNarrow { least } => format!(
            "{path}: the limit is too small for the character at offset {offset}; a limit of at \
             least {least} bytes is needed there"
        ),
    })
}

impl ToolExecutor for ReadFileInWorkdir {
    fn name(&self) -> &ToolName {
        self.spec.name()
    }

    fn execute(&self, args: &ValidatedArgs, ctx: &ExecContext) -> Result<ToolOutput, ToolError> {
        let ceiling = ctx.limits().max_output();
        let part = Part {
            path: args.get_str("path").unwrap_or_default(),
            offset: integer(args, "offset").unwrap_or(0),
            limit: integer(args, "limit").unwrap_or(u64::MAX).min(ceiling.0),
            max: ceiling.as_usize(),
        };
        self.read(&part, ctx)
    }
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "minLength": 1,
                "description": "The file, relative to the working directory.",
            },
            "offset": {
                "type": "integer",
                "minimum": 0,
                "maximum": MAX_INTEGER,
                "description": "Where to begin, in bytes from the start of the file. 0 if left out.",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_INTEGER,
                "description": "How many bytes to read. As many as a result may hold if left out.",
            },
        },
        "required": ["path"],
        "additionalProperties": false,
    })
}
