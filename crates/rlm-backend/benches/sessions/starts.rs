//! Sessions made, with and without a pool.

use std::time::{Duration, Instant};

use rlm_backend::SandboxConfig;

use crate::{
    Size, peers,
    subject::Tool,
    table::{Series, row},
};

/// `session_create`, and the first call after it, beside a bare interpreter's whole life.
pub(crate) async fn create(size: &Size) {
    let config = SandboxConfig { warm_sessions: 1, ..SandboxConfig::default() };
    let tool = Tool::new(config);
    let mut made = Series::new("`session_create`, from the pool");
    let mut first = Series::new("the same and its first `1+1`");
    let mut bare = Series::new("a bare `python3 -c pass`");
    for round in 0..=size.starts {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let begun = Instant::now();
        let session = tool.create().await;
        let created = begun.elapsed();
        tool.two(&session).await;
        let called = begun.elapsed();
        tool.destroy(&session).await;
        let alone = peers::run(peers::PYTHON, &["-c", "pass"]);
        if round > 0 {
            made.push(created);
            first.push(called);
            bare.push(alone);
        }
    }
    row(&made, &bare, Some(0.05));
    row(&first, &bare, None);
}
