//! The recording format: compact, readable while it is written, and up to its last complete block after a crash.
//!
//! All numbers are little-endian. A *varint* is LEB128: seven bits a byte, the lowest first, the top bit set on all
//! bytes but the last; at most five bytes.
//!
//! ```text
//! recording = magic (8 bytes: 89 'f' 't' 'r' 0D 0A 1A 0A), version (u32: 1), block*
//! block     = kind (u8), length of the payload (u24), CRC-32 of the payload (u32),
//!             CRC-32 of the eight bytes before (u32), payload
//! ```
//!
//! | block kind | payload |
//! |---|---|
//! | 1 | records, each complete |
//! | 2 | the number of events in the recording (u64); nothing may follow this block |
//! | 3 | after all records: a piece of what is known of dependence, see [`super::dependence`]; all such blocks are read as one |
//! | 4 | after all records: a piece of what is known of steps, see [`super::steps`]; all such blocks are read as one |
//! | 5 | after all records: a piece of how values are computed, see [`super::values`]; all such blocks are read as one |
//! | 6 | after all records: what threads are called, see [`super::titles`]; lines, each complete |
//!
//! A recording without block 2 was cut short: what its complete blocks hold is right. A block that is complete and does
//! not fit its checksum is damage, unless it is the last thing in the input (then the machine died while writing it).
//!
//! ```text
//! record    = tag (u8: PLACE in bits 0-1, OTHER in bit 2, CODE in bits 3-7),
//!             thread (varint, only if OTHER is set; without it the thread is that of the event before),
//!             operands, place
//! ```
//!
//! | CODE | operation | operands |
//! |---|---|---|
//! | 4k + h for k = 0..5 | read, write, read with value, write with value, acquire, release | low eight bits of the id (u8), whose next two bits are h; value |
//! | 24 + k | the same six | id (varint), value |
//! | 30 | any other | its number (u8, see the table in the source), ids (varint each), permits (u32), memory order (u8), values |
//! | 31 | a definition, no event; PLACE and OTHER are 0 and there is no place | table (u8), length (varint), UTF-8 text |
//!
//! A *value* is a varint: twice a natural number, or one more than twice the index of a symbol. A *place* is the
//! event's location, where natural numbers count as themselves and symbol number i as 2^31 + i. Programs repeat
//! themselves, so two guesses are made from what came before, and most events need no byte for their place:
//!
//! | PLACE | location | bytes |
//! |---|---|---|
//! | 0 | that of the thread's last event (0 before its first) plus the difference that was last seen after a location with the same lowest twelve bits, in whatever thread (at first: 1) | none |
//! | 1 | that of the last event with the same CODE and the same first byte of operands (at first: 0) | none |
//! | 2 | that of the thread's last event plus a zig-zag difference | one |
//! | 3 | the same | varint |
//!
//! Definitions number the names of each table from 0 on: 0 threads, 1 variables (a text that comes again is its next
//! generation), 2 locks, 3 semaphores, 4 conditions, 5 barriers, 6 labels, 7 symbols (locations and values that are no
//! natural number below 2^31). A name is defined before its first use.

mod places;
mod read;
mod record;
mod write;

pub use self::read::BinaryReader;
pub use self::write::BinaryWriter;

/// How every recording begins. Chosen so that a transfer which changes line ends or drops the eighth bit destroys it.
pub(crate) const MAGIC: [u8; 8] = *b"\x89ftr\r\n\x1a\n";

/// The layout described above.
const VERSION: u32 = 1;

/// The writer closes a block once its payload is this long.
const BLOCK: usize = 1 << 16;

/// The longest name: together with a full block it stays well below what a block's length can say.
const NAME_LIMIT: usize = 1 << 23;

const BLOCK_HEADER: usize = 12;
const RECORDS: u8 = 1;
const END: u8 = 2;
const DEPENDENCE: u8 = 3;
const STEPS_MADE: u8 = 4;
const VALUES: u8 = 5;
const TITLES: u8 = 6;

/// No event is longer; behind its last record a block is padded so far, so that events need no check of each byte.
const WINDOW: usize = 32;

/// How many locations the first guess of a place tells apart.
const STEPS: usize = 1 << 12;
/// How many codes with first bytes of operands the second guess tells apart: all.
const TARGETS: usize = 1 << 13;

/// How a place is written.
mod place {
    pub(super) const LIKE_LAST_STEP: u8 = 0;
    pub(super) const LIKE_LAST_TARGET: u8 = 1;
    pub(super) const BYTE: u8 = 2;
    pub(super) const VARINT: u8 = 3;
}

const OTHER_THREAD: u8 = 4;
const CODE_LONG: u8 = 24;
const CODE_OTHER: u8 = 30;
const CODE_DEFINE: u8 = 31;

/// The six operations that have codes of their own.
mod common {
    pub(super) const READ: u8 = 0;
    pub(super) const WRITE: u8 = 1;
    pub(super) const READ_VALUE: u8 = 2;
    pub(super) const WRITE_VALUE: u8 = 3;
    pub(super) const ACQUIRE: u8 = 4;
    pub(super) const RELEASE: u8 = 5;
}

/// The numbers of all other operations.
mod number {
    pub(super) const LOAD: u8 = 0;
    pub(super) const STORE: u8 = 1;
    pub(super) const RMW: u8 = 2;
    pub(super) const FENCE: u8 = 3;
    pub(super) const ACQUIRE_AGAIN: u8 = 4;
    pub(super) const RELEASE_AGAIN: u8 = 5;
    pub(super) const ACQUIRE_SHARED: u8 = 6;
    pub(super) const RELEASE_SHARED: u8 = 7;
    pub(super) const ACQUIRE_SHARED_AGAIN: u8 = 8;
    pub(super) const RELEASE_SHARED_AGAIN: u8 = 9;
    pub(super) const TRY_ACQUIRE_FAILED: u8 = 10;
    pub(super) const TRY_ACQUIRE_SHARED_FAILED: u8 = 11;
    pub(super) const FORK: u8 = 12;
    pub(super) const JOIN: u8 = 13;
    pub(super) const BEGIN: u8 = 14;
    pub(super) const END: u8 = 15;
    pub(super) const BRANCH: u8 = 16;
    pub(super) const SEM_INIT: u8 = 17;
    pub(super) const SEM_WAIT: u8 = 18;
    pub(super) const SEM_POST: u8 = 19;
    pub(super) const WAIT: u8 = 20;
    pub(super) const WOKEN: u8 = 21;
    pub(super) const WAIT_TIMEOUT: u8 = 22;
    pub(super) const NOTIFY: u8 = 23;
    pub(super) const NOTIFY_ALL: u8 = 24;
    pub(super) const ARRIVE: u8 = 25;
    pub(super) const DEPART: u8 = 26;
    pub(super) const ALLOC: u8 = 27;
    pub(super) const FREE: u8 = 28;
    pub(super) const ENTER: u8 = 29;
    pub(super) const EXIT: u8 = 30;
    pub(super) const DUMMY: u8 = 31;
    pub(super) const TRY_ACQUIRE: u8 = 32;
    pub(super) const TRY_ACQUIRE_SHARED: u8 = 33;
}

/// In the memory order's byte: the value that was read (or the only one) follows, and the one that was written.
const HAS_FIRST: u8 = 8;
const HAS_SECOND: u8 = 16;

/// The tables of names.
#[derive(Clone, Copy)]
enum Table {
    Threads,
    Vars,
    Locks,
    Sems,
    Conds,
    Barriers,
    Labels,
    Symbols,
}
