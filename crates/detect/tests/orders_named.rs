//! Small traces that tell the techniques apart, with what each reports and why.

mod orders;

use foretell_detect::cp::Cp;
use foretell_detect::dco::Dco;
use foretell_detect::lockset::LockSet;
use foretell_detect::wcp::Wcp;
use foretell_detect::{Detector, Pairs};
use foretell_trace::Trace;
use orders::{pairs, parse};

/// `T1 w(x); T2 r(x)` as a trace, each event with its number as location.
fn trace(steps: &str) -> Trace {
    let lines = steps.split(';').enumerate().map(|(index, step)| {
        let (thread, op) = step.trim().split_once(' ').unwrap_or_default();
        format!("{thread}|{op}|{}\n", index + 1)
    });
    parse(&lines.collect::<String>())
}

/// The pairs of the weak orders and of the quick check, in this order: CP, WCP, DCO, lock sets.
fn reports(steps: &str) -> [Vec<(u32, u32)>; 4] {
    fn all<D: Detector + Default>(trace: &Trace) -> Vec<(u32, u32)> {
        pairs::<D>(trace, Pairs::All)
    }
    let trace = trace(steps);
    [all::<Cp>(&trace), all::<Wcp>(&trace), all::<Dco>(&trace), all::<LockSet>(&trace)]
}

/// No race, but a deadlock. The section on `a` comes before the conflict in T1, so WCP does not order it, nor does DCO: both
/// report a pair that no schedule makes adjacent. CP orders whole sections, and with them the pair.
#[test]
fn k1_a_deadlock_looks_like_a_race_to_wcp_and_dco() {
    let [cp, wcp, dco, quick] = reports(
        "T2 acq(a); T2 acq(b); T2 w(x); T2 rel(b); T2 w(x); T2 rel(a); T1 acq(b); T1 acq(a); T1 rel(a); T1 r(x); \
         T1 rel(b)",
    );
    assert_eq!(cp, []);
    assert_eq!(wcp, [(5, 10)]);
    assert_eq!(dco, [(5, 10)]);
    assert_eq!(quick, [(5, 10)]);
}

/// Only (2, 3) is a race: whoever reads y has seen the new x. CP and WCP do not ask what was read.
#[test]
fn k2_after_the_first_race_cp_and_wcp_are_wrong() {
    let [cp, wcp, dco, quick] = reports("T1 w(y); T1 w(x); T2 r(x); T2 r(y)");
    assert_eq!(cp, [(1, 4), (2, 3)]);
    assert_eq!(wcp, [(1, 4), (2, 3)]);
    assert_eq!(dco, [(2, 3)]);
    assert_eq!(quick, [(1, 4), (2, 3)]);
}

#[test]
fn k3_races_of_the_observed_run() {
    let all = reports("T3 acq(m); T3 w(z); T1 w(x); T1 w(y); T3 r(y); T3 rel(m); T2 r(z); T2 w(x)");
    assert!(all.iter().all(|pairs| *pairs == [(2, 7), (3, 8), (4, 5)]), "{all:?}");
}

/// Happens-before orders the pair through the lock; the sections have nothing in common.
#[test]
fn k4_all_see_beyond_happens_before() {
    let all = reports("T1 w(y); T1 acq(l); T1 rel(l); T2 acq(l); T2 rel(l); T2 w(y)");
    assert!(all.iter().all(|pairs| *pairs == [(1, 6)]), "{all:?}");
}

/// The sections conflict, so CP and WCP order them. But nobody reads what they write: DCO leaves them free.
#[test]
fn k5_and_k6_conflicting_sections_that_may_be_swapped() {
    for (steps, race) in [
        ("T1 w(y); T1 acq(l); T1 w(x); T1 rel(l); T2 acq(l); T2 w(x); T2 rel(l); T2 w(y)", (1, 8)),
        ("T1 acq(l); T1 w(x); T1 w(y); T1 rel(l); T2 acq(l); T2 w(x); T2 rel(l); T2 w(y)", (3, 8)),
    ] {
        let [cp, wcp, dco, quick] = reports(steps);
        assert_eq!(cp, []);
        assert_eq!(wcp, []);
        assert_eq!(dco, [race]);
        assert_eq!(quick, [race]);
    }
}

