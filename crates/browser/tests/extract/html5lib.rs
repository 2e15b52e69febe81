//! html5lib's cases of how a page declares its encoding. They are read from the package
//! `markup5ever_rcdom`, which carries them.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use browser::{CharsetSource, ExtractOptions, extract};

use super::url;

/// The folder of the cases, where the package is.
#[expect(clippy::disallowed_methods, reason = "a test asks cargo where a package is")]
fn folder() -> Option<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version", "1", "--offline", "--locked"]);
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().ok()?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    let packages = metadata["packages"].as_array()?;
    let package = packages.iter().find(|package| {
        let version = package["version"].as_str().unwrap_or_default();
        package["name"] == "markup5ever_rcdom" && version.starts_with("0.35.")
    })?;
    let manifest = Path::new(package["manifest_path"].as_str()?);
    let folder = manifest.parent()?.join("html5lib-tests/encoding");
    folder.is_dir().then_some(folder)
}

/// The pages of a file with the encodings that they declare.
fn cases(file: &[u8]) -> Vec<(Vec<u8>, String)> {
    let mut cases: Vec<(Vec<u8>, String)> = Vec::new();
    let mut in_encoding = false;
    for line in file.split_inclusive(|&byte| byte == b'\n') {
        match line.trim_ascii_end() {
            b"#data" => {
                cases.push((Vec::new(), String::new()));
                in_encoding = false;
            }
            b"#encoding" => in_encoding = true,
            text => {
                let Some((page, encoding)) = cases.last_mut() else { continue };
                if !in_encoding {
                    page.extend_from_slice(line);
                } else if encoding.is_empty() {
                    *encoding = String::from_utf8_lossy(text).to_lowercase();
                }
            }
        }
    }
    cases
}

#[test]
#[expect(clippy::disallowed_methods, reason = "CI says by a variable that nothing may be skipped")]
fn a_page_declares_its_encoding_as_html5lib_has_it() {
    let Some(folder) = folder() else {
        assert!(
            std::env::var_os("REMIT_TEST_NO_SKIP").is_none(),
            "the cases of html5lib are not here"
        );
        println!("skipped: the cases of html5lib are not here");
        return;
    };
    let mut declared = 0;
    for file in ["tests1.dat", "tests2.dat", "test-yahoo-jp.dat"] {
        for (page, encoding) in cases(&std::fs::read(folder.join(file)).unwrap()) {
            let text = String::from_utf8_lossy(&page).into_owned();
            let got = extract(&page, Some("text/html"), &url(), &ExtractOptions::default())
                .unwrap()
                .charset;
            // The cases fall back to windows-1252 where nothing is declared; a guess is better.
            if matches!(got.source, CharsetSource::Declared | CharsetSource::Bom) {
                let wanted = encoding_rs::Encoding::for_label(encoding.as_bytes()).unwrap();
                assert_eq!(got.name, wanted.name(), "{file}: {text}");
                declared += 1;
            } else {
                assert_eq!(encoding, "windows-1252", "{file}: {text}");
            }
        }
    }
    assert!(declared >= 50, "{declared}");
}
