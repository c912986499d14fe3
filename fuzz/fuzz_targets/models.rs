//! Files with models of library functions: any input is read or rejected.
#![no_main]

use foretell_models::Table;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(table) = Table::parse(text) {
        for (name, _) in table.entries() {
            assert!(table.get(&name).is_some() || name.ends_with('*'));
        }
    }
});
