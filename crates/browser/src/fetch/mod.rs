//! One request with its redirects, within bounds.
