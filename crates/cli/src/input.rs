//! Texts that an operator names: read whole, and bounded, so that a device is refused and not read on.

use std::{fs::File, io::Read, path::Path};

use crate::failure::Failure;

/// The most bytes of a task, a script, a recording or a configuration.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The text of a file; `what` is the flag that names it.
pub(crate) fn file(what: &str, path: &Path) -> Result<String, Failure> {
    let what = format!("{what}: {}", path.display());
    let file = File::open(path).map_err(|error| Failure::Operator(format!("{what}: {error}")))?;
    text(&what, file)
}

/// All that comes from `input`.
pub(crate) fn text(what: &str, input: impl Read) -> Result<String, Failure> {
    let mut text = String::new();
    let read = input.take(MAX_BYTES + 1).read_to_string(&mut text);
    let bytes = read.map_err(|error| Failure::Operator(format!("{what}: {error}")))?;
    if bytes as u64 > MAX_BYTES {
        return Err(Failure::Operator(format!("{what}: more than {MAX_BYTES} bytes")));
    }
    Ok(text)
}
