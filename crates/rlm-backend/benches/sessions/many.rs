//! Many sessions that live at once, each called in turn, beside one; and the same with bare loops, to
//! tell what is a session's own from what is any process's that was not called just now.

use std::time::Instant;

use rlm_backend::SandboxConfig;

use crate::{
    Size,
    peers::Talker,
    subject::Tool,
    table::{Series, row},
};

/// How often each of the many is called.
const TURNS: usize = 5;

/// The median of a call in one of many sessions, beside that in a session alone.
pub(crate) async fn in_turn(size: &Size) {
    let (one_loop, loops) = of_loops(size.sessions);
    let (alone, many) = of_sessions(size).await;
    row(&many, &alone, Some(2.0));
    row(&loops, &one_loop, None);
    row(&many, &loops, None);
}

async fn of_sessions(size: &Size) -> (Series, Series) {
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
    (alone, many)
}

/// One loop of ten lines called again and again, and as many as there are sessions in turn.
fn of_loops(count: usize) -> (Series, Series) {
    let mut loops: Vec<_> = (0..count).map(|_| Talker::evaluating()).collect();
    let (mut alone, mut many) = (
        Series::new("the same with one loop"),
        Series::new("a pipe to as many loops of ten lines in turn"),
    );
    for one in &mut loops {
        one.round_trip();
    }
    if let Some(one) = loops.first_mut() {
        for _ in 0..count {
            alone.push(one.round_trip());
        }
    }
    for _ in 0..TURNS {
        for one in &mut loops {
            many.push(one.round_trip());
        }
    }
    (alone, many)
}
