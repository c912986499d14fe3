//! The code of a program goes with its log.

use std::fs;

use foretell_native::{Program, Source};

use crate::{build, foretell, is_ready, raw_logs};

#[test]
fn values_are_followed_through_the_code() {
    if !is_ready() {
        return;
    }
    let log = raw_logs(&build("index_norace.c")).remove(0);
    let program = Program::read(&fs::read(&log).expect("a log")).expect("a whole one");
    // `table[index]` of the source: an address that was computed from what a load has read.
    let computed = program.sites().filter(|(_, access)| {
        let is_access = matches!(access.opcode(), "load" | "store");
        let from_load = |origin: &foretell_native::Definition<'_>| origin.opcode() == "load";
        is_access && access.origins().iter().any(from_load)
    });
    let computed: Vec<_> = computed.collect();
    assert!(!computed.is_empty());
    for (site, access) in computed {
        let found = program.definition(site).expect("the same");
        assert_eq!((found.index(), found.function()), (access.index(), access.function()));
        assert!(access.place().is_some_and(|place| place.contains("index_norace.c:")));
    }
    let globals = program.functions().flatten().flat_map(|definition| definition.operands());
    assert!(globals.into_iter().any(|source| matches!(source, Source::Global("pthread_create"))));

    let listing = foretell(&["trace", "code", &log.display().to_string()]);
    let text = String::from_utf8_lossy(&listing.stdout);
    assert!(text.contains("main:\n") && text.contains(", @pthread_create"), "{text}");
}

#[test]
fn what_is_no_log_is_refused() {
    let output = foretell(&["trace", "code", env!("CARGO_MANIFEST_PATH")]);
    assert_eq!(output.status.code(), Some(2));
}
