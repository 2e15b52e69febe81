//! Sessions in containers from the command line, against real engines: what `remit doctor` tells of
//! them, the fallback where there is none, and what `remit sessions gc` removes.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::docker::{IMAGE, PrivateEngine, engine};

use crate::support::{Place, answer};

const NOWHERE: &str = "unix:///no/such/docker.sock";

/// A configuration with sessions in containers.
fn config(place: &Place, more: &str) {
    let text = format!(
        "[sandbox]\nenabled = true\nbackend = \"docker\"\n{more}\n\
         [sandbox.docker]\nimage = \"{IMAGE}\"\npull = \"never\"\n[tools]\nexecute = true\n"
    );
    place.file("remit.toml", text);
}

const EXEC: [&str; 5] = ["exec", "--config", "remit.toml", "--allow-tool", "sandbox"];

fn code(code: &str) -> String {
    let arguments = json!({"op": "execute_code", "code": code});
    json!({"id": "1", "name": "sandbox", "arguments": arguments}).to_string() + "\n"
}

#[test]
fn the_doctor_tells_which_engine_answers_and_whether_it_has_the_image() {
    let Some(engine) = engine() else { return };
    let place = Place::new();
    config(&place, "");
    let doctor = |args: &[&str]| place.remit(args).env("DOCKER_HOST", &engine.host()).run();
    let found = doctor(&["doctor", "--json", "--config", "remit.toml"]).ended(0).json();
    let found = &found[0]["container_engine"];
    assert_eq!(found["place"], format!("{} (DOCKER_HOST)", engine.host()));
    assert_eq!((&found["image"], &found["has_image"]), (&json!(IMAGE), &json!(true)));
    assert!(found["runtimes"].as_array().unwrap().contains(&json!("runc")), "{found}");
    let text = doctor(&["doctor"]).ended(0).stdout;
    assert!(text.lines().any(|line| line.starts_with("container engine        ")), "{text}");
    assert!(text.contains("not there; to fetch it: docker pull"), "{text}");
}

#[test]
fn where_there_is_no_engine_the_doctor_and_a_call_say_what_was_tried() {
    let place = Place::new();
    config(&place, "");
    let doctor = place.remit(["doctor", "--json"]).env("DOCKER_HOST", NOWHERE).run().ended(0);
    let told = |text: &str| {
        let expected = format!("{NOWHERE} (DOCKER_HOST): there is no such socket");
        assert!(text.contains(&expected) && text.contains("systemctl start docker"), "{text}");
    };
    told(doctor.json()[0]["container_engine"]["refused"].as_str().unwrap());
    let run = place.remit(EXEC).env("DOCKER_HOST", NOWHERE).input(code("1"));
    let results = run.run().ended(0).json();
    assert_eq!(answer(&results[0]).1, "backend_unavailable");
    told(results[0]["error"]["message"].as_str().unwrap());
    let gc = place.remit(["sessions", "gc"]).env("DOCKER_HOST", NOWHERE).run().ended(1);
    told(&gc.stderr);
}

#[test]
fn the_fallback_that_is_configured_is_used_and_told() {
    let place = Place::new();
    config(&place, "fallback = [\"local\"]");
    let run = place.remit(EXEC).env("DOCKER_HOST", NOWHERE).input(code("6 * 7"));
    let results = run.run().ended(0).json();
    let result = &results[0]["content"][0]["json"];
    assert_eq!(
        (&result["value"], &result["backend"]),
        (&json!("42"), &json!("local")),
        "{results:?}"
    );
}

#[test]
fn nothing_else_changes_for_who_asks_for_containers() {
    let Some(engine) = engine() else { return };
    let place = Place::new();
    config(&place, "");
    let script = "import os, platform\nprint(os.getcwd(), os.getuid() != 0)\nplatform.node()";
    let run = place.remit(EXEC).env("DOCKER_HOST", &engine.host()).input(code(script));
    let results = run.run().ended(0).json();
    let result = &results[0]["content"][0]["json"];
    assert_eq!(result["stdout"], "/workdir True\n", "{results:?}");
    assert_eq!(result["value"], "'session'");
    assert_eq!(results[0]["confinement"]["backend"], "docker");
}

/// Asks the engine of a test with the `docker` command.
#[expect(clippy::disallowed_methods, reason = "a test asks the engine by another way than ours")]
fn docker(engine: &PrivateEngine, args: &[&str]) -> String {
    let host = engine.host();
    let output = Command::new("docker").args(["--host", &host]).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn what_a_killed_program_left_behind_is_removed_by_hand_as_root() {
    let Some(engine) = PrivateEngine::start(&[]) else { return };
    engine.build_images(&["latest"]);
    let place = Place::new();
    config(&place, "warm_sessions = 0");
    let host = engine.host();
    let gc = || {
        let run = place.remit(["sessions", "gc", "--json"]).env("DOCKER_HOST", &host).run();
        run.ended(0).json().remove(0)
    };
    let mut running = place.remit(EXEC).env("DOCKER_HOST", &host).open_input().spawn();
    running.write(&code("1 + 1"));
    running.until("a result", |running| running.stdout().ends_with('\n'));
    // What uses it lives: it is nobody's to remove.
    assert_eq!(gc(), json!({"removed": [], "kept": 1, "failed": []}));
    let name = docker(&engine, &["ps", "--format", "{{.Names}}"]);
    // A container that can't see that its stream has ended.
    docker(&engine, &["pause", &name]);
    running.signal(rustix::process::Signal::KILL);
    running.until("the end", |running| running.stdout().ends_with('\n'));
    drop(running);
    assert_eq!(docker(&engine, &["ps", "--format", "{{.Names}}"]), name, "it is left behind");
    let other = ["run", "-d", "--network=none", "--label=remit.owner=none", IMAGE, "sleep", "600"];
    let other = docker(&engine, &other);
    let found: Value = gc();
    assert_eq!(found, json!({"removed": [name], "kept": 1, "failed": []}));
    // The engine may still be about it when it says so.
    let left = || docker(&engine, &["ps", "--all", "--quiet", "--no-trunc"]);
    let begun = Instant::now();
    while left() != other {
        assert!(begun.elapsed() < Duration::from_secs(20), "{} is not {other} alone", left());
        std::thread::sleep(Duration::from_millis(50));
    }
}
