//! The cases of the URL standard that come with the crate `url`.
//!
//! Whatever the text and whatever the base: what the policy accepts is a URL of the web without userinfo,
//! whose host is public as written and whose parsed form it accepts again, unchanged.

use std::net::IpAddr;

use browser::UrlPolicy;
use serde_json::Value;
use url::{Host, Url};

/// The cases; the file is in the folder of the package, as cargo has it.
#[expect(clippy::disallowed_methods, reason = "cargo knows where the package is")]
fn cases() -> Vec<Value> {
    let output = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline"])
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let is_url = |package: &&Value| package["name"] == "url";
    let package = metadata["packages"].as_array().unwrap().iter().find(is_url).unwrap();
    let manifest = std::path::Path::new(package["manifest_path"].as_str().unwrap());
    let file = manifest.parent().unwrap().join("tests/urltestdata.json");
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

#[test]
fn every_case_is_refused_or_is_what_it_says() {
    let policy = UrlPolicy::default();
    let (mut accepted, mut refused) = (0, 0);
    for case in cases().iter().filter_map(Value::as_object) {
        let Some(input) = case["input"].as_str() else { continue };
        let base = case["base"].as_str().and_then(|base| Url::parse(base).ok());
        let redirected = base.map(|base| policy.check_redirect(&base, input.as_bytes()));
        for judged in [Some(policy.check_text(input)), redirected].into_iter().flatten() {
            let Ok(url) = judged else {
                refused += 1;
                continue;
            };
            accepted += 1;
            check(&policy, input, &url);
            if case.get("base").is_none_or(Value::is_null) {
                assert_eq!(case["href"], url.as_str(), "{input:?}");
            }
        }
    }
    assert!(accepted > 50 && refused > 500, "{accepted} accepted, {refused} refused");
}

fn check(policy: &UrlPolicy, input: &str, url: &Url) {
    assert!(matches!(url.scheme(), "http" | "https"), "{input:?}");
    assert!(url.username().is_empty() && url.password().is_none(), "{input:?}");
    match url.host().unwrap() {
        Host::Domain(name) => {
            assert!(name.contains('.') && !name.ends_with('.'), "{input:?}");
            // No resolver takes it for an address.
            assert!(name.parse::<IpAddr>().is_err(), "{input:?}");
            let last = name.rsplit('.').next().unwrap();
            assert!(!last.bytes().all(|byte| byte.is_ascii_digit()), "{input:?}");
        }
        Host::Ipv4(address) => {
            let is_inner = address.is_private() || address.is_loopback() || address.is_link_local();
            assert!(!is_inner && !address.is_unspecified(), "{input:?}");
        }
        Host::Ipv6(address) => assert_eq!(address.segments()[0] & 0xe000, 0x2000, "{input:?}"),
    }
    assert_eq!(policy.check_text(url.as_str()).as_ref(), Ok(url), "{input:?}");
}
