//! Decisions that no record tells of, because the sites of the accesses around them do.

use foretell_native::convert;
use foretell_trace::Op;
use foretell_wire::log::module::Module;
use foretell_wire::log::{Chunk, ChunkContent, HEADER, MAGIC, PAGE};
use foretell_wire::record::{Context, LONGEST_RECORD, Record, SyncOp};
use foretell_wire::site::{Site, SiteTable};

const TABLE: u64 = 0x10_0000;
const ADDRESS: u64 = 0x20_0000;

/// A log in which the second thread reads a word and then writes it, at sites like these.
fn log(read: Site, write: Site) -> Vec<u8> {
    let table =
        SiteTable { texts: vec!["f".to_string()], sites: vec![read, write], ..SiteTable::default() }.encode();
    let module = Module { address: TABLE, table: &table, globals: Vec::new() }.encode();
    let sync = |op, object| Record::Sync { site: 0, op, object, other: 0 };
    let access = |site, value| Record::Write { site, addr: ADDRESS, size: 4, value };
    let first = [sync(SyncOp::Begin, 0), sync(SyncOp::Fork, 1), access(TABLE + 100, 7)];
    let read = Record::Read { site: TABLE, addr: ADDRESS, size: 4, value: 7 };
    let second = [sync(SyncOp::Begin, 0), read, access(TABLE + 1, 8)];
    let mut out = MAGIC.to_vec();
    out.resize(PAGE, 0);
    put(&mut out, Chunk { thread: 0, clock: 1, content: ChunkContent::Module(&module) }, &[]);
    put(&mut out, Chunk { thread: 0, clock: 1, content: ChunkContent::Records(&[]) }, &first);
    put(&mut out, Chunk { thread: 1, clock: 9, content: ChunkContent::Records(&[]) }, &second);
    out
}

fn put(out: &mut Vec<u8>, chunk: Chunk<'_>, records: &[Record<'_>]) {
    let (mut content, mut context) = (Vec::new(), Context::NEW);
    if let ChunkContent::Module(module) = chunk.content {
        content.extend_from_slice(module);
    }
    for record in records {
        let mut room = [0; LONGEST_RECORD];
        let length = context.encode(record, &mut room);
        content.extend_from_slice(&room[..length]);
    }
    assert!(content.len() < PAGE - HEADER);
    let end = out.len() + PAGE;
    out.extend_from_slice(&chunk.header(PAGE).unwrap());
    out.extend_from_slice(&content);
    out.resize(end, 0);
}

/// What the second thread does, by the first letters.
fn told(read: Site, write: Site) -> String {
    let trace = convert(&log(read, write)).unwrap();
    let thread = trace.events().last().unwrap().thread;
    let letter = |op| match op {
        Op::Read { .. } => Some('r'),
        Op::Write { .. } => Some('w'),
        Op::Branch => Some('b'),
        _ => None,
    };
    trace
        .events()
        .iter()
        .filter(|event| event.thread == thread)
        .filter_map(|event| letter(event.op))
        .collect()
}

#[test]
fn a_decision_stands_where_the_site_of_an_access_says() {
    let plain = Site::default();
    assert_eq!(told(plain, plain), "rw");
    assert_eq!(told(Site { decides: Some(1), ..plain }, plain), "rbw");
    assert_eq!(told(plain, Site { is_decided: true, ..plain }), "rbw");
    assert_eq!(
        told(Site { decides: Some(1), ..plain }, Site { is_decided: true, ..plain }),
        "rbw",
        "only once"
    );
    assert_eq!(told(plain, Site { decides: Some(0), ..plain }), "rwb");
    assert_eq!(told(Site { is_decided: true, ..plain }, plain), "rw", "nothing was read before");
}
