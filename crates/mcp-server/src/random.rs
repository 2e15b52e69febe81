//! Texts that nobody guesses.

use std::{
    fs::File,
    io::{self, Read},
};

/// So many random bytes, as hexadecimal digits.
pub(crate) fn hex<const BYTES: usize>() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
