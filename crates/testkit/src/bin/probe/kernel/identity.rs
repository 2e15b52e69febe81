//! Becoming someone else, or getting rights back.

use crate::attempt::{Attempt, Given, Tried};
use crate::sys::{call, halves, words};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("kernel.set-user", "becomes another user", set_user).root(),
    Attempt::new("kernel.set-group", "becomes another group", set_group).root(),
    Attempt::new("kernel.set-groups", "joins other groups", set_groups).root(),
    Attempt::new("kernel.file-system-user", "opens files as another user", fs_user).root(),
    Attempt::new("kernel.raise-capabilities", "takes CAP_SYS_ADMIN", raise).root(),
    Attempt::new("kernel.secure-bits", "changes its secure bits", secure_bits).root(),
    Attempt::new("kernel.raise-limit", "raises a hard limit", raise_limit).root(),
];

fn set_user(_: &Given) -> Tried {
    call!(libc::SYS_setuid, 12_345)?;
    Ok("another user".to_owned())
}

fn set_group(_: &Given) -> Tried {
    call!(libc::SYS_setgid, 12_345)?;
    Ok("another group".to_owned())
}

fn set_groups(_: &Given) -> Tried {
    call!(libc::SYS_setgroups, 1, &halves(&[12_345]))?;
    Ok("joined".to_owned())
}

fn fs_user(_: &Given) -> Tried {
    // The call never fails; asking twice shows whether the first one had an effect.
    call!(libc::SYS_setfsuid, 12_345)?;
    match call!(libc::SYS_setfsuid, -1)? {
        12_345 => Ok("another user".to_owned()),
        _ => Err(crate::attempt::denied("still the same user")),
    }
}

fn raise(_: &Given) -> Tried {
    const SYS_ADMIN: u32 = 1 << 21;
    // Version 3 of the header; the low words hold the capability asked for.
    let header = halves(&[0x2008_0522, 0]);
    let sets = halves(&[SYS_ADMIN, SYS_ADMIN, 0, 0, 0, 0]);
    call!(libc::SYS_capset, &header, &sets)?;
    Ok("taken".to_owned())
}

fn secure_bits(_: &Given) -> Tried {
    call!(libc::SYS_prctl, libc::PR_SET_SECUREBITS, 1, 0, 0, 0)?;
    Ok("changed".to_owned())
}

fn raise_limit(_: &Given) -> Tried {
    // Of the limits that are rarely infinite: the memory of message queues.
    let (kind, mut limit) = (libc::RLIMIT_MSGQUEUE, words(&[0, 0]));
    call!(libc::SYS_prlimit64, 0, kind, 0, &mut limit[..])?;
    let mut hard = [0; 8];
    hard.copy_from_slice(&limit[8..]);
    let more = words(&[0, u64::from_ne_bytes(hard).saturating_add(1)]);
    call!(libc::SYS_prlimit64, 0, kind, &more, 0)?;
    Ok("raised".to_owned())
}
