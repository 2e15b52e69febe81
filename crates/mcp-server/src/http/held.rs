//! A body that holds a request's place among those in flight until it was sent or given up.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    Error,
    body::{Body, Bytes},
};
use http_body::{Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;

/// The body, with its place.
struct Held {
    body: Body,
    _place: OwnedSemaphorePermit,
}

/// The same body; the place is free again when it is dropped.
pub(super) fn held(body: Body, place: OwnedSemaphorePermit) -> Body {
    Body::new(Held { body, _place: place })
}

impl http_body::Body for Held {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
