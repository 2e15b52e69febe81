//! What persists from call to call.

use rlm_backend::{Language::Bash, StateAfter};

use crate::common::Session;

/// Runs commands one after the other in one session, and compares what the last one prints.
async fn check(commands: &[&str], expected: &str) {
    let mut session = Session::start(Bash).await;
    let (last, before) = commands.split_last().unwrap();
    for command in before {
        session.run(command).await;
    }
    let outcome = session.run(last).await;
    assert_eq!(outcome.stdout.text().to_string(), expected, "{commands:?}: {outcome:?}");
}

#[tokio::test]
async fn variables_exports_arrays_functions_and_aliases_persist() {
    let first = "x=1; export y=2; declare -A map=([k]=v); list=(a 'b c'); readonly fixed=7\nf() { echo \"f $x\"; }\nalias hello='echo hi'";
    let last = "f; hello; sh -c 'echo $y'; echo ${map[k]} \"${list[1]}\" $fixed";
    check(&[first, last], "f 1\nhi\n2\nv b c 7\n").await;
}

#[tokio::test]
async fn options_positional_parameters_and_traps_persist_and_survive_an_exit() {
    let first =
        "set -o pipefail; shopt -s nocasematch; set -- a 'b c'; umask 027; trap 'echo got' USR1";
    let last = "set -o | grep pipefail | tr -d ' \\t'; [[ A == a ]] && echo same; echo $2 $#; umask; kill -USR1 $$";
    let expected = "pipefailon\nsame\nb c 2\n0027\ngot\n";
    check(&[first, last], expected).await;
    check(&[first, "exit 3", last], expected).await;
}

#[tokio::test]
async fn a_strict_session_works_from_call_to_call() {
    let strict = "set -euo pipefail; IFS=,; set -f";
    check(&[strict, "x='1,2'; set -- $x; echo $1-$2 *"], "1-2 *\n").await;
}

#[tokio::test]
async fn the_directory_persists_and_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("a\tb\"\\ \u{e9}");
    std::fs::create_dir(&path).unwrap();
    let mut session = Session::start(Bash).await;
    let parent = path.parent().unwrap().display();
    let outcome = session.run(&format!("cd {parent}; cd a*")).await;
    let cwd = outcome.cwd.unwrap();
    assert_eq!((cwd.path.as_str(), cwd.exists), (path.to_str().unwrap(), true));
    assert_eq!(session.prints("pwd").await, format!("{}\n", path.display()));
}

#[tokio::test]
async fn a_deleted_directory_is_reported_as_gone_and_can_be_left() {
    let mut session = Session::start(Bash).await;
    let outcome = session.run("d=$(mktemp -d); cd $d; rmdir $d").await;
    assert!(!outcome.cwd.unwrap().exists);
    assert_eq!(session.prints("cd /; pwd").await, "/\n");
}

#[tokio::test]
async fn a_directory_that_does_not_exist_is_named() {
    let outcome = Session::start(Bash).await.run("cd /not/there").await;
    assert_eq!((outcome.ending.exit_code, outcome.state), (Some(1), StateAfter::Kept));
    assert!(outcome.stderr.text().to_string().contains("/not/there"));
}

#[tokio::test]
async fn the_last_status_is_the_calls_status() {
    let mut session = Session::start(Bash).await;
    for (command, status) in
        [("true", 0), ("false", 1), ("(exit 7)", 7), ("not-there", 127), ("", 0)]
    {
        let outcome = session.run(command).await;
        let (ending, state) = (outcome.ending, outcome.state);
        assert_eq!((ending.exit_code, state), (Some(status), StateAfter::Kept), "{command}");
    }
}

#[tokio::test]
async fn line_numbers_in_messages_are_the_commands_own() {
    let outcome = Session::start(Bash).await.run("true\n\nnot-there").await;
    assert_eq!(outcome.stderr.text().to_string(), "bash: line 3: not-there: command not found\n");
}

#[tokio::test]
async fn open_descriptors_below_ten_persist() {
    check(&["exec 7< <(echo one; echo two)", "read a <&7; read b <&7; echo $b"], "two\n").await;
}

#[tokio::test]
async fn code_that_leaves_loops_it_is_not_in_harms_nothing() {
    for command in ["continue", "break", "continue 3", "break 5", "return 2>/dev/null"] {
        check(&["x=1", command, "echo alive $x"], "alive 1\n").await;
    }
}

#[tokio::test]
async fn names_that_the_driver_might_use_belong_to_the_session() {
    let first = "readonly name=n id=i status=s line=l state=t bytes=b text=x\nread() { echo mine; }; kill() { echo mine; }\nexit 1";
    let last = "read; kill; echo $name $id $status $line $state $bytes $text";
    check(&[first, last], "mine\nmine\nn i s l t b x\n").await;
}

#[tokio::test]
async fn a_restored_session_has_no_variable_that_it_did_not_make() {
    let count = "set | grep -v -E '^(_|BASH|PIPESTATUS|__remit|RANDOM|SECONDS|EPOCH|SRANDOM|LINENO|SHLVL)' | grep -c ='";
    let count = count.trim_end_matches('\'');
    let mut session = Session::start(Bash).await;
    let before = session.prints(count).await;
    session.run("exit 1").await;
    assert_eq!(session.prints(count).await, before);
}
