//! An operator's mistakes: exit code 2, the flag or key by name, what would be valid, and nothing else
//! done.

use testkit::ModelServer;

use crate::support::{Output, Place, repository, text};

#[track_caller]
fn is_mistake(output: Output, expected: &[&str]) {
    let output = output.ended(2);
    assert_eq!(output.stdout, "");
    for part in expected {
        assert!(output.stderr.contains(part), "{part:?} is not in: {}", output.stderr);
    }
}

/// Runs `remit exec` with these flags, and `remit agent` with the same and a model, which hears nothing.
#[track_caller]
fn check(place: &Place, flags: &str, expected: &[&str]) {
    // A quote keeps spaces, like in a shell.
    let flags: Vec<&str> = flags.split('\'').enumerate().fold(Vec::new(), |mut all, (at, part)| {
        if at % 2 == 1 {
            all.push(part)
        } else {
            all.extend(part.split_whitespace())
        }
        all
    });
    let exec = place.remit(["exec"].into_iter().chain(flags.iter().copied())).run();
    is_mistake(exec, expected);
    let server = ModelServer::start([]).unwrap();
    let url = server.url();
    let agent = ["agent", "task", "--model", "m", "--model-url", &url];
    is_mistake(place.remit(agent.into_iter().chain(flags)).run(), expected);
    assert!(server.requests().is_empty(), "a model was contacted");
}

const ALL: &str = "list_dir_in_workdir, read_file_in_workdir, search_in_workdir";

#[test]
fn flags_that_only_mean_something_with_execution_are_refused_without() {
    let place = Place::new();
    place.workdir();
    for flag in [
        "--allow-tool read_file_in_workdir",
        "--ask-tool read_file_in_workdir",
        "--exec-workdir work",
        "--exec-timeout-ms 5",
        "--exec-max-output-bytes 5",
        "--exec-max-args-bytes 5",
        "--audit trail",
        "--jobs 2",
    ] {
        let name = flag.split(' ').next().unwrap();
        check(&place, flag, &[&format!("{name} needs --execute-tools")]);
    }
    assert!(!place.path().join("trail").exists());
}

#[test]
fn what_may_be_called_must_exist_and_be_of_use() {
    let place = Place::new();
    place.workdir();
    let work = "--execute-tools --exec-workdir work";
    check(&place, work, &["at least one --allow-tool NAME"]);
    let near = "did you mean \"read_file_in_workdir\"?";
    check(
        &place,
        &format!("{work} --allow-tool read_file_in_workdi"),
        &["--allow-tool", near, ALL],
    );
    check(
        &place,
        &format!("{work} --allow-tool '; rm -rf /'"),
        &["--allow-tool", "; rm -rf /", ALL],
    );
    check(&place, &format!("{work} --allow-tool *"), &["--allow-tool", "\"*\"", ALL]);
    let none = "--execute-tools --allow-tool nope";
    check(
        &place,
        none,
        &["--allow-tool: \"nope\"", "none exists", "--exec-workdir DIR", "--tools"],
    );
    let lacking = "--execute-tools --allow-tool read_file_in_workdir";
    check(&place, lacking, &["--allow-tool: read_file_in_workdir needs --exec-workdir DIR"]);

    let read = format!("{work} --allow-tool read_file_in_workdir");
    check(
        &place,
        &format!("{read} --ask-tool list_dir_in_workdir"),
        &["--ask-tool: list_dir_in_workdir is not allowed"],
    );
    let one_of_two = "--ask-tool read_file_in_workdir --ask-tool search_in_workdir";
    check(
        &place,
        &format!("{read} {one_of_two}"),
        &["--ask-tool: search_in_workdir is not allowed"],
    );
    check(&place, &format!("{read} --ask-tool nope"), &["--ask-tool", "\"nope\"", ALL]);
}

#[test]
fn a_tool_that_is_only_declared_can_not_be_allowed() {
    let place = Place::new();
    place.workdir();
    let declared =
        format!("--execute-tools --tools {}", repository("data/tools_sandbox_smoke.json"));
    check(
        &place,
        &format!("{declared} --allow-tool send_mail"),
        &["--allow-tool: \"send_mail\" is declared, and nothing executes it (valid: none)"],
    );
    let both = "--allow-tool send_mail --allow-tool read_file_in_workdir --exec-workdir work";
    check(&place, &format!("{declared} {both}"), &["\"send_mail\" is declared", ALL]);
    let unused = "--allow-tool send_mail --exec-workdir work";
    check(
        &place,
        &format!("{declared} {unused}"),
        &["--exec-workdir: a working directory is of no use", "read_file_in_workdir"],
    );
}

#[test]
fn a_workdir_is_a_directory_that_can_be_read() {
    let place = Place::new();
    place.workdir();
    let allow = "--execute-tools --allow-tool read_file_in_workdir --exec-workdir";
    check(
        &place,
        &format!("{allow} missing"),
        &["--exec-workdir: missing", "No such file", "give"],
    );
    check(&place, &format!("{allow} work/note.txt"), &["--exec-workdir", "Not a directory"]);
    check(&place, &format!("{allow} ''"), &["--exec-workdir", "a value is required"]);
}

