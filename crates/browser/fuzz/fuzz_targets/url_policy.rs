//! A text as a URL that a model wrote, and as the target of a redirect.
#![no_main]

#[path = "../src/bodies.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::url_policy(data));
