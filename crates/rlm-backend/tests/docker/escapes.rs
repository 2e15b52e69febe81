//! What code in a container tries to get out, looked at from inside and from the host.

use std::{fs, time::Duration};

use rlm_backend::SandboxConfig;
use serde_json::json;

use crate::support::{Tool, here, processes_with, soon};

#[tokio::test]
async fn code_has_no_rights_and_gains_none() {
    here!();
    let tool = Tool::new();
    let status = tool.prints("cat /proc/self/status; id -u; id -g").await;
    for name in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(line.ends_with("0000000000000000"), "{line}");
    }
    assert!(status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"), "{status}");
    assert!(!status.lines().any(|line| line == "0"), "no superuser and not its group");
    for command in [
        "su -c id",
        "mount -t tmpfs none /mnt",
        "mount -o remount,rw /",
        "unshare -U true",
        "unshare -n true",
        "chroot / true",
        "mknod d b 8 0",
        "echo x > /etc/passwd",
        "echo x > /usr/bin/x",
        "echo x > /proc/sys/kernel/core_pattern",
        "echo x > /sys/kernel/uevent_helper",
        "echo 0 > /proc/sys/kernel/randomize_va_space",
        "cat /proc/kcore",
        "dmesg",
        "nsenter -t 1 -m true",
        "ls /dev/sda /dev/mem /dev/kmsg",
        "cat /var/run/docker.sock /run/docker.sock /run/containerd/containerd.sock",
    ] {
        let ran = tool.bash(&format!("({command}) 2>/dev/null")).await;
        assert_eq!(ran["success"], false, "{command}: {ran}");
    }
}

#[tokio::test]
async fn calls_that_lead_out_of_containers_are_refused() {
    here!();
    let tool = Tool::new();
    // Numbers of this machine's system calls: bpf, keyctl, add_key, userfaultfd, perf_event_open,
    // open_by_handle_at, kexec_load, init_module, clone3 and unshare with a user namespace.
    let code = "
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def refused(number, *args):
    return libc.syscall(number, *args) == -1
calls = {'bpf': (321, 0, 0, 0), 'keyctl': (250, 0, -3, 0), 'add_key': (248, b'user', b'k', b'v', 1, -3),
         'userfaultfd': (323, 0), 'perf': (298, 0, 0, -1, -1, 0), 'handle': (304, -1, 0, 0),
         'kexec': (246, 0, 0, 0, 0), 'module': (175, 0, 0, b''), 'unshare': (272, 0x10000000),
         'setns': (308, 0, 0), 'reboot': (169, 0, 0, 0, 0), 'swapon': (167, b'/x', 0)}
sorted(name for name, call in calls.items() if not refused(*call))";
    let allowed = tool.python(code).await;
    assert_eq!(allowed["value"], "[]", "{allowed}");
}

#[tokio::test]
async fn neither_the_supervisor_nor_the_way_to_the_host_can_be_taken_over() {
    here!();
    let tool = Tool::new();
    let code = "
import os, socket, glob
got = []
mine = os.getpid()
for path in glob.glob('/proc/[0-9]*'):
    pid = int(path.split('/')[2])
    if b'<supervisor>' not in open(path + '/cmdline', 'rb').read() or pid in (1, mine):
        continue
    for name in ('environ', 'mem', 'fd/0', 'fd/1', 'cwd', 'root'):
        try:
            os.stat(f'{path}/{name}') if name in ('cwd', 'root') else open(f'{path}/{name}', 'rb')
            got.append((pid, name))
        except OSError:
            pass
for kind in (socket.SOCK_SEQPACKET, socket.SOCK_STREAM):
    try:
        s = socket.socket(socket.AF_UNIX, kind)
        s.settimeout(1)
        s.connect('/run/remit/meet')
        got.append('connected')
    except OSError:
        pass
try:
    open('/run/remit/x', 'w')
    got.append('written')
except OSError:
    pass
got";
    assert_eq!(tool.python(code).await["value"], "[]");
    let seen = tool.python("print(open('/proc/self/mountinfo').read())").await;
    assert!(!seen["stdout"].as_str().unwrap().contains("docker.sock"));
}

