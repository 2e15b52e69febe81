//! The main content of a page.
