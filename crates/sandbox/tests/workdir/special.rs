//! What is no regular file is refused at once, without being opened.

use std::{
    fs,
    os::unix::net::UnixListener,
    sync::Arc,
    time::{Duration, Instant},
};

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use sandbox::{BlockingPool, ExecutorTool, PoolConfig, ReadFileInWorkdir, ToolSandbox, Workdir};
use serde_json::json;
use tool_core::{ErrorKind, Limits, ToolCall, ToolRegistry};

use crate::bench::{BOTH, Bench, json as value, refusal};

fn make_fifo(bench: &Bench, path: &str) {
    mknodat(CWD, bench.path(path), FileType::Fifo, Mode::RWXU, 0).unwrap();
}

/// A device that answers reads for ever; false where this user can't make one.
fn make_zero_device(bench: &Bench, path: &str) -> bool {
    let made = mknodat(CWD, bench.path(path), FileType::CharacterDevice, Mode::RWXU, makedev(1, 5));
    if made.is_err() {
        println!("skipped: device nodes can't be made here");
    }
    made.is_ok()
}

#[test]
fn t6_fifo_device_directory_and_socket_are_refused_twenty_times_and_leave_nothing_behind() {
    for by in BOTH {
        let bench = Bench::with(by);
        make_fifo(&bench, "fifo");
        fs::create_dir(bench.path("dir")).unwrap();
        let _socket = UnixListener::bind(bench.path("sock")).unwrap();
        let mut cases = vec![("fifo", "a FIFO"), ("dir", "a directory"), ("sock", "a socket")];
        if make_zero_device(&bench, "zero") {
            cases.push(("zero", "a device"));
        }
        let before = bench.open_descriptors();
        let start = Instant::now();
        for (path, noun) in cases {
            for _ in 0..20 {
                let message = refusal(bench.read(json!({"path": path})));
                assert!(message.contains(noun), "{path}: {message}");
                assert!(message.contains("only regular files can be read"), "{message}");
            }
        }
        // Each takes microseconds; one that waits for a writer takes for ever.
        assert!(start.elapsed() < Duration::from_secs(10));
        assert_eq!(bench.open_descriptors(), before);
    }
}

#[tokio::test]
async fn t6_through_the_pipeline_no_thread_hangs_in_a_fifo() {
    let bench = Bench::new();
    make_fifo(&bench, "fifo");
    let pool = BlockingPool::new(PoolConfig { threads: 2, ..PoolConfig::default() });
    let spec = bench.read.spec().clone();
    let workdir = Arc::new(Workdir::open(bench.path("")).unwrap());
    let executor = Arc::new(ReadFileInWorkdir::new(workdir).unwrap());
    let mut registry = ToolRegistry::new();
    let tool = ExecutorTool::new(spec.clone(), executor, pool.clone()).unwrap();
    registry.register(Arc::new(tool)).unwrap();
    let scope = registry.scope([spec.name()]).unwrap();
    let sandbox = ToolSandbox::new(Arc::new(registry), scope, Limits::default());
    for _ in 0..20 {
        let call = ToolCall::from_json("c", spec.name().as_str(), json!({"path": "fifo"}));
        let result = sandbox.execute(call).await.unwrap();
        assert_eq!(result.error_kind(), Some(ErrorKind::ExecutionFailed), "{result:?}");
    }
    // A thread that waits for a writer stays abandoned for ever.
    let end = Instant::now() + Duration::from_secs(10);
    while pool.status().abandoned > 0 {
        assert!(Instant::now() < end, "{:?}", pool.status());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(pool.status().threads <= 2);
}

#[test]
fn special_files_are_listed_and_passed_over() {
    let bench = Bench::new();
    make_fifo(&bench, "fifo");
    make_fifo(&bench, ".gitignore");
    let has_device = make_zero_device(&bench, "zero");
    bench.link("fifo", "link");
    bench.write("file", "needle");

    let listed = bench.list(json!({})).unwrap();
    let entries = value(&listed)["entries"].as_array().unwrap().clone();
    let kind = |path: &str| {
        let entry = entries.iter().find(|entry| entry["path"] == path).unwrap();
        entry["type"].clone()
    };
    assert_eq!(kind("fifo"), "other");
    assert_eq!(kind("link"), "symlink");
    assert_eq!(kind("file"), "file");

    // A FIFO named like an ignore file is not waited for either.
    let found = bench.search(json!({"pattern": "needle"})).unwrap();
    let found = value(&found);
    assert_eq!(found["matches"][0]["path"], "file");
    assert_eq!(found["skipped_special"], if has_device { 4 } else { 3 });
    for path in ["fifo", "link"] {
        refusal(bench.search(json!({"pattern": "needle", "path": path})));
        refusal(bench.list(json!({"path": path})));
    }
}
