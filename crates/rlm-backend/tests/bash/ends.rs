//! How a call can end, and what the session is afterwards.

use std::time::{Duration, Instant};

use rlm_backend::{CallError, CallOutcome, Language::Bash, LinkConfig, NoHostCalls, StateAfter};

use crate::common::{PLENTY, Session};

const SHORT: Duration = Duration::from_millis(300);
const SETUP: &str = "cd /tmp; x=1; f() { echo \"f $x $PWD\"; }; alias hello='echo hi'";

/// A command that would end a shell: the call has its status, and the state goes on.
async fn check_goes_on(command: &str, status: i32) -> CallOutcome {
    let mut session = Session::start(Bash).await;
    session.run(SETUP).await;
    let outcome = session.run(command).await;
    assert_eq!(outcome.ending.exit_code, Some(status), "{command}: {outcome:?}");
    assert_eq!((outcome.state, outcome.generation), (StateAfter::Restored, 2), "{command}");
    assert_eq!(
        session.run("f; hello").await.stdout.text().to_string(),
        "f 1 /tmp\nhi\n",
        "{command}"
    );
    outcome
}

#[tokio::test]
async fn exit_ends_the_call_and_the_state_goes_on() {
    for (command, status) in
        [("exit 3", 3), ("exit", 0), ("true; exit", 0), ("if true; then exit 2; fi", 2)]
    {
        check_goes_on(command, status).await;
    }
}

#[tokio::test]
async fn exit_in_a_function_a_redirection_or_a_sourced_file_does_the_same() {
    for command in [
        "g() { exit 4; }; g",
        "g() { exit 4; }; h() { g 2>&1; }; h >/dev/null",
        "while read l; do exit 4; done <<< a",
        "source <(echo 'exit 4')",
        "exec >/dev/null; exit 4",
    ] {
        check_goes_on(command, 4).await;
    }
}

#[tokio::test]
async fn exit_in_a_subshell_ends_only_that() {
    let outcome = Session::start(Bash).await.run("(exit 3); echo $?").await;
    assert_eq!(outcome.stdout.text().to_string(), "3\n");
    assert_eq!(outcome.state, StateAfter::Kept);
}

#[tokio::test]
async fn errexit_ends_the_call_at_the_first_failure() {
    let outcome = check_goes_on("set -e; echo one; false; echo two", 1).await;
    assert_eq!(outcome.stdout.text().to_string(), "one\n");
}

#[tokio::test]
async fn errors_of_expansion_end_the_call() {
    check_goes_on("set -u; echo $nothing", 127).await;
    let outcome = check_goes_on("echo ${nothing:?is missing}", 127).await;
    assert!(outcome.stderr.text().to_string().contains("is missing"));
}

#[tokio::test]
async fn what_restores_a_session_can_happen_again_and_again() {
    let mut session = Session::start(Bash).await;
    session.run("declare -A m=([a]='x\ny'); n=0").await;
    for round in 1..=5 {
        let outcome = session.run("((n += 1)); exit 9").await;
        assert_eq!(outcome.generation, round + 1);
    }
    assert_eq!(session.prints("echo $n \"${m[a]}\"").await, "5 x\ny\n");
}

#[tokio::test]
async fn a_trap_on_exit_runs_once_and_sees_the_status() {
    let mut session = Session::start(Bash).await;
    session.run("trap 'echo bye $?' EXIT").await;
    assert_eq!(session.run("exit 4").await.stdout.text().to_string(), "bye 4\n");
    assert_eq!(session.run("exit 4").await.stdout.text().to_string(), "");
    let outcome = session.run("(trap 'echo sub' EXIT; true); echo main").await;
    assert_eq!(outcome.stdout.text().to_string(), "sub\nmain\n");
}

#[tokio::test]
async fn signals_that_can_be_caught_end_the_call() {
    for (signal, status) in [("INT", 130), ("TERM", 143), ("HUP", 129), ("PIPE", 141)] {
        check_goes_on(&format!("kill -{signal} $$; echo not reached"), status).await;
    }
}

/// A command that ends the process: told at once, and the link takes no more calls.
async fn check_lost(command: &str, exit_code: Option<i32>, signal: Option<i32>) -> CallOutcome {
    let mut session = Session::start(Bash).await;
    let outcome = session.run(command).await;
    assert_eq!((outcome.ending.exit_code, outcome.ending.signal), (exit_code, signal), "{command}");
    assert_eq!(outcome.state, StateAfter::Lost, "{command}");
    assert_eq!(session.try_run("true", PLENTY).await.unwrap_err(), CallError::Lost);
    outcome
}

#[tokio::test]
async fn a_kill_is_told_as_its_signal() {
    check_lost("kill -9 $$", None, Some(9)).await;
}

#[tokio::test]
async fn exec_runs_the_program_to_its_end_and_loses_the_session() {
    let outcome = check_lost("exec sh -c 'echo instead; sleep 0.2; exit 6'", Some(6), None).await;
    assert_eq!(outcome.stdout.text().to_string(), "instead\n");
}

