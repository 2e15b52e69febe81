//! A stream that comes in pieces, as lines of bounded length.
#![no_main]

#[path = "../src/bodies.rs"]
mod bodies;
#[path = "../../src/stdio/reader.rs"]
#[allow(dead_code, reason = "the bound is told in answers alone")]
mod reader;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::stdio_lines(data));
