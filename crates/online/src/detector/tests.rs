use foretell_wire::races::RaceMemory;
use foretell_wire::record::SyncOp::{
    Alloc, Arrive, Begin, Depart, End, Fork, Free, LocalEnd, Lock, Notify, Shared, TimedOut, TryFailed,
    Unlock, Wait, Woken,
};

use super::*;

const X: u64 = 0x1000;
const LOCK: u64 = 0x8000;
const CONDITION: u64 = 0x8100;

fn sync(op: SyncOp, object: u64, other: u64) -> Record<'static> {
    Record::Sync { site: 1, op, object, other }
}

fn write(addr: u64, site: u64) -> Record<'static> {
    Record::Write { site, addr, size: 8, value: 0 }
}

fn read(addr: u64, site: u64) -> Record<'static> {
    Record::Read { site, addr, size: 8, value: 0 }
}

/// The races among these records, after two threads were started.
fn races(records: &[(u32, Record<'_>)]) -> Vec<LoggedRace> {
    let mut detector = Detector::new();
    for child in [1, 2] {
        detector.record(0, &sync(Fork, child, 0));
    }
    for (thread, record) in records {
        detector.record(*thread, record);
    }
    assert!(!detector.is_blind());
    detector.take_races()
}

fn pairs(records: &[(u32, Record<'_>)]) -> Vec<(u64, u64)> {
    races(records).iter().map(|race| (race.first.site, race.second.site)).collect()
}

#[test]
fn a_notification_orders_and_a_timeout_does_not() {
    let meeting = |end| {
        [
            (1, sync(Lock, LOCK, 0)),
            (1, sync(Wait, CONDITION, LOCK)),
            (2, write(X, 10)),
            (2, sync(Notify, CONDITION, 0)),
            (1, sync(end, CONDITION, LOCK)),
            (1, read(X, 11)),
        ]
    };
    assert_eq!(pairs(&meeting(Woken)), []);
    assert_eq!(pairs(&meeting(TimedOut)), [(10, 11)]);
}

#[test]
fn what_a_library_does_while_its_caller_waits_is_not_the_programs_doing() {
    let records = [
        (1, sync(Lock, LOCK, 0)),
        (1, sync(Wait, CONDITION, LOCK)),
        (2, write(X, 10)),
        (1, read(X, 11)),
        (1, Record::Opaque { site: 12 }),
        (2, write(X + 8, 13)),
        (1, sync(TimedOut, CONDITION, LOCK)),
        (1, read(X + 8, 14)),
    ];
    assert_eq!(pairs(&records), [], "what nobody understands takes effect when the thread goes on");
}

/// The races among these records, after two threads were started, of a module that is written in this language.
fn pairs_in(language: SourceLanguage, records: &[(u32, Record<'_>)]) -> Vec<(u64, u64)> {
    let mut detector = Detector::new();
    detector.module(&(0..100), language);
    for child in [1, 2] {
        detector.record(0, &sync(Fork, child, 0));
    }
    for (thread, record) in records {
        detector.record(*thread, record);
    }
    detector.take_races().iter().map(|race| (race.first.site, race.second.site)).collect()
}

fn load(site: u64, addr: u64, size: u8, order: MemoryOrder) -> Record<'static> {
    Record::AtomicLoad { site, addr, size, value: 0, order }
}

fn store(site: u64, addr: u64, size: u8, order: MemoryOrder) -> Record<'static> {
    Record::AtomicStore { site, addr, size, value: 0, order }
}

#[test]
fn atomics_of_different_sizes_race_in_rust_unless_both_read() {
    let order = MemoryOrder::SeqCst;
    let writes = [(1, store(10, X, 4, order)), (2, load(11, X + 2, 2, order))];
    assert_eq!(pairs_in(SourceLanguage::Rust, &writes), [(10, 11)], "even if the one has seen the other");
    assert_eq!(pairs_in(SourceLanguage::Cpp, &writes), []);
    let reads = [(1, load(10, X, 4, order)), (2, load(11, X, 1, order)), (2, store(12, X, 4, order))];
    assert_eq!(pairs_in(SourceLanguage::Rust, &reads), []);
    let hidden = [(1, load(10, X, 4, order)), (1, load(11, X, 1, order)), (2, store(12, X, 1, order))];
    assert_eq!(
        pairs_in(SourceLanguage::Rust, &hidden),
        [(10, 12)],
        "the load of one byte does not stand for it"
    );
    let beside = [(1, store(10, X, 4, order)), (1, store(11, X, 1, order)), (2, store(12, X + 4, 4, order))];
    assert_eq!(pairs_in(SourceLanguage::Rust, &beside), []);
}

#[test]
fn plain_accesses_of_words_in_parts_race_with_atomic_ones() {
    let (rlx, acq, rel) = (MemoryOrder::Relaxed, MemoryOrder::Acquire, MemoryOrder::Release);
    let byte = |site| Record::Write { site, addr: X + 1, size: 1, value: 0 };
    assert_eq!(pairs(&[(1, store(10, X, 4, rlx)), (2, byte(11))]), [(10, 11)]);
    assert_eq!(pairs(&[(1, byte(10)), (1, store(11, X, 4, rel)), (2, load(12, X, 4, acq))]), []);
    assert_eq!(pairs(&[(1, byte(10)), (1, store(11, X, 4, rlx)), (2, load(12, X, 4, acq))]), [(10, 12)]);
    let others = [(1, store(10, X, 4, rlx)), (2, Record::Write { site: 11, addr: X + 4, size: 1, value: 0 })];
    assert_eq!(pairs(&others), []);
}

#[test]
fn who_comes_before_the_allocation_races_with_it() {
    let order = MemoryOrder::Relaxed;
    let handed_on = |order| {
        [
            (1, Record::Sync { site: 10, op: Alloc, object: X, other: 16 }),
            (1, store(11, LOCK, 8, order)),
            (2, load(12, LOCK, 8, MemoryOrder::Acquire)),
            (2, write(X, 13)),
            (2, read(X, 14)),
            (2, load(15, X + 8, 4, order)),
        ]
    };
    assert_eq!(pairs(&handed_on(order)), [(10, 13)], "what comes after that is ordered");
    assert_eq!(pairs(&handed_on(MemoryOrder::Release)), []);
}

#[test]
fn local_variables_end_with_their_function_alone() {
    let order = MemoryOrder::Relaxed;
    let end = |length| Record::Sync { site: 20, op: LocalEnd, object: X, other: length };
    let records = |length| [(1, read(X, 10)), (1, read(X + 8, 11)), (2, end(length)), (1, read(X, 12))];
    assert_eq!(pairs(&records(4)), [(10, 20), (20, 12)]);
    assert_eq!(pairs(&records(9)), [(10, 20), (11, 20), (20, 12)]);
    let told = [(1, read(X, 10)), (1, store(11, LOCK, 8, MemoryOrder::Release))];
    let told = told.into_iter().chain([(2, load(12, LOCK, 8, MemoryOrder::Acquire)), (2, end(8))]);
    assert_eq!(pairs(&told.collect::<Vec<_>>()), []);
    assert_eq!(pairs(&[(1, load(10, X, 8, order)), (2, end(8))]), [(10, 20)]);
}

#[test]
fn stores_end_release_sequences_as_the_language_says() {
    let (rlx, acq, rel) = (MemoryOrder::Relaxed, MemoryOrder::Acquire, MemoryOrder::Release);
    let records = [
        (1, write(X, 10)),
        (1, store(11, X + 8, 8, rel)),
        (1, store(12, X + 8, 8, rlx)),
        (2, load(13, X + 8, 8, acq)),
        (2, read(X, 14)),
    ];
    assert_eq!(pairs_in(SourceLanguage::Other, &records), []);
    assert_eq!(pairs_in(SourceLanguage::Cpp, &records), [(10, 14)]);
    assert_eq!(pairs_in(SourceLanguage::Rust, &records), [(10, 14)]);
}

#[test]
fn a_lock_that_another_thread_gives_up_orders_who_takes_it_next() {
    let records = [
        (1, sync(Lock, LOCK, 0)),
        (1, write(X, 10)),
        (2, write(X + 8, 11)),
        (2, sync(Unlock, LOCK, 0)),
        (2, write(X, 12)),
        (3, sync(Lock, LOCK, 0)),
        (3, write(X + 8, 13)),
    ];
    assert_eq!(pairs(&records), [(10, 12)]);
}

#[test]
fn who_waits_gives_the_lock_up() {
    let records = [
        (1, sync(Lock, LOCK, 0)),
        (1, write(X, 10)),
        (1, sync(Wait, CONDITION, LOCK)),
        (2, sync(Lock, LOCK, 0)),
        (2, write(X, 11)),
        (2, sync(Unlock, LOCK, 0)),
    ];
    assert_eq!(pairs(&records), []);
}

#[test]
fn a_barrier_orders_all_who_came_before_all_who_leave() {
    let barrier = 0x9000;
    let records = [
        (1, write(X, 10)),
        (1, sync(Arrive, barrier, 0)),
        (2, write(X + 8, 11)),
        (2, sync(Arrive, barrier, 0)),
        (2, sync(Depart, barrier, 1)),
        (2, sync(Depart, barrier, 2)),
        (1, read(X + 8, 12)),
        (2, read(X, 13)),
        (2, write(X + 8, 14)),
    ];
    assert_eq!(pairs(&records), [(12, 14)]);
}

#[test]
fn an_attempt_that_failed_comes_after_what_the_owner_did() {
    let records = [
        (1, sync(Lock, LOCK, 0)),
        (1, write(X, 10)),
        (2, sync(TryFailed, LOCK, 0)),
        (2, read(X, 11)),
        (1, write(X, 12)),
    ];
    assert_eq!(pairs(&records), [(11, 12)]);
}

#[test]
fn a_lock_that_was_given_up_unseen_orders_everything() {
    let records = [(1, write(X, 10)), (1, sync(Lock, LOCK, 0)), (2, sync(Lock, LOCK, 0)), (2, write(X, 11))];
    assert_eq!(pairs(&records), []);
}

#[test]
fn memory_is_there_before_it_is_touched() {
    let records = [
        (1, write(X, 10)),
        (1, sync(Alloc, 0x4000, 64)),
        (1, write(0x4000, 11)),
        (2, read(0x4000, 12)),
        (2, read(X, 13)),
    ];
    let found = races(&records);
    let [race] = &found[..] else { panic!("{found:?}") };
    assert_eq!((race.first.site, race.second.site), (11, 12), "what came before the allocation is ordered");
    assert!(matches!(race.memory, RaceMemory::Heap { start: 0x4000, bytes: 64, thread: 1, site: 1, .. }));
}

#[test]
fn memory_that_is_used_again_is_another_and_comes_after() {
    let records = [
        (1, sync(Alloc, 0x4000, 64)),
        (1, write(0x4000, 10)),
        (1, write(X, 11)),
        (1, sync(Free, 0x4000, 0)),
        (1, write(X, 12)),
        (2, sync(Alloc, 0x4000, 64)),
        (2, write(0x4000, 13)),
        (2, read(X, 14)),
    ];
    assert_eq!(pairs(&records), [(12, 14)], "only what followed the end of the block races");
}

#[test]
fn to_give_memory_back_conflicts_with_all_accesses() {
    let free = [
        (1, sync(Alloc, 0x4000, 64)),
        (1, write(0x4000, 10)),
        (2, Record::Opaque { site: 2 }),
        (2, read(0x4008, 11)),
        (1, Record::Sync { site: 12, op: Free, object: 0x4000, other: 0 }),
        (2, read(0x4010, 13)),
    ];
    assert_eq!(pairs(&free), [(11, 12), (12, 13)]);
    assert!(races(&free).iter().any(|race| race.first.kind == RacingAccessKind::Free));
}

#[test]
fn the_stack_of_an_ended_thread_can_be_anothers() {
    let records = [
        (1, sync(Begin, 0x10_0000, 0x11_0000)),
        (1, write(0x10_8000, 10)),
        (1, sync(End, 0, 0)),
        (2, sync(Begin, 0x10_0000, 0x11_0000)),
        (2, write(0x10_8000, 11)),
    ];
    assert_eq!(pairs(&records), []);
}

#[test]
fn memory_that_other_processes_see_is_a_fence() {
    let records = [
        (1, sync(Shared, 0x2_0000, 0x1000)),
        (1, write(X, 10)),
        (1, write(0x2_0000, 11)),
        (2, read(0x2_0000, 12)),
        (2, read(X, 13)),
    ];
    assert_eq!(pairs(&records), []);
}

#[test]
fn a_part_of_an_atomic_word_races_like_the_whole() {
    let order = MemoryOrder::Relaxed;
    let records = [
        (1, Record::AtomicStore { site: 10, addr: X, size: 8, value: 0, order }),
        (2, Record::Write { site: 11, addr: X + 4, size: 4, value: 0 }),
        (1, Record::AtomicLoad { site: 12, addr: X, size: 8, value: 0, order }),
    ];
    assert_eq!(pairs(&records), [(10, 11), (11, 12)]);
    let whole = (2, Record::Write { site: 11, addr: X, size: 8, value: 0 });
    assert_eq!(pairs(&[records[0], whole]), [(10, 11)]);
}

#[test]
fn neighbours_do_not_race_and_overlaps_do() {
    let at = |addr, size, site| Record::Write { site, addr, size, value: 0 };
    assert_eq!(pairs(&[(1, at(X, 4, 10)), (2, at(X + 4, 4, 11))]), []);
    assert_eq!(pairs(&[(1, at(X, 1, 10)), (2, at(X + 1, 1, 11))]), []);
    assert_eq!(pairs(&[(1, at(X + 6, 4, 10)), (2, at(X + 8, 1, 11))]), [(10, 11)]);
    let copy = Record::Copy { site: 11, to: X + 100, from: X + 3, bytes: &[0; 40] };
    assert_eq!(pairs(&[(1, at(X + 40, 1, 10)), (2, copy)]), [(10, 11)]);
    let fill = Record::Fill { site: 11, addr: X, byte: 0, length: 10_000 };
    assert_eq!(pairs(&[(1, at(X + 9_999, 1, 10)), (1, at(X + 10_000, 1, 12)), (2, fill)]), [(10, 11)]);
    let unknown = Record::Fill { site: 11, addr: X, byte: 0, length: 1 << 40 };
    assert_eq!(pairs(&[(1, at(X, 1, 10)), (2, unknown)]), [], "too much to be told apart");
}

#[test]
fn both_sides_have_their_calls_and_the_same_race_is_told_once() {
    let step = |site| Record::Enter { site };
    let records = [
        (1, step(100)),
        (1, step(101)),
        (1, write(X, 10)),
        (1, Record::Exit { calls: 2 }),
        (2, step(200)),
        (2, write(X, 11)),
        (1, write(X, 10)),
    ];
    let found = races(&records);
    let [race] = &found[..] else { panic!("{found:?}") };
    assert_eq!((race.address, race.first.calls.as_slice()), (X, &[100, 101][..]));
    assert_eq!((race.second.thread, race.second.calls.as_slice()), (2, &[200][..]));
}

#[test]
fn too_many_threads_are_told() {
    let mut detector = Detector::new();
    detector.record(0, &sync(Fork, u64::from(MOST_THREADS), 0));
    assert!(detector.is_blind());
    detector.record(0, &write(X, 10));
    assert!(!detector.steps(MOST_THREADS + 1, &[]));
}

#[test]
fn to_repeat_an_access_is_nothing_new_unless_it_orders() {
    let access = |addr, size, writes| [ShortRecord::Access { site: 10, addr, size, writes }];
    let mut detector = Detector::new();
    detector.record(0, &sync(Fork, 1, 0));
    assert!(detector.steps(1, &access(X, 4, true)));
    assert!(detector.access(1, 10, X + 32, 4, true));
    assert!(detector.steps(1, &access(X + 6, 4, false)), "across words");
    detector.record(1, &sync(Shared, 0x2_0000, 0x1000));
    assert!(!detector.steps(1, &access(0x2_0000, 8, false)), "other processes see it");
    assert!(!detector.steps(1, &access(0x2_0000, 8, false)), "again");
    let order = MemoryOrder::Relaxed;
    detector.record(1, &Record::AtomicStore { site: 10, addr: X + 16, size: 8, value: 0, order });
    assert!(detector.steps(1, &access(X + 16, 8, true)), "the whole of an atomic word");
    assert!(!detector.steps(1, &access(X + 16, 4, true)), "a part of one, which counts as atomic");
    assert!(!detector.steps(1, &access(X + 16, 4, true)), "again");
    assert!(!detector.steps(1, &[ShortRecord::Enter { site: 1 }]));
}

#[test]
fn steps_are_what_their_records_are() {
    let told = |as_steps: bool| {
        let mut detector = Detector::new();
        for child in [1, 2] {
            detector.record(0, &sync(Fork, child, 0));
        }
        let mut enter = |thread, site| match as_steps {
            true => _ = detector.steps(thread, &[ShortRecord::Enter { site }]),
            false => detector.record(thread, &Record::Enter { site }),
        };
        enter(1, 100);
        enter(2, 200);
        enter(1, 101);
        let mut end = |thread, calls, site, writes| match as_steps {
            true => {
                let access = ShortRecord::Access { site, addr: X, size: 8, writes };
                detector.steps(thread, &[ShortRecord::Exit { calls }, access]);
            }
            false => {
                detector.record(thread, &Record::Exit { calls });
                detector.record(thread, &if writes { write(X, site) } else { read(X, site) });
            }
        };
        end(1, 1, 10, true);
        end(2, 0, 11, false);
        detector.take_races()
    };
    let found = told(true);
    assert_eq!(found, told(false));
    assert_eq!((&*found[0].first.calls, &*found[0].second.calls), (&[100][..], &[200][..]));
}
