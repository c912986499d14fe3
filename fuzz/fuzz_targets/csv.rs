#![no_main]

use foretell_trace::format::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| foretell_fuzz::read(bytes, Some(Format::Csv)));
