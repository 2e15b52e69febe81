//! Logs go to standard error, above what is drawn there: warnings by default, more with `-v` or
//! `REMIT_LOG`. They are never coloured.

use tracing_subscriber::EnvFilter;

use crate::{env, screen::Screen};

pub(crate) fn start(verbose: u8, screen: &Screen) {
    let default = match verbose {
        // What a client gets wrong is answered to it, and no warning for the operator.
        0 => "warn,rmcp=error",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let filter = env::log_filter().unwrap_or_else(|| default.to_owned());
    let filter = EnvFilter::try_new(&filter).unwrap_or_else(|error| {
        screen.say(&format!("remit: REMIT_LOG is no filter ({error}); using {default:?}"));
        EnvFilter::new(default)
    });
    let screen = screen.clone();
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(move || screen.clone())
        .with_target(false)
        .with_ansi(false);
    // A warning beside a command's own words needs no time; a log that was asked for does.
    if verbose == 0 { logs.without_time().init() } else { logs.init() }
}
