//! Pages that misbehave: each is bounded, and the page can be used for another one afterwards.

use std::time::Duration;

use browser::engine::{EngineError, Held, Locator, Pages, Program, Settings, Shot};
use browser::engine::{ImageFormat, Visit};
use tokio::time::Instant;

use crate::processes;
use crate::support::{Server, page, pages_with, program, soon};

/// What comes after every misbehaviour.
const GOOD: (&str, &str) = ("/good", "<title>good</title><button>fine</button>");

async fn server(html: &str) -> Server {
    Server::start(&[("/", html.to_owned()), (GOOD.0, GOOD.1.to_owned())]).await
}

/// Opens the good page, in the same page as before.
async fn recovers(page: &mut Held, server: &Server) {
    let visit = page.navigate(&server.url(GOOD.0), soon()).await.unwrap();
    assert_eq!((visit.status, visit.title.as_str()), (Some(200), "good"), "{visit:?}");
    let snapshot = page.snapshot(10_000, soon()).await.unwrap();
    assert!(snapshot.tree.contains("button \"fine\""), "{}", snapshot.tree);
}

/// A page that gives up on loading after a second.
async fn hasty(program: Program, server: &Server) -> (Pages, Held) {
    let mut settings = Settings::default();
    settings.load_timeout = Duration::from_secs(1);
    let pages = pages_with(program, &[server.address], settings);
    let (_, page) = pages.open().await.unwrap();
    (pages, page)
}

async fn visited(page: &mut Held, server: &Server) -> Visit {
    page.navigate(&server.url("/"), soon()).await.unwrap()
}

#[tokio::test]
async fn dialogs_without_end_are_dismissed_and_stopped() {
    let Some(program) = program() else { return };
    let server = server("<title>loop</title><script>while (true) alert('again')</script>").await;
    let (_pages, mut page) = page(program, &server).await;
    let visit = visited(&mut page, &server).await;
    let dialogs = &visit.notices.dialogs;
    assert!(dialogs.count > 10 && dialogs.first[0] == "alert: again", "{dialogs:?}");
    assert!(dialogs.first.len() < 10);
    assert!(!visit.is_complete);
    let stuck = page.snapshot(1000, soon()).await.unwrap_err();
    assert!(matches!(stuck, EngineError::Stuck), "{stuck}");
    recovers(&mut page, &server).await;
}

#[tokio::test]
async fn each_kind_of_dialog_is_answered_and_none_keeps_a_page() {
    let Some(program) = program() else { return };
    let html = "<title>x</title><button onclick=\"alert('a'); document.title = [confirm('b'), prompt('c')].join()\">ask</button>
        <script>addEventListener('beforeunload', e => { e.preventDefault(); e.returnValue = 'stay' })</script>";
    let server = server(html).await;
    let (_pages, mut page) = page(program, &server).await;
    visited(&mut page, &server).await;
    let ask = Locator::Selector("button".to_owned());
    let acted = page.click(&ask, soon()).await.unwrap();
    assert_eq!(acted.title, "false,");
    assert_eq!(acted.notices.dialogs.first, ["alert: a", "confirm: b", "prompt: c"]);
    recovers(&mut page, &server).await;
}

#[tokio::test]
async fn windows_downloads_and_permissions_are_denied() {
    let Some(program) = program() else { return };
    let html = "<title>x</title><button>go</button><script>
        document.querySelector('button').onclick = () => { for (let i = 0; i < 100; i++) open('/good?' + i) };
        setInterval(() => open('/good'), 1);
        const said = [];
        const note = what => { said.push(what); document.title = said.sort().join() };
        navigator.geolocation.getCurrentPosition(() => note('place given'), e => note('place ' + e.code));
        window.Notification?.requestPermission().then(is => note('notes ' + is.replace('granted', 'given')));
        navigator.mediaDevices?.getUserMedia({audio: true}).then(() => note('sound given'), e => note('sound ' + e.name));
        </script>";
    let server = Server::start(&[
        ("/", html.to_owned()),
        ("/file", "!200\napplication/octet-stream\nbytes".to_owned()),
        (GOOD.0, GOOD.1.to_owned()),
    ])
    .await;
    let (_pages, mut page) = page(program, &server).await;
    visited(&mut page, &server).await;
    let acted = page.click(&Locator::Selector("button".to_owned()), soon()).await.unwrap();
    assert!(acted.notices.windows.count >= 1, "{acted:?}");
    let title = page.snapshot(1000, soon()).await.unwrap().title;
    assert!(title.contains("place 1"), "{title}");
    assert!(!title.contains("given"), "{title}");
    let file = page.navigate(&server.url("/file"), soon()).await.unwrap_err();
    assert!(file.to_string().contains("downloads are denied"), "{file}");
    recovers(&mut page, &server).await;
}

