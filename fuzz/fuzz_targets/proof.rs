#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    foretell_fuzz::check_certificate(bytes);
});
