//! Stage 5: a deadline, cancellation, and no panic gets out.
//!
//! In: the future of a tool. Out: its output or an error, at its deadline at the latest. A future that
//! is ready at once costs no timer. Whatever ends the call, its cancellation flag is set afterwards,
//! so work that was handed to a thread sees it.

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Instant,
};

use tokio_util::sync::CancellationToken;
use tool_core::{AdmittedCall, ExecContext, ToolError, ToolOutput};

use crate::panic_text;

type Output = Result<ToolOutput, ToolError>;

/// Runs an admitted call inside its envelope. `cancellation` is what cancels it from outside.
pub(crate) async fn run(
    call: AdmittedCall,
    ctx: ExecContext,
    cancellation: &CancellationToken,
) -> Output {
    let end = EndOnDrop(ctx.clone());
    let mut work = pin!(NoPanic { work: call.execute(ctx) });
    match poll_once(&mut work).await {
        Poll::Ready(output) => output,
        // On the heap, so that a call that is ready at once does not carry the room for it.
        Poll::Pending => Box::pin(wait(work, &end.0, cancellation)).await,
    }
}

async fn wait<F: Future<Output = Output>>(
    mut work: Pin<&mut F>,
    ctx: &ExecContext,
    cancellation: &CancellationToken,
) -> Output {
    let (timeout, deadline) = (ctx.timeout(), ctx.deadline());
    let timed_out = || ToolError::TimedOut {
        after: timeout.after,
        source_of_limit: timeout.source,
        so_far: None,
    };
    tokio::select! {
        biased;
        output = &mut work => match output {
            // An executor that saw the deadline before our timer did says that it was cancelled.
            Err(ToolError::Cancelled)
                if !cancellation.is_cancelled() && Instant::now() >= deadline => Err(timed_out()),
            output => output,
        },
        () = cancellation.cancelled() => Err(ToolError::Cancelled),
        () = tokio::time::sleep_until(deadline.into()) => Err(timed_out()),
    }
}

/// Tells everybody who still works on the call that it is over.
struct EndOnDrop(ExecContext);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.end();
    }
}

async fn poll_once<F: Future>(future: &mut Pin<&mut F>) -> Poll<F::Output> {
    std::future::poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}

pin_project_lite::pin_project! {
    /// A future whose panic is an error.
    struct NoPanic<F> {
        #[pin]
        work: F,
    }
}

impl<F: Future<Output = Output>> Future for NoPanic<F> {
    type Output = Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Output> {
        // After a panic the future is never polled again, so a broken state in it is never seen.
        let work = self.project().work;
        catch_unwind(AssertUnwindSafe(|| work.poll(cx))).unwrap_or_else(|panic| {
            let message = format!("the tool panicked: {}", panic_text(&*panic));
            Poll::Ready(Err(ToolError::failed(message)))
        })
    }
}
