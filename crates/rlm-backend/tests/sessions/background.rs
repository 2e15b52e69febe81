//! What is printed between calls is shown by a status, and by the next call.

use serde_json::{Value, json};

use crate::support::Tool;

async fn status(tool: &Tool, id: &Value) -> Value {
    tool.answer(json!({"op": "session_status", "session_id": id})).await
}

/// The status once it shows something printed in the background.
async fn background(tool: &Tool, id: &Value) -> Value {
    for _ in 0..1000 {
        let status = status(tool, id).await;
        if let Some(background) = status.get("background") {
            return background.clone();
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("nothing was printed");
}

#[tokio::test]
async fn a_jobs_later_output_is_in_the_status_and_is_not_lost_for_the_next_call() {
    crate::support::here!();
    let tool = Tool::new();
    let first = tool.bash("(sleep 1; echo late; echo wrong >&2) & echo now").await;
    assert_eq!(first["stdout"], "now\n");
    let id = &first["session_id"];
    assert_eq!(status(&tool, id).await.get("background"), None);
    let shown = background(&tool, id).await;
    assert_eq!(shown["bash"]["stdout"], "late\n");
    tool.prints("true").await;
    assert_eq!(status(&tool, id).await.get("background"), None, "the call took it");
}

#[tokio::test]
async fn the_next_call_has_it_also_after_a_status() {
    crate::support::here!();
    let tool = Tool::new();
    let first = tool.bash("(sleep 0.1; echo late) &").await;
    background(&tool, &first["session_id"]).await;
    assert_eq!(tool.bash("true").await["background"]["stdout"], "late\n");
}

#[tokio::test]
async fn much_of_it_is_bounded_with_its_beginning_and_its_end() {
    crate::support::here!();
    let tool = Tool::new();
    let first = tool.bash("(sleep 0.1; echo begin; head -c 3000000 /dev/zero; echo end) &").await;
    let id = &first["session_id"];
    background(&tool, id).await;
    let mut shown = Value::Null;
    for _ in 0..1000 {
        shown = background(&tool, id).await["bash"]["stdout"].clone();
        if shown["tail"].as_str().is_some_and(|tail| tail.ends_with("end\n")) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(shown["head"].as_str().unwrap().starts_with("begin\n"));
    assert!(shown["omitted_bytes"].as_u64().unwrap() > 2_900_000);
    assert!(shown.to_string().len() < 64 << 10);
}

#[tokio::test]
async fn what_an_interpreter_printed_before_it_died_is_not_lost() {
    crate::support::here!();
    let tool = Tool::new();
    let first = tool.bash("(sleep 0.1; echo last words; kill -9 $$) &").await;
    let id = &first["session_id"];
    for _ in 0..1000 {
        if status(&tool, id).await["bash"]["running"] == false {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(background(&tool, id).await["bash"]["stdout"], "last words\n");
    let next = tool.bash("echo new").await;
    assert_eq!(
        (&next["background"]["stdout"], &next["state"]),
        (&json!("last words\n"), &json!("restored"))
    );
    assert_eq!(tool.bash("true").await.get("background"), None);
}

#[tokio::test]
async fn a_status_does_not_wait_for_a_call() {
    crate::support::here!();
    let tool = Tool::new();
    let id = json!(tool.create().await);
    let run = json!({"op": "execute_bash", "command": "sleep 6", "session_id": id});
    let look = async {
        tokio::time::sleep(std::time::Duration::from_millis(700)).await;
        let started = std::time::Instant::now();
        let status = status(&tool, &id).await;
        (status, started.elapsed())
    };
    let (_, (status, elapsed)) = tokio::join!(tool.answer(run), look);
    assert_eq!(status["busy"], true);
    assert!(elapsed < std::time::Duration::from_secs(3), "{elapsed:?}");
}
