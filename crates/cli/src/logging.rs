//! Logs go to standard error: warnings by default, more with `-v` or `REMIT_LOG`.

use std::io;

use tracing_subscriber::EnvFilter;

use crate::{env, out};

pub(crate) fn start(verbose: u8) {
    let default = match verbose {
        0 => "warn",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let filter = env::log_filter().unwrap_or_else(|| default.to_owned());
    let filter = EnvFilter::try_new(&filter).unwrap_or_else(|error| {
        out::note(&format!("remit: REMIT_LOG is no filter ({error}); using {default:?}"));
        EnvFilter::new(default)
    });
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_target(false)
        .with_ansi(out::is_terminal_err())
        .init();
}
