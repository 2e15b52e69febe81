//! A plain HTTP request, sent on to its server.
//!
//! The `Host` is the one that was dialled, whatever the request says, and what is between one connection's
//! ends (RFC 9110, section 7.6.1) is not passed on. Each request has a connection of its own to the
//! server, so that no answer can be taken for another's.

use http_body_util::Either;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::uri::{Authority, PathAndQuery, Scheme};
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;

use super::{Body, Door, Problem};

/// Headers between one connection's ends.
const HOP_BY_HOP: [HeaderName; 7] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// More of them, without a constant.
const OLD_ONES: [&str; 2] = ["keep-alive", "proxy-connection"];

/// Dials, sends the request, and gives the answer with its body as it comes.
pub(super) async fn forward(
    door: &Door,
    mut request: Request<Incoming>,
) -> Result<Response<Body>, Problem> {
    let authority = target(request.uri()).ok_or(Problem::Malformed)?.clone();
    let port = authority.port_u16().unwrap_or(80);
    let server = door.reach.dial(authority.host(), port).await?.stream;
    prepare(&mut request, &authority)?;
    let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
        .preserve_header_case(true)
        .handshake(TokioIo::new(server))
        .await?;
    let end = door.end.clone();
    tokio::spawn(async move {
        tokio::select! {
            () = end.cancelled() => {}
            // What goes wrong here ends the body, which Chromium notices.
            _ = connection => {}
        }
    });
    let mut response = sender.send_request(request).await?;
    strip(response.headers_mut());
    Ok(response.map(Either::Left))
}

/// The server of a URL that a proxy is asked for; nothing where it is none.
fn target(uri: &Uri) -> Option<&Authority> {
    let is_plain = uri.scheme() == Some(&Scheme::HTTP);
    uri.authority().filter(|authority| is_plain && !authority.as_str().contains('@'))
}

/// Makes a request to a proxy one to the server.
fn prepare(request: &mut Request<Incoming>, authority: &Authority) -> Result<(), Problem> {
    let path = request.uri().path_and_query().cloned();
    let path = path.unwrap_or_else(|| PathAndQuery::from_static("/"));
    *request.uri_mut() = Uri::from(path);
    strip(request.headers_mut());
    let host = HeaderValue::from_str(authority.as_str()).map_err(|_| Problem::Malformed)?;
    request.headers_mut().insert(header::HOST, host);
    Ok(())
}

/// Takes out what belongs to one connection.
fn strip(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in HOP_BY_HOP.iter().chain(&named) {
        headers.remove(name);
    }
    for name in OLD_ONES {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_urls_with_a_server_are_taken() {
        let of = |uri: &'static str| target(&Uri::from_static(uri)).map(ToString::to_string);
        assert_eq!(of("http://a.example:81/x?y"), Some("a.example:81".to_owned()));
        assert_eq!(of("https://a.example/"), None);
        assert_eq!(of("/path"), None);
        assert_eq!(of("http://user@a.example/"), None);
        assert_eq!(of("ftp://a.example/"), None);
    }

    #[test]
    fn what_belongs_to_one_connection_is_not_passed_on() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "X-One, close"),
            ("connection", "x-two"),
            ("x-one", "1"),
            ("x-two", "2"),
            ("proxy-authorization", "secret"),
            ("keep-alive", "timeout=5"),
            ("x-three", "3"),
        ] {
            headers.append(name.parse::<HeaderName>().unwrap(), HeaderValue::from_static(value));
        }
        strip(&mut headers);
        assert_eq!(headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["x-three"]);
    }
}
