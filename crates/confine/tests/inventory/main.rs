//! Inventories of directories, and how they differ.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod differing;
mod model;
mod walking;

use std::path::Path;

use confine::{Bounds, Change, Inventory};

/// An inventory within the usual bounds.
fn take(directory: &Path) -> Inventory {
    Inventory::take(directory, &Bounds::default()).unwrap()
}

/// The paths of changes.
fn paths(changes: &[Change]) -> Vec<&str> {
    changes.iter().map(|one| one.path.to_str().unwrap()).collect()
}
