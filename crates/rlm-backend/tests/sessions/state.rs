//! What lasts from call to call, and what a call says of itself.

use serde_json::json;

use crate::support::Tool;

#[tokio::test]
async fn python_remembers() {
    crate::support::here!();
    let tool = Tool::new();
    let first = tool.python("x = 41").await;
    assert_eq!((&first["stdout"], &first["success"]), (&json!(""), &json!(true)));
    let second = tool.python("print(x + 1)\nx").await;
    assert_eq!(second["stdout"], "42\n");
    assert_eq!(second["value"], "41");
    assert_eq!((&second["state"], &second["generation"]), (&json!("kept"), &json!(1)));
    assert_eq!((&second["exit_code"], &second["timed_out"]), (&json!(0), &json!(false)));
    assert_eq!(first["session_id"], second["session_id"]);
    assert!(second["duration_ms"].as_f64().unwrap() > 0.0);
}

#[tokio::test]
async fn bash_remembers_and_shares_the_directory_with_python() {
    crate::support::here!();
    let tool = Tool::new();
    tool.bash("mkdir sub; cd sub; export GREETING=hi; f() { echo f-$1; }").await;
    let seen = tool.prints("basename \"$PWD\"; echo $GREETING; f 1; echo text > made").await;
    assert_eq!(seen, "sub\nhi\nf-1\n");
    let read = tool.python("open('sub/made').read()").await;
    assert_eq!(read["value"], "'text\\n'");
    let failed = tool.bash("exit 3").await;
    assert_eq!((&failed["exit_code"], &failed["success"]), (&json!(3), &json!(false)));
    assert_eq!(tool.prints("echo $GREETING").await, "hi\n");
}

#[tokio::test]
async fn what_code_raises_is_told_with_its_own_lines() {
    crate::support::here!();
    let tool = Tool::new();
    let raised = tool.python("def f():\n    raise ValueError('no')\nf()").await;
    assert_eq!(raised["success"], false);
    assert_eq!(raised["error"]["type"], "ValueError");
    assert_eq!(raised["error"]["message"], "no");
    assert!(raised["error"]["traceback"].as_str().unwrap().contains("line 2"), "{raised}");
    assert_eq!(raised["state"], "kept");
}

#[tokio::test]
async fn two_sessions_know_nothing_of_each_other() {
    crate::support::here!();
    let tool = Tool::new();
    let (one, other) = (tool.create().await, tool.create().await);
    let run = |session: &str, code: &str| {
        tool.answer(json!({"op": "execute_code", "code": code, "session_id": session}))
    };
    run(&one, "x = 1; open('f', 'w').close()").await;
    let seen = run(&other, "import os; ('x' in globals(), os.listdir('.'))").await;
    assert_eq!(seen["value"], "(False, [])");
}

#[tokio::test]
async fn one_call_at_a_time_in_a_session() {
    crate::support::here!();
    let tool = Tool::new();
    tool.python("log = []").await;
    let step = "import time\nlog.append('in'); time.sleep(0.2); log.append('out')";
    let calls = (tool.python(step), tool.python(step), tool.python(step));
    tokio::join!(calls.0, calls.1, calls.2);
    let log = tool.python("','.join(log)").await;
    assert_eq!(log["value"], "'in,out,in,out,in,out'");
}

#[tokio::test]
async fn a_program_of_five_megabytes_runs() {
    crate::support::here!();
    let tool = Tool::new();
    let code = format!("text = '{}'\nprint(len(text))", "a".repeat(5 << 20));
    assert_eq!(tool.python(&code).await["stdout"], "5242880\n");
}

#[tokio::test]
async fn output_is_bounded_and_its_ends_are_kept() {
    crate::support::here!();
    let tool = Tool::new();
    let code = "import sys\nprint('begin')\nfor _ in range(100): sys.stdout.write('x' * 1000000)\n\
                print('end')";
    let result = tool.call(json!({"op": "execute_code", "code": code, "timeout_ms": 60_000})).await;
    let output = result.outcome.as_ref().unwrap();
    assert!(output.len_bytes() <= tool.sandbox.limits().max_output());
    let answer = crate::support::json_of(&result);
    assert!(answer["stdout"]["head"].as_str().unwrap().starts_with("begin\nxxx"));
    assert!(answer["stdout"]["tail"].as_str().unwrap().ends_with("xxxend\n"));
    assert!(answer["stdout"]["omitted_bytes"].as_u64().unwrap() > 99_000_000);
    assert_eq!(answer["truncated"], true);
    // What has to be escaped fits too.
    let result = tool.call(json!({"op": "execute_bash", "command": "head -c 1000000 /dev/zero"}));
    let result = result.await;
    assert!(result.is_ok(), "{}", result.for_model());
}

#[tokio::test]
async fn an_image_comes_back_as_one() {
    crate::support::here!();
    let tool = Tool::new();
    let code = "class Picture:\n    def _repr_png_(self): return b'\\x89PNG....'\nPicture()";
    let result = tool.call(json!({"op": "execute_code", "code": code})).await;
    let output = result.outcome.unwrap();
    let image = output.content.iter().find_map(|content| match content {
        tool_core::Content::Image { media_type, data } => Some((media_type.clone(), data.clone())),
        _ => None,
    });
    assert_eq!(image, Some(("image/png".to_owned(), "iVBORy4uLi4=".to_owned())));
}
