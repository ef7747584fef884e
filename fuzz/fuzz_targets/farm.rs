#![no_main]

#[path = "../health.rs"]
mod health;

libfuzzer_sys::fuzz_target!(|data: &[u8]| health::farm(data));
