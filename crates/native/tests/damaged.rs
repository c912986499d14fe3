//! Whatever is in the log of a program, reading it ends, and with a trace or an error.

use foretell_native::{Follow, Program, convert, convert_with, recompute};
use foretell_trace::{Trace, TraceError};
use foretell_wire::code::{Code, CodePosition, FunctionCode, Operand};
use foretell_wire::hook::MemoryOrder;
use foretell_wire::log::memory::ByteRun;
use foretell_wire::log::module::Module;
use foretell_wire::log::{Chunk, ChunkContent, ENDED, HEADER, MAGIC, PAGE};
use foretell_wire::record::{Context, LONGEST_RECORD, Record, SyncOp};
use foretell_wire::site::{Global, Site, SiteTable};

/// Where the table of the only module is.
const TABLE: u64 = 0x5000;
/// A variable of it.
const GLOBAL: u64 = 0x9000;
const HEAP: u64 = 0x2_0000;

/// Numbers that look random and are always the same.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % bound.max(1)
    }
}

/// `while (variable < parameter) { local = variable; function(local); }`, more or less.
fn function() -> FunctionCode {
    let mut function =
        FunctionCode { name: 1, parameters: vec![1], blocks: vec![2, 3, 4, 1], ..FunctionCode::default() };
    let result = Operand::Instruction;
    for (opcode, operands) in [
        (26, vec![Operand::Number(1)]),
        (2, vec![Operand::Block(1)]),
        (27, vec![Operand::Global(2)]),
        (42, vec![result(2), Operand::Parameter(0)]),
        (2, vec![result(3), Operand::Block(2), Operand::Block(3)]),
        (28, vec![result(2), result(0)]),
        (27, vec![result(0)]),
        (45, vec![result(6), Operand::Global(1)]),
        (2, vec![Operand::Block(1)]),
        (1, vec![result(2)]),
    ] {
        function.add(opcode, 3, (0, 1, 1), &operands);
    }
    function
}

fn code() -> Vec<u8> {
    let site = |line, caller, instruction| Site {
        file: 0,
        function: 1,
        line,
        column: 2,
        caller,
        position: Some(CodePosition { function: 0, instruction }),
        is_told: instruction == 2,
        ..Site::default()
    };
    let sites = vec![site(1, None, 7), site(2, Some(0), 7), site(3, Some(1), 2), site(4, None, 2)];
    let globals = vec![Global { name: 2, size: 8 }];
    let texts = ["file.c", "_ZN4name8functionEv", "variable", "i32"].map(str::to_string).to_vec();
    Code { table: SiteTable { texts, sites, globals, ..SiteTable::default() }, functions: vec![function()] }
        .encode()
}

fn sync(op: SyncOp, object: u64, other: u64) -> Record<'static> {
    Record::Sync { site: TABLE + 1, op, object, other }
}

/// What two threads did: something of every kind.
fn records() -> [Vec<Record<'static>>; 2] {
    let site = TABLE + 2;
    let shared = |value| {
        vec![
            Record::Enter { site: TABLE },
            Record::Read { site, addr: GLOBAL, size: 4, value },
            Record::Branch { site, by: Some(1) },
            Record::Write { site, addr: GLOBAL, size: 8, value },
            Record::AtomicLoad { site, addr: GLOBAL + 8, size: 4, value: 0, order: MemoryOrder::Acquire },
            Record::AtomicStore { site, addr: GLOBAL + 8, size: 4, value: 1, order: MemoryOrder::Release },
            Record::Rmw { site, addr: GLOBAL + 8, size: 4, read: 1, written: 2, order: MemoryOrder::AcqRel },
            Record::ReadRange { site, addr: HEAP, bytes: b"twelve bytes" },
            Record::Scan { site, addr: HEAP + 3, bytes: b"scan" },
            Record::WriteRange { site, addr: HEAP, bytes: b"ten bytes!" },
            Record::Copy { site, to: HEAP + 64, from: HEAP, bytes: b"copied" },
            Record::Fill { site, addr: HEAP + 128, byte: 7, length: 40 },
            Record::Fence { order: MemoryOrder::SeqCst },
            sync(SyncOp::Lock, 0x7000, 0),
            sync(SyncOp::Wait, 0x7100, 0x7000),
            sync(SyncOp::TimedOut, 0x7100, 0x7000),
            sync(SyncOp::NotifyAll, 0x7100, 0),
            sync(SyncOp::Unlock, 0x7000, 0),
            sync(SyncOp::SemPost, 0x7200, 0),
            sync(SyncOp::SemWait, 0x7200, 0),
            sync(SyncOp::TryFailed, 0x7300, 0),
            Record::Opaque { site },
            Record::Exit { calls: 1 },
        ]
    };
    let mut first = vec![
        sync(SyncOp::Begin, 0, 0),
        sync(SyncOp::Alloc, HEAP, 256),
        sync(SyncOp::SemInit, 0x7200, 1),
        sync(SyncOp::Fork, 1, 0),
    ];
    first.extend(shared(0));
    first.extend([
        sync(SyncOp::Shared, 0x8000, 64),
        sync(SyncOp::Arrive, 0x7400, 0),
        sync(SyncOp::End, 0, 0),
    ]);
    let mut second = vec![Record::Clock(40), sync(SyncOp::Begin, 0x3_0000, 0x3_1000)];
    second.extend(shared(1));
    second.extend([
        Record::Read { site, addr: 0x8008, size: 4, value: 3 },
        sync(SyncOp::Free, HEAP, 0),
        sync(SyncOp::Arrive, 0x7400, 0),
        sync(SyncOp::Depart, 0x7400, 0),
        sync(SyncOp::Depart, 0x7400, 1),
        Record::Ahead(3),
        sync(SyncOp::End, 0, 0),
    ]);
    [first, second]
}

