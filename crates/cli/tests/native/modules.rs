//! Programs of several modules, of which some are instrumented.

use std::path::Path;
use std::process::Command;

use crate::{foretell, is_ready, programs};

#[test]
fn inline_functions_of_a_module_that_is_not_instrumented_are_no_silent_ones() {
    if !is_ready() {
        return;
    }
    let source = |name: &str| programs().join("modules").join(name).display().to_string();
    let built = |name: &str| Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).display().to_string();
    let (library, program) = (built("library.o"), built("modules"));
    let compiled = Command::new("clang++-22").args(["-c", &source("library.cpp"), "-o", &library]).status();
    assert!(compiled.is_ok_and(|status| status.success()));
    for (first, second, is_careful) in
        [(&library, &source("program.cpp"), true), (&source("program.cpp"), &library, false)]
    {
        let linked = foretell(&["c++", "-O1", first, second, "-o", &program]);
        assert!(linked.status.success(), "{}", String::from_utf8_lossy(&linked.stderr));
        let report = foretell(&["run", "--no-progress", "--", &program]);
        let text = String::from_utf8_lossy(&report.stdout);
        // Around unseen functions nothing can be reordered, and that is said.
        assert_eq!(report.status.code(), Some(if is_careful { 3 } else { 0 }), "{text}");
        let trace = built("modules.std");
        foretell(&["record", "-o", &trace, "--", &program]);
        let trace = std::fs::read_to_string(trace).expect("a trace");
        let sees = trace.contains("astore.rel(");
        assert_eq!(sees, !is_careful, "whose functions the linker took: {trace}");
    }
}
