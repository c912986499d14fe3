//! What memory holds: at first, told where nobody else tells it, and only as long as it is sure; and after an update,
//! where the code is unknown.

use foretell_native::convert;
use foretell_trace::{EventId, Op, Trace};
use foretell_wire::hook::MemoryOrder;
use foretell_wire::log::memory::ByteRun;
use foretell_wire::log::{Chunk, ChunkContent, MAGIC, PAGE};
use foretell_wire::record::{Context, LONGEST_RECORD, Record, SyncOp};

/// A variable of four bytes.
const X: u64 = 0x20_0000;
/// Memory that nobody has looked at begins here.
const UNKNOWN: u64 = 0x20_1000;

fn sync(op: SyncOp, object: u64) -> Record<'static> {
    Record::Sync { site: 0, op, object, other: 0 }
}

fn read(addr: u64, value: u64) -> Record<'static> {
    Record::Read { site: 1, addr, size: 4, value }
}

fn write(addr: u64, value: u64) -> Record<'static> {
    Record::Write { site: 1, addr, size: 4, value }
}

fn put(out: &mut Vec<u8>, chunk: &Chunk<'_>, content: &[u8]) {
    let end = out.len() + PAGE;
    out.extend_from_slice(&chunk.header(PAGE).expect("it is short"));
    out.extend_from_slice(content);
    out.resize(end, 0);
}

