#![no_main]

use foretell_wire::code::Code;

// What was read is written again as it was, up to what stands behind it.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(code) = Code::decode(bytes) {
        assert_eq!(Code::decode(&code.encode()), Ok(code));
    }
});
