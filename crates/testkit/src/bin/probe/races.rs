//! Attempts that win by being quick: what a path names changes between the check and the use.
//!
//! Each runs for a quarter of a second at most and stops at the first success.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::attempt::{Attempt, Given, Tried, c_path, denied};
use crate::files::{MARK, append, read_canary};
use crate::sys::call;

/// The tables of this group.
pub(crate) const TABLES: &[&[Attempt]] = &[&[
    Attempt::new("races.link-write", "writes while a path becomes a link", link_write)
        .judged_by_world(),
    Attempt::new("races.link-read", "reads while a path becomes a link", link_read),
    Attempt::new("races.exchange-read", "reads while two directories change places", exchange),
    Attempt::new("races.rename-parent", "opens .. while its directory moves", rename_parent),
    Attempt::new("races.protected-parent", "plants a hook while its parent moves", protected)
        .on_guarded(),
    Attempt::new("races.protected-recreate", "recreates .git in a loop", recreate).on_guarded(),
    Attempt::new("races.workdir-parent", "moves the workdir itself", workdir_parent),
]];

const PATIENCE: Duration = Duration::from_millis(250);

/// Runs `swap` again and again in a thread, and `step` here until it succeeds.
fn race(swap: impl Fn() + Sync, mut step: impl FnMut() -> Tried) -> Tried {
    let over = AtomicBool::new(false);
    let end = Instant::now() + PATIENCE;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                swap();
            }
        });
        let reached = loop {
            match step() {
                Err(_) if Instant::now() < end => {}
                last => break last,
            }
        };
        over.store(true, Ordering::Relaxed);
        reached
    })
}

/// `path` is a file of ours in one moment, and a link to `target` in the next.
fn flip(path: &Path, target: &Path) {
    let next = path.with_extension("next");
    // In a race any of these may fail; the next turn tries again.
    let _written = fs::write(&next, "ours");
    let _renamed = fs::rename(&next, path);
    let _linked = symlink(target, &next);
    let _renamed = fs::rename(&next, path);
}

fn link_write(given: &Given) -> Tried {
    let (path, target) = (given.path("work", "swap")?, given.path("outside", "target")?);
    let before = fs::metadata(&target).ok().map(|data| data.len());
    race(
        || flip(&path, &target),
        || {
            append(&path)?;
            match fs::metadata(&target) {
                Ok(data) if Some(data.len()) != before => Ok("wrote outside".to_owned()),
                _ => Err(denied("wrote a file of ours")),
            }
        },
    )
}

fn link_read(given: &Given) -> Tried {
    let (path, target) = (given.path("work", "swap")?, given.path("outside", "canary")?);
    race(
        || flip(&path, &target),
        || match read_canary(&path)? {
            text if text.is_empty() || text == "ours" => Err(denied("read a file of ours")),
            text => Ok(text),
        },
    )
}

fn exchange(given: &Given) -> Tried {
    let (ours, link) = (given.path("work", "ours")?, given.path("work", "link")?);
    fs::create_dir(&ours)?;
    fs::write(ours.join("canary"), "ours")?;
    symlink(given.path("outside", "")?, &link)?;
    let (first, second) = (c_path(&ours)?, c_path(&link)?);
    let here = libc::AT_FDCWD;
    race(
        || {
            let flags = libc::RENAME_EXCHANGE;
            let _swapped = call!(libc::SYS_renameat2, here, &first, here, &second, flags);
        },
        || match read_canary(&ours.join("canary"))? {
            text if text == "ours" => Err(denied("read a file of ours")),
            text => Ok(text),
        },
    )
}

fn rename_parent(given: &Given) -> Tried {
    let work = given.path("work", "")?;
    fs::create_dir_all(work.join("a/b/c"))?;
    call!(libc::SYS_chdir, &c_path(&work.join("a/b/c"))?)?;
    race(
        || {
            let _up = fs::rename(work.join("a/b/c"), work.join("c"));
            let _down = fs::rename(work.join("c"), work.join("a/b/c"));
        },
        || read_canary(Path::new("../../outside/canary")),
    )
}

fn protected(given: &Given) -> Tried {
    let (from, to) = (given.path("work", "vendor")?, given.path("work", "moved")?);
    let hook = to.join("sub/.git/hooks/post-checkout");
    race(
        || {
            let _there = fs::rename(&from, &to);
            let _back = fs::rename(&to, &from);
        },
        || append(&hook),
    )
}

fn recreate(given: &Given) -> Tried {
    let (git, away) = (given.path("work", ".git")?, given.path("work", "away")?);
    let hooks = git.join("hooks");
    race(
        || {
            let _away = fs::rename(&git, &away);
            let _made = fs::create_dir_all(&hooks);
        },
        || {
            fs::write(hooks.join("post-merge"), MARK)?;
            Ok("planted".to_owned())
        },
    )
}

fn workdir_parent(given: &Given) -> Tried {
    let work = given.path("work", "")?;
    let moved = work.with_extension("moved");
    fs::rename(&work, &moved)?;
    fs::rename(&moved, &work)?;
    Ok("moved, and back".to_owned())
}