/// A log that is as it should be.
fn log() -> Vec<u8> {
    let mut log = MAGIC.to_vec();
    log.resize(ENDED, 0);
    log.push(1);
    log.resize(PAGE, 0);
    let module = Module { address: TABLE, table: &code(), globals: vec![GLOBAL] }.encode();
    let chunk = Chunk { thread: 0, clock: 0, content: ChunkContent::Module(&module) };
    log.extend_from_slice(&chunk.header(PAGE).expect("it is short"));
    log.extend_from_slice(&module);
    log.resize(2 * PAGE, 0);
    for (thread, records) in (0..).zip(records()) {
        let (start, mut context) = (log.len(), Context::NEW);
        let chunk = Chunk { thread, clock: 1, content: ChunkContent::Records(&[]) };
        log.extend_from_slice(&chunk.header(PAGE).expect("it is short"));
        for record in &records {
            let mut room = [0; LONGEST_RECORD + 32];
            let length = context.encode(record, &mut room);
            log.extend_from_slice(&room[..length]);
        }
        log.resize(start + PAGE, 0);
    }
    add_memory(&mut log);
    log
}

/// Appends what memory held at the first fork, as a program does that has static variables.
fn add_memory(log: &mut Vec<u8>) {
    let (mut content, mut used) = ([0; 100], 0);
    let runs = [
        ByteRun { address: GLOBAL, length: 8, bytes: Some(&[1, 2, 3, 4, 5, 6, 7, 8]) },
        ByteRun { address: GLOBAL + 8, length: 64, bytes: None },
    ];
    for run in runs {
        used += run.encode(&mut content[used..]).expect("there is room");
    }
    let chunk = Chunk { thread: 0, clock: 1, content: ChunkContent::Memory(&content[..used]) };
    let end = log.len() + PAGE;
    log.extend_from_slice(&chunk.header(PAGE).expect("it is short"));
    log.extend_from_slice(&content[..used]);
    log.resize(end, 0);
}

/// All readers come to an end.
fn read(log: &[u8]) -> bool {
    // Whether there is code in it does not matter here.
    let _ = Program::read(log);
    let _ = recompute(log);
    let _ = convert_with(log, Follow::Values);
    let Ok(converted) = convert(log) else { return false };
    // No damage makes a dependence that is not of its trace.
    assert!(!matches!(Trace::check(converted), Err(TraceError::Dependence { .. })));
    true
}

/// A place in the log at which something is written.
fn place(random: &mut Random, log: &[u8]) -> usize {
    loop {
        let at = random.below(log.len());
        let is_near = |at: usize| log.get(at).is_some_and(|&byte| byte != 0);
        if is_near(at) || is_near(at.saturating_sub(1)) || at % PAGE < HEADER {
            return at;
        }
    }
}

fn damage(random: &mut Random, log: &mut Vec<u8>) {
    const ODD: [u8; 6] = [0, 1, 0x7F, 0x80, 0xFE, 0xFF];
    let at = place(random, log);
    match random.below(5) {
        0 => log[at] ^= 1 << random.below(8),
        1 => log[at] = ODD[random.below(ODD.len())],
        2 => log.truncate(at),
        3 => {
            let (from, length) = (place(random, log), random.below(24));
            let piece: Vec<u8> = log.iter().skip(from).take(length).copied().collect();
            log.splice(at..(at + length).min(log.len()), piece);
        }
        _ => {
            let end = (at + random.below(12)).min(log.len());
            log[at..end].fill(ODD[random.below(ODD.len())]);
        }
    }
}

#[test]
fn the_log_is_read_if_it_is_not_damaged() {
    let trace = convert(&log()).expect("it is as it should be");
    assert!(trace.events().len() > 60, "{}", trace.events().len());
}

#[test]
fn damaged_logs_are_read_or_refused() {
    let (whole, mut random) = (log(), Random(1));
    let (mut read_on, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let mut log = whole.clone();
        for _ in 0..=random.below(3) {
            if !log.is_empty() {
                damage(&mut random, &mut log);
            }
        }
        if read(&log) {
            read_on += 1;
        } else {
            refused += 1;
        }
    }
    assert!(read_on > 1000 && refused > 1000, "{read_on} were read, {refused} refused");
}

#[test]
fn random_bytes_are_read_or_refused() {
    let mut random = Random(2);
    for round in 0..5_000 {
        let mut log = log();
        // Sometimes all of it, sometimes only what stands in one chunk.
        let start = [0, PAGE + HEADER, 2 * PAGE + HEADER, 3 * PAGE + HEADER][round % 4];
        for byte in log.iter_mut().skip(start).take(random.below(300)) {
            *byte = u8::try_from(random.below(256)).expect("a byte");
        }
        read(&log);
    }
}
