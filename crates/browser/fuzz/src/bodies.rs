//! What the fuzz targets do with an input. The crate's tests run the same functions over the seeds.
//!
//! Each takes any bytes and panics where a promise of the crate is broken.
#![allow(dead_code, reason = "every target includes this file and uses one function of it")]

use std::{net::IpAddr, sync::LazyLock};

use browser::{
    ExtractLimits, ExtractOptions, Format, PolicyRules, Refusal, Scope, UrlPolicy, extract,
};
use url::{Host, Url};

/// A policy with an internal host, so that its borders are there to be crossed.
static POLICY: LazyLock<UrlPolicy> = LazyLock::new(|| {
    let rules = PolicyRules {
        internal_hosts: vec!["10.1.2.3:9000".to_owned(), "wiki.corp.example".to_owned()],
        deny_hosts: vec!["*.denied.example".to_owned()],
        ..PolicyRules::default()
    };
    UrlPolicy::new(&rules).expect("rules of ours")
});

static BASES: LazyLock<[Url; 2]> = LazyLock::new(|| {
    ["https://example.com/a/b?c", "http://wiki.corp.example/"]
        .map(|text| text.parse().expect("a URL of ours"))
});

/// What is accepted is a URL of the web to a host that is public as written, or to the internal one; its
/// written form is accepted again and is the same. A refusal has a text of bounded length.
pub(crate) fn url_policy(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    check(POLICY.check_text(&text), true);
    let [public, internal] = &*BASES;
    check(POLICY.check_redirect(public, data), false);
    check(POLICY.check_redirect(internal, data), true);
}

fn check(judged: Result<Url, Refusal>, may_be_internal: bool) {
    let url = match judged {
        Ok(url) => url,
        Err(refusal) => {
            let said = refusal.to_string();
            assert!(!said.is_empty() && said.len() < 2048, "{said}");
            return;
        }
    };
    assert!(matches!(url.scheme(), "http" | "https"), "{url}");
    assert!(url.username().is_empty() && url.password().is_none(), "{url}");
    let port = url.port_or_known_default().expect("a port");
    assert!(!url.as_str().bytes().any(|byte| byte <= b' ' || byte == 0x7f), "{url}");
    match url.host().expect("a host") {
        Host::Ipv4(address) if address.octets() == [10, 1, 2, 3] => {
            assert!(port == 9000 && may_be_internal, "{url}");
            return;
        }
        Host::Ipv4(address) => {
            let is_inner = address.is_private() || address.is_loopback() || address.is_link_local();
            assert!(!is_inner && !address.is_unspecified() && !address.is_multicast(), "{url}");
        }
        Host::Ipv6(address) => assert_eq!(address.segments()[0] & 0xe000, 0x2000, "{url}"),
        Host::Domain("wiki.corp.example") => assert!(may_be_internal, "{url}"),
        Host::Domain(name) => {
            assert!(name.contains('.') && !name.ends_with('.'), "{url}");
            assert!(name.parse::<IpAddr>().is_err() && !name.ends_with(".denied.example"), "{url}");
            assert!(
                name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)),
                "{url}"
            );
        }
    }
    assert!(matches!(port, 80 | 443 | 8080 | 8443), "{url}");
    // Percent-encoding may make it longer than what is taken of a text.
    if url.as_str().len() <= 8192 {
        assert_eq!(POLICY.check_text(url.as_str()).as_ref(), Ok(&url));
    }
}

/// The types that a document is sent as.
const TYPES: [&str; 6] = [
    "text/html",
    "text/html; charset=utf-8",
    "application/json",
    "application/rss+xml",
    "application/pdf",
    "",
];

/// A document of any bytes is answered within its bounds; its first byte says as what it is sent and
/// what is asked for. What an answer promises holds: no more content than is wanted, links that can be
/// followed, and no characters that nobody sees.
pub(crate) fn extract_document(data: &[u8]) {
    let Some((&how, document)) = data.split_first() else { return };
    let (how, content) = (usize::from(how), usize::from(how % 7) * 64 + 64);
    let options = ExtractOptions {
        format: [Format::Markdown, Format::Text, Format::Html][how % 3],
        scope: if how & 1 == 0 { Scope::Main } else { Scope::Whole },
        selector: None,
        limits: ExtractLimits { content, links: 10, ..ExtractLimits::default() },
    };
    let media_type = Some(TYPES[how % TYPES.len()]).filter(|media_type| !media_type.is_empty());
    let Ok(extracted) = extract(document, media_type, &BASES[0], &options) else { return };
    assert!(extracted.content.len() <= content, "{}", extracted.content.len());
    assert!(extracted.links.len() <= 10);
    for link in &extracted.links {
        assert!(
            matches!(link.url.scheme(), "http" | "https" | "mailto" | "tel" | "ftp"),
            "{}",
            link.url
        );
    }
    assert!(!extracted.content.contains(['\u{200B}', '\u{202E}', '\u{2060}']));
    assert!(extracted.title.is_none_or(|title| !title.contains('\n')));
}
