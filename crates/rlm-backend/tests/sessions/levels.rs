//! Sessions where the machine offers less than everything: without namespaces (Landlock and the filter
//! are what is left), and where something is required that is missing.

use std::{fs, net::TcpListener, path::Path, sync::Arc, time::Duration};

use confine::Mechanism;
use rlm_backend::{LocalBackend, Requirements, SandboxConfig, SandboxTool, SessionAccess};
use serde_json::json;

use crate::{
    host::directory,
    support::{Tool, processes_with, soon},
};

/// A tool on a machine that lets nobody make namespaces.
fn without_namespaces(config: SandboxConfig) -> Tool {
    without(&[Mechanism::Namespaces, Mechanism::NetworkNamespace], config)
}

fn without(mechanisms: &[Mechanism], config: SandboxConfig) -> Tool {
    let local = LocalBackend::new(config.clone());
    let local = mechanisms.iter().copied().fold(local, LocalBackend::without);
    Tool::over(SandboxTool::with_backend(config, Arc::new(local)).unwrap(), &["sandbox"])
}

#[tokio::test]
async fn without_namespaces_both_remember_and_the_result_says_what_is_in_force() {
    let tool = without_namespaces(SandboxConfig::default());
    let result = tool.call(json!({"op": "execute_code", "code": "x = 41"})).await;
    let report = result.outcome.unwrap().confinement.unwrap();
    assert_eq!(report["namespaces"]["status"], "unavailable", "{report}");
    assert_ne!(report["landlock"]["status"], "unavailable", "{report}");
    assert_eq!(report["seccomp"]["status"], "enforced", "{report}");
    let second = tool.python("x + 1").await;
    assert_eq!((&second["value"], &second["generation"]), (&json!("42"), &json!(1)));
    tool.bash("mkdir sub; cd sub; export GREETING=hi; f() { echo f-$1; }").await;
    assert_eq!(
        tool.prints("basename $PWD; echo $GREETING; f 1; echo a > b").await,
        "sub\nhi\nf-1\n"
    );
    assert_eq!(tool.python("open('sub/b').read()").await["value"], "'a\\n'");
    let written = "import tempfile\nwith tempfile.TemporaryFile() as f: print(f.write(b'abc'))";
    assert_eq!(tool.python(written).await["stdout"], "3\n");
    assert_eq!(tool.prints("cat <<< here").await, "here\n");
}

#[tokio::test]
async fn without_namespaces_files_network_and_environment_of_the_host_are_not_there() {
    let (outside, listener) = (tempfile::tempdir().unwrap(), TcpListener::bind("127.0.0.1:0"));
    let (canary, listener) = (outside.path().join("canary"), listener.unwrap());
    fs::write(&canary, "secret").unwrap();
    let tool = without_namespaces(SandboxConfig::default());
    let answer = tool.bash(&format!("cat {}; echo spoilt > {0}", canary.display())).await;
    assert_eq!(answer["success"], false, "{answer}");
    assert!(!answer.to_string().contains("secret"), "{answer}");
    assert_eq!(fs::read_to_string(&canary).unwrap(), "secret");
    let port = listener.local_addr().unwrap().port();
    let dial = format!("import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)");
    assert_eq!(tool.python(&dial).await["success"], false);
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "somebody came");
    #[expect(clippy::disallowed_methods, reason = "the test looks at its own environment")]
    let mut variables = std::env::vars_os();
    assert!(variables.any(|(name, _)| name == "CARGO_MANIFEST_DIR"));
    // One of them is the driver's own.
    let names = tool.python("import os; sorted(set(os.environ) - {'MPLBACKEND'})").await;
    assert_eq!(names["value"], "['HOME', 'LANG', 'PATH', 'TMPDIR', 'TZ']");
}

#[tokio::test]
async fn without_namespaces_a_timeout_keeps_the_session_and_a_kill_takes_the_whole_tree() {
    let tool = without_namespaces(SandboxConfig::default());
    tool.python("x = 7").await;
    let endless = tool.python_for("print('before', flush=True)\nwhile True: pass", 1500).await;
    assert_eq!((&endless["timed_out"], &endless["state"]), (&json!(true), &json!("kept")));
    assert_eq!(endless["stdout"], "before\n");
    assert_eq!(tool.python("x").await["value"], "7");
    tool.bash("y=8").await;
    let ask = json!({"op": "execute_bash", "command": "echo before; sleep 60", "timeout_ms": 1500});
    let endless = tool.answer(ask).await;
    assert_eq!((&endless["timed_out"], &endless["stdout"]), (&json!(true), &json!("before\n")));
    assert_eq!(tool.prints("echo $y").await, "8\n");

    let stubborn = "import subprocess, time\n\
                    subprocess.Popen(['setsid', 'sleep', '48181'])\n\
                    while True:\n  try: time.sleep(60)\n  except BaseException: pass";
    let lost = tool.python_for(stubborn, 2000).await;
    assert_eq!((&lost["timed_out"], &lost["state"]), (&json!(true), &json!("lost")), "{lost}");
    soon("the tree is gone", || processes_with("48181").is_empty()).await;
    let next = tool.python("'x' in globals()").await;
    assert_eq!((&next["value"], &next["state"]), (&json!("False"), &json!("restored")));
}

