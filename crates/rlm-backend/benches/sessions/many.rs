//! Many sessions that live at once, each called in turn, beside one.

use std::time::Instant;

use rlm_backend::SandboxConfig;

use crate::{
    Size,
    subject::Tool,
    table::{Series, row},
};

/// How often each of the many is called.
const TURNS: usize = 5;

/// The median of a call in one of many sessions, beside that in a session alone.
pub(crate) async fn in_turn(size: &Size) {
    let max = size.sessions as u64 + 1;
    let tool = Tool::new(SandboxConfig {
        max_sessions: max,
        warm_sessions: 0,
        ..SandboxConfig::default()
    });
    let mut alone = Series::new("the same with one session");
    let one = tool.create().await;
    for turn in 0..=size.sessions {
        let begun = Instant::now();
        tool.two(&one).await;
        if turn > 0 {
            alone.push(begun.elapsed());
        }
    }
    tool.destroy(&one).await;
    let mut sessions = Vec::new();
    for _ in 0..size.sessions {
        let session = tool.create().await;
        tool.two(&session).await;
        sessions.push(session);
    }
    let name = if size.sessions == 300 {
        "a call, 300 sessions in turn"
    } else {
        "a call, many sessions in turn"
    };
    let mut many = Series::new(name);
    for _ in 0..TURNS {
        for session in &sessions {
            let begun = Instant::now();
            tool.two(session).await;
            many.push(begun.elapsed());
        }
    }
    row(&many, &alone, Some(2.0));
}
