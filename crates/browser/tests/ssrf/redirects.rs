//! Redirects: each hop is judged as the first URL was.

use browser::{BrowserConfig, FetchRequest, PolicyRules, Refusal, UrlPolicy};
use testkit::web::{Answer, WebServer};

use crate::common::{Names, allowing, fetcher, fetcher_with};

#[tokio::test]
async fn a_redirect_leads_to_no_place_that_a_call_could_not_name() {
    let secret = WebServer::always(Answer::html("secret")).unwrap();
    let port = secret.address().port();
    for status in [301, 302, 303, 307, 308] {
        for target in [
            format!("http://127.0.0.1:{port}/secret"),
            format!("//127.0.0.1:{port}/"),
            format!("http://0x7f.1:{port}/"),
            format!("https://127.0.0.1:{port}/"),
            format!("http://[::ffff:127.0.0.1]:{port}/"),
            format!("http://user@127.0.0.1:{port}/"),
            format!("http://local.test:{port}/"),
            "http://127.0.0.1/".to_owned(),
            "file:///etc/hostname".to_owned(),
            "data:text/html,x".to_owned(),
            format!("http:\\\\127.0.0.1:{port}"),
        ] {
            let location = target.clone();
            let server = WebServer::start(move |_| Answer::redirect(status, &location)).unwrap();
            let config = BrowserConfig { ports: vec![80, 443, port], ..allowing(&[&server]) };
            let names = Names::new(&[("local.test", &[&["127.0.0.1"]])]);
            let fetcher = fetcher_with(&config, names);
            let error = fetcher.fetch(FetchRequest::get(server.url("/r"))).await.unwrap_err();
            assert!(error.refusal().is_some(), "{status} {target}: {error}");
            assert!(error.to_string().starts_with("a redirect leads to"), "{error}");
            assert_eq!(server.connections(), 1);
        }
    }
    assert_eq!(secret.connections(), 0);

    // The same redirect is followed where the operator opened its target.
    let target = secret.url("/");
    let server = WebServer::start(move |_| Answer::redirect(302, &target)).unwrap();
    let fetcher = fetcher(&allowing(&[&server, &secret]));
    let fetched = fetcher.fetch(FetchRequest::get(server.url("/"))).await.unwrap();
    assert_eq!(fetched.body, b"secret");
}

#[test]
fn no_redirect_from_outside_leads_to_an_internal_host() {
    let rules = PolicyRules {
        internal_hosts: vec!["wiki.corp.test".to_owned(), "10.0.0.1".to_owned()],
        ..PolicyRules::default()
    };
    let policy = UrlPolicy::new(&rules).unwrap();
    let check = |from: &str, to: &str, expected: bool| {
        let found = policy.check_redirect(&from.parse().unwrap(), to.as_bytes());
        assert_eq!(found.is_ok(), expected, "{from} {to}: {found:?}");
        let is_inside = matches!(found, Err(Refusal::RedirectInside { .. }));
        assert_eq!(is_inside, !expected, "{from} {to}: {found:?}");
    };
    check("https://example.com/", "https://wiki.corp.test/", false);
    check("https://example.com/", "http://10.0.0.1/", false);
    check("https://wiki.corp.test/", "http://10.0.0.1/", true);
    check("https://wiki.corp.test/", "/other", true);
    check("https://wiki.corp.test/", "https://example.com/", true);
}
