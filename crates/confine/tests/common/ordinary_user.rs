//! All tests of a program once more as an ordinary user, when the superuser runs the tests.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rustix::process::geteuid;

/// The first of the users that own nothing. Each program takes one of its own, because limits on a
/// user's processes count those of both.
const FIRST: u32 = 54_000;

#[test]
#[expect(clippy::disallowed_methods, reason = "the tests are run as another user, unconfined")]
fn the_same_holds_for_an_ordinary_user() {
    if !geteuid().is_root() {
        println!("skipped: this is an ordinary user already");
        return;
    }
    let user = (FIRST + std::process::id() % 1000).to_string();
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let copy = directory.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    let ran = std::process::Command::new("setpriv")
        .args(["--reuid", &user, "--regid", &user, "--clear-groups", "--"])
        .arg(&copy)
        .args(["--test-threads", "2"])
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}
