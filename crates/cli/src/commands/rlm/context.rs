//! The text that a question is about: a file where it lies, or standard input in a file of its own.

use std::{
    fs::File,
    io::{self, IsTerminal},
    path::Path,
    sync::Arc,
};

use rlm_backend::{Context, ContextFile};

use crate::failure::Failure;

/// The context that was named, if one was.
pub(super) fn of(path: Option<&Path>) -> Result<Context, Failure> {
    match path {
        None => Ok(Context::None),
        Some(path) if path == Path::new("-") => stdin(),
        Some(path) => file(path),
    }
}

fn file(path: &Path) -> Result<Context, Failure> {
    let wrong =
        |message: &str| Failure::Operator(format!("--context: {}: {message}", path.display()));
    let metadata = path.metadata().map_err(|error| wrong(&error.to_string()))?;
    if !metadata.is_file() {
        return Err(wrong("is no regular file; \"-\" reads standard input"));
    }
    // The session reads it under its own path.
    let whole = path.canonicalize().map_err(|error| wrong(&error.to_string()))?;
    File::open(&whole).map_err(|error| wrong(&error.to_string()))?;
    if whole.to_str().is_none() {
        return Err(wrong("the path is not UTF-8"));
    }
    Ok(Context::File(whole))
}

fn stdin() -> Result<Context, Failure> {
    let mut input = io::stdin().lock();
    if input.is_terminal() {
        let message = "--context -: give the text on standard input, not on a terminal";
        return Err(Failure::Operator(message.to_owned()));
    }
    let failed =
        |error: io::Error| Failure::Broken(format!("--context -: it can't be kept: {error}"));
    let mut file = ContextFile::new().map_err(failed)?;
    io::copy(&mut input, &mut file).map_err(failed)?;
    Ok(Context::Temporary { file: Arc::new(file), is_json: false })
}
