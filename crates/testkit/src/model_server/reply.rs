//! A step as an HTTP answer.

use std::{collections::VecDeque, io, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderName, HeaderValue, StatusCode},
    response::Response,
};
use futures_util::stream;

use super::Step;

/// The answer. A whole body has its length; one in pieces, or cut off, is sent in chunks, so that the
/// client sees where it breaks off.
pub(super) fn reply(step: Step) -> Response {
    let is_plain = step.pieces.len() < 2 && !step.is_cut;
    let headers = step.headers;
    let body = match is_plain {
        true => Body::from(step.pieces.concat()),
        false => pieces(step.pieces, step.piece_delay, step.is_cut),
    };
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(step.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in headers {
        let name = HeaderName::try_from(name);
        let value = HeaderValue::try_from(value);
        if let (Ok(name), Ok(value)) = (name, value) {
            response.headers_mut().append(name, value);
        }
    }
    response
}

fn pieces(pieces: Vec<Vec<u8>>, delay: Duration, is_cut: bool) -> Body {
    let start = (VecDeque::from(pieces), is_cut);
    Body::from_stream(stream::unfold(start, move |(mut pieces, is_cut)| async move {
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        // Without a pause the server would join what it can send at once.
        tokio::task::yield_now().await;
        match pieces.pop_front() {
            Some(piece) => Some((Ok(Bytes::from(piece)), (pieces, is_cut))),
            // An error makes the server close the connection before the last chunk.
            None if is_cut => {
                // What was sent before must be on its way first.
                tokio::time::sleep(Duration::from_millis(20)).await;
                Some((Err(io::Error::other("cut off")), (pieces, false)))
            }
            None => None,
        }
    }))
}
