//! Paths and links that lead out of the working directory, on both ways of looking them up.

use std::fs;

use serde_json::json;

use crate::bench::{BOTH, Bench, SECRET, refusal, text};

/// Every way out of P33 is refused by every executor, for the reason that is named.
fn check_escape(bench: &Bench, path: &str, reason: &str) {
    let message = refusal(bench.read(json!({"path": path})));
    assert!(message.contains(reason), "read {path}: {message}");
    let place = bench.beside("");
    let place = place.to_str().unwrap();
    assert!(path.contains(place) || !message.contains(place), "says where it lies: {message}");
    for path in [path.to_owned(), path.replace("/secret.txt", "")] {
        if let Ok(output) = bench.list(json!({"path": path, "recursive": true})) {
            panic!("list {path}: {output:?}");
        }
        refusal(bench.search(json!({"path": path, "pattern": "secret"})));
    }
}

#[test]
fn p33_workdir_escapes_are_refused_after_resolving_not_by_prefix() {
    for by in BOTH {
        let bench = Bench::with(by);
        bench.write("sub/in.txt", "inside");
        bench.link("../outside", "dir-out");
        bench.link("../outside/secret.txt", "file-out");
        bench.link("dir-out", "chain-2");
        bench.link("chain-2", "chain-1");
        bench.link("../../outside", "sub/deep-out");
        bench.link(bench.beside("outside"), "absolute-out");
        bench.link("../outside/not-yet", "not-yet-out");
        bench.link("../workdir-evil", "twin-out");

        let leaves = "leaves the working directory";
        check_escape(&bench, "../outside/secret.txt", leaves);
        check_escape(&bench, "sub/../../outside/secret.txt", leaves);
        check_escape(&bench, "../workdir-evil/secret.txt", leaves);
        check_escape(&bench, "../workdir/../outside/secret.txt", leaves);
        check_escape(&bench, "file-out", leaves);
        check_escape(&bench, "dir-out/secret.txt", leaves);
        check_escape(&bench, "chain-1/secret.txt", leaves);
        check_escape(&bench, "sub/deep-out/secret.txt", leaves);
        check_escape(&bench, "absolute-out/secret.txt", leaves);
        check_escape(&bench, "twin-out/secret.txt", leaves);
        // A target that does not exist yet under a link is no way to ask what is out there.
        check_escape(&bench, "dir-out/new.txt", leaves);
        check_escape(&bench, "not-yet-out", leaves);
        let absolute = bench.beside("outside/secret.txt");
        check_escape(&bench, absolute.to_str().unwrap(), "the path is absolute");
        let inside = bench.path("sub/in.txt");
        check_escape(&bench, inside.to_str().unwrap(), "the path is absolute");
    }
}

#[test]
fn magic_links_are_refused() {
    for by in BOTH {
        let bench = Bench::with(by);
        bench.link("/proc/self/root", "root");
        bench.link("/proc/self/cwd", "cwd");
        let outside = bench.beside("outside/secret.txt");
        let by_root = format!("root{}", outside.to_str().unwrap());
        check_escape(&bench, &by_root, "leaves the working directory");
        check_escape(&bench, "cwd/Cargo.toml", "leaves the working directory");
    }
}

#[test]
fn magic_links_are_refused_where_the_workdir_holds_them() {
    for by in BOTH {
        let workdir = std::sync::Arc::new(sandbox::Workdir::open_with("/proc/self", by).unwrap());
        let read = sandbox::ReadFileInWorkdir::new(workdir).unwrap();
        let bench = Bench::new();
        let run = |path: &str| bench.run(&read, read.spec(), json!({"path": path}));
        for path in ["root/etc/passwd", "cwd/Cargo.toml", "exe", "fd/0"] {
            assert!(run(path).is_err(), "{path} by {by:?}");
        }
        assert!(text(&run("status").unwrap()).contains("Pid:"));
    }
}

#[test]
fn links_that_stay_inside_are_followed() {
    for by in BOTH {
        let bench = Bench::with(by);
        bench.write("a/b/file.txt", "inside");
        bench.link("a/b", "dir");
        bench.link("../a/b/file.txt", "a/file");
        bench.link("dir/../b/./file.txt", "by-parent");
        for path in
            ["dir/file.txt", "a/file", "by-parent", "a/../a/b/../b/file.txt", "./a//b/file.txt"]
        {
            let output = bench.read(json!({"path": path}));
            assert_eq!(text(&output.unwrap()), "inside", "{path} by {by:?}");
        }
    }
}

#[test]
fn both_ways_say_the_same_of_paths_that_lead_nowhere() {
    for by in BOTH {
        let bench = Bench::with(by);
        bench.write("file", "x");
        bench.link("circle-2", "circle-1");
        bench.link("circle-1", "circle-2");
        bench.link("missing", "dangling");
        let check = |path: &str, reason: &str| {
            let message = refusal(bench.read(json!({"path": path})));
            assert!(message.contains(reason), "{path} by {by:?}: {message}");
        };
        check("missing", "\"missing\": there is no such file");
        check("dangling", "there is no such file");
        check("missing/../file", "there is no such file");
        check("file/x", "not a directory");
        check("file/", "not a directory");
        check("file/..", "not a directory");
        check("circle-1", "too many links");
        check(&"n".repeat(300), "a name in the path is too long");
        check(&"d/".repeat(2500), "5000 bytes long; at most 4095");
        check("a\0b", "NUL");
        check(".", "it is a directory; only regular files can be read");
    }
}

#[test]
fn an_empty_path_is_refused_by_the_schema() {
    let bench = Bench::new();
    let error = bench.read(json!({"path": ""})).unwrap_err();
    assert_eq!(error.kind(), tool_core::ErrorKind::InvalidArguments);
    let error = bench.read(json!({"path": "a", "mode": "w"})).unwrap_err();
    assert_eq!(error.kind(), tool_core::ErrorKind::InvalidArguments);
}

#[test]
fn a_workdir_that_is_moved_or_replaced_stays_the_one_that_was_opened() {
    for by in BOTH {
        let bench = Bench::with(by);
        bench.write("file", "mine");
        fs::rename(bench.beside("workdir"), bench.beside("moved")).unwrap();
        fs::rename(bench.beside("outside"), bench.beside("workdir")).unwrap();
        assert_eq!(text(&bench.read(json!({"path": "file"})).unwrap()), "mine");
        assert!(refusal(bench.read(json!({"path": "secret.txt"}))).contains("no such file"));
        let found = bench.search(json!({"pattern": SECRET})).unwrap();
        assert_eq!(crate::bench::json(&found)["matches"], json!([]));
    }
}

#[test]
fn what_is_no_directory_can_not_be_a_workdir() {
    let bench = Bench::new();
    bench.write("file", "x");
    for path in [bench.path("file"), bench.path("missing")] {
        let error = sandbox::Workdir::open(&path).unwrap_err().to_string();
        assert!(error.contains(path.to_str().unwrap()), "{error}");
    }
}

#[test]
fn this_kernel_is_asked_where_it_can_be() {
    let workdir = sandbox::Workdir::open(".").unwrap();
    // A test that runs where openat2 is missing would quietly test one way twice.
    assert_eq!(workdir.resolution(), sandbox::Resolution::Kernel);
}