/// (3, 9) is no race: T0 runs on only after it has read what T2 wrote, which T3 must have read before.
#[test]
fn the_false_race_of_another_tool_is_one_for_cp_and_wcp_too() {
    let [cp, wcp, dco, quick] =
        reports("T3 acq(l); T3 r(x); T3 w(y); T3 rel(l); T2 w(x); T0 r(x); T0 acq(l); T0 rel(l); T0 w(y)");
    assert_eq!(cp, [(2, 5), (3, 9), (5, 6)]);
    assert_eq!(wcp, [(2, 5), (3, 9), (5, 6)]);
    assert_eq!(dco, [(2, 5), (5, 6)]);
    assert_eq!(quick, [(2, 5), (3, 9), (5, 6)]);
}

/// The race (4, 11) needs the read to see the earlier write of the same value; these orders pin reads to their writes.
#[test]
fn maximal_models_figure_1_needs_values() {
    let [cp, wcp, dco, quick] = reports(
        "1 acq(l); 1 w(x,1); 1 rel(l); 1 w(y,1); 1 acq(l); 1 w(x,1); 1 rel(l); 2 acq(l); 2 r(x,1); 2 branch; \
         2 w(y,2); 2 rel(l)",
    );
    assert_eq!([cp, wcp, dco], [[]; 3]);
    assert_eq!(quick, [(4, 11)]);
}

/// Peterson's mutual exclusion. The order of the observed reads keeps the critical writes (7, 15) apart for DCO only. It
/// misses (1, 11) and (2, 10), which are races before the threads have read anything: it pins also those reads that a
/// schedule need not run.
#[test]
fn maximal_models_figure_3_peterson() {
    let [cp, wcp, dco, quick] = reports(
        "1 w(q1,1); 1 w(turn,1); 1 r(q2,0); 1 branch; 1 r(turn,1); 1 branch; 1 w(critical,1); 1 w(q1,0); \
         2 w(q2,1); 2 w(turn,2); 2 r(q1,0); 2 branch; 2 r(turn,2); 2 branch; 2 w(critical,2); 2 w(q2,0)",
    );
    let unsynchronised = [(1, 11), (2, 10), (2, 13), (3, 9), (3, 16), (5, 10), (7, 15), (8, 11)];
    assert_eq!(cp, unsynchronised);
    assert_eq!(wcp, unsynchronised);
    assert_eq!(dco, [(3, 9), (5, 10), (8, 11)]);
    assert_eq!(quick, unsynchronised);
}

/// No race: the read of y inside the section orders the sections. Lock sets alone do not see it.
#[test]
fn maximal_models_figure_7_lock_atomicity() {
    let [cp, wcp, dco, quick] =
        reports("1 acq(l); 1 w(x,1); 1 w(y,1); 1 rel(l); 2 acq(l); 2 r(y,1); 2 rel(l); 2 branch; 2 w(x,2)");
    assert_eq!([cp, wcp, dco], [[]; 3]);
    assert_eq!(quick, [(2, 9)]);
}

/// No race on x (5, 10): the second write of y would end the value that the read saw.
#[test]
fn maximal_models_figure_8_write_read_atomicity() {
    let [cp, wcp, dco, quick] = reports(
        "1 w(y,1); 2 acq(l); 2 r(y,1); 2 branch; 2 w(x,1); 2 rel(l); 1 acq(l); 1 w(y,2); 1 rel(l); 1 w(x,2)",
    );
    assert_eq!([cp, wcp, dco], [[(1, 3)]; 3]);
    assert_eq!(quick, [(1, 3), (5, 10)]);
}

/// A race before a deadlock: no order is misled by the locks that are taken after it.
#[test]
fn rvpredict_deadlock_after_the_race() {
    let all = reports(
        "t1 acq(l); t1 w(x,1); t1 acq(m); t1 rel(m); t1 rel(l); t2 acq(m); t2 w(x,2); t2 acq(l); t2 rel(l); t2 rel(m)",
    );
    assert!(all.iter().all(|pairs| *pairs == [(2, 7)]), "{all:?}");
}

/// What the index of the array depends on is read and written under one lock.
#[test]
fn rvpredict_array_index_is_no_race() {
    let [cp, wcp, dco, quick] = reports(
        "t1 acq(l); t1 r(x,0); t1 branch; t1 w(a0,2); t1 rel(l); t2 acq(l); t2 w(x,1); t2 rel(l); t2 w(a0,1)",
    );
    assert_eq!([cp, wcp, dco], [[]; 3]);
    assert_eq!(quick, [(4, 9)]);
}

