//! Ctrl-C and SIGTERM: once stops cleanly, twice at once.

use tokio_util::sync::CancellationToken;

use crate::out;

/// The exit code of an interrupted command.
pub(crate) const INTERRUPTED: u8 = 130;

/// A token that the first interrupt cancels. The second ends the process.
pub(crate) fn watch() -> CancellationToken {
    let token = CancellationToken::new();
    let stop = token.clone();
    tokio::spawn(async move {
        if next().await.is_err() {
            return;
        }
        out::note("remit: stopping; interrupt again to end at once");
        stop.cancel();
        if next().await.is_ok() {
            at_once();
        }
    });
    token
}

#[cfg(unix)]
async fn next() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}

#[cfg(not(unix))]
async fn next() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}

#[expect(clippy::exit, reason = "a person asked a second time to end at once")]
fn at_once() -> ! {
    std::process::exit(INTERRUPTED.into())
}
