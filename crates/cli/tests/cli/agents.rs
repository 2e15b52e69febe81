//! Sub-agents from the command line: the tool, a `remit agent` as a real child, and `remit agents`.

use serde_json::{Value, json};
use testkit::{ModelServer, Step};

use crate::support::{Output, Place, Running, answer};

/// The configuration of a parent: a chain of our own, a `remit agent`, and a sleeper.
fn config(place: &Place) -> String {
    let (remit, at) = (env!("CARGO_BIN_EXE_remit"), place.path().display());
    let script = [
        json!({"calls": [
            {"name": "read_file_in_workdir", "arguments": {"path": "note.txt"}},
            {"name": "list_dir_in_workdir", "arguments": {}},
        ]}),
        json!({"text": "It is a note.", "expect": {"tool_results": 2, "last_tool_is_error": true}}),
    ];
    place.file("script.jsonl", script.map(|line| format!("{line}\n")).concat());
    place.file("work/note.txt", "a note\n");
    place.file(
        "remit.toml",
        format!(
            r#"
            [tools]
            execute = true
            workdir = "{at}/work"
            [subagent]
            enabled = true
            state_dir = "{at}/state"
            max_depth = 2
            [subagent.providers.own]
            kind = "llm"
            [subagent.providers.sleeper]
            program = "sleep"
            args = ["40"]
            [subagent.providers.remit]
            preset = "remit"
            program = "{remit}"
            args = ["agent", "--json", "{{allow}}", "--replay={at}/script.jsonl", "-"]
            readable = ["{at}/script.jsonl"]
            "#
        ),
    )
}

/// A `remit exec` that is asked one thing after the other.
struct Asked {
    running: Running,
    answers: usize,
}

impl Asked {
    fn start(place: &Place, allowed: &[&str]) -> Self {
        Self::start_with(place, allowed, &[])
    }

    fn start_with(place: &Place, allowed: &[&str], variables: &[(&str, &str)]) -> Self {
        let config = config(place);
        let allow = allowed.iter().flat_map(|name| ["--allow-tool", name]);
        let args = ["exec", "--json", "--config", &config].into_iter().chain(allow);
        let remit = variables
            .iter()
            .fold(place.remit(args).open_input(), |remit, (name, value)| remit.env(name, value));
        Self { running: remit.spawn(), answers: 0 }
    }

    fn ask(&mut self, arguments: Value) -> Value {
        let call = json!({"id": "c", "name": "subagent", "arguments": arguments});
        self.running.write(&format!("{call}\n"));
        self.answers += 1;
        let answers = self.answers;
        self.running.until("an answer", |run| run.stdout().matches('\n').count() == answers);
        serde_json::from_str(self.running.stdout().lines().last().unwrap()).unwrap()
    }

    fn ok(&mut self, arguments: Value) -> Value {
        let result = self.ask(arguments);
        assert_eq!(answer(&result).1, "ok", "{result}");
        result["content"][0]["json"].clone()
    }

    /// All of an agent once it has ended.
    fn done(&mut self, id: &Value) -> Value {
        let mut since = 0;
        loop {
            let all =
                self.ok(json!({"op": "collect", "id": id, "since": since, "wait_ms": 10_000}));
            if all["done"] == true {
                return self.ok(json!({"op": "collect", "id": id}));
            }
            since = all["next"].as_u64().unwrap();
        }
    }

    fn end(mut self) -> Output {
        self.running.stdin = None;
        self.running.finish().ended(0)
    }
}

#[test]
fn a_remit_agent_uses_tools_within_its_scope_and_is_refused_outside() {
    let place = Place::new();
    let allowed = ["subagent", "read_file_in_workdir", "list_dir_in_workdir"];
    let mut asked = Asked::start(&place, &allowed);
    let spawn = json!({"op": "spawn", "provider": "remit", "task": "--help: what is\nin note.txt?",
                       "allow_tools": ["read_file_in_workdir"]});
    let spawned = asked.ok(spawn);
    assert!(spawned["pid"].as_u64().unwrap() > 1);
    let all = asked.done(&spawned["id"]);
    assert_eq!((&all["state"], &all["exit_code"]), (&json!("exited"), &json!(0)), "{all}");
    assert_eq!(all["result"]["text"], "It is a note.");
    assert_eq!(all["allow_tools"], json!(["read_file_in_workdir"]));
    let text = all["output"].to_string();
    assert!(text.contains("a note") && text.contains("unauthorized"), "{text}");
    asked.end();
}

