//! Proxies: none but the operator's, and through that one nothing that the policy refuses.

use std::process::Command;

use browser::{BrowserConfig, FetchError, FetchRequest};
use testkit::web::{Answer, WebServer};

use crate::common::{Names, allowing, fetcher, fetcher_with};

/// What tells the child of a test what to do.
const CHILD: &str = "REMIT_TEST_PROXY_CHILD";

#[test]
#[expect(clippy::disallowed_methods, reason = "the variables must be those of a whole process")]
fn proxy_variables_of_the_environment_are_not_heeded() {
    if let Ok(server) = std::env::var(CHILD) {
        return in_a_child(&server);
    }
    let server = WebServer::always(Answer::html("direct")).unwrap();
    let proxy = WebServer::always(Answer::html("by proxy")).unwrap();
    let address = proxy.url("");
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "proxies::proxy_variables_of_the_environment_are_not_heeded"]);
    child.args(["--nocapture", "--test-threads=1"]).env(CHILD, server.host());
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
    {
        child.env(name, &address);
    }
    child.env("REQUEST_METHOD", "").env("NO_PROXY", "");
    let output = child.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(proxy.connections(), 0);
    // The child was there, and reached what it may reach, by itself.
    assert_eq!(server.connections(), 1);
}

fn in_a_child(server: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let config = BrowserConfig {
            internal_hosts: vec![server.to_owned()],
            connect_timeout_ms: 2000,
            ..BrowserConfig::default()
        };
        let names = Names::new(&[("meta.test", &[&["169.254.169.254"]])]);
        let fetcher = fetcher_with(&config, names);
        for url in ["http://169.254.169.254/", "http://127.0.0.1/", "http://meta.test/"] {
            let error = fetcher.fetch(FetchRequest::get(url)).await.unwrap_err();
            assert!(error.refusal().is_some(), "{url}: {error}");
        }
        let direct = fetcher.fetch(FetchRequest::get(format!("http://{server}/"))).await.unwrap();
        assert_eq!(direct.body, b"direct");
    });
}

#[tokio::test]
async fn an_operators_proxy_is_asked_for_what_was_judged_and_for_nothing_else() {
    let proxy = WebServer::start(|request| match request.method.as_str() {
        "CONNECT" => Answer::raw_open("HTTP/1.1 200 Connection established\r\n\r\n"),
        _ => Answer::html("through the tunnel"),
    })
    .unwrap();
    let names = Names::new(&[("public.test", &[&["8.8.8.8"]]), ("inner.test", &[&["10.0.0.1"]])]);
    let config = BrowserConfig { proxy: Some(proxy.url("")), ..allowing(&[]) };
    let fetcher = fetcher_with(&config, names);
    for url in ["http://127.0.0.1/", "http://inner.test/", "http://localhost/"] {
        let error = fetcher.fetch(FetchRequest::get(url)).await.unwrap_err();
        assert!(error.refusal().is_some(), "{url}: {error}");
    }
    assert_eq!(proxy.connections(), 0);

    let fetched = fetcher.fetch(FetchRequest::get("http://public.test/x")).await.unwrap();
    assert_eq!(fetched.body, b"through the tunnel");
    let seen = proxy.requests();
    assert_eq!((seen[0].method.as_str(), seen[0].target.as_str()), ("CONNECT", "8.8.8.8:80"));
    assert_eq!(seen[1].target, "/x");
    assert_eq!(seen[1].header("host"), Some("public.test"));
}

#[tokio::test]
async fn a_proxy_that_refuses_or_is_gone_is_named() {
    let proxy = WebServer::always(Answer::new(403, &[], "no")).unwrap();
    let mut config = BrowserConfig { proxy: Some(proxy.url("")), ..allowing(&[]) };
    let get = || FetchRequest::get("http://8.8.8.8/");
    let error = fetcher(&config).fetch(get()).await.unwrap_err();
    assert!(matches!(error, FetchError::Dial(_)), "{error}");
    assert_eq!(error.to_string(), "the proxy: it answered with 403");
    let gone = proxy.url("");
    drop(proxy);
    config.proxy = Some(gone);
    let error = fetcher(&config).fetch(get()).await.unwrap_err().to_string();
    assert!(error.starts_with("the proxy: it can't be reached"), "{error}");
}
