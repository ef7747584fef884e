#![no_main]

#[path = "../lines.rs"]
mod lines;

libfuzzer_sys::fuzz_target!(|data: &[u8]| lines::io500(data));
