//! Builds a fuzz target with coverage.
//!
//! The flags are those of LLVM's SanitizerCoverage, which libFuzzer reads. They apply to what runs,
//! not to build scripts, because the host is named as the target.

use std::path::PathBuf;

use super::targets::Target;
use crate::{
    error::Error,
    process::{Program, root},
};

const COVERAGE: &[&str] = &[
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
];

/// Builds the target and gives its program.
pub(super) fn build(target: &Target) -> Result<PathBuf, Error> {
    let host = host()?;
    let built = target.folder.join("target");
    Program::new("cargo")
        .dir(&root())
        .args(["build", "--release", "--target", &host, "--bin", &target.name])
        .args([
            "--manifest-path".as_ref(),
            target.folder.join("Cargo.toml").as_os_str(),
            "--target-dir".as_ref(),
            built.as_os_str(),
        ])
        .env("RUSTFLAGS", COVERAGE.join(" "))
        .run()?;
    Ok(built.join(host).join("release").join(&target.name))
}

/// The triple of this machine.
fn host() -> Result<String, Error> {
    let version = Program::new("rustc").args(["-vV"]).output()?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Error::failed("rustc -vV names no host"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_a_triple() {
        assert!(host().unwrap().split('-').count() >= 3);
    }
}