#[tokio::test]
async fn what_never_ends_to_load_is_taken_as_it_is() {
    let Some(program) = program() else { return };
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    let html = format!("<title>slow</title><img src='http://{address}/'><p>text");
    let server = server(&html).await;
    let mut settings = Settings::default();
    settings.load_timeout = Duration::from_secs(1);
    let pages = pages_with(program, &[server.address, address], settings);
    let (_, mut page) = pages.open().await.unwrap();
    let visit = visited(&mut page, &server).await;
    assert_eq!((visit.is_complete, visit.title.as_str()), (false, "slow"));
    recovers(&mut page, &server).await;
}

#[tokio::test]
async fn a_script_without_end_is_ended_for_the_next_operation() {
    let Some(program) = program() else { return };
    let server =
        server("<title>busy</title><script>onload = () => { while (true); }</script>").await;
    let (_pages, mut page) = hasty(program, &server).await;
    let visit = visited(&mut page, &server).await;
    assert!(!visit.is_complete);
    let short = Instant::now() + Duration::from_millis(700);
    let busy = page.snapshot(1000, short).await.unwrap_err();
    assert!(matches!(busy, EngineError::TimedOut { .. }), "{busy}");
    let snapshot = page.snapshot(1000, soon()).await.unwrap();
    assert!(snapshot.tree.contains("document \"busy\""), "{}", snapshot.tree);
    recovers(&mut page, &server).await;
}

#[tokio::test]
async fn a_caller_that_goes_away_leaves_a_page_that_works() {
    let Some(program) = program() else { return };
    let busy = "<title>busy</title><script>onload = () => { while (true); }</script>";
    let server = server(busy).await;
    let (_pages, mut page) = hasty(program, &server).await;
    let url = server.url("/");
    let asking = page.navigate(&url, soon());
    assert!(tokio::time::timeout(Duration::from_millis(400), asking).await.is_err());
    recovers(&mut page, &server).await;
}

#[tokio::test]
async fn memory_has_an_end_and_so_has_a_tree() {
    let Some(program) = program() else { return };
    let html = "<title>large</title><script>
        const kept = [];
        setInterval(() => {
            const c = document.createElement('canvas'); c.width = c.height = 8192;
            c.getContext('2d').fillRect(0, 0, 8192, 8192); kept.push(c, new Uint8Array(1 << 28).fill(7));
        }, 1)</script>";
    let many = format!("<title>many</title>{}", "<b></b>".repeat(60_000));
    let server =
        Server::start(&[("/", html.to_owned()), ("/many", many), (GOOD.0, GOOD.1.to_owned())])
            .await;
    let mut settings = Settings::default();
    settings.memory = tool_core::ByteCount(1 << 30);
    settings.load_timeout = Duration::from_secs(5);
    let pages = pages_with(program, &[server.address], settings);
    let (id, mut page) = pages.open().await.unwrap();
    page.navigate(&server.url("/many"), soon()).await.unwrap();
    let large = page.snapshot(1 << 20, soon()).await.unwrap_err();
    assert!(large.to_string().contains("60004 elements"), "{large}");
    // The page dies of it, or its browser does, or both go on with what they have.
    let _ = page.navigate(&server.url("/"), soon()).await;
    tokio::time::sleep(Duration::from_secs(4)).await;
    let short = Instant::now() + Duration::from_secs(5);
    let _ = page.screenshot(&Shot::View, ImageFormat::Png, 1 << 20, short).await;
    match page.navigate(&server.url(GOOD.0), soon()).await {
        Ok(visit) => assert_eq!(visit.title, "good"),
        // It was busy with dying; the next operation takes another page.
        Err(EngineError::TimedOut { .. }) => recovers(&mut page, &server).await,
        Err(EngineError::Ended) => {
            drop(page);
            let ended = pages.get(&id).await.unwrap_err();
            assert!(matches!(ended, EngineError::Ended), "{ended}");
            let (_, mut other) = pages.open().await.unwrap();
            recovers(&mut other, &server).await;
        }
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_page_that_crashes_is_opened_again_and_a_browser_that_ends_is_told() {
    let Some(program) = program() else { return };
    let server = server("<title>x</title>").await;
    let pages = pages_with(program, &[server.address], Settings::default());
    let (id, mut page) = pages.open().await.unwrap();
    visited(&mut page, &server).await;
    let browser = page.pid().unwrap();
    let renderers = processes::below(browser, "--type=renderer");
    assert!(!renderers.is_empty());
    renderers.iter().for_each(|&renderer| processes::kill(renderer));
    tokio::time::sleep(Duration::from_millis(300)).await;
    let crashed = page.snapshot(1000, soon()).await.unwrap_err();
    assert!(matches!(crashed, EngineError::Crashed), "{crashed}");
    recovers(&mut page, &server).await;

    let all = processes::below(browser, "");
    processes::kill(browser);
    tokio::time::sleep(Duration::from_millis(300)).await;
    let ended = page.snapshot(1000, soon()).await.unwrap_err();
    assert!(matches!(ended, EngineError::Ended), "{ended}");
    drop(page);
    assert!(matches!(pages.get(&id).await, Err(EngineError::Ended)));
    assert!(matches!(pages.get(&id).await, Err(EngineError::NoSuchPage { .. })));
    processes::are_gone(&all).await;
    let (_, mut other) = pages.open().await.unwrap();
    recovers(&mut other, &server).await;
}
