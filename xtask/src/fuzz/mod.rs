//! `cargo xtask fuzz TARGET SECONDS [--runs N]`: one fuzz target, built and run.
//!
//! A target is a file of a crate's `fuzz/fuzz_targets`. It is built with coverage by the compiler's
//! own sanitizer pass and linked with libFuzzer, so neither cargo-fuzz nor a nightly compiler is
//! needed: a C++ compiler is. Its corpus begins with the crate's `fuzz/seeds` and what `data/` holds,
//! and is kept in `fuzz/corpus` (not tracked), so that a later run goes on where this one ended.
//!
//! Ends with a line of what was measured; fails where an input broke a promise, and names its file.

mod arguments;
mod build;
mod run;
mod seeds;
mod targets;

use crate::error::Error;

/// Runs the chore.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let targets = targets::find()?;
    let asked = arguments::parse(arguments, &targets)?;
    let folders = run::Folders::prepare(asked.target)?;
    let seeds = seeds::write(asked.target, &folders.corpus)?;
    println!("fuzz {}: {seeds} seeds from data", asked.target.name);
    let program = build::build(asked.target)?;
    let summary = run::run(&program, &folders, &asked)?;
    println!("fuzz {}: {summary}", asked.target.name);
    summary.verdict()
}
