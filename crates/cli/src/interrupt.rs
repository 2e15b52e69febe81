//! Ctrl-C and SIGTERM: once stops cleanly, twice at once.

use tokio_util::sync::CancellationToken;

use crate::screen::Screen;

/// The exit code of an interrupted command.
pub(crate) const INTERRUPTED: u8 = 130;

/// A token that the first interrupt cancels. The second ends the process.
pub(crate) fn watch(screen: &Screen) -> CancellationToken {
    let token = CancellationToken::new();
    let (stop, screen) = (token.clone(), screen.clone());
    tokio::spawn(async move {
        let Ok(mut interrupts) = Interrupts::new() else { return };
        interrupts.next().await;
        screen.say_now("remit: stopping; interrupt again to end at once");
        stop.cancel();
        interrupts.next().await;
        at_once();
    });
    token
}

#[cfg(unix)]
struct Interrupts {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Interrupts {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let interrupt = signal(SignalKind::interrupt())?;
        Ok(Self { interrupt, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Interrupts;

#[cfg(not(unix))]
impl Interrupts {
    fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        // Where no handler can be had, Ctrl-C ends the process by itself.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}

#[expect(clippy::exit, reason = "a person asked a second time to end at once")]
fn at_once() -> ! {
    std::process::exit(INTERRUPTED.into())
}
