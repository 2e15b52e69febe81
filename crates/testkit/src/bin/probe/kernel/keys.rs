//! Keyrings: they hang on users and sessions, not on namespaces.

use crate::attempt::{Attempt, Given, Tried, past_check};
use crate::sys::call;

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("kernel.keyring-session", "reads the session keyring", session),
    Attempt::new("kernel.keyring-user", "finds the user's keyring", user),
    Attempt::new("kernel.keyring-join", "makes a session keyring", join),
    Attempt::new("kernel.key-add", "adds a key", add),
    Attempt::new("kernel.key-request", "asks for a key that is not there", request),
];

const GET_KEYRING_ID: i32 = 0;
const JOIN_SESSION: i32 = 1;
const READ: i32 = 11;
const PROCESS_KEYRING: i32 = -2;
const SESSION_KEYRING: i32 = -3;
const USER_KEYRING: i32 = -4;

fn session(_: &Given) -> Tried {
    let keyring = call!(libc::SYS_keyctl, GET_KEYRING_ID, SESSION_KEYRING, 0)?;
    let mut keys = [0; 64];
    let length = call!(libc::SYS_keyctl, READ, keyring, &mut keys[..], 64)?;
    Ok(format!("{length} bytes of key numbers"))
}

fn user(_: &Given) -> Tried {
    call!(libc::SYS_keyctl, GET_KEYRING_ID, USER_KEYRING, 1)?;
    Ok("found".to_owned())
}

fn join(_: &Given) -> Tried {
    call!(libc::SYS_keyctl, JOIN_SESSION, 0)?;
    Ok("joined".to_owned())
}

fn add(_: &Given) -> Tried {
    // The process keyring goes away with this process.
    call!(libc::SYS_add_key, c"user", c"probe", &b"x"[..], 1, PROCESS_KEYRING)?;
    Ok("added".to_owned())
}

fn request(_: &Given) -> Tried {
    let tried = call!(libc::SYS_request_key, c"user", c"probe-no-such-key", 0, 0);
    past_check(tried, libc::ENOKEY)
}
