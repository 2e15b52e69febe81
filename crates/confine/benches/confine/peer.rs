//! What launches are compared with: the plain start of a static program, and `bwrap` with the same
//! mounts and the same seccomp filter.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use confine::seccomp::{Arch, Filter, Profile};
use confine::{Command, Prepared};
use rustix::io::{FdFlags, fcntl_setfd};

/// Builds a static program that does nothing; the system's dynamic one if there is no compiler.
#[expect(clippy::disallowed_methods, reason = "a compiler is no child to confine")]
pub(crate) fn static_program(directory: &Path) -> String {
    let (source, program) = (directory.join("true.c"), directory.join("true"));
    fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let built = std::process::Command::new("cc")
        .args(["-static", "-O2", "-o"])
        .args([&program, &source])
        .status();
    if built.is_ok_and(|status| status.success()) {
        return text(&program);
    }
    println!("no C compiler that links statically: /bin/true is launched, which is dynamic");
    "/bin/true".to_owned()
}

/// Starts a program as the standard library does, and waits.
#[expect(clippy::disallowed_methods, reason = "what the launches are compared with")]
pub(crate) fn plain(program: &str, arguments: &[String]) {
    let status = std::process::Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
}

/// Bubblewrap with its arguments.
pub(crate) struct Bubblewrap {
    mounts: Vec<String>,
    filter: PathBuf,
    program: String,
}

impl Bubblewrap {
    /// Where it is installed, with the mounts of a confinement.
    pub(crate) fn find(prepared: &Prepared, directory: &Path, program: &str) -> Option<Self> {
        if !Path::new(PATH).exists() {
            println!("bwrap is not installed: nothing is compared with it");
            return None;
        }
        let filter = directory.join("filter");
        fs::write(&filter, filter_bytes()).unwrap();
        Some(Self { mounts: mounts(prepared), filter, program: program.to_owned() })
    }

    /// Starts the program under it and waits.
    pub(crate) fn run(&self) {
        let filter = File::open(&self.filter).unwrap();
        fcntl_setfd(&filter, FdFlags::empty()).unwrap();
        let number = filter.as_raw_fd().to_string();
        let fixed = ["--unshare-all", "--die-with-parent", "--new-session", "--clearenv"];
        let mut arguments: Vec<String> = fixed.map(str::to_owned).into();
        arguments.extend(["--cap-drop", "ALL", "--seccomp", &number].map(str::to_owned));
        arguments.extend(self.mounts.iter().cloned());
        arguments.extend(["--".to_owned(), self.program.clone()]);
        plain(PATH, &arguments);
    }
}

/// Where Debian and others have it.
const PATH: &str = "/usr/bin/bwrap";

/// The filter as the kernel's structures, one after another.
fn filter_bytes() -> Vec<u8> {
    let arch = Arch::native().unwrap();
    let filter = Filter::compile(arch, Profile::NAMESPACES).unwrap();
    let bytes = |one: &confine::seccomp::Instruction| {
        let (code, k) = (one.code.to_ne_bytes(), one.k.to_ne_bytes());
        [code[0], code[1], one.jt, one.jf, k[0], k[1], k[2], k[3]]
    };
    filter.instructions().iter().flat_map(bytes).collect()
}

/// The mounts that a confined child sees, in bubblewrap's words.
fn mounts(prepared: &Prepared) -> Vec<String> {
    let mut child = prepared.spawn(Command::new("cat").arg("/proc/self/mountinfo")).unwrap();
    let mut table = String::new();
    child.take_stdout().unwrap().read_to_string(&mut table).unwrap();
    child.wait().unwrap();
    let own = ["/", "/proc", "/tmp"];
    let mut words = Vec::new();
    for (path, options) in table.lines().filter_map(mount) {
        if !own.contains(&path) && !path.starts_with("/dev") {
            let how =
                if options.split(',').any(|one| one == "ro") { "--ro-bind" } else { "--bind" };
            words.extend([how, path, path].map(str::to_owned));
        }
    }
    for link in ["/bin", "/sbin", "/lib", "/lib32", "/lib64"] {
        if let Ok(target) = fs::read_link(link) {
            words.extend(["--symlink".to_owned(), text(&target), link.to_owned()]);
        }
    }
    let made = ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"].map(str::to_owned);
    made.into_iter().chain(words).collect()
}

/// The mount point and the options of one line.
fn mount(line: &str) -> Option<(&str, &str)> {
    let mut fields = line.split(' ').skip(4);
    Some((fields.next()?, fields.next()?))
}

/// A path in UTF-8.
fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}
