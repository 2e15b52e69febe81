//! Ctrl-C and SIGTERM: once stops cleanly, twice at once.

use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use crate::{failure::Failure, screen::Screen};

/// The exit code of an interrupted command.
pub(crate) const INTERRUPTED: u8 = 130;

/// Cancels the token at the first interrupt, and ends the process at the second.
///
/// Interrupts are heard on a thread of their own, so that they are also heard while something blocks,
/// for example a standard output that nobody reads.
pub(crate) fn watch(screen: &Screen, stop: CancellationToken) -> Result<(), Failure> {
    let failed = |error| Failure::Broken(format!("interrupts can't be heard: {error}"));
    let runtime = Builder::new_current_thread().enable_io().build().map_err(failed)?;
    let mut interrupts = {
        let _entered = runtime.enter();
        Interrupts::new().map_err(failed)?
    };
    let screen = screen.clone();
    let listen = async move {
        interrupts.next().await;
        screen.say_now("remit: stopping; interrupt again to end at once");
        stop.cancel();
        interrupts.next().await;
        at_once();
    };
    let listener = std::thread::Builder::new().name("interrupts".to_owned());
    listener.spawn(move || runtime.block_on(listen)).map_err(failed)?;
    Ok(())
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
