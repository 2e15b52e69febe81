//! Devices, and files of the kernel that change the whole machine.

use std::fs;
use std::path::{Path, PathBuf};

use super::{any, open_to_write};
use crate::attempt::{Attempt, Given, Stop, Tried, c_path, denied};
use crate::sys::call;

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("files.mknod-block", "makes a block device in the workdir", mknod_block).root(),
    Attempt::new("files.mknod-char", "makes a character device in the workdir", mknod_char).root(),
    Attempt::new("files.block-device", "opens a disk of the host", block_device).root(),
    Attempt::new("files.dev-mem", "opens /dev/mem", dev_mem).root(),
    Attempt::new("files.dev-kmsg-read", "opens the kernel log", kmsg_read).root(),
    Attempt::new("files.dev-kmsg-write", "opens the kernel log for writing", kmsg_write).root(),
    Attempt::new("files.dev-tun", "opens /dev/net/tun", dev_tun).root(),
    Attempt::new("files.dev-fuse", "opens /dev/fuse", dev_fuse),
    Attempt::new("files.dev-kvm", "opens /dev/kvm", dev_kvm).root(),
    Attempt::new("files.dev-loop", "opens /dev/loop-control", dev_loop).root(),
    Attempt::new("files.dev-userfaultfd", "opens /dev/userfaultfd", dev_userfaultfd).root(),
    Attempt::new("files.proc-kcore", "opens /proc/kcore", kcore).root(),
    Attempt::new("files.sys-write", "opens a switch in /sys for writing", sys_write).root(),
    Attempt::new("files.sysctl-write", "writes the same value to a sysctl", sysctl).root(),
    Attempt::new("files.sysrq", "opens /proc/sysrq-trigger for writing", sysrq).root(),
    Attempt::new("files.core-pattern", "opens core_pattern for writing", core_pattern).root(),
    Attempt::new("files.modprobe-path", "opens the path of modprobe for writing", modprobe).root(),
    Attempt::new("files.binfmt-register", "opens binfmt_misc's registry", binfmt).root(),
    Attempt::new("files.uevent-helper", "opens the uevent helper for writing", uevent).root(),
    Attempt::new("files.release-agent", "opens a cgroup's release agent", release_agent).root(),
    Attempt::new("files.cgroup-join", "opens a cgroup's process list for writing", cgroup).root(),
    Attempt::new("files.securityfs", "lists /sys/kernel/security or debug", securityfs).root(),
];

fn mknod_block(given: &Given) -> Tried {
    mknod(given, libc::S_IFBLK, libc::makedev(7, 0))
}

fn mknod_char(given: &Given) -> Tried {
    mknod(given, libc::S_IFCHR, libc::makedev(1, 1))
}

fn mknod(given: &Given, kind: libc::mode_t, device: libc::dev_t) -> Tried {
    let path = given.path("work", "device")?;
    call!(libc::SYS_mknodat, libc::AT_FDCWD, &c_path(&path)?, kind | 0o600, device)?;
    fs::remove_file(&path)?;
    Ok("made a device".to_owned())
}

/// Opens a device for reading, and reads nothing.
fn open_device(path: &Path) -> Tried {
    fs::File::open(path)?;
    Ok(format!("opened {}", path.display()))
}

fn block_device(_: &Given) -> Tried {
    let disks = ["vda", "sda", "nvme0n1", "xvda", "mmcblk0", "dm-0", "loop0"];
    any(disks.map(|name| open_device(&Path::new("/dev").join(name))))
}

fn dev_mem(_: &Given) -> Tried {
    open_device(Path::new("/dev/mem"))
}

fn kmsg_read(_: &Given) -> Tried {
    open_device(Path::new("/dev/kmsg"))
}

fn kmsg_write(_: &Given) -> Tried {
    open_to_write(&["/dev/kmsg"])
}

fn dev_tun(_: &Given) -> Tried {
    open_device(Path::new("/dev/net/tun"))
}

fn dev_fuse(_: &Given) -> Tried {
    open_device(Path::new("/dev/fuse"))
}

fn dev_kvm(_: &Given) -> Tried {
    open_device(Path::new("/dev/kvm"))
}

fn dev_loop(_: &Given) -> Tried {
    open_device(Path::new("/dev/loop-control"))
}

fn dev_userfaultfd(_: &Given) -> Tried {
    open_device(Path::new("/dev/userfaultfd"))
}

fn kcore(_: &Given) -> Tried {
    open_device(Path::new("/proc/kcore"))
}

fn sys_write(_: &Given) -> Tried {
    open_to_write(&[
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/kernel/mm/ksm/run",
        "/sys/module/printk/parameters/time",
    ])
}

fn sysctl(_: &Given) -> Tried {
    let file = Path::new("/proc/sys/vm/swappiness");
    let present = fs::read(file)?;
    fs::write(file, present)?;
    Ok("wrote vm.swappiness, as it was".to_owned())
}

fn sysrq(_: &Given) -> Tried {
    open_to_write(&["/proc/sysrq-trigger"])
}

fn core_pattern(_: &Given) -> Tried {
    open_to_write(&["/proc/sys/kernel/core_pattern"])
}

fn modprobe(_: &Given) -> Tried {
    open_to_write(&["/proc/sys/kernel/modprobe"])
}

fn binfmt(_: &Given) -> Tried {
    open_to_write(&["/proc/sys/fs/binfmt_misc/register"])
}

fn uevent(_: &Given) -> Tried {
    open_to_write(&["/sys/kernel/uevent_helper", "/proc/sys/kernel/hotplug"])
}

/// Files of this name at the top of each cgroup hierarchy.
fn in_cgroups(name: &str) -> Result<Vec<PathBuf>, Stop> {
    let top = Path::new("/sys/fs/cgroup");
    let directories = fs::read_dir(top)?.filter_map(Result::ok).map(|entry| entry.path());
    let files = directories.chain([top.to_owned()]).map(|directory| directory.join(name));
    Ok(files.filter(|file| file.exists()).collect())
}

fn open_in_cgroups(name: &str) -> Tried {
    any(in_cgroups(name)?.iter().map(|file| match file.to_str() {
        Some(file) => open_to_write(&[file]),
        None => Err(denied("a name that is not UTF-8")),
    }))
}

fn release_agent(_: &Given) -> Tried {
    open_in_cgroups("release_agent")
}

fn cgroup(_: &Given) -> Tried {
    open_in_cgroups("cgroup.procs")
}

fn securityfs(_: &Given) -> Tried {
    let places = ["/sys/kernel/security", "/sys/kernel/debug", "/sys/kernel/tracing"];
    any(places.map(|place| match fs::read_dir(place)?.count() {
        0 => Err(denied(format!("{place} is empty"))),
        names => Ok(format!("{names} names in {place}")),
    }))
}
