//! What agents write: whole, in order, bounded, without secrets.

use std::time::{Duration, Instant};

use spawner::{Collect, OutputStream};

use crate::support::{bytes, ended, pool, spawn, way, written};

#[tokio::test]
async fn every_line_of_both_streams_is_there() {
    let pool = way(&["talk", "20000"]);
    let began = Instant::now();
    let id = spawn(&pool, "x").await;
    let record = ended(&pool, id).await;
    let (out, err) = (
        written(&pool, id, OutputStream::Stdout).await,
        written(&pool, id, OutputStream::Stderr).await,
    );
    println!("40,000 lines: {:?}", began.elapsed());
    let expected =
        |stream: &str| (0..20_000).map(|n| format!("{stream} {n}\n")).collect::<String>();
    assert!(out == expected("out").as_bytes() && err == expected("err").as_bytes());
    let count = |bytes: &[u8]| u64::try_from(bytes.len()).unwrap();
    assert_eq!((record.stdout_bytes, record.stderr_bytes), (count(&out), count(&err)));
}

#[tokio::test]
async fn bytes_that_are_no_text_hide_nothing_behind_them() {
    let pool = way(&["mess"]);
    let id = spawn(&pool, "x").await;
    ended(&pool, id).await;
    let all = written(&pool, id, OutputStream::Stdout).await;
    assert_eq!(all, b"before \xff \x1b[31mred\x1b[0m\n    indented\n\n\tlast");
}

#[tokio::test]
async fn collecting_while_it_runs_loses_nothing_and_repeats_nothing() {
    let script = "for n in $(seq 1 40); do echo line $n; sleep 0.02; done";
    let pool = pool("", &format!("program = \"sh\"\nargs = [\"-c\", \"{script}\"]"));
    let id = spawn(&pool, "x").await;
    let (mut all, mut since, mut rounds) = (Vec::new(), 0, 0);
    loop {
        let ask = Collect { since: Some(since), wait: Duration::from_secs(5), max: 1000 };
        let collected = pool.collect(id, ask).await.unwrap();
        assert!(collected.output.next >= since);
        all.extend(bytes(&collected.output.pieces, OutputStream::Stdout));
        (since, rounds) = (collected.output.next, rounds + 1);
        if collected.is_done {
            break;
        }
    }
    let expected: String = (1..=40).map(|n| format!("line {n}\n")).collect();
    assert_eq!(String::from_utf8(all).unwrap(), expected);
    assert!(rounds > 5, "news came in {rounds} rounds");
    let past = Collect { since: Some(since + 1000), ..Collect::default() };
    let again = pool.collect(id, past).await.unwrap();
    assert_eq!((again.output.len_bytes(), again.output.next), (0, since));
    let (one, two) = (pool.collect(id, Collect::default()), pool.collect(id, Collect::default()));
    assert_eq!(one.await.unwrap(), two.await.unwrap());
}

#[tokio::test]
async fn a_question_without_a_newline_is_news() {
    let pool = pool("", "program = \"sh\"\nargs = [\"-c\", \"printf 'name? '; sleep 20\"]");
    let id = spawn(&pool, "x").await;
    let began = Instant::now();
    let ask = Collect { since: Some(0), wait: Duration::from_secs(15), max: 100 };
    let collected = pool.collect(id, ask).await.unwrap();
    assert_eq!(bytes(&collected.output.pieces, OutputStream::Stdout), b"name? ");
    assert!(!collected.is_done && began.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn secrets_are_removed_live_and_in_files() {
    let pool = pool("", "args = [\"echo\"]");
    let task = format!(
        "{{\"password\": \"hunter2\"}}\nsk-ant-{}\ntoken: 5 tokens used\nhttps://user:pa55@host/x\n",
        "k1".repeat(20)
    );
    let id = spawn(&pool, &task).await;
    let record = ended(&pool, id).await;
    let shown = String::from_utf8(written(&pool, id, OutputStream::Stdout).await).unwrap();
    assert_eq!(
        shown,
        "{\"password\": \"[redacted]\"}\n[redacted]\ntoken: 5 tokens used\nhttps://user:[redacted]@host/x\n"
    );
    let folder = pool.state_folder();
    for file in std::fs::read_dir(folder).unwrap().flatten() {
        let text = String::from_utf8_lossy(&std::fs::read(file.path()).unwrap()).into_owned();
        for secret in ["hunter2", "k1k1", "pa55"] {
            assert!(!text.contains(secret), "{secret} in {:?}", file.path());
        }
    }
    assert!(!record.task.contains("hunter2"));
}