#[test]
fn what_the_parent_does_not_hold_is_refused_by_name() {
    let place = Place::new();
    let mut asked = Asked::start(&place, &["subagent", "read_file_in_workdir"]);
    for provider in ["remit", "own", "sleeper"] {
        let wider = json!({"op": "spawn", "provider": provider, "task": "x",
                           "allow_tools": ["list_dir_in_workdir", "read_file_in_workdir"]});
        let refused = asked.ask(wider);
        assert_eq!(answer(&refused).1, "unauthorized");
        assert_eq!(refused["error"]["details"]["capability"], "list_dir_in_workdir");
    }
    let unknown = asked.ask(json!({"op": "status", "id": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("\"op\":\"list\""), "{unknown}");
    assert_eq!(asked.ok(json!({"op": "list"})), json!({"agents": []}));
    asked.end();
    let other = Place::new();
    let mut spawner = Asked::start(&other, &["subagent.list"]);
    let refused = spawner.ask(json!({"op": "spawn", "task": "x"}));
    assert_eq!(answer(&refused).1, "unauthorized");
    spawner.end();
}

fn says(content: &str) -> Step {
    let message = json!({"role": "assistant", "content": content});
    Step::json(&json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}))
}

fn calls(name: &str, arguments: &Value) -> Step {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    let call = json!({"id": "c1", "type": "function", "function": function});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let choice = json!({"index": 0, "message": message, "finish_reason": "tool_calls"});
    Step::json(&json!({"choices": [choice]}))
}

#[test]
fn a_chain_of_our_own_goes_through_the_same_door_at_every_depth() {
    let place = Place::new();
    let steps = [
        // It reads, asks for more than it holds, by itself and for another, and looks around.
        calls("read_file_in_workdir", &json!({"path": "note.txt"})),
        calls("list_dir_in_workdir", &json!({})),
        calls(
            "subagent",
            &json!({"op": "spawn", "provider": "own", "task": "x",
                                  "allow_tools": ["list_dir_in_workdir"]}),
        ),
        calls("subagent", &json!({"op": "list"})),
        says("I have read a note."),
    ];
    let server = ModelServer::start(steps).unwrap();
    let url = server.url();
    let model = [("REMIT_MODEL_NAME", "m"), ("REMIT_MODEL_URL", url.as_str())];
    let allowed = ["subagent", "read_file_in_workdir", "list_dir_in_workdir"];
    let mut asked = Asked::start_with(&place, &allowed, &model);
    let narrowed = json!(["subagent", "read_file_in_workdir"]);
    let spawned = asked.ok(json!({"op": "spawn", "provider": "own", "task": "x",
                                  "allow_tools": narrowed}));
    let all = asked.done(&spawned["id"]);
    assert_eq!(all["state"], "exited", "{all}");
    let said = json!([
        {"stream": "stderr", "text": "call read_file_in_workdir: ok\ncall list_dir_in_workdir: \
                                      unauthorized\ncall subagent: unauthorized\ncall subagent: ok\n"},
        {"stream": "stdout", "text": "I have read a note."},
    ]);
    assert_eq!(all["output"], said);
    let requests = server.requests();
    let offered = requests[0].json()["tools"].to_string();
    assert!(offered.contains("subagent") && !offered.contains("list_dir"), "{offered}");
    // An agent sees those that it started, and no others.
    let listed = requests[4].json()["messages"].to_string();
    assert!(listed.contains("{\\\"agents\\\":[]}"), "{listed}");
    asked.end();
}

#[test]
fn depth_is_bounded_and_told() {
    let place = Place::new();
    let deeper = json!({"op": "spawn", "provider": "own", "task": "deeper"});
    let server = ModelServer::start([calls("subagent", &deeper), says("too deep")]).unwrap();
    let url = server.url();
    let variables = [
        ("REMIT_MODEL_NAME", "m"),
        ("REMIT_MODEL_URL", url.as_str()),
        ("REMIT_SUBAGENT_MAX_DEPTH", "1"),
    ];
    let mut asked = Asked::start_with(&place, &["subagent"], &variables);
    let spawned = asked.ok(json!({"op": "spawn", "provider": "own", "task": "depth 1"}));
    assert_eq!(asked.done(&spawned["id"])["state"], "exited");
    let told = server.requests()[1].json().to_string();
    assert!(told.contains("agents may be 1 deep"), "{told}");
    asked.end();
}

