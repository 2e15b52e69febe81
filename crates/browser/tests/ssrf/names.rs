//! Names: what is none of the open internet, and names that stand for what they should not.

use std::time::Duration;

use browser::{
    BrowserConfig, DialError, FetchError, FetchRequest, PolicyRules, Refusal, UrlPolicy,
};
use testkit::web::{Answer, WebServer};

use crate::common::{Names, fetcher_with};

#[test]
fn names_that_are_not_public_are_refused() {
    let policy = UrlPolicy::default();
    for host in [
        "localhost",
        "localhost.",
        "LOCALHOST",
        "foo.localhost",
        "a.b.localhost",
        "intranet",
        "wiki",
        "metadata.google.internal",
        "metadata.goog",
        "x.internal",
        "printer.local",
        "router.lan",
        "host.docker.internal",
        "example.com.",
        "1.0.0.127.in-addr.arpa",
        "x.onion",
        "a.localhost.localdomain",
        "ｌｏｃａｌｈｏｓｔ",
        "loc\u{ad}alhost",
        "%6c%6f%63%61%6c%68%6f%73%74",
        "a..example.com",
        ".example.com",
        "exa*mple.com",
        "-",
        "a!b.example.com",
    ] {
        let refused = policy.check_text(&format!("http://{host}/"));
        assert!(refused.is_err(), "{host}: {refused:?}");
    }
    for host in
        ["example.com", "a.b-c.example.co.uk", "münchen.de", "x_y.example.com", "localhost.com"]
    {
        policy.check_text(&format!("http://{host}/")).unwrap();
    }
}

#[test]
fn ports_are_those_of_the_web() {
    let policy = UrlPolicy::default();
    for port in ["22", "25", "6379", "11211", "0", "65536", "81", "-1", "80x"] {
        assert!(policy.check_text(&format!("http://example.com:{port}/")).is_err(), "{port}");
    }
    for port in ["", ":80", ":443", ":8080", ":8443", ":0080"] {
        policy.check_text(&format!("http://example.com{port}/")).unwrap();
    }
    let both = ["http://example.com:80/", "http://example.com/"];
    let [one, other] = both.map(|url| policy.check_text(url).unwrap());
    assert_eq!(one, other);
}

#[test]
fn lists_of_hosts_mean_hosts() {
    let list = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let rules = PolicyRules {
        allow_hosts: list(&["example.com", "*.example.com", "8.8.8.8"]),
        deny_hosts: list(&["private.example.com", "*.internal.example.com"]),
        ..PolicyRules::default()
    };
    let policy = UrlPolicy::new(&rules).unwrap();
    let check = |url: &str, expected: bool| {
        assert_eq!(policy.check_text(url).is_ok(), expected, "{url}");
    };
    check("https://example.com/", true);
    check("https://EXAMPLE.com/", true);
    check("https://www.example.com/", true);
    check("https://8.8.8.8/", true);
    check("https://example.com.evil.test/", false);
    check("https://example.com@evil.test/", false);
    check("https://evilexample.com/", false);
    check("https://evil.test/?example.com", false);
    check("https://private.example.com/", false);
    check("https://a.internal.example.com/", false);
    check("https://internal.example.com/", true);
    check("https://8.8.4.4/", false);
    check("https://127.0.0.1/", false);
}

fn config(port: u16) -> BrowserConfig {
    BrowserConfig { ports: vec![port], host_delay_ms: 0, ..BrowserConfig::default() }
}

#[tokio::test]
async fn a_name_is_judged_by_every_one_of_its_addresses() {
    let secret = WebServer::always(Answer::html("secret")).unwrap();
    let port = secret.address().port();
    let names = Names::new(&[
        ("local.test", &[&["127.0.0.1"]]),
        ("mapped.test", &[&["::ffff:127.0.0.1"]]),
        ("both.test", &[&["8.8.8.8", "127.0.0.1"]]),
        ("meta.test", &[&["169.254.169.254"]]),
        ("zone.test", &[&["[fe80::1%2]:0"]]),
        ("zoned.test", &[&["[2606:4700:4700::1111%2]:0"]]),
        ("none.test", &[&[]]),
    ]);
    let fetcher = fetcher_with(&config(port), names);
    for name in ["local", "mapped", "both", "meta", "zone", "zoned"] {
        let url = format!("http://{name}.test:{port}/");
        let error = fetcher.fetch(FetchRequest::get(url)).await.unwrap_err();
        assert!(matches!(error.refusal(), Some(Refusal::Address { .. })), "{name}: {error}");
        // What the resolver said stays here.
        assert!(!error.to_string().contains("127.0.0.1"), "{error}");
    }
    let error = fetcher.fetch(FetchRequest::get(format!("http://none.test:{port}/"))).await;
    assert!(matches!(error, Err(FetchError::Dial(DialError::NoAddress { .. }))), "{error:?}");
    let error = fetcher.fetch(FetchRequest::get(format!("http://gone.test:{port}/"))).await;
    assert!(matches!(error, Err(FetchError::Dial(DialError::Resolve { .. }))), "{error:?}");
    assert_eq!(secret.connections(), 0);
}

