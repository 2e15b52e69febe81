//! The body of an answer, off the wire and out of its encoding.

use http::Method;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::Instant;

use super::{
    FetchError, Phase, decode,
    decode::Decoded,
    encodings,
    exchange::{Opened, chain, within},
};

/// What was read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) bytes: Vec<u8>,
    pub(super) wire_bytes: u64,
    pub(super) is_truncated: bool,
    pub(super) is_incomplete: bool,
}

/// Reads the body of an answer: at most `max` bytes on the wire, and at most `max` after decompression.
pub(super) async fn read(
    host: &str,
    opened: &mut Opened,
    method: &Method,
    max: usize,
    deadline: Instant,
) -> Result<Read, FetchError> {
    let codings = match *method {
        Method::HEAD => Vec::new(),
        _ => encodings::of(&opened.head.headers)?,
    };
    let raw =
        within(host, Phase::Body, deadline, off_the_wire(host, &mut opened.body, max)).await?;
    let wire_bytes = u64::try_from(raw.bytes.len()).unwrap_or(u64::MAX);
    if codings.is_empty() {
        let Raw { bytes, is_truncated, is_incomplete } = raw;
        return Ok(Read { bytes, wire_bytes, is_truncated, is_incomplete });
    }
    let (is_cut, is_incomplete) = (raw.is_truncated, raw.is_incomplete);
    // A decoder that fails in a way it should not is an error of this body, and of nothing else.
    let decoding = tokio::task::spawn_blocking(move || decode::decode(raw.bytes, &codings, max));
    let decoded = within(host, Phase::Body, deadline, async { Ok(decoding.await) }).await?;
    let Decoded { bytes, is_truncated, is_broken } = decoded
        .map_err(|_| FetchError::Encoding { message: "its decoder failed".to_owned() })?
        .map_err(|message| FetchError::Encoding { message })?;
    Ok(Read {
        bytes,
        wire_bytes,
        is_truncated: is_truncated || is_cut,
        is_incomplete: is_incomplete || (is_broken && !is_cut),
    })
}

struct Raw {
    bytes: Vec<u8>,
    is_truncated: bool,
    is_incomplete: bool,
}

async fn off_the_wire(host: &str, body: &mut Incoming, max: usize) -> Result<Raw, FetchError> {
    let mut raw = Raw { bytes: Vec::new(), is_truncated: false, is_incomplete: false };
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => {
                let Ok(data) = frame.into_data() else { continue };
                let room = max - raw.bytes.len();
                raw.bytes.extend_from_slice(&data[..data.len().min(room)]);
                if data.len() > room {
                    raw.is_truncated = true;
                    break;
                }
            }
            Err(error) if is_malformed(&error) => {
                let message = chain(&error);
                return Err(FetchError::Protocol { host: host.to_owned(), message });
            }
            Err(_) => {
                raw.is_incomplete = true;
                break;
            }
        }
    }
    Ok(raw)
}

/// Whether what came is no body at all, and not one that broke off.
fn is_malformed(error: &hyper::Error) -> bool {
    use std::io::ErrorKind;
    let source = std::error::Error::source(error);
    let kind = source.and_then(|source| source.downcast_ref::<std::io::Error>()).map(|e| e.kind());
    error.is_parse() || matches!(kind, Some(ErrorKind::InvalidInput | ErrorKind::InvalidData))
}
