//! What a page can't reach: another server, whatever kind of request it makes, and files.
//!
//! One list of ways to ask for something is played twice: against a server that the policy does not know,
//! which then sees no connection and no packet; and against the same where the policy accepts it, which
//! shows that the ways work and the server would have seen them.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use browser::Refusal;
use browser::engine::{EngineError, Held, Pages, Settings};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::time::sleep;

use crate::support::{Server, pages_with, program, soon};

/// A server that notes everything that comes to its port.
struct Watched {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    packets: Arc<AtomicUsize>,
    paths: Arc<Mutex<BTreeSet<String>>>,
}

impl Watched {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let socket = UdpSocket::bind(address).await.unwrap();
        let watched = Self {
            address,
            connections: Arc::default(),
            packets: Arc::default(),
            paths: Arc::default(),
        };
        let (connections, paths) = (Arc::clone(&watched.connections), Arc::clone(&watched.paths));
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(answer(stream, Arc::clone(&paths)));
            }
        });
        let packets = Arc::clone(&watched.packets);
        tokio::spawn(async move {
            while socket.recv(&mut [0; 2048]).await.is_ok() {
                packets.fetch_add(1, Ordering::SeqCst);
            }
        });
        watched
    }

    fn seen(&self) -> (usize, usize) {
        (self.connections.load(Ordering::SeqCst), self.packets.load(Ordering::SeqCst))
    }
}

/// Notes what a connection asks for, and answers with something that any kind of request takes.
async fn answer(mut stream: TcpStream, paths: Arc<Mutex<BTreeSet<String>>>) -> Option<()> {
    let mut reader = BufReader::new(&mut stream);
    let mut first = String::new();
    reader.read_line(&mut first).await.ok()?;
    let path = first.split(' ').nth(1)?.trim_start_matches('/').to_owned();
    paths.lock().unwrap().insert(path);
    let mut line = String::new();
    while reader.read_line(&mut line).await.ok()? > 2 {
        line.clear();
    }
    let body = "0";
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/javascript\r\nAccess-Control-Allow-Origin: *\r\n\
         Access-Control-Allow-Private-Network: true\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.ok()
}

