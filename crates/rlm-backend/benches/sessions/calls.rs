//! One call in a session that is there.

use std::time::Instant;

use rlm_backend::{Language, SandboxConfig};

use crate::{
    Size,
    peers::{self, Talker},
    subject::{Direct, Tool},
    table::{Series, missing, row},
};

/// How many calls of a kind follow each other in a round.
const IN_A_ROW: usize = 10;

/// `execute_code("1+1")` through the tool and through a link, beside loops of a few lines.
pub(crate) async fn python(size: &Size, python: Option<&str>) {
    let tool = Tool::new(SandboxConfig { warm_sessions: 0, ..SandboxConfig::default() });
    let session = tool.create().await;
    let mut direct = Direct::start(Language::Python).await;
    let (mut evaluating, mut echoing) = (Talker::evaluating(), Talker::echoing());
    let mut by_tool = Series::new("`execute_code(\"1+1\")`, by the tool");
    let mut by_link = Series::new("`execute_code(\"1+1\")`, by a link");
    let mut loop_ = Series::new("a pipe to a Python loop of ten lines");
    let mut echo = Series::new("a pipe to a Python loop that echoes");
    for round in 0..=size.calls / IN_A_ROW {
        for _ in 0..IN_A_ROW {
            let begun = Instant::now();
            tool.two(&session).await;
            keep(round, &mut by_tool, begun.elapsed());
        }
        for _ in 0..IN_A_ROW {
            let begun = Instant::now();
            direct.run("1+1").await;
            keep(round, &mut by_link, begun.elapsed());
        }
        for _ in 0..IN_A_ROW {
            keep(round, &mut loop_, evaluating.round_trip());
        }
        for _ in 0..IN_A_ROW {
            keep(round, &mut echo, echoing.round_trip());
        }
    }
    row(&by_tool, &loop_, Some(1.5));
    row(&by_link, &loop_, None);
    row(&by_tool, &echo, None);
    kernel(size, python, &tool, &session).await;
    direct.end();
}

/// The same beside a notebook's kernel.
async fn kernel(size: &Size, python: Option<&str>, tool: &Tool, session: &str) {
    let mut by_tool = Series::new("`execute_code(\"1+1\")`, by the tool");
    let mut by_kernel = Series::new("`ipykernel` by `jupyter_client`");
    let Some(mut kernel) = peers::kernel(python) else {
        return missing(by_tool.name, by_kernel.name, "not installed");
    };
    for round in 0..=size.calls / IN_A_ROW / 10 {
        for _ in 0..IN_A_ROW {
            let begun = Instant::now();
            tool.two(session).await;
            keep(round, &mut by_tool, begun.elapsed());
        }
        keep(round, &mut by_kernel, kernel.kernel_trip());
    }
    row(&by_tool, &by_kernel, Some(0.05));
}

/// `execute_bash("true")` beside a fresh bash.
pub(crate) async fn bash(size: &Size) {
    let tool = Tool::new(SandboxConfig { warm_sessions: 0, ..SandboxConfig::default() });
    let session = tool.create().await;
    let mut by_tool = Series::new("`execute_bash(\"true\")`, by the tool");
    let mut fresh = Series::new("a fresh `bash -c true`");
    for round in 0..=size.calls / IN_A_ROW {
        for _ in 0..IN_A_ROW {
            let begun = Instant::now();
            tool.bash_true(&session).await;
            keep(round, &mut by_tool, begun.elapsed());
        }
        keep(round, &mut fresh, peers::run("bash", &["-c", "true"]));
    }
    row(&by_tool, &fresh, Some(0.5));
}

/// The first round warms up.
fn keep(round: usize, series: &mut Series, time: std::time::Duration) {
    if round > 0 {
        series.push(time);
    }
}
