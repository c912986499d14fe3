use foretell_testkit::random::Random;
use foretell_wire::log::{BORDER, CUT, MAGIC};

use super::*;

/// What one thread did, with the clock.
type Step = (u64, u32, Record<'static>);

fn sync(op: SyncOp, object: u64, other: u64) -> Record<'static> {
    Record::Sync { site: 7, op, object, other }
}

/// A log with these chunks and all that threads did, a chunk each, which is cut there.
fn log(front: &Front, steps: &[Step], cut: u64) -> Vec<u8> {
    let mut log = MAGIC.to_vec();
    log.resize(PAGE, 0);
    log[CUT..CUT + 8].copy_from_slice(&cut.to_le_bytes());
    log[BORDER..BORDER + 8].copy_from_slice(&front.border.to_le_bytes());
    log.extend(front.chunks.concat());
    let threads: std::collections::BTreeSet<u32> = steps.iter().map(|step| step.1).collect();
    for thread in threads {
        let own = steps.iter().filter(|step| step.1 == thread);
        let records: Vec<Kept> = own.map(|&(clock, thread, record)| Kept { clock, thread, record }).collect();
        let first = records[0].clock;
        let bytes = chunk(records).unwrap();
        let header = Chunk { thread, clock: first, content: ChunkContent::Records(&[]) };
        log.extend_from_slice(&header.header(bytes.len()).unwrap());
        log.extend_from_slice(&bytes[HEADER..]);
    }
    log
}

const NOTHING: Front = Front { border: 0, chunks: Vec::new(), ended: Vec::new() };

/// What a front tells, in the order of the clocks.
fn told(front: &Front) -> Vec<Step> {
    let mut found = Vec::new();
    for_each_at(&log(front, &[], 0), Until::END, |clock, entry| {
        if let Entry::Record(thread, record) = entry {
            let record = match record {
                Record::Enter { site } => Record::Enter { site },
                Record::Opaque { site } => Record::Opaque { site },
                Record::Sync { site, op, object, other } => Record::Sync { site, op, object, other },
                other => panic!("{other:?}"),
            };
            found.push((clock, thread, record));
        }
        Ok(())
    })
    .unwrap();
    found
}