/// A log of what the first thread does alone, what it does once it has started another one, and what that one does
/// then. Before the fork memory held 7 in `X`, and zeros around it.
fn log(alone: &[Record<'_>], first: &[Record<'_>], second: &[Record<'_>]) -> Vec<u8> {
    let runs = [
        ByteRun { address: X - 0x100, length: 0x100, bytes: None },
        ByteRun { address: X, length: 4, bytes: Some(&[7, 0, 0, 0]) },
        ByteRun { address: X + 4, length: UNKNOWN - X - 4, bytes: None },
    ];
    let (mut memory, mut used) = ([0; 200], 0);
    for run in runs {
        used += run.encode(&mut memory[used..]).expect("there is room");
    }
    let memory = &memory[..used];
    let begin = [sync(SyncOp::Begin, 0)];
    let first = [&begin, alone, &[sync(SyncOp::Fork, 1)], first].concat();
    let second = [&begin, second].concat();
    let mut out = MAGIC.to_vec();
    out.resize(PAGE, 0);
    for (thread, clock, records) in [(0, 1, first), (1, 90, second)] {
        let (mut content, mut context) = (Vec::new(), Context::NEW);
        for record in &records {
            let mut room = [0; LONGEST_RECORD];
            let length = context.encode(record, &mut room);
            content.extend_from_slice(&room[..length]);
        }
        put(&mut out, &Chunk { thread, clock, content: ChunkContent::Records(&[]) }, &content);
    }
    // It belongs to the fork, wherever it stands and whatever its clock says.
    put(&mut out, &Chunk { thread: 0, clock: 99, content: ChunkContent::Memory(memory) }, memory);
    out
}

/// The reads that the converter has made before the fork, as text; with `!` after each that nothing explains.
fn shown(log: &[u8]) -> Vec<String> {
    let trace = Trace::check(convert(log).expect("it is whole")).expect("it is well formed");
    let events = trace.events().iter();
    let before = events.take_while(|event| !matches!(event.op, Op::Fork(_)));
    let loads = before.filter_map(|event| match event.op {
        Op::Load { value, .. } => {
            let value = value.map_or("?".to_string(), |value| trace.names().symbol_text(value.0).to_string());
            Some(format!("{value}{}", if event.unexplained { "!" } else { "" }))
        }
        _ => None,
    });
    loads.collect()
}

#[test]
fn what_is_overwritten_first_is_told() {
    assert_eq!(shown(&log(&[], &[write(X, 1)], &[read(X, 1)])), ["7"]);
    assert_eq!(shown(&log(&[], &[write(X + 64, 1)], &[read(X + 64, 1)])), ["0"]);
    let both = [write(X - 4, 1), write(X, 2)];
    assert_eq!(shown(&log(&[], &both, &[read(X, 2), write(X - 4, 2)])), ["0", "7"]);
}

#[test]
fn what_shows_by_itself_is_not_told() {
    assert!(shown(&log(&[], &[read(X, 7), write(X, 1)], &[read(X, 1)])).is_empty());
    assert!(shown(&log(&[write(X, 7)], &[write(X, 1)], &[read(X, 1)])).is_empty());
    assert!(shown(&log(&[read(X, 7)], &[write(X, 1)], &[read(X, 1)])).is_empty());
    assert!(shown(&log(&[], &[write(X, 1)], &[])).is_empty(), "nobody else asks");
}

#[test]
fn what_nobody_has_looked_at_stays_unknown() {
    assert!(shown(&log(&[], &[write(UNKNOWN, 1)], &[read(UNKNOWN, 1)])).is_empty());
    let across = UNKNOWN - 2;
    assert!(shown(&log(&[], &[write(across, 1)], &[read(across, 1)])).len() <= 1, "half of it at most");
}

#[test]
fn what_was_written_unseen_before_there_were_threads_is_noticed() {
    assert_eq!(shown(&log(&[write(X, 5)], &[write(X, 1)], &[read(X, 1)])), ["7!"]);
    let unseen = [write(X, 5), Record::Opaque { site: 1 }];
    let told = |alone: &[Record<'_>]| {
        let log = log(alone, &[write(X, 1)], &[read(X, 1)]);
        (shown(&log), doubted(&log))
    };
    let seven = (vec!["7".to_string()], vec!["7".to_string()]);
    assert_eq!(told(&unseen), seven);
    let twice = [unseen[0], unseen[1], write(X + 4, 1), unseen[1]];
    assert_eq!(told(&twice), seven, "nobody else could have looked in between");
}

/// What may have been written unseen, as text.
fn doubted(log: &[u8]) -> Vec<String> {
    let trace = Trace::check(convert(log).expect("it is whole")).expect("it is well formed");
    let names = trace.names();
    let stores = trace.events().iter().filter_map(|event| match event.op {
        Op::Store { var, value, .. } if names.vars.name(var) != "outside" => {
            Some(value.map_or("?".to_string(), |value| names.symbol_text(value.0).to_string()))
        }
        _ => None,
    });
    stores.collect()
}

/// Whoever reads it before it is written again would see what nobody knows, and not what was recorded last.
#[test]
fn what_may_have_been_written_unseen_is_known_if_it_is_read_before_it_is_written() {
    let (unseen, elsewhere) = (Record::Opaque { site: 1 }, [read(X + 4, 0), write(X + 4, 0)]);
    let of = |first: &[Record<'_>]| doubted(&log(&[], first, &[read(X, 3), read(X + 4, 0)]));
    assert_eq!(of(&[write(X, 3), unseen, write(X, 3)]), ["?"]);
    assert_eq!(of(&[write(X, 3), unseen]), ["3"], "the other thread reads it");
    assert_eq!(of(&[write(X, 3), unseen, read(X, 12), write(X, 3)]), ["?"], "when that was is not sure");
    assert_eq!(of(&[write(X, 3), unseen, read(X, 3), write(X, 3)]), ["3"]);
    assert_eq!(of(&[write(X, 3), unseen, unseen, read(X, 3), write(X, 3)]), ["?"], "twice, perhaps");
    let twice = [write(X, 3), unseen, elsewhere[0], elsewhere[1], unseen, read(X, 3), write(X, 3)];
    assert_eq!(of(&twice), ["?", "0"]);
    assert!(of(&[write(X, 3)]).is_empty());
}

/// Whoever has written it may have waited for anything before.
#[test]
fn nothing_is_reordered_around_a_read_that_shows_what_was_written_unseen() {
    let fences = |value: u64| {
        let first = [write(X, 3), Record::Opaque { site: 1 }, read(X, value), write(X, 3)];
        let log = log(&[], &first, &[read(X, 3)]);
        let trace = Trace::check(convert(&log).expect("it is whole")).expect("it is well formed");
        trace.events().iter().filter(|event| event.unexplained).count()
    };
    assert_eq!((fences(3), fences(12)), (2, 3));
}

#[test]
fn nothing_is_sure_once_somebody_may_have_written_unseen() {
    let unseen = Record::Opaque { site: 1 };
    assert_eq!(shown(&log(&[], &[unseen, write(X, 1)], &[read(X, 1)])), ["?"]);
    assert_eq!(shown(&log(&[], &[write(X, 1), unseen], &[read(X, 1)])), ["7"], "it was overwritten before");
    let other = [write(X, 1), unseen, write(X + 4, 1)];
    assert_eq!(shown(&log(&[], &other, &[read(X, 1), read(X + 4, 1)])), ["7", "?"]);
}

#[test]
fn memory_that_became_a_block_is_not_static() {
    let block = Record::Sync { site: 1, op: SyncOp::Alloc, object: X, other: 64 };
    assert!(shown(&log(&[block], &[write(X, 1)], &[read(X, 1)])).is_empty());
}

#[test]
fn what_an_update_writes_depends_on_what_it_reads() {
    let update = |read: u64| Record::Rmw {
        site: 1,
        addr: X,
        size: 4,
        read,
        written: read + 1,
        order: MemoryOrder::Release,
    };
    let converted = convert(&log(&[], &[update(7)], &[update(8)])).expect("it is whole");
    let dependence = converted.known_dependence().expect("threads are followed");
    let updates = (0..).zip(converted.events()).filter(|(_, event)| matches!(event.op, Op::Rmw { .. }));
    let updates: Vec<_> = updates.filter_map(|(index, _)| EventId::from_index(index)).collect();
    assert_eq!(updates.len(), 2);
    for update in updates {
        assert_eq!(dependence.steered_by(update), Some(update), "with another value it writes another one");
    }
}
