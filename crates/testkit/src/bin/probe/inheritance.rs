//! What a program finds that its parent had and did not name.
//!
//! The suite starts from a parent that has everything it should not pass on (`--worsen`, an
//! environment canary, descriptors, groups), and these look for it.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::os::unix::process::parent_id;

use crate::attempt::{Attempt, Given, Stop, Tried, denied};
use crate::stage::{BLOCKED, MASK};
use crate::sys::{call, pipe_was_ignored, umask};

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
    let here = fs::read_link("/proc/self/cwd")?;
    if here == given.path("outside", "")? {
        Ok(here.display().to_string())
    } else {
        Err(denied("elsewhere"))
    }
}

fn mask(_: &Given) -> Tried {
    if umask(0o022) == MASK { Ok(format!("{MASK:o}")) } else { Err(denied("another mask")) }
}

/// A field of /proc/self/status that is a number in base 16.
fn status(field: &str) -> Result<u64, Stop> {
    let text = fs::read_to_string("/proc/self/status")?;
    let value = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(":\t"));
    let value = value.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    value.ok_or_else(|| Stop::Untried(format!("the kernel does not say {field}")))
}

fn has_signal(field: &str, signal: i32) -> Tried {
    let set = status(field)? & 1 << (signal - 1);
    if set == 0 { Err(denied("it has not")) } else { Ok(format!("signal {signal}")) }
}

fn blocked(_: &Given) -> Tried {
    has_signal("SigBlk", BLOCKED)
}

fn interrupt(_: &Given) -> Tried {
    has_signal("SigIgn", libc::SIGINT)
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

fn capabilities(field: &str) -> Tried {
    match status(field)? {
        0 => Err(denied("none")),
        set => Ok(format!("{set:x}")),
    }
}

fn effective(_: &Given) -> Tried {
    capabilities("CapEff")
}

fn permitted(_: &Given) -> Tried {
    capabilities("CapPrm")
}

fn inheritable(_: &Given) -> Tried {
    capabilities("CapInh")
}

fn bounding(_: &Given) -> Tried {
    capabilities("CapBnd")
}

fn ambient(_: &Given) -> Tried {
    capabilities("CapAmb")
}

fn new_privileges(_: &Given) -> Tried {
    if status("NoNewPrivs")? == 0 { Ok("it can".to_owned()) } else { Err(denied("it cannot")) }
}

fn no_filter(_: &Given) -> Tried {
    if status("Seccomp")? == 0 { Ok("no filter".to_owned()) } else { Err(denied("filtered")) }
}