#[test]
fn limits_are_neither_zero_nor_absurd() {
    let place = Place::new();
    let flags = place.workdir().join(" ");
    let both = |flag: &str, value: &str, range: &str| {
        check(&place, &format!("{flags} {flag} {value}"), &[flag, value, range]);
    };
    for value in ["0", "86400001"] {
        both("--exec-timeout-ms", value, "from 1 to 86400000 ms");
    }
    for value in ["0", "67108865"] {
        both("--exec-max-output-bytes", value, "from 1 to 67108864 bytes");
    }
    for value in ["0", "16777217"] {
        both("--exec-max-args-bytes", value, "from 1 to 16777216 bytes");
    }
    for value in ["0", "1025"] {
        both("--jobs", value, "from 1 to 1024");
    }
    for value in ["-1", "x", "1.5", "99999999999999999999"] {
        both("--exec-timeout-ms", value, "--exec-timeout-ms");
    }
}

#[test]
fn a_definition_file_that_does_not_fit_is_named_with_the_place() {
    let place = Place::new();
    let check = |content: &[u8], expected: &[&str]| {
        place.file("defs.json", content);
        let flags = "--execute-tools --allow-tool a --tools defs.json";
        check(&place, flags, &[&["--tools", "defs.json"], expected].concat());
    };
    check(b"hello", &["not JSON", "byte 0"]);
    check(b"", &["not JSON"]);
    check(b"{\"name\": \"\xff\"}", &["not UTF-8 at byte 10"]);
    check(&vec![b' '; 1024 * 1024 + 1], &["at most 1048576 bytes"]);
    check(br#"[{"name": "a"}, {"name": "b"}, {"name": "a"}]"#, &["[2]", "defined already at [0]"]);
    check(b"{\"name\": \"a\"}\n{\"name\": \"b\"}\n", &["one JSON value a line", "[{…}, {…}]"]);
    check(b"[]", &["0 tools", "from 1 to 64"]);
    check(br#"[{"parameters": {}}]"#, &["[0].name"]);
    check(br#"[{"name": "a b"}]"#, &["[0]", "not a name"]);
}

#[test]
fn a_schema_that_does_not_compile_is_named_with_tool_and_place() {
    let place = Place::new();
    let server = ModelServer::start([]).unwrap();
    let check = |property: &str, expected: &[&str]| {
        let schema = format!(r#"{{"type": "object", "properties": {{"x": {property}}}}}"#);
        place.file("defs.json", format!(r#"[{{"name": "fetcher", "parameters": {schema}}}]"#));
        let flags = "--execute-tools --allow-tool fetcher --tools defs.json";
        check(
            &place,
            flags,
            &[&["--tools", "tool \"fetcher\"", "/properties/x"], expected].concat(),
        );
    };
    check(&format!(r#"{{"$ref": "{}/x"}}"#, server.url()), &["nothing is fetched"]);
    check(r#"{"$ref": "file:///etc/passwd"}"#, &["nothing is fetched"]);
    check(r#"{"type": "dict"}"#, &["dict"]);
    check(r#"{"pattern": "("}"#, &["pattern"]);
    assert!(server.requests().is_empty(), "a reference was fetched");
}

#[test]
fn files_that_are_none_are_refused() {
    let place = Place::new();
    let flags = place.workdir().join(" ");
    let defs = "--execute-tools --allow-tool a --tools";
    check(&place, &format!("{defs} work"), &["--tools", "\"work\"", "is a directory"]);
    check(&place, &format!("{defs} missing"), &["--tools", "\"missing\"", "No such file"]);
    check(&place, &format!("{defs} /dev/zero"), &["--tools", "at most 1048576 bytes"]);
    check(&place, &format!("{flags} --config missing"), &["--config: missing", "No such file"]);
    check(&place, &format!("{flags} --config work"), &["--config: work", "s a directory"]);
    check(&place, &format!("{flags} --config /dev/zero"), &["--config: /dev/zero", "more than"]);
    check(
        &place,
        &format!("{flags} --audit no/trail"),
        &["--audit", "\"no/trail\"", "No such file"],
    );
    check(&place, &format!("{flags} --audit work"), &["--audit", "\"work\""]);
    let exec =
        |calls| place.remit(["exec"].into_iter().chain(flags.split(' ')).chain([calls])).run();
    is_mistake(exec("missing.jsonl"), &["calls file missing.jsonl", "No such file"]);
    is_mistake(exec("work"), &["calls file work", "is a directory"]);
}

#[test]
fn a_workdir_that_may_not_be_entered_is_refused_before_anything_runs() {
    let place = Place::new();
    let flags = place.workdir();
    let calls = place.file("calls.jsonl", "{\"name\": \"read_file_in_workdir\"}\n");
    let set_mode = |path: &str, mode: u32| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(place.path().join(path), mode).unwrap();
    };
    let exec = ["exec", &calls].into_iter().chain(flags);
    set_mode("work", 0o000);
    let remit = if std::fs::read_dir(place.path().join("work")).is_err() {
        place.remit(exec)
    } else {
        // This is the superuser, who may enter everything; so somebody else tries.
        std::fs::copy(env!("CARGO_BIN_EXE_remit"), place.path().join("remit")).unwrap();
        set_mode(".", 0o755);
        let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", "./remit"];
        place.program("/usr/bin/setpriv", nobody.into_iter().chain(exec))
    };
    is_mistake(remit.run(), &["--exec-workdir: work", "Permission denied", "may be entered"]);
}

#[test]
fn a_path_that_is_no_text_is_refused_and_not_changed() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    let path = place.path().join(std::ffi::OsStr::from_bytes(b"w\xff"));
    std::fs::create_dir(&path).unwrap();
    let remit = place.remit(["exec", "--execute-tools", "--allow-tool", "read_file_in_workdir"]);
    is_mistake(remit.arg_os(b"--exec-workdir=w\xff").run(), &["--exec-workdir", "not UTF-8"]);
}

#[test]
fn contradictory_flags_of_agent_are_refused() {
    let place = Place::new();
    place.workdir();
    place.file("r.jsonl", r#"{"text": "hi"}"#);
    let check = |flags: &str, expected: &[&str]| {
        let args = ["agent", "task"].into_iter().chain(flags.split_whitespace());
        is_mistake(place.remit(args).run(), expected);
    };
    check("--replay r.jsonl --model m", &["--replay", "--model", "cannot be used"]);
    check("--replay r.jsonl --model-url http://127.0.0.1:1", &["--model-url", "cannot be used"]);
    check("--replay r.jsonl --results r.jsonl --execute-tools", &["--results", "--execute-tools"]);
    check("--replay r.jsonl --results r.jsonl --audit t", &["--audit needs --execute-tools"]);
    check("--model m", &["OPENAI_API_KEY"]);
    check("--model m --provider anthropic", &["ANTHROPIC_API_KEY"]);
    check("", &["--model NAME", "--replay FILE"]);
    check("--model m --model-url localhost", &["--model-url", "localhost"]);
    check("--replay missing", &["--replay: missing", "No such file"]);
    check("--replay work/note.txt", &["--replay: work/note.txt: line 1 of the script"]);
    check("--replay r.jsonl --results work/note.txt", &["--results: work/note.txt: line 1"]);
    check("--replay r.jsonl --max-steps 0", &["--max-steps", "at least 1", "0"]);
    check("--replay r.jsonl --max-steps 65", &["--max-steps", "at most 64", "65"]);
    check("--replay r.jsonl --token-budget 0", &["--token-budget", "at least 1"]);
    check("--replay r.jsonl --wall-clock-ms 0", &["--wall-clock-ms", "at least 1"]);
    check("--model m --temperature 3", &["--temperature", "at most 2"]);
    check("--model m --max-tokens 0", &["--max-tokens", "at least 1"]);
    check("--model m --provider gpt", &["--provider", "openai, anthropic"]);
}

#[test]
fn a_task_is_needed() {
    let place = Place::new();
    place.file("r.jsonl", r#"{"text": "hi"}"#);
    let agent = |task: &[&str], input: &str| {
        let args = ["agent", "--replay", "r.jsonl"].iter().chain(task);
        place.remit(args).input(input).run()
    };
    is_mistake(agent(&[], ""), &["the task is empty"]);
    is_mistake(agent(&["-"], " \n"), &["the task is empty"]);
    is_mistake(agent(&[" "], "unused"), &["the task is empty"]);
    is_mistake(
        agent(&["--results", "-"], "do it"),
        &["--results -", "give the task as an argument"],
    );
    is_mistake(agent(&["-", "--results", "-"], "do it"), &["--results -"]);
    assert_eq!(agent(&[], "do it").ended(0).stdout, "hi\n");
    assert_eq!(agent(&["-"], "do it").ended(0).stdout, "hi\n");
}

#[test]
fn a_typing_error_is_told_with_what_is_near() {
    let place = Place::new();
    let check = |args: &[&str], expected: &[&str]| is_mistake(place.remit(args).run(), expected);
    check(&["exce"], &["exce", "exec"]);
    check(&["exec", "--exec-workdri", "."], &["--exec-workdir"]);
    check(&["completions", "tcsh"], &["bash", "zsh", "fish"]);
    check(
        &["man", "nope"],
        &["\"nope\" is no command of remit", "exec, agent, agents, rlm, sessions, tools"],
    );
    check(&["man", "audit", "nope"], &["\"nope\" is no command of remit audit", "verify"]);
    check(&["audit", "verify", "missing"], &["missing", "No such file"]);
    let here = text(place.path().to_owned());
    check(&["tools", "--exec-workdir", &here, "--allow-tool", "nope"], &["--allow-tool", ALL]);
    check(&["tools", "--jobs", "0"], &["--jobs", "from 1 to 1024"]);
}
