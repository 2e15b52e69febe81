//! `list_dir_in_workdir`: order, bounds, and what is said about what was left out.

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt};

use serde_json::{Value, json};
use tool_core::ByteCount;

use crate::bench::{BOTH, Bench, json as value, refusal};

fn listed(bench: &Bench, args: Value) -> Value {
    let output = bench.list(args).unwrap();
    assert!(output.len_bytes() <= bench.limits.max_output());
    value(&output).clone()
}

fn paths(listing: &Value) -> Vec<&str> {
    listing["entries"].as_array().unwrap().iter().map(|e| e["path"].as_str().unwrap()).collect()
}

fn tree(bench: &Bench) {
    bench.write("b/2", "22");
    bench.write("b/1/x", "");
    bench.write("a.txt", "a");
    bench.write("a/z", "");
    bench.link("../outside", "link");
}

#[test]
fn entries_are_sorted_typed_and_sized() {
    for by in BOTH {
        let bench = Bench::with(by);
        tree(&bench);
        let listing = listed(&bench, json!({}));
        assert_eq!(
            listing,
            json!({
                "entries": [
                    {"path": "a", "type": "dir"},
                    {"path": "a.txt", "type": "file", "bytes": 1},
                    {"path": "b", "type": "dir"},
                    {"path": "link", "type": "symlink"},
                ],
                "is_complete": true,
            })
        );
    }
}

#[test]
fn a_recursive_list_has_each_directory_before_what_is_in_it_and_follows_no_link() {
    let bench = Bench::new();
    tree(&bench);
    let all = ["a", "a/z", "a.txt", "b", "b/1", "b/1/x", "b/2", "link"];
    let listing = listed(&bench, json!({"recursive": true}));
    assert_eq!(paths(&listing), all);
    assert_eq!(listing["is_complete"], true);
    for limit in 1..all.len() {
        let listing = listed(&bench, json!({"recursive": true, "limit": limit}));
        assert_eq!(paths(&listing), all[..limit], "the first ones in the same order");
        assert_eq!(listing["is_complete"], false);
    }
    assert_eq!(paths(&listed(&bench, json!({"path": "./b/", "recursive": true}))), all[4..7]);
}

#[test]
fn a_file_is_no_directory() {
    let bench = Bench::new();
    bench.write("file", "");
    assert!(refusal(bench.list(json!({"path": "file"}))).contains("not a directory"));
    assert!(refusal(bench.list(json!({"path": "none"}))).contains("no such file or directory"));
}

#[test]
fn a_huge_directory_is_bounded_and_counted() {
    let bench = Bench::new().with_max_output(1 << 20);
    for n in 0..3000 {
        bench.write(&format!("f{n:04}"), "");
    }
    let listing = listed(&bench, json!({}));
    assert_eq!(paths(&listing).len(), 1000);
    assert_eq!(paths(&listing)[999], "f0999");
    assert_eq!(listing["omitted"], 2000);
    assert_eq!(listing["is_complete"], false);
    let listing = listed(&bench, json!({"limit": 10_000}));
    assert_eq!((paths(&listing).len(), &listing["is_complete"]), (3000, &json!(true)));
}

#[test]
fn a_list_stays_under_the_output_ceiling() {
    let bench = Bench::new().with_max_output(2000);
    for n in 0..100 {
        bench.write(&format!("file-{n:03}"), "");
    }
    let listing = listed(&bench, json!({}));
    let shown = paths(&listing).len();
    assert!((20..100).contains(&shown), "{shown}");
    assert_eq!(listing["omitted"], 100 - shown);
    assert!(ByteCount::from(listing.to_string().len()) <= ByteCount(2000));
}

#[test]
fn a_deep_tree_ends_and_says_so() {
    for by in BOTH {
        let bench = Bench::with(by);
        bench.write(&format!("{}file", "d/".repeat(200)), "needle");
        let listing = listed(&bench, json!({"recursive": true}));
        assert_eq!(paths(&listing).len(), 65, "the entries of the start and of 64 levels below");
        assert_eq!(listing["unread_dirs"], 1);
        assert_eq!(listing["is_complete"], false);
        let found = bench.search(json!({"pattern": "needle"})).unwrap();
        assert_eq!(value(&found)["incomplete_by"], json!(["unreadable"]));
    }
}

#[test]
fn a_name_that_is_not_utf8_is_said() {
    let bench = Bench::new();
    fs::create_dir(bench.path(OsStr::from_bytes(b"bad\xffdir"))).unwrap();
    fs::write(bench.path(OsStr::from_bytes(b"bad\xffdir/file")), "needle").unwrap();
    bench.write("good\nname \"é\"", "");
    let listing = listed(&bench, json!({"recursive": true}));
    assert_eq!(
        listing["entries"],
        json!([
            {"path": "bad\u{fffd}dir", "type": "dir", "is_lossy": true},
            {"path": "bad\u{fffd}dir/file", "type": "file", "bytes": 6, "is_lossy": true},
            {"path": "good\nname \"é\"", "type": "file", "bytes": 0},
        ])
    );
    let found = bench.search(json!({"pattern": "needle"})).unwrap();
    assert_eq!(value(&found)["matches"][0]["is_lossy"], true);
}
