//! Literal addresses, in every spelling that a parser takes.

use browser::{BrowserConfig, FetchRequest, Refusal, UrlPolicy};
use testkit::web::{Answer, WebServer};

use crate::common::{Names, fetcher_with};

/// Spellings of 127.0.0.1 and its like, each of which some parser or resolver takes.
const V4: &[&str] = &[
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://0x7f000001/",
    "http://0x7F.0x0.0x0.0x1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://0/",
    "http://0.0.0.0/",
    "http://0x.0x.0/",
    "http://127.0.0.1./",
    "http://%31%32%37.0.0.1/",
    "http://%32%31%33%30%37%30%36%34%33%33/",
    "http://①②⑦.⓪.⓪.①/",
    "http://１２７.０.０.１/",
    "http://127。0。0。1/",
    "http://127｡0｡0｡1/",
    "http://127.0.0\u{ad}.1/",
    "http://\u{200b}127.0.0.1/",
    "http:127.0.0.1/",
    "http:/\\127.0.0.1/",
    "  http://127.0.0.1/  ",
    "http:///127.0.0.1/",
    "HTTP://127.0.0.1/",
    "http://127.000.000.001/",
    "http://0x7f.1/",
    "http://127.0x0.0.01/",
];

const V6: &[&str] = &[
    "[::]",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::1]",
    "[2002:7f00:1::]",
    "[2002:a9fe:a9fe::1]",
    "[2001::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[100::1]",
    "[2001:db8::1]",
    "[3fff::1]",
    "[5f00::1]",
    "[::ffff:100.100.100.200]",
    "[::ffff:8.8.8.8]",
    "[fe80::1%25eth0]",
    "[::1%lo]",
];

const RANGES: &[&str] = &[
    "0.0.0.1",
    "10.1.2.3",
    "100.64.0.1",
    "127.255.255.255",
    "169.254.1.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "168.63.129.16",
    "100.100.100.200",
];

#[tokio::test]
async fn no_spelling_of_this_machine_is_dialled() {
    let secret = WebServer::always(Answer::html("secret")).unwrap();
    let port = secret.address().port();
    // The port is allowed, so that only the address can be what is refused.
    let config = BrowserConfig { ports: vec![80, port], ..BrowserConfig::default() };
    let names = Names::new(&[]);
    let fetcher = fetcher_with(&config, names.clone());
    for spelling in V4 {
        for url in [(*spelling).to_owned(), with_port(spelling, port)] {
            let error = fetcher.fetch(FetchRequest::get(&url)).await.unwrap_err();
            assert!(error.refusal().is_some(), "{url}: {error}");
        }
    }
    for host in V6 {
        let url = format!("http://{host}:{port}/");
        let error = fetcher.fetch(FetchRequest::get(&url)).await.unwrap_err();
        assert!(error.refusal().is_some(), "{url}: {error}");
    }
    assert_eq!((secret.connections(), names.asked()), (0, 0));

    let config = BrowserConfig { internal_hosts: vec![secret.host()], ..config };
    let allowed = fetcher_with(&config, names).fetch(FetchRequest::get(secret.url("/"))).await;
    assert_eq!(allowed.unwrap().body, b"secret");
    assert_eq!(secret.connections(), 1);
}

fn with_port(url: &str, port: u16) -> String {
    let url = url.trim_end();
    format!("{}:{port}/", url.trim_end_matches('/'))
}

#[test]
fn every_range_that_is_not_global_is_refused() {
    let policy = UrlPolicy::default();
    for address in RANGES {
        let refused = policy.check_text(&format!("http://{address}/"));
        assert!(matches!(refused, Err(Refusal::Address { .. })), "{address}: {refused:?}");
    }
    for public in ["http://8.8.8.8/", "http://[2606:4700:4700::1111]/", "https://1.1.1.1:8443/"] {
        policy.check_text(public).unwrap();
    }
}

#[test]
fn an_operator_opens_one_address_in_all_its_spellings_and_no_other() {
    let rules = browser::PolicyRules {
        internal_hosts: vec!["127.0.0.1:9000".to_owned()],
        ..browser::PolicyRules::default()
    };
    let policy = UrlPolicy::new(&rules).unwrap();
    for open in ["http://127.0.0.1:9000/", "http://0x7f.1:9000/", "http://2130706433:9000/"] {
        policy.check_text(open).unwrap();
    }
    for closed in [
        "http://127.0.0.1/",
        "http://127.0.0.1:9001/",
        "http://127.0.0.2:9000/",
        "http://localhost:9000/",
        "http://[::1]:9000/",
        "http://[::ffff:127.0.0.1]:9000/",
        "http://10.0.0.1:9000/",
        "http://example.com:9000/",
    ] {
        assert!(policy.check_text(closed).is_err(), "{closed}");
    }
}
