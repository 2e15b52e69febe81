//! What a live page costs: its start, and a warm screenshot beside a bare client of the protocol.
//!
//! `cargo xtask bench engine [-- ROUNDS]` prints medians of interleaved rounds, and the ratio. The bare client
//! speaks to a Chromium of its own, started and confined in the same way, by blocking reads and writes:
//! it has no interception, no events and no second look at the page.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark stops at the first surprise, and prints what it measured"
)]

mod bare;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use browser::engine::{ImageFormat, Pages, Program, Settings, Shot};
use browser::{Dialer, PolicyRules, SystemResolver, UrlPolicy};

use self::bare::Bare;

/// What both show.
pub(crate) const HTML: &str = "<!doctype html><title>x</title><style>body { columns: 3; font: 14px sans-serif }
b { color: #a03 }</style><script>for (let i = 0; i < 400; i++) document.write('<p>Paragraph <b>' + i + '</b> of a page \
that has some text in it.')</script>";

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let rounds: usize = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(40);
    let Ok(program) = Program::find() else { return println!("no Chromium is installed") };
    let address = serve();
    let pages = pages(&program, address);
    let soon = || tokio::time::Instant::now() + Duration::from_secs(60);

    let started = Instant::now();
    let (_, mut page) = pages.open().await.unwrap();
    println!("first page, from nothing     {:>9.1} ms", ms(started.elapsed()));
    let mut starts = Vec::new();
    for _ in 0..5 {
        let started = Instant::now();
        let (id, page) = pages.open().await.unwrap();
        starts.push(started.elapsed());
        drop(page);
        pages.close(&id);
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    println!("another page                 {:>9.1} ms", ms(median(&mut starts)));
    page.navigate(&format!("http://{address}/"), soon()).await.unwrap();
    let mut bare = Bare::start(&program);

    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..rounds + 3 {
        let started = Instant::now();
        let shot =
            page.screenshot(&Shot::View, ImageFormat::Png, usize::MAX, soon()).await.unwrap();
        let our = started.elapsed();
        let started = Instant::now();
        let data = tokio::task::block_in_place(|| bare.screenshot());
        // The first ones warm both up.
        if round >= 3 {
            ours.push(our);
            theirs.push(started.elapsed());
        }
        assert!(shot.data.len().abs_diff(data) < data / 4, "{} and {data} bytes", shot.data.len());
    }
    let (ours, theirs) = (median(&mut ours), median(&mut theirs));
    println!("warm screenshot              {:>9.1} ms", ms(ours));
    println!("the same by a bare client    {:>9.1} ms", ms(theirs));
    println!("ratio                        {:>9.2}", ours.as_secs_f64() / theirs.as_secs_f64());
}

fn pages(program: &Program, address: SocketAddr) -> Pages {
    let internal_hosts = vec![address.to_string()];
    let rules = PolicyRules { internal_hosts, ..PolicyRules::default() };
    let policy = Arc::new(UrlPolicy::new(&rules).unwrap());
    let dialer = Dialer::new(policy, Arc::new(SystemResolver), Duration::from_secs(5));
    Pages::new(program.clone(), Settings::default(), dialer)
}

/// A server of the one page.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 4096]);
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n";
            let _ = write!(stream, "{head}Content-Length: {}\r\n\r\n{HTML}", HTML.len());
        }
    });
    address
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
