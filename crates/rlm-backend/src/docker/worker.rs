//! The thread that waits for engines: one event loop for all containers of a backend.
//!
//! The traits of backends block, and are called from threads with and without an event loop of their
//! own; what is asked of an engine runs here, with a deadline. The thread ends with its backend.

use std::{future::Future, io, sync::mpsc, time::Duration};

use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
};

/// A handle of the thread; dropping it ends the thread.
#[derive(Debug)]
pub(super) struct Worker {
    handle: Handle,
    _end: oneshot::Sender<()>,
}

impl Worker {
    /// Starts the thread.
    pub(super) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel::<()>();
        std::thread::Builder::new().name("remit-docker".to_owned()).spawn(move || {
            // The sender is dropped, never used.
            let _ = runtime.block_on(ended);
        })?;
        Ok(Self { handle, _end: end })
    }

    /// Where its tasks are started.
    pub(super) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Blocks until the work is done; nothing where it is not done in time, and is dropped then.
    pub(super) fn wait<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let (tell, told) = mpsc::sync_channel(1);
        self.handle.spawn(async move {
            if let Ok(done) = tokio::time::timeout(limit, work).await {
                // The channel has room, and whoever waits does so until it is told.
                let _ = tell.send(done);
            }
        });
        told.recv().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_in_time_is_given_and_what_is_not_is_dropped() {
        let worker = Worker::start().unwrap();
        assert_eq!(worker.wait(Duration::from_secs(5), async { 7 }), Some(7));
        let never = worker.wait(Duration::from_millis(20), std::future::pending::<()>());
        assert_eq!(never, None);
    }

    #[tokio::test]
    async fn it_can_be_waited_for_within_another_event_loop() {
        let worker = Worker::start().unwrap();
        let nap = tokio::time::sleep(Duration::from_millis(1));
        drop(nap);
        let slept = worker.wait(Duration::from_secs(5), async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            true
        });
        assert_eq!(slept, Some(true));
    }
}
