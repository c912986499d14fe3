#![no_main]

use foretell_wire::schedule::{Schedule, ScheduleDraft};

// What was read and written again is read as the same.
libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(schedule) = Schedule::parse(text) {
        let draft = ScheduleDraft::from(schedule);
        assert_eq!(Schedule::parse(&draft.to_string()).map(ScheduleDraft::from), Ok(draft));
    }
});
