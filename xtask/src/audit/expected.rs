//! What the release audit expects, as data: change it here, in the commit that changes the fact.

/// The packages of this workspace.
pub(super) const PACKAGES: &[&str] = &[
    "browser",
    "chain",
    "cli",
    "confine",
    "mcp-server",
    "model",
    "rlm-backend",
    "sandbox",
    "spawner",
    "testkit",
    "tool-core",
    "toolset",
    "xtask",
];

/// What the root holds: all of it, and nothing else.
pub(super) const ROOT: &[&str] = &[
    ".cargo",
    ".ci",
    ".gitignore",
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SECURITY.md",
    "clippy.toml",
    "crates",
    "data",
    "docs",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "scripts",
    "xtask",
];

/// Licences that a dependency may be used under, as SPDX writes them.
pub(super) const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// The largest tracked file, in bytes.
pub(super) const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Endings of files that hold a model's weights.
pub(super) const MODEL_ENDINGS: &[&str] = &[
    "bin",
    "ckpt",
    "ggml",
    "gguf",
    "h5",
    "mlmodel",
    "npy",
    "npz",
    "onnx",
    "pb",
    "pickle",
    "pkl",
    "pt",
    "pth",
    "safetensors",
    "tflite",
];

/// Leftover markers, each in two halves so that this file does not hold one.
pub(super) const MARKERS: &[(&str, &str)] = &[
    ("TO", "DO"),
    ("FIX", "ME"),
    ("X", "XX"),
    ("HA", "CK"),
    ("to", "do!"),
    ("unimple", "mented!"),
];

/// Endings of files that a tool leaves behind for a person to look at once.
pub(super) const LEFTOVER_ENDINGS: &[&str] = &["bak", "new", "orig", "pending-snap", "rej", "swp"];

/// Folders of one machine that no tracked text may name, in halves like [`MARKERS`].
pub(super) const MACHINE_PATHS: &[(&str, &str)] =
    &[("/wo", "rk/"), ("/tmp/re", "search"), ("/tmp/bash", "_jobs"), ("/root/", ".cargo")];

/// Folders whose files are run by machines: nothing there may publish a crate.
pub(super) const WORKFLOWS: &[&str] = &[".ci/", ".circleci/", ".github/", ".gitlab", "scripts/"];

/// Source folders of the crates that hold no shell and no eval.
pub(super) const INERT_SOURCES: &[&str] = &["crates/tool-core/src/", "crates/sandbox/src/"];
