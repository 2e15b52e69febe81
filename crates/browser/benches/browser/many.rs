//! 32 pages side by side from a server that takes 50 ms for each.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use testkit::web::{Answer, WebServer};
use tokio::task::JoinSet;

use crate::subject::{call, median, page, ratio, timed, tool};

const PAGES: usize = 32;
const LATENCY: Duration = Duration::from_millis(50);

pub(crate) async fn run(rounds: usize) {
    for bytes in [10_000, 100_000] {
        let server = WebServer::always(Answer::html(page(bytes)).after(LATENCY)).unwrap();
        let tool = tool(&server, PAGES as u64);
        let mut times = Vec::new();
        for round in 0..rounds + 1 {
            let mut all = JoinSet::new();
            let mut time = Vec::new();
            timed(&mut time, async {
                for number in 0..PAGES {
                    let (tool, url) = (Arc::clone(&tool), server.url(&format!("/{number}")));
                    all.spawn(
                        async move { call(&tool, json!({"op": "navigate", "url": url})).await },
                    );
                }
                while let Some(done) = all.join_next().await {
                    done.unwrap();
                }
            })
            .await;
            if round > 0 {
                times.extend(time);
            }
        }
        let whole = median(times);
        println!(
            "{PAGES} pages of {bytes} bytes side by side, {LATENCY:?} each: {whole:.2?} ({:.2} of ideal)",
            ratio(whole, LATENCY)
        );
    }
}
