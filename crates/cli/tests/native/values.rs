//! What a program has computed is computed again from its log, and comes out the same.

use std::fs;

use foretell_native::{Follow, Tally, ValueCounts, convert_with, recompute};
use foretell_testkit::computed::Computed;
use foretell_trace::{Op, Trace};

use crate::{build, build_at, foretell, is_ready, raw_logs};

/// What was found in the logs of several programs.
#[derive(Default)]
pub(crate) struct Agreement {
    stores: Tally,
    addresses: Tally,
    decisions: Tally,
    /// Writes of the trace that depend on what was read, and those of them whose terms say how.
    writes: [u64; 2],
    /// Ways between records, and those that are known step by step.
    ways: [u64; 2],
}

impl Agreement {
    /// Runs a program and looks at what it has logged.
    pub(crate) fn add(&mut self, program: &str) {
        for log in raw_logs(program) {
            let log = fs::read(&log).expect("a log");
            let found = recompute(&log).expect("a whole one");
            assert_eq!(found.differ(), 0, "{program}: {:#?}", found.differences);
            let sums = [&mut self.stores, &mut self.addresses, &mut self.decisions];
            for (sum, tally) in sums.into_iter().zip([found.stores, found.addresses, found.decisions]) {
                sum.all += tally.all;
                sum.known += tally.known;
            }
            self.count(&terms_agree(program, &log));
        }
    }

    fn count(&mut self, counts: &ValueCounts) {
        let [all, known] = &mut self.writes;
        *all += counts.computed_writes + counts.frozen_writes;
        *known += counts.computed_writes;
        let [all, known] = &mut self.ways;
        *all += counts.known_ways + counts.unknown_ways;
        *known += counts.known_ways;
    }

    /// Who knows nothing never disagrees: there must be so many of each, and two out of three must have been computed
    /// again. What comes from libraries is not known.
    pub(crate) fn is_about(&self, least: u64) {
        for (kind, tally) in
            [("stores", self.stores), ("addresses", self.addresses), ("decisions", self.decisions)]
        {
            assert!(tally.all >= least && 3 * tally.known >= 2 * tally.all, "{kind}: {tally}");
        }
        for (kind, [all, known]) in [("writes", self.writes), ("ways", self.ways)] {
            assert!(3 * known >= 2 * all, "{kind}: {known} of {all} have terms");
        }
    }
}

/// With what was read in the run, all terms are what they were, and everything that is demanded holds.
fn terms_agree(program: &str, log: &[u8]) -> ValueCounts {
    let valued = convert_with(log, Follow::Values).expect("a whole log");
    let trace = Trace::check(valued.events).expect("a trace");
    let Some((values, counts)) = valued.values else {
        // All input and output is one atomic variable, of which nothing is computed.
        let is_plain = |op: Op| op.access().is_some_and(|access| !access.atomic);
        let is_shared = trace.events().iter().any(|event| is_plain(event.op));
        assert!(!is_shared, "{program}: values are computed of what threads share");
        return ValueCounts::default();
    };
    assert_eq!(counts.differ, 0, "{program}: {counts:?}");
    let trace = trace.with_values(values).unwrap_or_else(|error| panic!("{program}: {error}"));
    let computed = Computed::of(&trace, None).expect("values");
    let wrong = (computed.first_impossible(), computed.first_different(&trace));
    assert_eq!(wrong, (None, None), "{program}: {counts:?}");
    counts
}

#[test]
fn whatever_the_optimiser_does_values_are_those_of_the_code() {
    if !is_ready() {
        return;
    }
    let programs = [
        "alias_lock_norace.c",
        "buffer_norace.c",
        "counter_norace.c",
        "ring_norace.c",
        "sort_norace.c",
        "threads_race.cpp",
    ];
    for level in ["-O0", "-O2"] {
        let mut agreement = Agreement::default();
        programs.iter().for_each(|program| agreement.add(&build_at(program, Some(level))));
        agreement.is_about(100);
    }
}

#[test]
fn a_log_is_checked_against_its_code() {
    if !is_ready() {
        return;
    }
    let log = raw_logs(&build("counter_norace.c")).remove(0);
    let check = || foretell(&["trace", "code", "--check", &log.display().to_string()]);
    let output = check();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("stored values: 40 of 40 computed again, 0 differ"), "{text}");
    assert!(text.contains("times that all that a thread had read was taken to matter: 0\n"), "{text}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn where_threads_cannot_be_followed_is_told() {
    if !is_ready() {
        return;
    }
    let log = raw_logs(&build("depend/unseen.c")).remove(0);
    let output = foretell(&["trace", "code", "--check", &log.display().to_string()]);
    let text = String::from_utf8_lossy(&output.stdout);
    let place = |line: &&str| line.contains("unseen.c:") && line.contains("an unmodelled operation");
    assert!(text.lines().any(|line| place(&line)), "{text}");
}
