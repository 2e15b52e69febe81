//! Texts about which two parsers would disagree: refused before there is anything to disagree about.

use browser::{Refusal, UrlPolicy};

#[test]
fn what_parsers_read_differently_is_refused() {
    let policy = UrlPolicy::default();
    for text in [
        "http://127.0.0.1:6666\\@1.1.1.1/",
        "http://1.1.1.1 &@2.2.2.2# @3.3.3.3/",
        "http://127.1.1.1:80\\@127.2.2.2/",
        "http://exa\tmple.com/",
        "http://exa\nmple.com/",
        "http://exa\rmple.com/",
        "\u{1}http://example.com/",
        "http://example.com/\u{0}",
        "http://example.com/a b",
        "http://example.com\u{a0}/",
        "http://example.com/\u{85}",
        "http:\\\\example.com/",
        "http://example.com\\.evil.test/",
        "ht\ntp://example.com/",
        "http://example.com/\u{202e}txt.exe",
        "http:example.com",
        "http:/example.com",
        "//example.com/",
        "example.com",
        "example.com:80",
        "",
        "http://",
        "http:///",
        "http://?",
        "http://#",
        "https://:80/",
        "http://[",
        "http://[::1",
        "http://example.com:80:80/",
        "http://[fe80::1%25eth0]/",
    ] {
        assert!(policy.check_text(text).is_err(), "{text:?}");
    }
    assert!(policy.check_text(&format!("http://example.com/{}", "a".repeat(9000))).is_err());
}

#[test]
fn userinfo_is_refused() {
    let policy = UrlPolicy::default();
    for text in [
        "http://allowed.example@127.0.0.1/",
        "https://example.com:pw@evil.test/",
        "http://user@example.com/",
        "http://:pw@example.com/",
        "http://@example.com/",
        "http://:@example.com/",
        "http://%20@example.com/",
        "http://%3A@example.com/",
        "http://example.com%40@example.com/",
    ] {
        assert!(matches!(policy.check_text(text), Err(Refusal::Userinfo)), "{text}");
    }
    policy.check_text("https://example.com/@user").unwrap();
}

#[test]
fn only_the_web_has_a_scheme() {
    let policy = UrlPolicy::default();
    for text in [
        "file:///etc/hostname",
        "FILE:///etc/hostname",
        "ftp://example.com/",
        "gopher://example.com:80/_x",
        "data:text/html,x",
        "blob:https://example.com/1",
        "javascript:alert(1)",
        "view-source:https://example.com/",
        "chrome://settings/",
        "about:blank",
        "ws://example.com/",
        "dict://example.com/",
        "ldap://example.com/",
        "jar:https://example.com!/",
        "filesystem:http://a.b/",
    ] {
        assert!(matches!(policy.check_text(text), Err(Refusal::Scheme { .. })), "{text}");
    }
}

#[test]
fn a_refusal_says_what_would_be_accepted() {
    let policy = UrlPolicy::default();
    let check = |text: &str, expected: &str| {
        assert_eq!(policy.check_text(text).unwrap_err().to_string(), expected);
    };
    check("file:///x", "the scheme \"file\" is refused; http and https are accepted");
    check("http://example.com:22/", "the port 22 is refused; accepted: 80, 443, 8080, 8443");
    check(
        "http://0x7f.1/",
        "the host \"127.0.0.1\" is refused: loopback, and only public addresses are accepted",
    );
    check("http://a b/", "a URL may not hold a space; write it percent-encoded");
    check(
        "example.com",
        "this is no URL (it has no scheme); an absolute one with http:// or https:// is accepted",
    );
}
