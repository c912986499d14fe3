//! Every program of the corpus gives the races that it says, and no other. `cargo xtask native-corpus` tries more
//! seeds. What it logs agrees with its code, and what it finds in itself with what it logs.

use foretell_testkit::native::{Program, programs};

use crate::values::Agreement;
use crate::{build, foretell, is_ready, online};

const SEEDS: u64 = 2;

/// Checks the programs whose names contain this.
fn check(kind: &str) {
    if !is_ready() {
        return;
    }
    let mut agreement = Agreement::default();
    for program in programs().iter().filter(|program| program.name.contains(kind)) {
        let built = build(&program.name);
        agreement.add(&built);
        for seed in 1..=SEEDS {
            let seed = seed.to_string();
            let output =
                foretell(&["run", "--format", "json", "--no-progress", "--seed", &seed, "--", &built]);
            let printed = String::from_utf8_lossy(&output.stdout);
            let found = Program::reported(&printed);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(found.as_ref(), Ok(&program.races), "{} with seed {seed}: {errors}", program.name);
            let expected = Program::exit_code(&printed, !program.races.is_empty());
            assert_eq!(output.status.code(), Some(expected), "{} with seed {seed}: {errors}", program.name);
        }
        online::agrees(&built, 1);
    }
    agreement.is_about(500);
}

#[test]
fn programs_with_races_show_these_and_no_others() {
    check("_race.");
}

#[test]
fn programs_without_races_show_none() {
    check("_norace.");
}
