//! `remit agent --orchestrate`: a plan of sub-tasks, its bounds, and what becomes of each.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{ModelServer, Step};

use crate::support::{Output, Place, repository};

fn orchestrate(place: &Place, plan: &Value, flags: &[&str]) -> Output {
    place.file("plan.json", plan.to_string());
    let args = ["agent", "--orchestrate", "--delegation-plan", "plan.json"];
    place.remit(args.into_iter().chain(flags.iter().copied())).run()
}

fn tasks(ids: &[&str]) -> Value {
    let tasks = ids.iter().map(|id| json!({"id": id, "task": "x"}));
    json!({"sub_tasks": tasks.collect::<Vec<_>>()})
}

#[test]
fn the_sample_runs() {
    let place = Place::new();
    let [plan, replies, work] = ["delegation_plan.json", "delegation_replies.jsonl", "workdir"]
        .map(|name| repository(&format!("data/{name}")));
    let args = [
        "agent",
        "--orchestrate",
        "--delegation-plan",
        &plan,
        "--replay",
        &replies,
        "--execute-tools",
        "--allow-tool",
        "read_file_in_workdir",
        "--exec-workdir",
        &work,
    ];
    let outcomes = place.remit(args).run().ended(0).json();
    let ids: Vec<_> = outcomes.iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["inventory", "again"]);
    for outcome in &outcomes {
        assert_eq!(
            (&outcome["status"], &outcome["answer"]),
            (&json!("answered"), &json!("Lamps, chairs and a kettle."))
        );
        assert_eq!(outcome["scope"], json!(["read_file_in_workdir"]));
    }
}

#[test]
fn a_plan_that_can_not_run_is_a_mistake_before_anything_is_asked() {
    let place = Place::new();
    place.file("replies.jsonl", "{\"text\": \"x\"}\n");
    let wider =
        json!({"sub_tasks": [{"id": "a", "task": "x", "allow_tools": ["read_file_in_workdir"]}]});
    let cases: &[(Value, &[&str], &str)] = &[
        (tasks(&["a", "b", "c", "d", "e"]), &[], "at most 4"),
        (tasks(&["a", "b"]), &["--max-sub-agents", "1"], "at most 1"),
        (tasks(&[]), &[], "no sub-tasks"),
        (tasks(&["a", "a"]), &[], "stands twice"),
        (json!({"tasks": []}), &[], "unknown field"),
        (tasks(&["a"]), &["--max-sub-agents", "0"], "1..=64"),
        (tasks(&["a"]), &["--max-orchestration-budget-ms", "0"], "1..=86400000"),
        (tasks(&["a"]), &["--sub-agent-allow-tool", "x"], "--execute-tools"),
        (wider.clone(), &[], "names no registered tool"),
        (
            wider,
            &["--execute-tools", "--allow-tool", "list_dir_in_workdir", "--exec-workdir", "."],
            "may not have read_file_in_workdir",
        ),
        (
            tasks(&["a"]),
            &[
                "--execute-tools",
                "--allow-tool",
                "list_dir_in_workdir",
                "--exec-workdir",
                ".",
                "--sub-agent-allow-tool",
                "read_file_in_workdir",
            ],
            "--sub-agent-allow-tool: a sub-agent may not have",
        ),
    ];
    for (plan, flags, part) in cases {
        let flags: Vec<_> = ["--replay", "replies.jsonl"].iter().chain(*flags).copied().collect();
        let output = orchestrate(&place, plan, &flags).ended(2);
        assert!(output.stderr.contains(part), "{part}: {}", output.stderr);
        assert_eq!(output.stdout, "");
    }
    let alone = place.remit(["agent", "x", "--max-sub-agents", "2"]).run().ended(2);
    assert!(alone.stderr.contains("--orchestrate"), "{}", alone.stderr);
    let model = orchestrate(&place, &tasks(&["a"]), &[]).ended(2);
    assert!(model.stderr.contains("--model"), "{}", model.stderr);
}

#[test]
fn the_budget_cuts_one_and_leaves_the_others_their_answers() {
    let place = Place::new();
    let says = |content: &str| {
        let message = json!({"role": "assistant", "content": content});
        Step::json(&json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}))
    };
    let steps =
        [says("there").delay(Duration::from_secs(30)), says("here"), Step::error(400, "no")];
    let server = ModelServer::start(steps).unwrap();
    let url = server.url();
    let flags = ["--model", "m", "--model-url", &url, "--max-orchestration-budget-ms", "2000"];
    let began = Instant::now();
    let output = orchestrate(&place, &tasks(&["a", "b", "c"]), &flags).ended(1);
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    let outcomes = output.json();
    let mut statuses: Vec<_> = outcomes.iter().map(|one| one["status"].as_str().unwrap()).collect();
    let ids: Vec<_> = outcomes.iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    // Which request gets which answer is not told; each has its own marker.
    statuses.sort_unstable();
    assert_eq!(statuses, ["answered", "cut", "failed"], "{outcomes:#?}");
    let cut = outcomes.iter().find(|one| one["status"] == "cut").unwrap();
    assert!(cut["error"].as_str().unwrap().contains("2000 ms"), "{cut}");
    assert!(output.stderr.contains("2 of 3 sub-tasks have no answer"), "{}", output.stderr);
}