#[tokio::test]
async fn exec_of_nothing_is_an_error_and_keeps_the_session() {
    let mut session = Session::start(Bash).await;
    let outcome = session.run("exec not-there").await;
    assert_eq!((outcome.ending.exit_code, outcome.state), (Some(127), StateAfter::Kept));
}

#[tokio::test]
async fn text_that_is_not_complete_is_a_syntax_error_at_once() {
    let mut session = Session::start(Bash).await;
    for command in ["echo 'open", "echo \"open", "for", "if true", "f() {", "echo $(", "case x in"]
    {
        let begun = Instant::now();
        let outcome = session.run(command).await;
        assert!(begun.elapsed() < Duration::from_secs(5), "{command}");
        assert_ne!(outcome.ending.exit_code, Some(0), "{command}");
        assert!(!outcome.stderr.is_empty(), "{command}");
        assert_eq!(session.prints("echo alive").await, "alive\n", "{command}");
    }
}

#[tokio::test]
async fn a_heredoc_runs_also_without_its_end() {
    let mut session = Session::start(Bash).await;
    assert_eq!(session.prints("cat <<A\none $((1 + 1))\nA").await, "one 2\n");
    assert_eq!(session.prints("cat <<'A'\nopen $x").await, "open $x\n");
}

#[tokio::test]
async fn reading_finds_the_end_of_input_at_once() {
    let mut session = Session::start(Bash).await;
    assert_eq!(session.prints("cat; read x; echo $? \"[$x]\"").await, "1 []\n");
}

/// A command that does not end by itself: interrupted, and the state goes on at once.
async fn check_timeout(command: &str) {
    let mut session = Session::start(Bash).await;
    session.run(SETUP).await;
    let begun = Instant::now();
    let outcome =
        session.run_within(&format!("echo partial\n{command}\necho not reached"), SHORT).await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{command}: {:?}", begun.elapsed());
    assert!(outcome.ending.timed_out && !outcome.ending.killed, "{command}: {outcome:?}");
    assert_eq!((outcome.ending.exit_code, outcome.state), (Some(130), StateAfter::Restored));
    assert_eq!(outcome.stdout.text().to_string(), "partial\n", "{command}");
    assert_eq!(session.prints("f; hello").await, "f 1 /tmp\nhi\n", "{command}");
}

#[tokio::test]
async fn a_sleep_an_endless_loop_and_a_wait_are_interrupted() {
    for command in [
        "sleep 60",
        "while :; do :; done",
        "sleep 61 & wait",
        "g() { sleep 60; }; g",
        "sleep 60 | cat",
        "x2=$(sleep 60)",
    ] {
        check_timeout(command).await;
    }
}

#[tokio::test]
async fn a_command_that_ignores_the_interrupt_is_killed_after_the_grace() {
    let config = LinkConfig { grace: SHORT, ..LinkConfig::default() };
    let mut session = Session::with(Bash, config, std::sync::Arc::new(NoHostCalls)).await;
    let outcome = session.run_within("trap '' INT; while :; do :; done", SHORT).await;
    assert!(outcome.ending.timed_out && outcome.ending.killed);
    assert_eq!(outcome.state, StateAfter::Lost);
}

#[tokio::test]
async fn nothing_that_an_interrupted_call_started_lives_on() {
    let mut session = Session::start(Bash).await;
    session.run_within("sleep 4711.5 & (sleep 4712.5 & sleep 4713.5) & sleep 4714.5", SHORT).await;
    for seconds in ["4711.5", "4712.5", "4713.5", "4714.5"] {
        assert!(!runs(seconds), "sleep {seconds} lives on");
    }
}

/// Whether any process has `word` as an argument.
fn runs(word: &str) -> bool {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| line.split(|&byte| byte == 0).any(|part| part == word.as_bytes()))
}

#[tokio::test]
async fn a_command_of_five_megabytes_runs_and_one_with_nul_is_refused() {
    let mut session = Session::start(Bash).await;
    let command = format!("x='{}\u{e9}'; echo ${{#x}}", "y".repeat(5_000_000));
    let printed = session.prints(&command).await;
    assert!(["5000001\n", "5000002\n"].contains(&printed.as_str()), "{printed}");
    assert_eq!(session.try_run("echo \0", PLENTY).await.unwrap_err(), CallError::Nul);
}

#[tokio::test]
async fn a_deadline_that_has_passed_interrupts_and_the_state_goes_on() {
    let mut session = Session::start(Bash).await;
    session.run("x=5").await;
    for _ in 0..3 {
        let outcome = session.run_within("sleep 60", Duration::ZERO).await;
        assert!(outcome.ending.timed_out, "{outcome:?}");
        assert_eq!(outcome.state, StateAfter::Restored, "{outcome:?}");
    }
    assert_eq!(session.prints("echo $x").await, "5\n");
}

#[tokio::test]
async fn a_large_state_goes_on() {
    let mut session = Session::start(Bash).await;
    session.run("printf -v big '%5000000s' end; mine=\u{e9}").await;
    let outcome = session.run("exit 1").await;
    assert_eq!(outcome.state, StateAfter::Restored);
    assert_eq!(session.prints("echo ${#big} ${big: -3} $mine").await, "5000000 end \u{e9}\n");
}