#[tokio::test]
async fn without_namespaces_files_come_and_go_and_a_session_leaves_nothing() {
    let tool = without_namespaces(SandboxConfig::default());
    let folder = directory(&tool).await;
    tool.answer(json!({"op": "file_put", "path": "in/data.txt", "content": "one\n"})).await;
    let made = tool.bash("cat in/data.txt > out.txt; echo two >> out.txt").await;
    assert_eq!(made["files"], json!([{"path": "out.txt", "size": 8}]), "{made}");
    let got = tool.answer(json!({"op": "file_get", "path": "out.txt"})).await;
    assert_eq!(got["content"], "one\ntwo\n");
    let id = tool.bash("setsid sleep 48182 & nohup sleep 48182 &").await["session_id"].clone();
    soon("both run", || processes_with("48182").len() == 2).await;
    let kept = tool.answer(json!({"op": "snapshot_create", "session_id": id})).await;
    tool.bash("rm -r in out.txt").await;
    let back =
        json!({"op": "snapshot_restore", "session_id": id, "snapshot_id": kept["snapshot_id"]});
    tool.answer(back).await;
    assert_eq!(tool.prints("cat out.txt").await, "one\ntwo\n");
    tool.answer(json!({"op": "session_destroy", "session_id": id})).await;
    assert_eq!(processes_with("48182"), Vec::<String>::new());
    assert!(!folder.exists());
}

#[tokio::test]
async fn without_namespaces_a_session_comes_from_the_pool() {
    let tool = without_namespaces(SandboxConfig::default());
    tool.create().await;
    for _ in 0..100 {
        let id = tool.create().await;
        let status = tool.answer(json!({"op": "session_status", "session_id": id})).await;
        tool.answer(json!({"op": "session_destroy", "session_id": id})).await;
        if status["python"]["running"] == true {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("no session had its interpreter when it was made");
}

#[tokio::test]
async fn without_namespaces_what_the_host_would_run_later_is_found() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(".git/hooks")).unwrap();
    fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let tool = without_namespaces(SandboxConfig {
        workdir: Some(folder.path().to_owned()),
        workdir_access: SessionAccess::ReadWrite,
        ..SandboxConfig::default()
    });
    let planted = tool.bash("echo x > .git/hooks/pre-commit; echo y > note").await;
    assert!(planted["executable_configuration"].to_string().contains("pre-commit"), "{planted}");
    let id = planted["session_id"].clone();
    let gone = tool.answer(json!({"op": "session_destroy", "session_id": id})).await;
    let told = gone["changes"].to_string();
    assert!(told.contains("pre-commit") && told.contains("note"), "{gone}");
}

#[tokio::test]
async fn what_is_required_and_missing_is_refused_and_nothing_runs() {
    let outside = tempfile::tempdir().unwrap();
    let require = Requirements(vec![Mechanism::Namespaces]);
    let config = SandboxConfig { require, ..SandboxConfig::default() };
    let run =
        json!({"op": "execute_bash", "command": format!("touch {}/x", outside.path().display())});
    let (kind, text) = without_namespaces(config.clone()).error(run.clone()).await;
    assert_eq!(kind, "backend_unavailable");
    assert!(text.contains("namespaces can't be enforced here"), "{text}");
    assert!(text.contains("user.max_user_namespaces"), "it says how to enable it: {text}");
    assert!(!outside.path().join("x").exists());
    // Names are protected where there are any; a private directory has none.
    let require = Requirements(vec![Mechanism::Seccomp, Mechanism::ProtectedNames]);
    let tool = Tool::with(SandboxConfig { require, ..SandboxConfig::default() });
    assert_eq!(tool.prints("echo here").await, "here\n");

    let nothing = without(&[Mechanism::Namespaces, Mechanism::Landlock], SandboxConfig::default());
    let (kind, text) = nothing.error(run).await;
    assert_eq!(kind, "backend_unavailable");
    assert!(text.contains("the file system") && text.contains("sysctl"), "{text}");
}

#[tokio::test]
async fn a_path_of_the_machine_can_be_read_where_it_is_named() {
    let data = tempfile::tempdir().unwrap();
    fs::write(data.path().join("table"), "1,2\n").unwrap();
    let config =
        |path: &Path| SandboxConfig { readable: vec![path.to_owned()], ..SandboxConfig::default() };
    let line = format!("cat {0}/table; echo x > {0}/made", data.path().display());
    for tool in [Tool::with(config(data.path())), without_namespaces(config(data.path()))] {
        let read = tool.bash(&line).await;
        assert_eq!((&read["stdout"], &read["success"]), (&json!("1,2\n"), &json!(false)));
        assert!(!data.path().join("made").exists());
    }
    let (kind, text) = Tool::with(config(Path::new("/no/such/data")))
        .error(json!({"op": "execute_bash", "command": "true"}))
        .await;
    assert_eq!(kind, "backend_unavailable");
    assert!(text.contains("/no/such/data"), "{text}");
}

#[tokio::test]
async fn a_share_of_the_processor_is_held_by_a_group_or_the_result_says_that_it_is_not() {
    let spin = "import time\nstart = time.monotonic()\nwhile time.process_time() < 0.3: pass\n\
                time.monotonic() - start";
    let config =
        SandboxConfig { cpu_percent: Some(20), warm_sessions: 0, ..SandboxConfig::default() };
    let tool = Tool::with(config);
    let result = tool.call(json!({"op": "execute_code", "code": spin})).await;
    let answer = crate::support::json_of(&result);
    let status = result.outcome.unwrap().confinement.unwrap()["cpu_group"]["status"].clone();
    let took: f64 = answer["value"].as_str().unwrap().parse().unwrap();
    match status.as_str().unwrap() {
        "enforced" => assert!(took > 0.8, "0.3 s of work in {took} s at a fifth of a processor"),
        other => assert_eq!(other, "unavailable"),
    }
}
