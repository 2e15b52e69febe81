//! `remit agents`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Look at sub-agents of this and earlier runs, and end them
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "An agent is named by its id, or by the beginning or the end of it that no other has.\n\n\
                  Examples:\n  remit agents\n  remit agents tail -f 01JD\n  remit agents kill 01JD"
)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<AgentsCommand>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// List them, oldest first
    List(ListArgs),
    /// Show all that is known of one
    Show(OneArgs),
    /// Print what one has written
    Tail {
        /// Go on until it ends
        #[arg(short, long)]
        follow: bool,
        #[command(flatten)]
        one: OneArgs,
    },
    /// End one, in whichever run of remit it lives
    Kill(OneArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print JSON on a terminal too; in a pipe or a file it always is
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OneArgs {
    /// The agent
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// Configuration file (TOML), for subagent.state_dir
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}