/// The engine's init is of the session's user, and holds the stream: code can write there.
#[tokio::test]
async fn words_that_code_forges_end_its_session_and_nothing_else() {
    here!();
    let tool = Tool::new();
    for forged in [
        // An end of a driver that never was, an answer to nobody, a file that nobody asked for.
        "b'E\\0\\0\\0\\x63\\0\\0\\0\\x0b{\"code\": 0}'",
        "b'P\\0\\0\\0\\x63\\0\\0\\0\\x02ab'",
        "b'no frame at all'",
        "b'D\\0\\0\\0\\1\\xff\\xff\\xff\\xff' + b'x' * 100000",
    ] {
        let code = format!("open('/proc/1/fd/1', 'wb', 0).write({forged})");
        tool.call(json!({"op": "execute_code", "code": code})).await;
        // It may take a moment until the host has read them.
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(tool.python("1 + 1").await["value"], "2", "{forged}");
        tool.bash("echo x > f").await;
        assert_eq!(tool.answer(json!({"op": "file_get", "path": "f"})).await["content"], "x\n");
    }
}

#[tokio::test]
async fn what_a_driver_started_ends_with_it_also_where_it_hid() {
    here!();
    let tool = Tool::new();
    tool.bash("y=8").await;
    let code = "
import os, subprocess, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp('sleep', ['sleep', '48191'])
        os._exit(0)
subprocess.Popen(['bash', '-c', 'setsid nohup sleep 48191 & disown'])
time.sleep(0.3)";
    tool.python(code).await;
    soon("all hide", || {
        processes_with("48191").iter().filter(|it| it.starts_with("sleep")).count() == 4
    })
    .await;
    let died = tool.python("os._exit(1)").await;
    assert_eq!(died["state"], "lost");
    soon("none is left", || processes_with("48191").is_empty()).await;
    assert_eq!(tool.prints("echo $y").await, "8\n", "the other interpreter lives on");
}

#[tokio::test]
async fn a_fork_bomb_is_bounded_and_ends_with_its_call() {
    here!();
    let tool = Tool::with(SandboxConfig { processes: 64, ..SandboxConfig::default() });
    tool.python("x = 1").await;
    let bomb = "bomb() { bomb 48192 | bomb 48192 & }; bomb 2>/dev/null; sleep 1; echo after";
    let ask = json!({"op": "execute_bash", "command": bomb, "timeout_ms": 20_000});
    tool.call(ask).await;
    let id = tool.python("x").await;
    assert_eq!(id["value"], "1", "{id}");
    let id = &id["session_id"];
    tool.answer(json!({"op": "session_destroy", "session_id": id})).await;
    assert_eq!(tool.python("1 + 1").await["value"], "2");
}

#[tokio::test]
async fn everything_of_a_session_can_be_killed_by_its_code_and_is_made_anew() {
    here!();
    let tool = Tool::new();
    tool.python("x = 1").await;
    let ran = tool.call(json!({"op": "execute_bash", "command": "kill -9 -1; sleep 5"})).await;
    assert!(ran.outcome.is_err(), "{}", ran.for_model());
    let next = tool.python("'x' in globals()").await;
    assert_eq!(next["value"], "False", "{next}");
}

#[tokio::test]
async fn a_link_in_an_operators_directory_leads_nowhere_on_the_host() {
    here!();
    let secret = tempfile::tempdir().unwrap();
    fs::write(secret.path().join("key"), "secret").unwrap();
    let tool = Tool::new();
    let path = secret.path().join("key");
    let ran = tool.bash(&format!("ln -s {0} l; cat l; cat /proc/1/root{0}", path.display())).await;
    assert!(!ran.to_string().contains("secret"), "{ran}");
}
