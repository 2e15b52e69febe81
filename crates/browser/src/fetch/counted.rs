//! A connection that can be told how much may still be read from it.
//!
//! It bounds what comes before the head of an answer is complete, whatever that is: a flood of interim
//! answers is in no header's ceiling.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The bytes that may be read before the next time that somebody looks.
#[derive(Debug, Clone)]
pub(super) struct Allowance(Arc<AtomicU64>);

impl Allowance {
    pub(super) fn new(bytes: u64) -> Self {
        Self(Arc::new(AtomicU64::new(bytes)))
    }

    /// From now on there is no bound here; the reader has its own.
    pub(super) fn lift(&self) {
        self.0.store(u64::MAX, Ordering::Release);
    }
}

/// A connection under an allowance.
#[derive(Debug)]
pub(super) struct Counted<S> {
    stream: S,
    left: Allowance,
}

/// The error of a connection whose allowance is used up.
#[derive(Debug, thiserror::Error)]
#[error("the head of the answer is too large")]
pub(super) struct UsedUp;

impl<S> Counted<S> {
    pub(super) fn new(stream: S, left: Allowance) -> Self {
        Self { stream, left }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Counted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let left = Arc::clone(&self.left.0);
        if left.load(Ordering::Acquire) == 0 {
            return Poll::Ready(Err(io::Error::other(UsedUp)));
        }
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buf);
        let read = u64::try_from(buf.filled().len() - before).unwrap_or(u64::MAX);
        let take = |now: u64| (now != u64::MAX).then(|| now.saturating_sub(read));
        let _unbounded = left.fetch_update(Ordering::AcqRel, Ordering::Acquire, take);
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Counted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
