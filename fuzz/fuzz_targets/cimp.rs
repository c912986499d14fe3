#![no_main]

libfuzzer_sys::fuzz_target!(|source: &str| foretell_fuzz::compile(source));
