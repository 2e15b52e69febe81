//! Where the attempts are made: a second run of this test, in namespaces and as a certain user.
//!
//! As the superuser the test starts itself again through `unshare` and `setpriv` (util-linux), in
//! a PID namespace that begins at a high number (so that a number of the stage is never one of a
//! sandbox by chance) and in a mount namespace of its own. An ordinary user plays on the machine
//! itself, as that user. The second run is a bad parent on purpose: it has a controlling terminal
//! (from `script`), an environment canary, supplementary groups, and what `probe --worsen` adds.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// As whom the attempts are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Root,
    User,
}

/// The environment variable that a child must never see.
pub(crate) const SECRET: &str = "FOO_API_KEY";
/// Where a probe is that was built before, for a user who can't build one.
const BUILT_PROBE: &str = "REMIT_TEST_PROBE";
/// Tells the second run where the probe is; its presence says that it is the second run.
const PROBE: &str = "REMIT_ESCAPE_PROBE";
/// Set where a test that cannot run is a failure.
const NO_SKIP: &str = "REMIT_TEST_NO_SKIP";
/// The first of the users that own nothing, and the first process number of the first stage. Each
/// stage has its own user, so that limits on a user's processes count those of one stage, and its
/// own numbers, because stages run at the same time and share the machine's control groups.
const FIRST_USER: usize = 61_000;
const FIRST_PROCESS: usize = 11_000;
const PROCESSES: usize = 3_000;
static STAGES: AtomicUsize = AtomicUsize::new(0);
/// Held by the superuser's stage.
static ALONE: Mutex<()> = Mutex::new(());
/// A group that the children must not be in.
const EXTRA_GROUP: &str = "4242";

/// Runs `act` on the stage, given the path of the probe.
pub(crate) fn play(role: Role, test: &str, act: fn(Role, &Path)) {
    #[expect(clippy::disallowed_methods, reason = "how the second run of this test knows itself")]
    match env::var_os(PROBE) {
        Some(probe) => act(role, Path::new(&probe)),
        None => start(role, test),
    }
}

/// Says why something is not tested here, and fails where nothing may be left out.
pub(crate) fn skip(why: &str) {
    #[expect(clippy::disallowed_methods, reason = "how a build says that nothing may be skipped")]
    let may_skip = env::var_os(NO_SKIP).is_none();
    assert!(may_skip, "{NO_SKIP} is set, and this cannot be tested here: {why}");
    println!("skipped: {why}");
}

/// Starts the second run and expects it to pass.
fn start(role: Role, test: &str) {
    let is_root = rustix::process::geteuid().is_root();
    if role == Role::Root && !is_root {
        return skip(&format!("{test} needs the superuser"));
    }
    let programs =
        tempfile::Builder::new().prefix("remit-programs-").tempdir().expect("a directory");
    fs::set_permissions(programs.path(), fs::Permissions::from_mode(0o755)).expect("mode");
    let probe = copy(&built_probe(), programs.path(), "probe");
    let me = copy(&env::current_exe().expect("this program"), programs.path(), "escape");
    // What the superuser makes is shared by all stages, the machine's control groups above all.
    let _alone = (role == Role::Root).then(|| ALONE.lock());
    let mut line: Vec<String> = if is_root { stage_command(role) } else { Vec::new() };
    let (worse, flags) = (text(&probe), "--nocapture --test-threads=1");
    let play = format!("'{worse}' --worsen '{}' --exact {test} {flags}", text(&me));
    line.extend(
        ["script", "--quiet", "--return", "--command", &play, "/dev/null"].map(str::to_owned),
    );
    let (program, arguments) = line.split_first().expect("a program");
    let output = command(program)
        .args(arguments)
        .env(PROBE, &probe)
        .env(SECRET, "canary-environment")
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .output()
        .expect("the second run starts");
    println!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{test} on its stage: {}", output.status);
}

/// What makes the namespaces and takes the role.
fn stage_command(role: Role) -> Vec<String> {
    let stage = STAGES.fetch_add(1, Ordering::Relaxed);
    let (user, process) = (FIRST_USER + stage, FIRST_PROCESS + PROCESSES * stage);
    let user = user.to_string();
    // The shell stays as the first process, to collect what the attempts leave behind.
    let shell =
        format!("echo {process} > /proc/sys/kernel/ns_last_pid; \"$@\"; code=$?; exit $code");
    let mut words = vec!["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
    words.extend(["--ipc", "--uts", "--", "sh", "-c", &shell, "sh"]);
    words.extend(["setpriv", "--groups", EXTRA_GROUP]);
    match role {
        Role::Root => words.extend(["--inh-caps", "+net_raw", "--ambient-caps", "+net_raw"]),
        Role::User => words.extend(["--reuid", &user, "--regid", &user]),
    }
    words.push("--");
    words.into_iter().map(str::to_owned).collect()
}

/// A plain program, started without confinement.
#[expect(clippy::disallowed_methods, reason = "what is proved here is how it is without confine")]
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}

/// The probe, which is a program of another crate and is built here where nobody built it.
fn built_probe() -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "how an ordinary user is given the probe")]
    env::var_os(BUILT_PROBE).map_or_else(build_probe, PathBuf::from)
}

fn build_probe() -> PathBuf {
    let output = command(env!("CARGO"))
        .args(["build", "--quiet", "--package", "testkit", "--bin", "probe"])
        .args(["--message-format", "json"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "the probe does not build");
    let lines = String::from_utf8(output.stdout).expect("text");
    let messages = lines.lines().filter_map(|line| serde_json::from_str(line).ok());
    let mut programs = messages.filter_map(|message: serde_json::Value| {
        Some(PathBuf::from(message.get("executable")?.as_str()?))
    });
    programs.next().expect("cargo names the program")
}

fn copy(from: &Path, directory: &Path, name: &str) -> PathBuf {
    let to = directory.join(name);
    fs::copy(from, &to).expect("the program is copied");
    fs::set_permissions(&to, fs::Permissions::from_mode(0o755)).expect("mode");
    to
}

fn text(path: &Path) -> String {
    path.to_str().expect("a path in UTF-8").to_owned()
}
