//! What a program finds that its parent had and did not name.
//!
//! The suite starts from a parent that has everything it should not pass on (`--worsen`, an
//! environment canary, descriptors, groups), and these look for it.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::os::unix::process::parent_id;

use crate::attempt::{Attempt, Given, Tried, denied};
use crate::stage::{BLOCKED, MASK};
use crate::sys::{call, halves, is_ignored, pipe_was_ignored, umask};

/// The tables of this group.
pub(crate) const TABLES: &[&[Attempt]] = &[&[
    Attempt::new("inheritance.environment", "finds the canary in its environment", environment),
    Attempt::new("inheritance.any-credential", "finds a name that ends in _KEY", credential),
    Attempt::new("inheritance.descriptors", "finds descriptors above 2", descriptors),
    Attempt::new("inheritance.high-descriptors", "finds descriptors above 1023", high),
    Attempt::new("inheritance.input", "reads the parent's input", input),
    Attempt::new("inheritance.directory", "starts in the parent's directory", directory),
    Attempt::new("inheritance.mask", "has the parent's file mode mask", mask),
    Attempt::new("inheritance.blocked-signals", "has the parent's blocked signals", blocked),
    Attempt::new("inheritance.ignored-interrupt", "ignores SIGINT as the parent", interrupt),
    Attempt::new("inheritance.ignored-pipe", "ignores SIGPIPE as the parent", pipe),
    Attempt::new("inheritance.session", "is in the parent's session", session),
    Attempt::new("inheritance.process-group", "is in the parent's process group", group),
    Attempt::new("inheritance.groups", "has supplementary groups", groups),
    Attempt::new("inheritance.capabilities-effective", "has capabilities", effective).root(),
    Attempt::new("inheritance.capabilities-permitted", "could have some", permitted).root(),
    Attempt::new("inheritance.capabilities-inheritable", "could pass some on", inheritable).root(),
    Attempt::new("inheritance.capabilities-bounding", "could gain some by a file", bounding),
    Attempt::new("inheritance.capabilities-ambient", "passes some on", ambient).root(),
    Attempt::new("inheritance.new-privileges", "can gain privileges by exec", new_privileges),
    Attempt::new("inheritance.no-filter", "runs without a system call filter", no_filter),
]];

fn environment(given: &Given) -> Tried {
    let name = given.text("secret")?;
    find_variable(|candidate| candidate == name)
}

fn credential(_: &Given) -> Tried {
    find_variable(|name| name.ends_with("_KEY") || name.ends_with("_TOKEN"))
}

#[expect(clippy::disallowed_methods, reason = "what is tried is to find the host's environment")]
fn find_variable(wanted: impl Fn(&str) -> bool) -> Tried {
    let found = std::env::vars_os().find(|(name, _)| wanted(&name.to_string_lossy()));
    let (name, value) = found.ok_or_else(|| denied("it is not there"))?;
    // A credential that is not the suite's canary is named, never shown.
    let value = value.to_string_lossy();
    let shown = if value.starts_with("canary") { &value } else { "(not shown)" };
    Ok(format!("{}={shown}", name.to_string_lossy()))
}

/// The descriptors that are open, without the one that lists them.
fn open_above(least: i32) -> Tried {
    let mut found = BTreeSet::new();
    for number in least..4096 {
        if call!(libc::SYS_fcntl, number, libc::F_GETFD).is_ok() {
            found.insert(number);
        }
    }
    if found.is_empty() { Err(denied("none is open")) } else { Ok(format!("{found:?}")) }
}

fn descriptors(_: &Given) -> Tried {
    open_above(3)
}

fn high(_: &Given) -> Tried {
    open_above(1024)
}

fn input(_: &Given) -> Tried {
    let mut text = String::new();
    std::io::stdin().take(64).read_to_string(&mut text)?;
    if text.is_empty() { Err(denied("it is at its end")) } else { Ok(text) }
}

fn directory(given: &Given) -> Tried {
    let here = std::env::current_dir()?;
    if here == given.path("outside", "")? {
        Ok(here.display().to_string())
    } else {
        Err(denied("elsewhere"))
    }
}

