//! Writing: lines to standard output, words for people to standard error.

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use serde::Serialize;

use crate::failure::Failure;

/// One line of JSON on standard output, flushed, so that a reader has it at once.
pub(crate) fn json_line(value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string(value)
        .map_err(|error| Failure::Broken(format!("a result can't be written as JSON: {error}")))?;
    text.push('\n');
    text_out(&text)
}

/// Text on standard output, as it is.
pub(crate) fn text_out(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Bytes on standard output, as they are.
pub(crate) fn bytes_out(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(())
}

/// A line for people. A closed standard error is nobody's problem.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

pub(crate) fn is_terminal_out() -> bool {
    io::stdout().is_terminal()
}

pub(crate) fn is_terminal_err() -> bool {
    io::stderr().is_terminal()
}

/// What clap has to say: help to standard output, mistakes to standard error with exit code 2.
pub(crate) fn usage(usage: &clap::Error) -> ExitCode {
    // A closed output ends quietly.
    let _ = usage.print();
    ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2))
}

pub(crate) fn complain(failure: &Failure) {
    note(&format!("remit: {}", crate::printable::lines(&failure.to_string())));
}
