//! Calls that would change the whole machine; made so that nothing changes.

use crate::attempt::{Attempt, Given, Tried, past_check};
use crate::sys::{call, words};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("kernel.kexec", "loads a kernel (bad flags)", kexec).root(),
    Attempt::new("kernel.module-load", "loads a module (an empty one)", module_load).root(),
    Attempt::new("kernel.module-file", "loads a module (no descriptor)", module_file).root(),
    Attempt::new("kernel.module-remove", "removes a module (no such one)", module_remove).root(),
    Attempt::new("kernel.reboot", "restarts the machine (bad magic)", reboot).root(),
    Attempt::new("kernel.swap-on", "swaps to a file (no such one)", swap_on).root(),
    Attempt::new("kernel.swap-off", "ends swapping to a file (no such one)", swap_off).root(),
    Attempt::new("kernel.accounting", "starts accounting (to no file)", accounting).root(),
    Attempt::new("kernel.quota", "writes quotas to disk", quota).root(),
    Attempt::new("kernel.set-time", "sets the time, to the present one", set_time).root(),
    Attempt::new("kernel.adjust-time", "adjusts the clock, by nothing", adjust_time).root(),
    Attempt::new("kernel.host-name", "sets the host name, to the present one", host_name).root(),
    Attempt::new("kernel.domain-name", "sets the domain name, to the present one", domain).root(),
    Attempt::new("kernel.hang-up", "hangs up the terminal it does not have", hang_up).root(),
];

fn kexec(_: &Given) -> Tried {
    past_check(call!(libc::SYS_kexec_load, 0, 0, 0, 0xffff_u32), libc::EINVAL)
}

fn module_load(_: &Given) -> Tried {
    past_check(call!(libc::SYS_init_module, &b"\0"[..], 0, c""), libc::ENOEXEC)
}

fn module_file(_: &Given) -> Tried {
    past_check(call!(libc::SYS_finit_module, -1, c"", 0), libc::EBADF)
}

fn module_remove(_: &Given) -> Tried {
    past_check(call!(libc::SYS_delete_module, c"probe_no_such", libc::O_NONBLOCK), libc::ENOENT)
}

fn reboot(_: &Given) -> Tried {
    past_check(call!(libc::SYS_reboot, 0, 0, 0, 0), libc::EINVAL)
}

fn swap_on(_: &Given) -> Tried {
    past_check(call!(libc::SYS_swapon, c"/no-such-swap", 0), libc::ENOENT)
}

fn swap_off(_: &Given) -> Tried {
    past_check(call!(libc::SYS_swapoff, c"/no-such-swap"), libc::ENOENT)
}

fn accounting(_: &Given) -> Tried {
    past_check(call!(libc::SYS_acct, c"/no-such-file"), libc::ENOENT)
}

fn quota(_: &Given) -> Tried {
    // Q_SYNC of user quotas on all file systems.
    call!(libc::SYS_quotactl, 0x80_0001 << 8, 0, 0, 0)?;
    Ok("synchronized".to_owned())
}

fn set_time(_: &Given) -> Tried {
    let mut now = words(&[0, 0]);
    call!(libc::SYS_clock_gettime, libc::CLOCK_REALTIME, &mut now[..])?;
    call!(libc::SYS_clock_settime, libc::CLOCK_REALTIME, &now)?;
    Ok("set".to_owned())
}

fn adjust_time(_: &Given) -> Tried {
    const FREQUENCY: u32 = 2;
    // `struct timex`: reading fills it, and what was read is set again.
    let mut clock = vec![0; 208];
    call!(libc::SYS_adjtimex, &mut clock[..])?;
    clock[..4].copy_from_slice(&FREQUENCY.to_ne_bytes());
    call!(libc::SYS_adjtimex, &mut clock[..])?;
    Ok("adjusted".to_owned())
}

/// Sets a name to what the file says it is.
fn set_name(number: libc::c_long, file: &str) -> Tried {
    let name = std::fs::read_to_string(file)?;
    let name = name.trim_end().as_bytes();
    call!(number, name, name.len())?;
    Ok("set".to_owned())
}

fn host_name(_: &Given) -> Tried {
    set_name(libc::SYS_sethostname, "/proc/sys/kernel/hostname")
}

fn domain(_: &Given) -> Tried {
    set_name(libc::SYS_setdomainname, "/proc/sys/kernel/domainname")
}

fn hang_up(_: &Given) -> Tried {
    // In a new session there is no terminal to hang up, so the call does nothing.
    call!(libc::SYS_setsid)?;
    call!(libc::SYS_vhangup)?;
    Ok("hung up nothing".to_owned())
}