fn mask(_: &Given) -> Tried {
    if umask(0o022) == MASK { Ok(format!("{MASK:o}")) } else { Err(denied("another mask")) }
}

fn blocked(_: &Given) -> Tried {
    let mut set = [0; 8];
    call!(libc::SYS_rt_sigprocmask, libc::SIG_BLOCK, 0, &mut set[..], 8)?;
    match u64::from_ne_bytes(set) & 1 << (BLOCKED - 1) {
        0 => Err(denied("it is not blocked")),
        _ => Ok(format!("signal {BLOCKED} is blocked")),
    }
}

fn interrupt(_: &Given) -> Tried {
    if is_ignored(libc::SIGINT) { Ok("ignored".to_owned()) } else { Err(denied("not ignored")) }
}

/// The runtime of this program ignores SIGPIPE itself, so what counts is how it was before.
fn pipe(_: &Given) -> Tried {
    if pipe_was_ignored() { Ok("ignored".to_owned()) } else { Err(denied("not ignored")) }
}

fn session(_: &Given) -> Tried {
    same(libc::SYS_getsid)
}

fn group(_: &Given) -> Tried {
    same(libc::SYS_getpgid)
}

/// Whether we have the same number as the parent; a leader whose number is 0 is outside.
fn same(number: libc::c_long) -> Tried {
    let (ours, theirs) = (call!(number, 0)?, call!(number, parent_id())?);
    let leader = ours == i64::from(std::process::id());
    if !leader && (ours == 0 || ours == theirs) {
        Ok(format!("{ours}"))
    } else {
        Err(denied("another"))
    }
}

fn groups(_: &Given) -> Tried {
    let mut list = vec![0; 4 * 64];
    let count = usize::try_from(call!(libc::SYS_getgroups, 64, &mut list[..])?).unwrap_or(0);
    let words = list.chunks_exact(4).take(count).filter_map(|word| word.try_into().ok());
    let all: Vec<u32> = words.map(u32::from_ne_bytes).collect();
    if all.is_empty() { Err(denied("none")) } else { Ok(format!("{all:?}")) }
}

/// The three sets of `capget`, one of them by its place.
fn capabilities(place: usize) -> Tried {
    let header = halves(&[0x2008_0522, 0]);
    let mut sets = [0; 24];
    call!(libc::SYS_capget, &header, &mut sets[..])?;
    let (low, high) = (4 * place, 4 * place + 12);
    let set = [&sets[low..low + 4], &sets[high..high + 4]].concat();
    if set == [0; 8] { Err(denied("none")) } else { Ok(format!("{set:x?}")) }
}

fn effective(_: &Given) -> Tried {
    capabilities(0)
}

fn permitted(_: &Given) -> Tried {
    capabilities(1)
}

fn inheritable(_: &Given) -> Tried {
    capabilities(2)
}

/// Asks for every capability whether it is in a set that only `prctl` shows.
fn any_capability(ask: impl Fn(u64) -> std::io::Result<i64>) -> Tried {
    let has = |number: &u64| ask(*number).is_ok_and(|answer| answer == 1);
    match (0..64).filter(has).count() {
        0 => Err(denied("none")),
        count => Ok(format!("{count} capabilities")),
    }
}

fn bounding(_: &Given) -> Tried {
    any_capability(|number| call!(libc::SYS_prctl, libc::PR_CAPBSET_READ, number, 0, 0, 0))
}

fn ambient(_: &Given) -> Tried {
    let (option, ask) = (libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_IS_SET);
    any_capability(|number| call!(libc::SYS_prctl, option, ask, number, 0, 0))
}

fn new_privileges(_: &Given) -> Tried {
    match call!(libc::SYS_prctl, libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)? {
        0 => Ok("it can".to_owned()),
        _ => Err(denied("it cannot")),
    }
}

fn no_filter(_: &Given) -> Tried {
    match call!(libc::SYS_prctl, libc::PR_GET_SECCOMP, 0, 0, 0, 0)? {
        0 => Ok("no filter".to_owned()),
        _ => Err(denied("filtered")),
    }
}
