//! `remit sessions`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    Gc(GcArgs),
}

/// Remove containers of sessions whose program is gone
#[derive(Debug, Args)]
#[command(
    after_help = "A program that was killed leaves its containers behind; every other removes them at its \
                  next start\nand every minute. This does it now. Containers of programs that run, and of \
                  other machines, are\nleft alone.\n\nEnds with 1 where one could not be removed."
)]
pub(crate) struct GcArgs {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Configuration file (TOML), for sandbox.docker
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}
