//! What is left of a page: nothing, whoever ends it and however.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use browser::engine::{EngineError, Settings};

use crate::processes::{are_gone, below, kill};
use crate::support::{Server, pages_with, program, soon};

/// Says that this process is the host that will be killed.
const ROLE: &str = "REMIT_TEST_HOST_OF_A_PAGE";

#[tokio::test]
async fn a_page_that_is_closed_leaves_no_process_and_no_profile() {
    let Some(program) = program() else { return };
    let server = Server::start(&[("/", "<title>x</title>".to_owned())]).await;
    let pages = pages_with(program, &[server.address], Settings::default());
    let (id, mut page) = pages.open().await.unwrap();
    page.navigate(&server.url("/"), soon()).await.unwrap();
    let browser = page.pid().unwrap();
    let all = below(browser, "");
    assert!(all.len() > 2, "{all:?}");
    // The profile is in the browser's own file system, and nowhere else.
    assert!(Path::new(&format!("/proc/{browser}/root/tmp/profile")).is_dir());
    assert!(!Path::new("/tmp/profile").exists());
    drop(page);
    assert!(pages.close(&id) && !pages.close(&id));
    are_gone(&all).await;
    assert_eq!(pages.count(), 0);
}

#[tokio::test]
async fn pages_are_bounded_and_end_when_nobody_uses_them() {
    let Some(program) = program() else { return };
    let mut settings = Settings::default();
    (settings.max_pages, settings.idle_time) = (1, Duration::from_millis(500));
    let pages = pages_with(program, &[], settings);
    let (id, page) = pages.open().await.unwrap();
    let many = pages.open().await.unwrap_err();
    assert!(matches!(many, EngineError::TooManyPages { max: 1 }), "{many}");
    let all = below(page.pid().unwrap(), "");
    drop(page);
    are_gone(&all).await;
    let gone = pages.get(&id).await.unwrap_err();
    assert!(matches!(gone, EngineError::NoSuchPage { .. }), "{gone}");
    pages.open().await.unwrap();
}

#[tokio::test]
async fn a_host_that_is_killed_leaves_no_process() {
    if program().is_none() {
        return;
    }
    #[expect(clippy::disallowed_methods, reason = "a host that can be killed is another process")]
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["ending::host_that_is_killed", "--exact", "--nocapture"])
        .env(ROLE, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(host.stdout.take().unwrap()).lines();
    let mut lines = lines.map_while(Result::ok);
    let pid = lines.find_map(|line| line.strip_prefix("page: ").map(str::to_owned)).unwrap();
    let mut all = below(pid.parse().unwrap(), "");
    assert!(all.len() > 2, "{all:?}");
    all.extend(below(host.id(), ""));
    all.retain(|one| *one != host.id());
    kill(host.id());
    host.wait().unwrap();
    are_gone(&all).await;
}

/// The host: opens a page, says so, and waits for its end. Does nothing where it is not that process.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "how this process learns what it is")]
async fn host_that_is_killed() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let pages = pages_with(program().unwrap(), &[], Settings::default());
    let (_, page) = pages.open().await.unwrap();
    println!("\npage: {}", page.pid().unwrap());
    tokio::time::sleep(Duration::from_secs(60)).await;
}
