//! Kernel objects with a history of holes, and views into the kernel.

use std::fs;

use crate::attempt::{Attempt, Given, Tried, denied};
use crate::sys::{call, owned, words};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("kernel.bpf-map", "makes a BPF map", bpf_map).root(),
    Attempt::new("kernel.bpf-object", "opens a BPF object by path", bpf_object),
    Attempt::new("kernel.perf-event", "opens a performance counter", perf_event),
    Attempt::new("kernel.perf-host", "counts what the whole machine does", perf_host).root(),
    Attempt::new("kernel.userfaultfd", "makes a userfaultfd", userfaultfd),
    Attempt::new("kernel.fanotify", "watches file systems by fanotify", fanotify).root(),
    Attempt::new("kernel.fanotify-user", "the same, as any user may", fanotify_user),
    Attempt::new("kernel.secret-memory", "makes memory the kernel cannot read", secret_memory),
    Attempt::new("kernel.symbols", "reads kernel addresses", symbols).root(),
    Attempt::new("kernel.log", "reads the kernel log by syslog", log).root(),
    Attempt::new("kernel.personality", "switches address randomisation off", personality),
    Attempt::new("kernel.shared-memory", "finds the victim's System V memory", shared_memory),
    Attempt::new("kernel.move-pages", "asks where the victim's pages are", move_pages),
];

fn bpf(command: i32, attribute: &[u8]) -> Tried {
    owned(call!(libc::SYS_bpf, command, attribute, attribute.len()))?;
    Ok("a BPF object".to_owned())
}

fn bpf_map(_: &Given) -> Tried {
    // BPF_MAP_CREATE: an array of one entry, keys of 4 bytes, values of 4 bytes.
    bpf(0, &crate::sys::halves(&[2, 4, 4, 1, 0, 0, 0, 0]))
}

fn bpf_object(_: &Given) -> Tried {
    // BPF_OBJ_GET of an empty path: any answer but a refusal shows that bpf is there.
    let path = b"\0";
    let attribute = words(&[crate::sys::address(path), 0]);
    let tried = call!(libc::SYS_bpf, 7, &attribute, attribute.len());
    crate::attempt::past_check(tried, libc::ENOENT)
}

/// `struct perf_event_attr` of the CPU clock (type 1, config 0), for user space alone.
fn clock_attributes() -> Vec<u8> {
    const EXCLUDE_KERNEL: u64 = 1 << 5;
    const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
    let kind_and_size = 1 | 64 << 32;
    words(&[kind_and_size, 0, 0, 0, 0, EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR, 0, 0])
}

fn perf_event(_: &Given) -> Tried {
    owned(call!(libc::SYS_perf_event_open, &clock_attributes(), 0, -1, -1, 0))?;
    Ok("a counter".to_owned())
}

fn perf_host(_: &Given) -> Tried {
    owned(call!(libc::SYS_perf_event_open, &clock_attributes(), -1, 0, -1, 0))?;
    Ok("a counter of the machine".to_owned())
}

fn userfaultfd(_: &Given) -> Tried {
    const USER_MODE_ONLY: i32 = 1;
    owned(call!(libc::SYS_userfaultfd, libc::O_CLOEXEC | USER_MODE_ONLY))?;
    Ok("a descriptor".to_owned())
}

fn fanotify(_: &Given) -> Tried {
    owned(call!(libc::SYS_fanotify_init, libc::FAN_CLASS_CONTENT, libc::O_RDONLY))?;
    Ok("a descriptor".to_owned())
}

fn fanotify_user(_: &Given) -> Tried {
    let flags = libc::FAN_CLASS_NOTIF | libc::FAN_REPORT_FID;
    owned(call!(libc::SYS_fanotify_init, flags, libc::O_RDONLY))?;
    Ok("a descriptor".to_owned())
}

fn secret_memory(_: &Given) -> Tried {
    owned(call!(libc::SYS_memfd_secret, 0))?;
    Ok("a descriptor".to_owned())
}

fn symbols(_: &Given) -> Tried {
    let text = fs::read_to_string("/proc/kallsyms")?;
    let address = text.lines().filter_map(|line| line.split(' ').next());
    let known = address.filter(|address| address.bytes().any(|digit| digit != b'0')).count();
    if known == 0 { Err(denied("all are zero")) } else { Ok(format!("{known} addresses")) }
}

fn log(_: &Given) -> Tried {
    const READ_ALL: i32 = 3;
    let mut bytes = [0; 64];
    let read = call!(libc::SYS_syslog, READ_ALL, &mut bytes[..], 64)?;
    Ok(format!("{read} bytes"))
}

fn personality(_: &Given) -> Tried {
    call!(libc::SYS_personality, libc::ADDR_NO_RANDOMIZE)?;
    Ok("switched off".to_owned())
}

fn shared_memory(given: &Given) -> Tried {
    // The victim made the segment on the host, with its process number as the key.
    call!(libc::SYS_shmget, given.number::<i32>("victim")?, 0, 0)?;
    Ok("found the victim's segment".to_owned())
}

fn move_pages(given: &Given) -> Tried {
    let pages = words(&[given.number::<u64>("address")? & !4095]);
    let mut status = [0; 4];
    call!(libc::SYS_move_pages, given.number::<i32>("victim")?, 1, &pages, 0, &mut status[..], 0)?;
    Ok("asked".to_owned())
}
