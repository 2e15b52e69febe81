//! Running a declared command: filled, confined, captured, ended in time.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use confine::{Capture, Captured, Child, Command, Confinement, Outcome, Prepared, SpawnError};
use sandbox::ToolExecutor;
use serde_json::{Map, Value, json};
use tool_core::{
    ByteCount, ExecContext, ExitStatus, ToolError, ToolName, ToolOutput, ToolSpec, ValidatedArgs,
    clip,
};

use super::{CommandConfig, CommandConfigError, changed::Changed, template::Template};

/// How often a running command is looked at, for its caller may have given it up.
const LOOK: Duration = Duration::from_millis(10);
/// How long a command that is to end has for its last words.
const GRACE: Duration = Duration::from_millis(200);
/// How much of a call's time is kept back to end the command and to tell what it wrote, at most.
const MARGIN: Duration = Duration::from_millis(500);
/// How much of each stream an error repeats, in bytes.
const MAX_TOLD: usize = 1500;

/// An executor of one declared command.
#[derive(Debug)]
pub(crate) struct CommandTool {
    spec: ToolSpec,
    template: Template,
    confinement: Confinement,
    /// Made by the first call, so that a tool which is never called starts nothing.
    prepared: Mutex<Option<Prepared>>,
}

impl CommandTool {
    /// A command as a tool of this name, in a working directory.
    pub(crate) fn new(
        name: &str,
        config: &CommandConfig,
        workdir: &Path,
    ) -> Result<Self, CommandConfigError> {
        Ok(Self {
            spec: config.spec(name)?,
            template: config.template()?,
            confinement: config.confinement(workdir)?,
            prepared: Mutex::default(),
        })
    }

    /// What the model sees.
    pub(crate) fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn spawn(&self, argv: &[String]) -> Result<Child, ToolError> {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if prepared.is_none() {
            let made = self.confinement.prepare().map_err(|error| self.unavailable(&error))?;
            *prepared = Some(made);
        }
        let Some(prepared) = prepared.as_ref() else { return Err(ToolError::Cancelled) };
        let (program, arguments) = argv.split_first().ok_or(ToolError::Cancelled)?;
        prepared.spawn(Command::new(program).args(arguments)).map_err(|error| match error {
            SpawnError::Program { .. } => self.unavailable(&error),
            error => ToolError::failed(error.to_string()),
        })
    }

    fn unavailable(&self, error: &dyn std::error::Error) -> ToolError {
        let tool = self.spec.name().to_string();
        ToolError::BackendUnavailable { tool, message: error.to_string() }
    }
}

impl ToolExecutor for CommandTool {
    fn name(&self) -> &ToolName {
        self.spec.name()
    }

    fn execute(&self, args: &ValidatedArgs, ctx: &ExecContext) -> Result<ToolOutput, ToolError> {
        let argv = self.template.fill(args.as_object()).map_err(ToolError::failed)?;
        let mut child = self.spawn(&argv)?;
        let max = ctx.limits().max_output().as_usize() / 2;
        let streams = Streams::of(&mut child, max).map_err(|e| ToolError::failed(e.to_string()))?;
        let outcome = wait(&mut child, ctx);
        // Also where the call was given up: what was made is there.
        let changes = Changed::by(self.spec.name(), &child);
        let outcome = outcome?;
        let streams = streams.finish().map_err(|e| ToolError::failed(e.to_string()))?;
        let told = || changes.told(streams.told());
        let Some(outcome) = outcome else {
            let timeout = ctx.timeout();
            let (after, source_of_limit) = (timeout.after, timeout.source);
            return Err(ToolError::TimedOut { after, source_of_limit, so_far: Some(told()) });
        };
        match outcome {
            Outcome::Code(0) => {
                let mut output = streams.output(ctx.limits().max_output());
                output.confinement = changes.with(child.report()).map(Arc::new);
                Ok(output)
            }
            Outcome::Code(code) => Err(failure(told(), ExitStatus::Code(code))),
            Outcome::Signal(signal) => Err(failure(told(), ExitStatus::Signal(signal))),
            Outcome::LimitExceeded(limit) => Err(ToolError::LimitExceeded {
                limit: limit.to_string(),
                message: format!("The command was ended by it. {}", told()),
            }),
            _ => Err(ToolError::failed("the command ended in an unknown way")),
        }
    }
}

