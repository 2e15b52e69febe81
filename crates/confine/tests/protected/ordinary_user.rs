//! Everything here once more as an ordinary user, when the superuser runs the tests.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rustix::process::geteuid;

use crate::support::directory;

/// A user that owns nothing.
const NOBODY_SPECIAL: &str = "54329";

#[test]
#[expect(clippy::disallowed_methods, reason = "the tests are run as another user, unconfined")]
fn the_same_holds_for_an_ordinary_user() {
    if !geteuid().is_root() {
        println!("skipped: this is an ordinary user already");
        return;
    }
    let directory = directory();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let copy = directory.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    let ran = std::process::Command::new("setpriv")
        .args(["--reuid", NOBODY_SPECIAL, "--regid", NOBODY_SPECIAL, "--clear-groups", "--"])
        .arg(&copy)
        .args(["--test-threads", "2"])
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}