/// Ways that all begin in one page, named by the path that they ask for.
const IN_ONE_PAGE: &str = r#"<!doctype html>
<meta http-equiv="Content-Security-Policy-Report-Only" content="script-src 'none'">
<link rel=stylesheet href="//T/stylesheet">
<link rel=preload as=script href="//T/preload"><link rel=modulepreload href="//T/modulepreload">
<link rel=prefetch href="//T/prefetch"><link rel=preconnect href="//T"><link rel=dns-prefetch href="//T">
<link rel=icon href="//T/icon"><link rel=manifest href="//T/manifest">
<style>@import url(//T/import); @font-face { font-family: f; src: url(//T/font) } p { font-family: f;
background: url(//T/background); list-style: url(//T/list) } p::before { content: url(//T/generated) }</style>
<p>text</p>
<img src="//T/image"><img srcset="//T/srcset 1x"><picture><source srcset="//T/picture"><img></picture>
<svg><image href="//T/svg" /><use href="/local.svg#a" /></svg>
<video src="//T/video" preload=auto></video><audio src="//T/audio" preload=auto></audio><video poster="//T/poster"></video>
<script src="//T/script"></script><script type=module>import "//T/module"</script>
<iframe src="//T/iframe"></iframe><object data="//T/object"></object><embed src="//T/embed">
<iframe srcdoc="<img src=//T/srcdoc>"></iframe><iframe src="/meta"></iframe>
<img src="/redirect/image"><iframe src="/redirect/iframe"></iframe>
<iframe name=sink></iframe><iframe name=ping></iframe><form action="//T/form" target=sink method=post><input name=a></form>
<input type=image src="//T/input">
<a id=ping href="/nowhere" ping="//T/ping" target=ping>x</a><a id=win href="//T/window" target=_blank>x</a>
<script type=speculationrules>{"prefetch": [{"urls": ["//T/speculated"]}], "prerender": [{"urls": ["/prerendered"]}]}</script>
<script>
const ignore = () => {};
fetch('//T/fetch').catch(ignore); fetch('//T/no-cors', {mode: 'no-cors', keepalive: true}).catch(ignore);
fetch('//T/preflight', {headers: {'x-a': '1'}}).catch(ignore); fetch('/redirect/fetch').catch(ignore);
const xhr = new XMLHttpRequest(); xhr.open('GET', '//T/xhr'); xhr.send();
new EventSource('//T/events'); new WebSocket('ws://T/socket'); navigator.sendBeacon('//T/beacon', 'x');
import('//T/dynamic').catch(ignore); document.forms[0].submit(); document.getElementById('ping').click();
window.open('http://T/opened'); document.getElementById('win').click();
const made = code => URL.createObjectURL(new Blob([code], {type: 'text/javascript'}));
new Worker(made("fetch('http://T/worker').catch(() => {}); new WebSocket('ws://T/worker-socket')"));
new Worker(made("importScripts('http://T/imported')"));
new SharedWorker('/shared.js');
navigator.serviceWorker.register('/service.js').catch(ignore);
for (const urls of ['stun:T', 'turn:T?transport=udp', 'turn:T?transport=tcp']) {
    const peer = new RTCPeerConnection({iceServers: [{urls, username: 'a', credential: 'b'}]});
    peer.createDataChannel('x'); peer.createOffer().then(offer => peer.setLocalDescription(offer));
}
try { new WebTransport('https://T/transport').ready.catch(ignore) } catch {}
new Image().src = '//T/script-image';
addEventListener('pagehide', () => navigator.sendBeacon('//T/last', 'x'));
</script>"#;

const SHARED: &str = "fetch('http://T/shared').catch(() => {})";
const SERVICE: &str = "fetch('http://T/service').catch(() => {}); self.skipWaiting(); \
    self.addEventListener('activate', e => e.waitUntil(fetch('http://T/activated').catch(() => {})))";

/// What the server sees of them where it may. Left out are those that need more than a server (packets,
/// encryption), pings, which are off, and windows, which are closed before they ask for anything.
const ARRIVE: &[&str] = &[
    "activated",
    "audio",
    "background",
    "beacon",
    "dynamic",
    "embed",
    "events",
    "fetch",
    "font",
    "form",
    "generated",
    "icon",
    "iframe",
    "image",
    "import",
    "imported",
    "input",
    "last",
    "meta",
    "module",
    "modulepreload",
    "no-cors",
    "object",
    "picture",
    "poster",
    "prefetch",
    "preflight",
    "preload",
    "redirected-fetch",
    "redirected-iframe",
    "redirected-image",
    "script",
    "script-image",
    "service",
    "shared",
    "socket",
    "speculated",
    "srcdoc",
    "srcset",
    "stylesheet",
    "svg",
    "video",
    "worker",
    "worker-socket",
    "xhr",
];

/// A server whose pages ask for everything at another one.
async fn asking(of: SocketAddr) -> Server {
    let there = of.to_string();
    let redirect = |path: &str| format!("!302\n\nhttp://{there}/{path}");
    let script = |text: &str| {
        format!("!200\ntext/javascript\n{}", text.replace("//T", &format!("//{there}")))
    };
    let page =
        IN_ONE_PAGE.replace("//T", &format!("//{there}")).replace(":T", &format!(":{there}"));
    Server::start(&[
        ("/", page),
        ("/quiet", "quiet".to_owned()),
        ("/meta", format!("<meta http-equiv=refresh content='0;url=http://{there}/meta'>")),
        ("/redirect/image", redirect("redirected-image")),
        ("/redirect/iframe", redirect("redirected-iframe")),
        ("/redirect/fetch", redirect("redirected-fetch")),
        ("/redirect/top", redirect("redirected-top")),
        ("/location", format!("<script>location = 'http://{there}/location'</script>")),
        ("/shared.js", script(SHARED)),
        ("/service.js", script(SERVICE)),
        ("/prerendered", format!("<img src=//{there}/prerendered>")),
    ])
    .await
}

/// Plays every way in a page; where the page ended up with each that leads away as a whole.
async fn play(page: &mut Held, server: &Server) {
    page.navigate(&server.url("/"), soon()).await.unwrap();
    sleep(Duration::from_secs(3)).await;
    page.navigate(&server.url("/quiet"), soon()).await.unwrap();
    sleep(Duration::from_millis(300)).await;
}

async fn open(server: &Server, also: &[SocketAddr]) -> Option<(Pages, Held)> {
    let program = program()?;
    let reached: Vec<SocketAddr> = [server.address].iter().chain(also).copied().collect();
    let pages = pages_with(program, &reached, Settings::default());
    let (_, page) = pages.open().await.unwrap();
    Some((pages, page))
}

#[tokio::test]
async fn no_way_leads_to_a_forbidden_server() {
    let forbidden = Watched::start().await;
    let server = asking(forbidden.address).await;
    let Some((_pages, mut page)) = open(&server, &[]).await else { return };
    play(&mut page, &server).await;
    for path in ["/redirect/top", "/location"] {
        let error = page.navigate(&server.url(path), soon()).await.unwrap_err();
        let EngineError::NotLoaded { problem, .. } = &error else { panic!("{path}: {error}") };
        assert!(
            problem.starts_with(&format!("refused, {}", forbidden.address)),
            "{path}: {problem}"
        );
    }
    let direct =
        page.navigate(&format!("http://{}/", forbidden.address), soon()).await.unwrap_err();
    assert!(matches!(direct, EngineError::Refused(Refusal::Address { .. })), "{direct}");
    sleep(Duration::from_millis(500)).await;
    assert_eq!(forbidden.seen(), (0, 0), "{:?}", forbidden.paths.lock().unwrap());
}

#[tokio::test]
async fn the_same_ways_lead_to_a_server_that_is_allowed() {
    let allowed = Watched::start().await;
    let server = asking(allowed.address).await;
    let Some((_pages, mut page)) = open(&server, &[allowed.address]).await else { return };
    play(&mut page, &server).await;
    for path in ["/redirect/top", "/location"] {
        page.navigate(&server.url(path), soon()).await.unwrap();
    }
    let seen = allowed.paths.lock().unwrap().clone();
    let missing: Vec<_> = ARRIVE
        .iter()
        .chain(&["redirected-top", "location"])
        .filter(|path| !seen.contains(**path))
        .collect();
    assert!(missing.is_empty(), "{missing:?} did not arrive; {seen:?} did");
    let ours = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    ours.send_to(b"x", allowed.address).await.unwrap();
    sleep(Duration::from_millis(100)).await;
    assert_eq!(allowed.seen().1, 1, "the packet of this test, and no other");
}