fn failure(message: String, exit: ExitStatus) -> ToolError {
    ToolError::ExecutionFailed { message, exit: Some(exit) }
}

/// Waits for the end. Ends the command where its caller has given it up, and before its time is up
/// (`None`), so that what it wrote is told.
fn wait(child: &mut Child, ctx: &ExecContext) -> Result<Option<Outcome>, ToolError> {
    let failed = |error: confine::WaitError| ToolError::failed(error.to_string());
    let margin = (ctx.remaining() / 5).min(MARGIN);
    loop {
        if let Some(end) = child.wait_for(LOOK.min(ctx.remaining())).map_err(failed)? {
            return Ok(Some(end.outcome));
        }
        if ctx.remaining() <= margin && !ctx.is_cancelled() {
            child.terminate(GRACE.min(margin / 4)).map_err(failed)?;
            return Ok(None);
        }
        if ctx.is_cancelled() {
            child.terminate(GRACE).map_err(failed)?;
            return Err(ToolError::Cancelled);
        }
    }
}

/// Standard output and standard error, while they are read.
struct Streams<T> {
    stdout: T,
    stderr: T,
}

impl Streams<Option<Capture>> {
    fn of(child: &mut Child, max: usize) -> std::io::Result<Self> {
        let stdout = child.take_stdout().map(|stream| Capture::start(stream, max)).transpose()?;
        let stderr = child.take_stderr().map(|stream| Capture::start(stream, max)).transpose()?;
        Ok(Self { stdout, stderr })
    }

    fn finish(self) -> std::io::Result<Streams<Captured>> {
        let end = |capture: Option<Capture>| match capture {
            Some(capture) => capture.finish(),
            None => Ok(Captured::default()),
        };
        Ok(Streams { stdout: end(self.stdout)?, stderr: end(self.stderr)? })
    }
}

impl Streams<Captured> {
    /// The streams as JSON within the ceiling: what has to be escaped takes more room than it has bytes,
    /// so less and less is kept until it fits.
    fn output(mut self, max: ByteCount) -> ToolOutput {
        let mut room = max.as_usize() / 2;
        loop {
            let output = ToolOutput::json(self.as_json());
            if output.len_bytes() <= max || room == 0 {
                return output;
            }
            room /= 2;
            self.stdout = self.stdout.shrunk_to(room);
            self.stderr = self.stderr.shrunk_to(room);
        }
    }

    /// Each stream as a text, or as its beginning and its end with what was left out between.
    fn as_json(&self) -> Value {
        let mut all = Map::new();
        for (name, captured) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            let [head, tail] = captured.texts();
            let value = match captured.omitted_bytes() {
                0 => head.into(),
                omitted => json!({"head": head, "omitted_bytes": omitted, "tail": tail}),
            };
            all.insert(name.to_owned(), value);
        }
        Value::Object(all)
    }

    /// The end of what it wrote, for an error.
    fn told(&self) -> String {
        let last = |captured: &Captured| {
            let [head, tail] = captured.texts();
            let text = if tail.is_empty() { head } else { tail };
            let mut start = text.len().saturating_sub(MAX_TOLD);
            while !text.is_char_boundary(start) {
                start += 1;
            }
            text[start..].trim_end().to_owned()
        };
        match (last(&self.stderr), last(&self.stdout)) {
            (stderr, stdout) if stderr.is_empty() && stdout.is_empty() => {
                "It wrote nothing.".to_owned()
            }
            (stderr, stdout) if stdout.is_empty() => stderr,
            (stderr, stdout) => format!("{}\n{stdout}", clip(&stderr, MAX_TOLD)).trim().to_owned(),
        }
    }
}
