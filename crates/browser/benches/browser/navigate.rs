//! `navigate` of a page of 100 kB, beside a GET by `reqwest` and a parse by `html5ever`.

use std::time::Duration;

use html5ever::{ParseOpts, parse_document, tendril::TendrilSink};
use rcdom::RcDom;
use serde_json::json;
use testkit::web::{Answer, WebServer};

use crate::subject::{call, median, page, ratio, timed, tool};

pub(crate) async fn run(rounds: usize) {
    let body = page(100_000);
    let bytes = body.len();
    let server = WebServer::always(Answer::html(body)).unwrap();
    let (url, tool) = (server.url("/"), tool(&server, 4));
    let kept = reqwest::Client::builder().no_proxy().build().unwrap();
    let anew = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap();
    let (mut ours, mut with_pool, mut without) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds + 5 {
        let mut times = [Vec::new(), Vec::new(), Vec::new()];
        timed(&mut times[0], call(&tool, json!({"op": "navigate", "url": url}))).await;
        timed(&mut times[1], bare(&kept, &url)).await;
        timed(&mut times[2], bare(&anew, &url)).await;
        // The first rounds warm everybody up.
        if round >= 5 {
            let [first, second, third] = times;
            ours.extend(first);
            with_pool.extend(second);
            without.extend(third);
        }
    }
    let [ours, with_pool, without]: [Duration; 3] = [ours, with_pool, without].map(median);
    println!(
        "navigate, {bytes} bytes: {ours:.2?}; reqwest and html5ever {with_pool:.2?} ({:.2}), on a new \
         connection {without:.2?} ({:.2})",
        ratio(ours, with_pool),
        ratio(ours, without)
    );
}

async fn bare(client: &reqwest::Client, url: &str) {
    let text = client.get(url).send().await.unwrap().text().await.unwrap();
    let dom = parse_document(RcDom::default(), ParseOpts::default()).one(text.as_str());
    assert!(!dom.document.children.borrow().is_empty());
}
