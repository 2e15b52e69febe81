//! How a chain keeps its conversation within the model's context window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happens to the oldest exchanges when the conversation does not fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Eviction {
    /// They are left out, and a short note says so.
    #[default]
    DropOldest,
    /// The model is asked for a summary, which takes their place; where that fails, they are dropped.
    Summarize,
    /// The chain stops with `context_full`, before the request is sent.
    Refuse,
}

/// The context window, and what is kept in it.
///
/// System messages and the user's task are always kept, and so are the newest `keep_exchanges`
/// exchanges: a reply of the model with the results of its calls. Where even these don't fit, the
/// chain stops with `context_full`.
///
/// ```
/// use chain::{ContextPolicy, Eviction};
/// let policy = ContextPolicy::default().with_window(32_000, 4_000)?.with_eviction(Eviction::Summarize);
/// assert_eq!(policy.room(), Some(28_000));
/// assert!(ContextPolicy::default().with_window(4_000, 4_000).is_err());
/// # Ok::<(), chain::ContextPolicyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextPolicy {
    window: Option<Window>,
    keep_exchanges: usize,
    eviction: Eviction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) tokens: u64,
    pub(crate) reserve: u64,
}

/// A context policy that can't be kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContextPolicyError {
    /// A window that no model has.
    #[error(
        "context_window_tokens is {0}, and must be from {min} to {max}",
        min = ContextPolicy::MIN_WINDOW,
        max = ContextPolicy::MAX_WINDOW
    )]
    Window(u64),
    /// A reserve that leaves no room for a request.
    #[error(
        "context_reserve_tokens is {reserve}, and must be less than context_window_tokens ({window})"
    )]
    Reserve {
        /// The reserve.
        reserve: u64,
        /// The window.
        window: u64,
    },
    /// A number of exchanges that makes no sense.
    #[error(
        "keep_exchanges is {0}, and must be from 1 to {max}",
        max = ContextPolicy::MAX_KEEP
    )]
    Keep(usize),
}

impl Default for ContextPolicy {
    /// No window is known, so nothing is ever evicted; 4 exchanges would be kept, the oldest dropped.
    fn default() -> Self {
        Self { window: None, keep_exchanges: 4, eviction: Eviction::default() }
    }
}

impl ContextPolicy {
    /// The smallest window, in tokens.
    pub const MIN_WINDOW: u64 = 64;
    /// The largest window, in tokens.
    pub const MAX_WINDOW: u64 = 1_000_000_000;
    /// The most exchanges that can be asked to be kept.
    pub const MAX_KEEP: usize = 64;

    /// The same policy with a window of `tokens`, of which `reserve` stay free for the reply.
    ///
    /// # Errors
    /// A window out of range, or a reserve that is not smaller than it.
    pub fn with_window(mut self, tokens: u64, reserve: u64) -> Result<Self, ContextPolicyError> {
        if !(Self::MIN_WINDOW..=Self::MAX_WINDOW).contains(&tokens) {
            return Err(ContextPolicyError::Window(tokens));
        }
        if reserve >= tokens {
            return Err(ContextPolicyError::Reserve { reserve, window: tokens });
        }
        self.window = Some(Window { tokens, reserve });
        Ok(self)
    }

    /// The same policy with another number of newest exchanges that are always kept.
    ///
    /// # Errors
    /// Zero, or more than [`Self::MAX_KEEP`].
    pub fn with_keep_exchanges(mut self, keep: usize) -> Result<Self, ContextPolicyError> {
        if keep == 0 || keep > Self::MAX_KEEP {
            return Err(ContextPolicyError::Keep(keep));
        }
        self.keep_exchanges = keep;
        Ok(self)
    }

    /// The same policy with another way to evict.
    #[must_use]
    pub fn with_eviction(mut self, eviction: Eviction) -> Self {
        self.eviction = eviction;
        self
    }

    /// How many tokens a request may take; `None` where no window is known.
    #[must_use]
    pub fn room(&self) -> Option<u64> {
        self.window.map(|window| window.tokens - window.reserve)
    }

    /// How many of the newest exchanges are always kept.
    #[must_use]
    pub fn keep_exchanges(&self) -> usize {
        self.keep_exchanges
    }

    /// What happens to the oldest exchanges.
    #[must_use]
    pub fn eviction(&self) -> Eviction {
        self.eviction
    }

    pub(crate) fn window(&self) -> Option<Window> {
        self.window
    }
}