/// A read next to a write, with nothing in between, is reported whichever comes first and whatever was read.
#[test]
fn plain_neighbours() {
    for steps in ["T1 r(x); T2 w(x)", "T1 w(x); T2 r(x)", "T1 w(x); T2 w(x)"] {
        let all = reports(steps);
        assert!(all.iter().all(|pairs| *pairs == [(1, 2)]), "{steps}: {all:?}");
    }
}

/// Two readers of a lock do not exclude each other; a reader and a writer do.
#[test]
fn shared_sections_keep_nothing_apart() {
    let all = reports("T1 racq(l); T1 w(x); T1 rrel(l); T2 racq(l); T2 w(x); T2 rrel(l)");
    assert!(all.iter().all(|pairs| *pairs == [(2, 5)]), "{all:?}");
    let all = reports("T1 racq(l); T1 w(x); T1 rrel(l); T2 acq(l); T2 w(x); T2 rel(l)");
    assert!(all.iter().all(Vec::is_empty), "{all:?}");
}

/// The owner of fresh memory gains no order from using it: only others follow the allocation.
#[test]
fn an_allocation_orders_others_but_not_its_owner() {
    let [cp, wcp, ..] =
        reports("T1 w(y); T1 alloc(x); T1 acq(l); T1 w(x); T1 rel(l); T2 acq(l); T2 rel(l); T2 w(y)");
    assert_eq!(cp, [(1, 8)]);
    assert_eq!(wcp, [(1, 8)]);
    let all = reports("T1 w(y); T1 alloc(x); T2 w(x); T2 w(y)");
    assert!(all.iter().all(Vec::is_empty), "{all:?}");
}

/// What an atomic passes on is ordered even if the language would not say so: these orders ask for adjacency.
#[test]
fn a_value_passed_through_a_relaxed_atomic_orders() {
    let [cp, wcp, dco, quick] = reports("T1 w(x); T1 astore.rlx(f,1); T2 aload.rlx(f,1); T2 w(x)");
    assert_eq!([cp, wcp, dco], [[]; 3]);
    assert_eq!(quick, [(1, 4)]);
}

/// A read that no write explains is a fence for all threads.
#[test]
fn an_unexplained_read_orders_everything() {
    let all = reports("T1 w(x); T2 w(y,1); T2 r(y,7); T3 w(x)");
    assert!(all.iter().all(Vec::is_empty), "{all:?}");
}

/// Rule (b): the section on `m` inside the shared one precedes an event of the exclusive one, so the shared one ends first;
/// what it did after `m` is ordered with it.
#[test]
fn the_end_of_a_shared_section_precedes_that_of_an_exclusive_one() {
    let [cp, wcp, ..] = reports(
        "T1 racq(l); T1 acq(m); T1 w(x); T1 rel(m); T1 w(y); T1 rrel(l); T2 acq(l); T2 acq(m); T2 w(x); T2 rel(m); \
         T2 rel(l); T2 w(y)",
    );
    assert_eq!([cp, wcp], [[]; 2]);
}

/// Rule (b) between two sections on `l` of one thread, by way of T2: the first section's end precedes the second's, which
/// happens before T3. Without it the writes of y would be open.
#[test]
fn sections_of_one_thread_may_be_ordered_by_way_of_another() {
    let [cp, wcp, ..] = reports(
        "T1 acq(l); T1 acq(m); T1 w(x); T1 rel(m); T2 acq(m); T2 w(x); T2 rel(m); T1 acq(m); T1 rel(m); T1 w(y); \
         T1 rel(l); T1 acq(l); T1 rel(l); T3 acq(l); T3 rel(l); T3 w(y)",
    );
    assert_eq!([cp, wcp], [[]; 2]);
}

/// A reader that becomes a writer, and a writer that becomes a reader, hold the lock all the while.
#[test]
fn locks_held_in_both_modes() {
    for steps in [
        "T1 racq(l); T1 acq(l); T1 w(x); T1 rel(l); T1 rrel(l); T2 racq(l); T2 r(x); T2 rrel(l)",
        "T1 acq(l); T1 racq(l); T1 w(x); T1 rel(l); T1 rrel(l); T2 acq(l); T2 r(x); T2 rel(l)",
    ] {
        let all = reports(steps);
        assert!(all.iter().all(Vec::is_empty), "{steps}: {all:?}");
    }
}