/// Steps with the clocks 1, 2, 3, ...
fn steps(records: &[(u32, Record<'static>)]) -> Vec<Step> {
    (1..).zip(records).map(|(clock, &(thread, record))| (clock, thread, record)).collect()
}

#[test]
fn what_is_over_is_gone_and_the_rest_is_in_order() {
    let read = Record::Read { site: 3, addr: 64, size: 8, value: 1 };
    let all = steps(&[
        (0, sync(SyncOp::Begin, 0, 0)),
        (0, sync(SyncOp::Fork, 1, 0)),
        (1, sync(SyncOp::Begin, 0x1000, 0x2000)),
        (0, Record::Enter { site: 5 }),
        (0, sync(SyncOp::Alloc, 0x100, 16)),
        (0, sync(SyncOp::Alloc, 0x200, 16)),
        (1, sync(SyncOp::Lock, 8, 0)),
        (1, sync(SyncOp::Unlock, 8, 0)),
        (1, sync(SyncOp::Free, 0x100, 0)),
        (0, Record::Enter { site: 6 }),
        (0, Record::Exit { calls: 1 }),
        (0, sync(SyncOp::SemInit, 24, 3)),
        (1, sync(SyncOp::SemWait, 24, 0)),
        (1, sync(SyncOp::LockShared, 16, 0)),
        (1, sync(SyncOp::Lock, 32, 0)),
        (1, sync(SyncOp::Wait, 40, 32)),
        (0, sync(SyncOp::Lock, 32, 0)),
        (0, read),
        (0, read),
    ]);
    let front = front(&log(&NOTHING, &all, 0)).unwrap().unwrap();
    let expected: Vec<Step> = [1, 2, 3, 4, 6, 12, 14, 15, 16, 17].map(|clock| all[clock - 1]).to_vec();
    let mut told = told(&front);
    let fence = told.pop().unwrap();
    assert_eq!((front.border, fence), (19, (19, 0, Record::Opaque { site: 0 })));
    let permits = (12, 0, sync(SyncOp::SemInit, 24, 2));
    let expected: Vec<Step> =
        expected.into_iter().map(|step| if step.0 == 12 { permits } else { step }).collect();
    assert_eq!(told, expected);
}

#[test]
fn what_was_allocated_or_forked_by_threads_that_were_joined_stays() {
    let all = steps(&[
        (0, sync(SyncOp::Begin, 0, 0)),
        (0, sync(SyncOp::Fork, 1, 0)),
        (1, sync(SyncOp::Begin, 0, 0)),
        (1, sync(SyncOp::Alloc, 0x100, 16)),
        (1, sync(SyncOp::End, 0, 0)),
        (0, sync(SyncOp::Join, 1, 0)),
        (0, sync(SyncOp::Fork, 2, 0)),
        (2, sync(SyncOp::Begin, 0, 0)),
        (2, sync(SyncOp::Fork, 3, 0)),
        (3, sync(SyncOp::Begin, 0, 0)),
        (2, sync(SyncOp::End, 0, 0)),
        (0, sync(SyncOp::Join, 2, 0)),
        (3, Record::Branch { site: 1, by: None }),
        (3, Record::Branch { site: 1, by: None }),
    ]);
    let told = told(&front(&log(&NOTHING, &all, 0)).unwrap().unwrap());
    let clocks: Vec<(u64, u32)> = told.iter().map(|step| (step.0, step.1)).collect();
    let (alloc, fence) = ((4, 0), (14, 3));
    assert_eq!(
        clocks,
        [(1, 0), alloc, (7, 0), (8, 2), (9, 2), (10, 3), (11, 2), (12, 0), fence],
        "the first thread stands for the one that has allocated"
    );
}

#[test]
fn notifications_are_there_as_long_as_somebody_may_return_by_them() {
    let wait = |thread| [(thread, sync(SyncOp::Lock, 8, 0)), (thread, sync(SyncOp::Wait, 16, 8))];
    let begin = [(0, sync(SyncOp::Begin, 0, 0))];
    let running = [(0, Record::Fence { order: foretell_wire::hook::MemoryOrder::SeqCst }); 2];
    let notify = [(0, sync(SyncOp::Notify, 16, 0))];
    let woken = |thread| [(thread, sync(SyncOp::Woken, 16, 8)), (thread, sync(SyncOp::Unlock, 8, 0))];
    let count = |parts: &[&[(u32, Record<'static>)]]| {
        let all = steps(&parts.concat());
        let told = told(&front(&log(&NOTHING, &all, 0)).unwrap().unwrap());
        let is = |wanted, step: &Step| matches!(step.2, Record::Sync { op, .. } if op == wanted);
        [SyncOp::Wait, SyncOp::Notify, SyncOp::Lock].map(|op| told.iter().filter(|step| is(op, step)).count())
    };
    assert_eq!(count(&[&begin, &notify, &wait(1), &running]), [1, 0, 1], "nobody waited");
    assert_eq!(count(&[&begin, &wait(1), &notify, &notify, &running]), [1, 1, 1], "one waits");
    assert_eq!(count(&[&begin, &wait(1), &wait(2), &notify, &running]), [2, 1, 2]);
    assert_eq!(count(&[&begin, &wait(1), &wait(2), &notify, &woken(1), &running]), [1, 0, 1]);
    assert_eq!(count(&[&begin, &wait(1), &notify, &woken(1), &running]), [0, 0, 0]);
}

/// Whatever a program does, in steps that threads can make.
fn random_steps(random: &mut Random, count: usize) -> Vec<Step> {
    let mut all = steps(&[0, 1, 2, 3].map(|thread| (thread, sync(SyncOp::Begin, 0, 0))));
    let mut waits = [None; 4];
    for clock in 5..count as u64 {
        let thread = u32::try_from(random.below(4)).unwrap();
        let object = 8 * (1 + random.below(3) as u64);
        let waits = &mut waits[thread as usize];
        if let Some(condition) = *waits {
            // A thread that waits does nothing before it is back.
            if random.once_in(3) {
                let op = if random.once_in(3) { SyncOp::TimedOut } else { SyncOp::Woken };
                all.push((clock, thread, sync(op, condition, 8)));
                *waits = None;
            }
            continue;
        }
        let op = match random.below(15) {
            0 => SyncOp::Lock,
            1 => SyncOp::LockShared,
            2 | 3 => SyncOp::Unlock,
            4 => SyncOp::Wait,
            5 => SyncOp::TryLock,
            6 => SyncOp::Notify,
            7 => SyncOp::NotifyAll,
            8 => SyncOp::SemInit,
            9 => SyncOp::SemWait,
            10 => SyncOp::SemPost,
            11 => SyncOp::Alloc,
            12 => SyncOp::Free,
            13 => {
                all.push((clock, thread, Record::Enter { site: clock }));
                continue;
            }
            _ => {
                all.push((clock, thread, Record::Exit { calls: 1 }));
                continue;
            }
        };
        if op == SyncOp::Wait {
            let holds = sync(SyncOp::Lock, 8, 0);
            all.extend([(clock, thread, holds), (clock, thread, sync(op, object, 8))]);
            *waits = Some(object);
            continue;
        }
        let other = match op {
            SyncOp::Alloc => 1 + random.below(20) as u64,
            SyncOp::SemInit => 5,
            _ => 0,
        };
        all.push((clock, thread, sync(op, object, other)));
    }
    all
}

#[test]
fn a_front_and_what_is_dropped_next_make_the_front_of_both() {
    let mut compared = 0;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let all = random_steps(&mut random, 120);
        let cut = 20 + random.below(90) as u64;
        let Some(first) = front(&log(&NOTHING, &all, cut)).unwrap() else { continue };
        let Some(at_once) = front(&log(&NOTHING, &all, 0)).unwrap() else { continue };
        let Some(in_two) = front(&log(&first, &all, 0)).unwrap() else { continue };
        assert_eq!(told(&in_two), told(&at_once), "seed {seed}, cut at {cut}");
        compared += 1;
    }
    assert!(compared > 250, "{compared}");
}
