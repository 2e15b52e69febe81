//! Every call that the list refuses, made.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

use confine::seccomp::{Arch, Profile, Verdict, When, rules};

use crate::cases::{ALWAYS, Case, WITHOUT_NAMESPACES, X86};
use crate::kernel::call;
use crate::{confined, free};

/// Makes the calls under the filter and compares with what is expected; makes them without it too,
/// and returns how many come out otherwise there, so that it was the filter that refused them.
fn check(profile: Profile, cases: &[Case]) -> usize {
    let attempt = || cases.iter().map(|c| call(c.number, c.args)).collect::<Vec<_>>();
    let without = free(attempt);
    let under = confined(profile, attempt);
    let mut told_apart = 0;
    for ((case, under), without) in cases.iter().zip(under).zip(without) {
        assert_eq!(under, Err(case.errno), "{case:x?}, without the filter {without:?}");
        if without == under {
            println!("{} {:x?} proves nothing: refused here anyway", case.name, case.args);
        } else {
            told_apart += 1;
        }
    }
    told_apart
}

#[test]
fn refused_calls_get_their_error() {
    let cases = [ALWAYS, X86].concat();
    let by_the_filter = check(Profile::NAMESPACES, &cases);
    println!("{by_the_filter} of {} refused by the filter alone", cases.len());
    assert!(by_the_filter >= 40, "only {by_the_filter} cases prove anything");
}

#[test]
fn without_namespaces_sockets_and_ipc_are_closed() {
    let by_the_filter = check(Profile::LANDLOCK_ONLY, WITHOUT_NAMESPACES);
    assert!(by_the_filter >= 20, "only {by_the_filter} cases prove anything");
    check(
        Profile::LANDLOCK_ONLY,
        &[ALWAYS, X86].concat().into_iter().filter(keeps).collect::<Vec<_>>(),
    );
}

/// Whether a case has the same error where there are no namespaces.
fn keeps(case: &Case) -> bool {
    const INET_AND_NETLINK: [u64; 3] = [2, 10, 16];
    case.name != "socket" || !INET_AND_NETLINK.contains(&case.args[0])
}

#[test]
fn no_rule_goes_untried() {
    let tried: BTreeSet<&str> =
        [ALWAYS, X86, WITHOUT_NAMESPACES].concat().iter().map(|case| case.name).collect();
    let arch = Arch::native().expect("an architecture of the table");
    for rule in rules() {
        let here = rule.call.number(arch).is_some() && rule.verdict != Verdict::Allow;
        // Without the filter this one would end the terminal the tests run in.
        let harmless = rule.call.name() != "vhangup";
        assert!(!here || !harmless || tried.contains(rule.call.name()), "{}", rule.call.name());
    }
    assert!(rules().any(|rule| rule.when == When::IpcShared));
}

#[test]
fn nothing_is_typed_into_a_terminal() {
    let mut options = OpenOptions::new();
    let pty = options.read(true).write(true).custom_flags(libc::O_NOCTTY).open("/dev/ptmx");
    let pty = pty.expect("a pseudo terminal");
    let letter = b'x';
    let address = std::ptr::from_ref(&letter).addr() as u64;
    let fd = u64::from(pty.as_raw_fd().unsigned_abs());
    for request in [0x5412, 0x5412 | 1 << 32, 0x5412 | 0xffff_ffff << 32] {
        let attempt = || call(libc::SYS_ioctl, [fd, request, address, 0, 0, 0]);
        println!("TIOCSTI as {request:#x} without the filter: {:?}", free(attempt));
        assert_eq!(confined(Profile::NAMESPACES, attempt), Err(libc::EPERM), "{request:#x}");
    }
}

#[test]
fn x32_and_newer_numbers_do_not_exist() {
    const X32: libc::c_long = 1 << 30;
    let numbers = [X32 | 39, X32 | 41, X32 | 101, 512, 520, 470, 471, 100_000];
    let attempt = || numbers.map(|number| call(number, [0; 6]));
    for (number, result) in numbers.iter().zip(confined(Profile::NAMESPACES, attempt)) {
        assert_eq!(result, Err(libc::ENOSYS), "{number:#x}");
    }
}
