//! What must still work under the filter, and programs that try to get around it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};
use std::thread;

use confine::seccomp::Profile;

use crate::{confined, free};

const PROFILES: [Profile; 2] = [Profile::NAMESPACES, Profile::LANDLOCK_ONLY];

/// Starts a program from the thread this is called in and waits for its end.
fn output(program: &str, args: &[&str]) -> Option<Output> {
    #[expect(clippy::disallowed_methods, reason = "it must inherit this thread's filter")]
    let mut command = Command::new(program);
    match command.args(args).output() {
        Ok(output) => Some(output),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            println!("skipped: no {program} on this machine");
            None
        }
        Err(error) => panic!("{program} does not start: {error}"),
    }
}

/// A program's standard output, when it ended well.
fn said(output: Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {error}", output.status);
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn threads_and_processes_start() {
    for profile in PROFILES {
        let sum = confined(profile, || {
            let threads: Vec<_> = (1..=8).map(|n| thread::spawn(move || n)).collect();
            threads.into_iter().map(|t| t.join().expect("joins")).sum::<i32>()
        });
        assert_eq!(sum, 36);
        let Some(output) = confined(profile, || output("true", &[])) else { continue };
        assert_eq!(said(output), "");
    }
}

#[test]
fn sockets_of_its_own_namespace_work() {
    confined(Profile::NAMESPACES, || {
        let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
        let address = listener.local_addr().expect("is bound");
        TcpStream::connect(address).expect("connects").write_all(b"tcp").expect("writes");
        let mut text = String::new();
        listener.accept().expect("accepts").0.read_to_string(&mut text).expect("reads");
        assert_eq!(text, "tcp");
        UdpSocket::bind("127.0.0.1:0").expect("UDP");
        UnixDatagram::unbound().expect("a Unix socket");
    });
}

#[test]
fn pairs_work_without_namespaces() {
    confined(Profile::LANDLOCK_ONLY, || {
        let (mut a, mut b) = UnixStream::pair().expect("a pair");
        a.write_all(b"pair").expect("writes");
        let mut buffer = [0; 4];
        b.read_exact(&mut buffer).expect("reads");
        assert_eq!(&buffer, b"pair");
    });
}

#[test]
fn bash_works() {
    const SCRIPT: &str = r#"
        f() { echo "$(printf '%s' "$1" | tr a-z A-Z)"; }
        out=$(f hello); (exit 3); code=$?
        sleep 0.01 & wait $!
        while read -r line; do out="$out-$line"; done < <(printf 'a\nb\n')
        echo "$out $code" | cat
    "#;
    for profile in PROFILES {
        let Some(output) = confined(profile, || output("bash", &["-c", SCRIPT])) else { return };
        assert_eq!(said(output), "HELLO-a-b 3\n");
    }
}

#[test]
fn python_works_and_stays_confined() {
    const SCRIPT: &str = r"
import asyncio, concurrent.futures, errno, multiprocessing, os, socket, subprocess, sys, tempfile
import threading

results = []
threads = [threading.Thread(target=results.append, args=(n,)) for n in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
assert sorted(results) == [0, 1, 2, 3]
assert subprocess.run(['echo', 'hi'], capture_output=True, text=True).stdout == 'hi\n'
async def slow(): await asyncio.sleep(0.001); return 7
assert asyncio.run(slow()) == 7
fork = multiprocessing.get_context('fork')
with concurrent.futures.ProcessPoolExecutor(2, mp_context=fork) as pool:
    assert list(pool.map(abs, [-1, -2])) == [1, 2]
with tempfile.TemporaryDirectory() as d:
    path = os.path.join(d, 'f'); open(path, 'w').write('x')
    os.chmod(path, 0o755)
    try: os.chmod(path, 0o4755); sys.exit('made a set-user-id file')
    except PermissionError: pass
try: socket.socket(40, socket.SOCK_STREAM); sys.exit('made a VSOCK socket')
except OSError as e: assert e.errno == errno.EAFNOSUPPORT, e
if sys.argv[1] == 'closed':
    for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):
        try: socket.socket(family); sys.exit('made a socket')
        except OSError as e: assert e.errno == errno.EACCES, e
else:
    socket.getaddrinfo('127.0.0.1', 80)
    assert socket.if_nameindex()
print('fine')
";
    for (profile, network) in PROFILES.into_iter().zip(["open", "closed"]) {
        let start = || output("python3", &["-c", SCRIPT, network]);
        let Some(output) = confined(profile, start) else { return };
        assert_eq!(said(output), "fine\n");
    }
}

/// A program of three calls: `getpid` by the i386 entry, then `exit(7)` by the ordinary one.
#[cfg(target_arch = "x86_64")]
#[test]
fn the_i386_entry_is_the_end() {
    use std::fs::{Permissions, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;

    const CODE: [u8; 19] = [
        0xb8, 20, 0, 0, 0, // mov eax, 20
        0xcd, 0x80, // int 0x80
        0xbf, 7, 0, 0, 0, // mov edi, 7
        0xb8, 60, 0, 0, 0, // mov eax, 60
        0x0f, 0x05, // syscall
    ];
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("entry");
    write(&path, executable(&CODE)).expect("writes");
    set_permissions(&path, Permissions::from_mode(0o755)).expect("is executable");
    let path = path.to_str().expect("UTF-8");

    let without = free(|| output(path, &[])).expect("exists").status;
    if without.code() != Some(7) {
        println!("proves nothing: this kernel has no i386 entry ({without})");
    }
    let under = confined(Profile::NAMESPACES, || output(path, &[])).expect("exists").status;
    assert_eq!(under.signal(), Some(libc::SIGSYS), "{under}");
}

/// A static 64-bit executable: one header, one segment, the code.
#[cfg(target_arch = "x86_64")]
fn executable(code: &[u8]) -> Vec<u8> {
    const BASE: u64 = 0x40_0000;
    const HEADERS: u64 = 64 + 56;
    let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let halves = |file: &mut Vec<u8>, values: &[u16]| {
        values.iter().for_each(|value| file.extend(value.to_le_bytes()));
    };
    let words = |file: &mut Vec<u8>, values: &[u32]| {
        values.iter().for_each(|value| file.extend(value.to_le_bytes()));
    };
    let longs = |file: &mut Vec<u8>, values: &[u64]| {
        values.iter().for_each(|value| file.extend(value.to_le_bytes()));
    };
    let size = HEADERS + code.len() as u64;
    halves(&mut file, &[2, 62]); // an executable for x86-64
    words(&mut file, &[1]);
    longs(&mut file, &[BASE + HEADERS, 64, 0]); // entry, program headers, no sections
    words(&mut file, &[0]);
    halves(&mut file, &[64, 56, 1, 64, 0, 0]);
    words(&mut file, &[1, 5]); // load, readable and executable
    longs(&mut file, &[0, BASE, BASE, size, size, 0x1000]);
    file.extend(code);
    file
}
