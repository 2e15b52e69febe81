//! Unix sockets of the host in what can be read: they are hidden, since a read-only mount keeps nobody
//! from connecting to one.
//!
//! Looked for once, when a confinement is prepared. A socket that the host makes later can be
//! connected to.

use super::paths::{Guarded, Paths, Visible};
use crate::PrepareError;
use crate::inventory::{Bounds, FileKind, Inventory};

impl Paths {
    /// Has the sockets in read-only directories be hidden. Those in writable ones are looked for at
    /// each launch.
    pub(super) fn hide_sockets(&mut self, bounds: &Bounds) -> Result<(), PrepareError> {
        let is_watched =
            |one: &Visible| self.writable().any(|writable| one.path.starts_with(&writable.path));
        let homes: Vec<_> =
            self.binds().filter(|one| one.is_directory && !is_watched(one)).cloned().collect();
        for home in homes {
            let Ok(inventory) = Inventory::take(&home.path, bounds) else {
                self.unseen.push(format!("{} can't be looked at", home.path.display()));
                continue;
            };
            let gaps = inventory.gaps().iter();
            self.unseen.extend(gaps.map(|gap| format!("in {}, {gap}", home.path.display())));
            for (path, _) in inventory.iter().filter(|(_, it)| it.kind() == FileKind::Socket) {
                self.sockets.push(Guarded::new(&home, path, true)?);
            }
        }
        Ok(())
    }
}
