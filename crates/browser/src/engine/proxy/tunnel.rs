//! A tunnel: bytes both ways, unread. What is in it (TLS, WebSockets) is between page and server.

use http_body_util::{Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;

use super::{Body, Door, Problem};

/// Dials, answers, and copies until either side ends.
pub(super) async fn open(
    door: &Door,
    request: Request<Incoming>,
) -> Result<Response<Body>, Problem> {
    let authority = request.uri().authority().ok_or(Problem::Malformed)?;
    let port = authority.port_u16().ok_or(Problem::Malformed)?;
    let mut server = door.reach.dial(authority.host(), port).await?.stream;
    let end = door.end.clone();
    tokio::spawn(async move {
        let copying = async {
            let upgraded = hyper::upgrade::on(request).await?;
            // An end in the middle is the other side's to notice.
            let _ = copy_bidirectional(&mut TokioIo::new(upgraded), &mut server).await;
            Ok::<_, hyper::Error>(())
        };
        tokio::select! {
            () = end.cancelled() => {}
            _ = copying => {}
        }
    });
    Ok(Response::new(Either::Right(Full::new(Bytes::new()))))
}
