//! Requests of other processes: `remit agents kill` leaves a file, and the host that owns the agent ends
//! it.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use super::{Directory, Shared};
use crate::record::{Store, request_path};

/// How often it is looked.
const PERIOD: Duration = Duration::from_millis(250);

/// Looks for requests as long as the pool is there.
pub(super) fn listen(shared: &Arc<Shared>) {
    use std::sync::atomic::Ordering::AcqRel;
    if shared.is_listening.swap(true, AcqRel) {
        return;
    }
    let directory = Arc::downgrade(&shared.directory);
    let store = Arc::downgrade(&shared.store);
    tokio::spawn(async move {
        while look(&directory, &store).is_some() {
            tokio::time::sleep(PERIOD).await;
        }
    });
}

/// Ends the agents that somebody asked to end. Nothing once the pool is gone.
fn look(directory: &Weak<Directory>, store: &Weak<Store>) -> Option<()> {
    let (directory, store) = (directory.upgrade()?, store.upgrade()?);
    for agent in directory.live() {
        // The file says all there is to say by being there.
        if std::fs::remove_file(request_path(store.folder(), agent.id)).is_ok() {
            agent.end.cancel();
        }
    }
    Some(())
}
