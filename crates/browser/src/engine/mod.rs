//! A real browser behind a proxy that holds the policy.

mod cdp;