/// The proxy is the witness of what is dialled: it is asked for addresses.
#[tokio::test]
async fn a_name_that_changes_its_address_wins_nothing() {
    let secret = WebServer::always(Answer::html("secret")).unwrap();
    let port = secret.address().port();
    let proxy = WebServer::start(|request| match request.method.as_str() {
        "CONNECT" => Answer::raw_open("HTTP/1.1 200 Connected\r\n\r\n"),
        _ => Answer::redirect(302, "/again"),
    })
    .unwrap();
    let names = Names::new(&[("rebind.test", &[&["8.8.8.8"], &["127.0.0.1"]])]);
    let config = BrowserConfig { proxy: Some(proxy.url("")), ..config(port) };
    let fetcher = fetcher_with(&config, names.clone());
    let url = format!("http://rebind.test:{port}/");
    let error = fetcher.fetch(FetchRequest::get(url)).await.unwrap_err();
    assert!(matches!(error.refusal(), Some(Refusal::Address { .. })), "{error}");
    assert_eq!(names.asked(), 2);
    let dialled: Vec<_> = proxy.requests().into_iter().map(|request| request.target).collect();
    assert_eq!(dialled, [format!("8.8.8.8:{port}"), "/".to_owned()]);
    assert_eq!(secret.connections(), 0);
}

#[tokio::test]
async fn one_connection_is_one_resolution_and_leads_where_it_was_judged() {
    let server = WebServer::always(Answer::html("open")).unwrap();
    let port = server.address().port();
    let names = Names::new(&[("wiki.corp.test", &[&["127.0.0.1"], &["169.254.169.254"]])]);
    let config = BrowserConfig {
        internal_hosts: vec![format!("wiki.corp.test:{port}")],
        host_delay_ms: 0,
        ..BrowserConfig::default()
    };
    let fetcher = fetcher_with(&config, names.clone());
    let get = || FetchRequest::get(format!("http://wiki.corp.test:{port}/"));
    let fetched = fetcher.fetch(get()).await.unwrap();
    assert_eq!((fetched.body.as_slice(), fetched.address), (&b"open"[..], server.address()));
    assert_eq!((names.asked(), server.connections()), (1, 1));
    // An internal name may stand for an internal network, and not for a metadata service.
    let error = fetcher.fetch(get()).await.unwrap_err();
    assert!(matches!(error.refusal(), Some(Refusal::Address { .. })), "{error}");
    assert_eq!((names.asked(), server.connections()), (2, 1));
}

#[tokio::test]
async fn a_refused_address_is_refused_behind_an_internal_name_too() {
    let server = WebServer::always(Answer::html("open")).unwrap();
    let port = server.address().port();
    let names = Names::new(&[("wiki.corp.test", &[&["127.0.0.1"]])]);
    let config = BrowserConfig {
        internal_hosts: vec![format!("wiki.corp.test:{port}")],
        deny_hosts: vec!["127.0.0.1".to_owned()],
        ..BrowserConfig::default()
    };
    let url = format!("http://wiki.corp.test:{port}/");
    let error = fetcher_with(&config, names).fetch(FetchRequest::get(url)).await.unwrap_err();
    assert!(matches!(error.refusal(), Some(Refusal::Denied { .. })), "{error}");
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_resolver_that_hangs_is_given_up() {
    #[derive(Debug)]
    struct Hangs;
    impl browser::Resolve for Hangs {
        fn resolve<'a>(
            &'a self,
            _: &'a str,
        ) -> tool_core::BoxFuture<'a, std::io::Result<Vec<std::net::SocketAddr>>> {
            Box::pin(std::future::pending())
        }
    }
    let config = BrowserConfig { connect_timeout_ms: 100, ..BrowserConfig::default() };
    let fetcher = fetcher_with(&config, std::sync::Arc::new(Hangs));
    let started = std::time::Instant::now();
    let error = fetcher.fetch(FetchRequest::get("http://slow.test/")).await.unwrap_err();
    assert!(matches!(error, FetchError::TimedOut { .. }), "{error}");
    assert!(started.elapsed() < Duration::from_secs(5));
}
