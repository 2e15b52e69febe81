//! The parts of the stage that must be a process: the victim, and the bad parent.

use std::ffi::CString;
use std::io::{self, Read as _};
use std::process::ExitCode;

use serde_json::json;

use crate::sys::{address, call, exec, ignore_signal, umask};
use crate::table;

/// The mode mask that a worsened process has, to be recognized by the attempt.
pub(crate) const MASK: libc::mode_t = 0o007;
/// The signal that a worsened process has blocked.
pub(crate) const BLOCKED: i32 = libc::SIGUSR1;
/// What the victim keeps in its memory.
const SECRET: &[u8] = b"canary-in-memory";

/// A process that only lives: prints where its secret is, then sleeps until its input ends.
pub(crate) fn victim() -> ExitCode {
    let secret = SECRET.to_vec();
    // Where Yama restricts tracing to parents, the victim allows everyone.
    let _no_yama = call!(libc::SYS_prctl, libc::PR_SET_PTRACER, -1i64);
    let shared = shared_memory();
    table::say(&json!({"pid": std::process::id(), "address": address(&secret)}));
    let _ended = io::stdin().read_to_end(&mut Vec::new());
    if let Ok(shared) = shared {
        let _removed = call!(libc::SYS_shmctl, shared, libc::IPC_RMID, 0);
    }
    // Read again so that the buffer is there until now, and so that a write to it is seen.
    if secret == SECRET { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A small System V segment whose key is our process number.
fn shared_memory() -> io::Result<i64> {
    call!(libc::SYS_shmget, std::process::id(), 4096, libc::IPC_CREAT | 0o600)
}

/// Becomes `command`, with a mask, blocked and ignored signals that it should not have.
pub(crate) fn worsen(command: &[String]) -> ExitCode {
    umask(MASK);
    ignore_signal(libc::SIGINT, true);
    ignore_signal(libc::SIGPIPE, true);
    let mask = (1u64 << (BLOCKED - 1)).to_ne_bytes();
    let _set = call!(libc::SYS_rt_sigprocmask, libc::SIG_BLOCK, &mask[..], 0, mask.len());
    let texts: Result<Vec<_>, _> = command.iter().map(|text| CString::new(text.as_str())).collect();
    match texts {
        Ok(texts) => table::usage(&format!("{command:?}: {}", exec(&texts))),
        Err(_) => table::usage("an argument with a NUL"),
    }
}
