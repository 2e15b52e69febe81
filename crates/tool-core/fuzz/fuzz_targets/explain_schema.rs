//! A schema and an instance, and what is said where they don't fit.
#![no_main]

#[path = "../src/bodies.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::explain_schema(data));
