//! Libraries that a machine may have, and modules that a session's folder may have.

use std::{path::Path, process::Stdio};

use rlm_backend::{Language::Python, Shown};

use crate::{
    common::{Session, no_skip},
    host,
};

/// Where interpreters are looked for.
const PYTHONS: [&str; 2] = ["python3", "/usr/bin/python3"];

/// Whether an interpreter can import a module.
#[expect(clippy::disallowed_methods, reason = "asks an interpreter of the machine, by itself")]
fn has(python: &str, module: &str) -> bool {
    let status = std::process::Command::new(python)
        .args(["-c", &format!("import {module}")])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// A session that has a module. Where no interpreter has it, says so, and fails where nothing may be
/// skipped.
async fn with(module: &str, package: &str) -> Option<Session> {
    if let Some(python) = PYTHONS.into_iter().find(|python| has(python, module)) {
        return Some(Session::of(python, Python, Path::new(".")).await);
    }
    let why = format!("no python3 has {module}; Debian's package {package} brings it");
    assert!(!no_skip(), "nothing may be skipped, but {why}");
    eprintln!("SKIPPED: {why}");
    None
}

/// The images among what is shown, decoded as far as their size.
fn sizes(shown: &[Shown]) -> Vec<(u32, u32)> {
    let images = shown.iter().filter_map(|shown| match shown {
        Shown::Image { media_type, data } => Some((media_type, data)),
        _ => None,
    });
    images
        .map(|(media_type, data)| {
            assert_eq!(media_type, "image/png");
            // A PNG begins with its signature and its header: width and height are bytes 16 to 23.
            let bytes = decode(&data[..32]);
            assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
            let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
            (number(16), number(20))
        })
        .collect()
}

/// The bytes of base64 without padding.
fn decode(text: &str) -> Vec<u8> {
    let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: String =
        text.chars().map(|c| format!("{:06b}", digits.find(c).expect("a digit"))).collect();
    bits.as_bytes()
        .chunks_exact(8)
        .map(|byte| u8::from_str_radix(std::str::from_utf8(byte).unwrap(), 2).unwrap())
        .collect()
}

#[tokio::test]
async fn figures_of_matplotlib_come_back_as_images() {
    let Some(mut session) = with("matplotlib", "python3-matplotlib").await else { return };
    let code = "import matplotlib.pyplot as plt\n\
                plt.figure(figsize=(3, 2), dpi=100); plt.plot([1, 4, 9])\n\
                plt.figure(figsize=(1, 1), dpi=50); plt.bar(['a', 'b'], [1, 2])\nNone";
    let outcome = session.run(code).await;
    assert_eq!(outcome.error, None);
    assert_eq!(sizes(&outcome.shown), [(300, 200), (50, 50)]);
    // They are drawn once; the library and its state are still there.
    assert_eq!(sizes(&session.run("len(plt.get_fignums())").await.shown), []);
    assert_eq!(sizes(&session.run("plt.plot([1]); plt.show();").await.shown).len(), 1);
}

#[tokio::test]
async fn figures_are_drawn_in_a_confined_session_too() {
    // It sees the interpreter of the system, and the packages that the system has for it.
    if !has(PYTHONS[1], "matplotlib") {
        assert!(!no_skip(), "nothing may be skipped, but {} has no matplotlib", PYTHONS[1]);
        return eprintln!("SKIPPED: {} has no matplotlib", PYTHONS[1]);
    }
    let mut session = host::Session::start(Python).await;
    let outcome = session.run("import matplotlib.pyplot as plt\nplt.plot([1]); plt.show();").await;
    assert_eq!(outcome.error, None);
    assert_eq!(sizes(&outcome.shown).len(), 1);
    session.end();
}

#[tokio::test]
async fn an_array_of_numpy_is_shown() {
    let Some(mut session) = with("numpy", "python3-numpy").await else { return };
    let outcome = session.run("import numpy\nnumpy.arange(3) * 2").await;
    assert_eq!(outcome.shown, [Shown::Text { text: "array([0, 2, 4])".to_owned() }]);
}

#[tokio::test]
async fn modules_in_the_folder_of_a_session_are_not_the_drivers() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["select", "fcntl", "faulthandler", "_json", "codecs", "json", "linecache"] {
        let file = folder.path().join(format!("{name}.py"));
        std::fs::write(file, "raise RuntimeError('the wrong one')").unwrap();
    }
    std::fs::write(folder.path().join("mine.py"), "x = 7").unwrap();
    let mut session = Session::of("python3", Python, folder.path()).await;
    assert_eq!(session.prints("import mine; print(mine.x)").await, "7\n");
    let outcome = session.run("import select").await;
    // It is loaded already, from where it belongs.
    assert_eq!(outcome.error, None);
}