#[test]
fn a_person_lists_reads_and_ends_agents_of_another_process() {
    let place = Place::new();
    let mut asked = Asked::start(&place, &["subagent"]);
    let spawned = asked.ok(json!({"op": "spawn", "provider": "sleeper", "task": "rest"}));
    let id = spawned["id"].as_str().unwrap().to_owned();
    let agents = |words: &[&str]| {
        let args = ["agents"].into_iter().chain(words.iter().copied());
        place.remit(args.chain(["--config", "remit.toml"])).run()
    };
    let listed = agents(&[]).ended(0).json();
    assert_eq!((&listed[0]["id"], &listed[0]["state"]), (&json!(id), &json!("running")));
    assert_eq!(agents(&["show", &id[10..]]).ended(0).json()[0]["task"], "rest");
    assert_eq!(agents(&["tail", &id]).ended(0).stdout, "");
    let killed = agents(&["kill", &id]).ended(0);
    assert!(killed.stderr.contains("terminated"), "{}", killed.stderr);
    assert_eq!(asked.ok(json!({"op": "status", "id": id}))["state"], "terminated");
    assert!(agents(&["show", "nobody"]).ended(2).stderr.contains("remit agents lists them"));
    let left = asked.ok(json!({"op": "spawn", "provider": "sleeper", "task": "more"}));
    asked.end();
    let states: Vec<_> = agents(&["list"]).ended(0).json();
    assert_eq!(states.len(), 2);
    assert_eq!((&states[1]["id"], &states[1]["state"]), (&left["id"], &json!("terminated")));
}

#[test]
fn agents_of_a_host_that_was_killed_are_lost_and_gone() {
    let place = Place::new();
    let mut asked = Asked::start(&place, &["subagent"]);
    let spawned = asked.ok(json!({"op": "spawn", "provider": "sleeper", "task": "rest"}));
    let pid = spawned["pid"].as_u64().unwrap();
    asked.running.signal(rustix::process::Signal::KILL);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while std::path::Path::new(&format!("/proc/{pid}")).exists() {
        assert!(std::time::Instant::now() < deadline, "the agent outlives its host");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let listed = place.remit(["agents", "--config", "remit.toml"]).run().ended(0).json();
    assert_eq!(listed[0]["state"], "lost");
    let mut later = Asked::start(&place, &["subagent"]);
    assert_eq!(later.ok(json!({"op": "status", "id": spawned["id"]}))["state"], "lost");
    later.end();
}

/// How many processes there are whose command line holds a text.
fn processes(mark: &str) -> usize {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.windows(mark.len()).any(|part| part == mark.as_bytes())).count()
}

#[test]
fn a_host_that_is_killed_at_any_moment_leaves_no_process() {
    const ROUNDS: u64 = 8;
    for round in 0..ROUNDS {
        let place = Place::new();
        let mark = format!("remit-mark-{}-{round}", std::process::id());
        let config = config(&place);
        let script = "trap '' TERM; setsid sleep 41 & while :; do sleep 0.1; done";
        let provider = format!(
            "\n[subagent.providers.marked]\nprogram = \"sh\"\nargs = [\"-c\", {script:?}, {mark:?}]\n"
        );
        place.file("remit.toml", place.read(&config) + &provider);
        let args = ["exec", "--config", "remit.toml", "--allow-tool", "subagent", "--jobs", "4"];
        let mut host = place.remit(args).open_input().spawn();
        let spawn = json!({"op": "spawn", "provider": "marked", "task": "x"});
        let call = json!({"id": "c", "name": "subagent", "arguments": spawn});
        for _ in 0..4 {
            host.write(&format!("{call}\n"));
        }
        // Before, while and after they are started.
        std::thread::sleep(std::time::Duration::from_millis(round * 25));
        host.signal(rustix::process::Signal::KILL);
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while processes(&mark) > 0 {
            assert!(std::time::Instant::now() < deadline, "round {round}: an agent is left");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let listed = place.remit(["agents", "--config", "remit.toml"]).run().ended(0).json();
        assert!(listed.iter().all(|record| record["state"] == "lost"), "{listed:?}");
    }
}
