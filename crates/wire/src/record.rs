//! What a thread of the program did, one record each, in the order in which it did it.
//!
//! A record is one byte that tells its kind, never zero, and numbers after it. A site is written as the step from the
//! one of the record before, an address as the step from what the same site accessed before: programs walk in small
//! steps. So a record can only be read after those before it in the same chunk of the log. Most records are plain
//! accesses; these have a form of their own, see [`crate::pack`].
//!
//! Every record has a clock: one more than that of the record before, unless [`Record::Clock`] or [`Record::Ahead`]
//! stands between them. Records of several threads are in the order of their clocks.

use std::sync::atomic::{Ordering, compiler_fence};

use crate::Malformed;
use crate::holders::HoldMode;
use crate::hook::MemoryOrder;
use crate::pack;
use crate::varint::{LONGEST, follow, put, step, take};

/// No record is longer, not counting the bytes that it carries.
pub const LONGEST_RECORD: usize = 2 + 6 * LONGEST;

/// One thing that a thread did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "sites and addresses; see the hooks for the rest")]
pub enum Record<'a> {
    /// The clock of the next record. No record of its own.
    Clock(u64),
    /// The clock of the next record is by so much more than it would be. No record of its own.
    Ahead(u64),
    /// A plain load of 1, 2, 4 or 8 bytes.
    Read { site: u64, addr: u64, size: u8, value: u64 },
    /// A plain store.
    Write { site: u64, addr: u64, size: u8, value: u64 },
    /// An atomic load.
    AtomicLoad { site: u64, addr: u64, size: u8, value: u64, order: MemoryOrder },
    /// An atomic store.
    AtomicStore { site: u64, addr: u64, size: u8, value: u64, order: MemoryOrder },
    /// An atomic read-modify-write that wrote.
    Rmw { site: u64, addr: u64, size: u8, read: u64, written: u64, order: MemoryOrder },
    /// A load of any size.
    ReadRange { site: u64, addr: u64, bytes: &'a [u8] },
    /// Bytes that were read one after the other: each decided whether to go on to the next.
    Scan { site: u64, addr: u64, bytes: &'a [u8] },
    /// A store of any size.
    WriteRange { site: u64, addr: u64, bytes: &'a [u8] },
    /// Bytes that were read in one place, then written to another.
    Copy { site: u64, to: u64, from: u64, bytes: &'a [u8] },
    /// The same byte was written so many times.
    Fill { site: u64, addr: u64, byte: u8, length: u64 },
    /// A memory fence.
    Fence { order: MemoryOrder },
    /// What the thread has read decides what it does next.
    /// If it is a branch or a switch, this is the value that it went by.
    Branch { site: u64, by: Option<u64> },
    /// Something happened that the recorder does not understand: it may have communicated with any other thread.
    Opaque { site: u64 },
    /// What follows happened within a call that was made there.
    Enter { site: u64 },
    /// What follows happened after so many of these calls have ended.
    Exit { calls: u32 },
    /// Synchronisation, or the life of a thread or of memory.
    Sync { site: u64, op: SyncOp, object: u64, other: u64 },
}

impl Record<'_> {
    /// Whether it is a step of its thread: something that others could notice, and that the thread does in every run
    /// in which it goes the same way. So the steps of a thread can be counted, and the same one is found again by its
    /// number. Decisions and calls are none, for whether they are recorded depends on when the thread hands over; nor
    /// is memory that comes and goes, since libraries allocate for the thread that comes first; nor is to leave a
    /// barrier, which the last one to come tells for all.
    pub fn is_step(&self) -> bool {
        match self {
            Record::Read { .. }
            | Record::Write { .. }
            | Record::AtomicLoad { .. }
            | Record::AtomicStore { .. }
            | Record::Rmw { .. }
            | Record::ReadRange { .. }
            | Record::Scan { .. }
            | Record::WriteRange { .. }
            | Record::Copy { .. }
            | Record::Fill { .. }
            | Record::Fence { .. } => true,
            Record::Sync { op, .. } => !matches!(
                op,
                SyncOp::Alloc
                    | SyncOp::Free
                    | SyncOp::Shared
                    | SyncOp::Depart
                    | SyncOp::LocalEnd
                    | SyncOp::Name
                    | SyncOp::Part
                    | SyncOp::Object
            ),
            Record::Clock(_)
            | Record::Ahead(_)
            | Record::Branch { .. }
            | Record::Opaque { .. }
            | Record::Enter { .. }
            | Record::Exit { .. } => false,
        }
    }

    /// How many bytes of the program's memory it carries.
    pub fn carried(&self) -> usize {
        match self {
            Record::ReadRange { bytes, .. }
            | Record::Scan { bytes, .. }
            | Record::WriteRange { bytes, .. }
            | Record::Copy { bytes, .. } => bytes.len(),
            _ => 0,
        }
    }

    /// Whether it covers more memory at once than can be distinguished, so that it is not known what happens there.
    pub fn is_vague(&self) -> bool {
        matches!(*self, Record::Fill { length, .. } if length > LONGEST_FILL)
    }
}

/// The end of larger local variables is not recorded: there is too much to look at.
pub const LARGEST_LOCAL: u64 = 1 << 12;

/// More bytes at once are not distinguished.
const LONGEST_FILL: u64 = 1 << 22;

macro_rules! sync_ops {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// Operations on objects that are named by their address (threads: by their number).
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum SyncOp { $($(#[$doc])* $name = $code,)* }

        impl SyncOp {
            fn from_code(code: u8) -> Result<SyncOp, Malformed> {
                match code {
                    $($code => Ok(SyncOp::$name),)*
                    _ => Err(Malformed),
                }
            }
        }
    };
}

/// The object of [`SyncOp::End`] where the process is about to end.
pub const EXIT: u64 = 1;

sync_ops! {
    /// The thread begins; object and other are the bounds of its stack.
    Begin = 0,
    /// The thread ends; or it has called `exit`, if the object is [`EXIT`], and may still run handlers and
    /// destructors.
    End = 1,
    /// Starts the thread with this number.
    Fork = 2,
    /// The thread with this number has ended.
    Join = 3,
    /// Holds the lock alone from now on.
    Lock = 4,
    /// Holds the lock together with other readers from now on.
    LockShared = 5,
    /// Gives the lock up, however it was held.
    Unlock = 6,
    /// Could not have the lock alone.
    TryFailed = 7,
    /// Could not have the lock even as a reader.
    TrySharedFailed = 8,
    /// Gives up the lock (other) and waits for the condition (object).
    Wait = 9,
    /// Was notified and holds the lock again.
    Woken = 10,
    /// Was not notified and holds the lock again.
    TimedOut = 11,
    /// Wakes one waiter.
    Notify = 12,
    /// Wakes all waiters.
    NotifyAll = 13,
    /// A semaphore with so many permits (other).
    SemInit = 14,
    /// Takes a permit.
    SemWait = 15,
    /// Gives a permit.
    SemPost = 16,
    /// Comes to a barrier. The other is twice the number of the barrier, which is another one each time that one is
    /// made; and one more if the thread learns whether it is the leader.
    Arrive = 17,
    /// Leaves a barrier.
    Depart = 18,
    /// So many bytes (other) of memory from this address on are new.
    Alloc = 19,
    /// The memory that was allocated at this address is given back.
    Free = 20,
    /// So many bytes (other) of memory from this address on have other addresses as well, or are seen by other
    /// processes.
    Shared = 21,
    /// So many bytes (other) of the thread's own stack from this address on are given up: a local variable is no
    /// more.
    LocalEnd = 22,
    /// A half of the name of a thread, see [`crate::thread_name`]. No step, and nothing that another thread notices.
    Name = 23,
    /// So many bytes (other) of memory from this address on are new. They are a part of what a library has allocated
    /// before, and had another purpose until it took them back, unrecorded.
    Part = 24,
    /// As [`SyncOp::Lock`], but the thread would not have waited without end.
    TryLock = 25,
    /// As [`SyncOp::LockShared`], but the thread would not have waited without end.
    TryLockShared = 26,
    /// So many bytes (other) of memory from this address on are an object of a managed heap. It has held zeros from the
    /// beginning of the run, as the memory model of Java has it. The site tells what type it is of.
    Object = 27,
}

impl SyncOp {
    /// How the thread holds the lock (object) from now on, if it takes one.
    pub fn takes(self) -> Option<HoldMode> {
        match self {
            SyncOp::Lock | SyncOp::TryLock => Some(HoldMode::Alone),
            SyncOp::LockShared | SyncOp::TryLockShared => Some(HoldMode::Shared),
            _ => None,
        }
    }

    /// The same by who waits no longer than until a deadline, if there is one.
    #[must_use]
    pub fn in_time(self, has_deadline: bool) -> SyncOp {
        match self {
            SyncOp::Lock if has_deadline => SyncOp::TryLock,
            SyncOp::LockShared if has_deadline => SyncOp::TryLockShared,
            op => op,
        }
    }
}

/// The kinds of records; those with sizes take four numbers each, one per power of two.
pub(crate) mod kind {
    pub(crate) const CLOCK: u8 = 1;
    pub(crate) const AHEAD: u8 = 2;
    pub(crate) const SCAN: u8 = 3;
    pub(crate) const READ: u8 = 4;
    pub(crate) const WRITE: u8 = 8;
    pub(crate) const ATOMIC_LOAD: u8 = 12;
    pub(crate) const ATOMIC_STORE: u8 = 16;
    pub(crate) const RMW: u8 = 20;
    pub(crate) const READ_RANGE: u8 = 24;
    pub(crate) const WRITE_RANGE: u8 = 25;
    pub(crate) const COPY: u8 = 26;
    pub(crate) const FILL: u8 = 27;
    pub(crate) const FENCE: u8 = 28;
    pub(crate) const BRANCH: u8 = 29;
    pub(crate) const OPAQUE: u8 = 30;
    pub(crate) const ENTER: u8 = 31;
    pub(crate) const EXIT: u8 = 32;
    pub(crate) const BRANCH_BY_0: u8 = 33;
    pub(crate) const BRANCH_BY_1: u8 = 34;
    pub(crate) const BRANCH_BY: u8 = 35;
    pub(crate) const EXIT_ONE: u8 = 36;
    pub(crate) const SYNC: u8 = 48;
    pub(crate) const SHORT_ENTER: u8 = 88;

    const _: () = assert!(SYNC + (super::SyncOp::Object as u8) < SHORT_ENTER && EXIT_ONE < SYNC);

    /// The kind of a decision, if that tells everything beside the site.
    #[inline(always)]
    pub(crate) fn of_branch(by: Option<u64>) -> Option<u8> {
        match by {
            None => Some(BRANCH),
            Some(0) => Some(BRANCH_BY_0),
            Some(1) => Some(BRANCH_BY_1),
            Some(_) => None,
        }
    }
}

/// Whether a record that begins with this byte is no record of its own, but tells the clock of the next one.
#[inline]
pub fn tells_clock(kind: u8) -> bool {
    matches!(kind, kind::CLOCK | kind::AHEAD)
}

/// For so many sites it is remembered what they accessed last; sites with the same remainder share a place.
pub const REMEMBERED: usize = 64;

/// What the next record is relative to. Every chunk of the log begins with [`Context::NEW`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Context {
    /// What sites accessed last. Stands first, for instrumented code looks there.
    addrs: [u64; REMEMBERED],
    /// The site of the last record that tells it as a step.
    pub(crate) site: u64,
    /// The segment of short records, see [`crate::pack`].
    pub(crate) segment: u64,
}

/// Writes numbers one after the other.
struct Put<'a> {
    out: &'a mut [u8],
    length: usize,
    kind: u8,
}

impl Put<'_> {
    /// The kind, which is written last: a record without it is not there yet.
    fn finish(self) -> usize {
        compiler_fence(Ordering::Release);
        self.out[0] = self.kind;
        self.length
    }

    #[inline]
    fn byte(&mut self, byte: u8) {
        self.out[self.length] = byte;
        self.length += 1;
    }

    #[inline]
    fn number(&mut self, number: u64) {
        self.length += put(number, &mut self.out[self.length..]);
    }

    #[inline]
    fn step(&mut self, last: &mut u64, next: u64) {
        self.number(step(*last, next));
        *last = next;
    }
}

impl Context {
    /// What the first record of a piece is relative to.
    pub const NEW: Context = Context { addrs: [0; REMEMBERED], site: 0, segment: 0 };

    /// The segment of sites whose accesses are short.
    #[inline(always)]
    pub fn segment(&self) -> u64 {
        self.segment
    }

    /// An access at this site that is not short.
    #[inline]
    pub(crate) fn visit(&mut self, site: u64) {
        self.site = site;
        self.segment = pack::segment(site);
    }

    /// What a site accessed last.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the remainder is what is wanted")]
    pub(crate) fn addr_at(&mut self, site: u64) -> &mut u64 {
        &mut self.addrs[site as usize % REMEMBERED]
    }

    /// What the last site accessed last.
    #[inline]
    pub(crate) fn last_addr(&mut self) -> &mut u64 {
        self.addr_at(self.site)
    }

    /// Writes the record to the beginning of `out`, which has room for [`LONGEST_RECORD`] bytes and the bytes that
    /// the record carries. Returns how many bytes it took.
    #[inline]
    pub fn encode(&mut self, record: &Record<'_>, out: &mut [u8]) -> usize {
        let mut to = Put { out, length: 1, kind: 0 };
        match *record {
            Record::Clock(clock) => {
                to.kind = kind::CLOCK;
                to.number(clock);
            }
            Record::Ahead(steps) => {
                to.kind = kind::AHEAD;
                to.number(steps);
            }
            Record::Read { site, addr, size, value } => {
                self.access(&mut to, kind::READ, site, addr, size);
                to.number(value);
            }
            Record::Write { site, addr, size, value } => {
                self.access(&mut to, kind::WRITE, site, addr, size);
                to.number(value);
            }
            Record::AtomicLoad { site, addr, size, value, order } => {
                self.access(&mut to, kind::ATOMIC_LOAD, site, addr, size);
                to.number(value);
                to.byte(order as u8);
            }
            Record::AtomicStore { site, addr, size, value, order } => {
                self.access(&mut to, kind::ATOMIC_STORE, site, addr, size);
                to.number(value);
                to.byte(order as u8);
            }
            Record::Rmw { site, addr, size, read, written, order } => {
                self.access(&mut to, kind::RMW, site, addr, size);
                to.number(read);
                to.number(written);
                to.byte(order as u8);
            }
            Record::ReadRange { site, addr, bytes } => {
                self.access(&mut to, kind::READ_RANGE, site, addr, 1);
                put_bytes(&mut to, bytes);
            }
            Record::Scan { site, addr, bytes } => {
                self.access(&mut to, kind::SCAN, site, addr, 1);
                put_bytes(&mut to, bytes);
            }
            Record::WriteRange { site, addr, bytes } => {
                self.access(&mut to, kind::WRITE_RANGE, site, addr, 1);
                put_bytes(&mut to, bytes);
            }
            Record::Copy { site, to: target, from, bytes } => {
                self.access(&mut to, kind::COPY, site, from, 1);
                to.step(self.last_addr(), target);
                put_bytes(&mut to, bytes);
            }
            Record::Fill { site, addr, byte, length } => {
                self.access(&mut to, kind::FILL, site, addr, 1);
                to.byte(byte);
                to.number(length);
            }
            Record::Fence { order } => {
                to.kind = kind::FENCE;
                to.byte(order as u8);
            }
            Record::Branch { site, by } => {
                let short = kind::of_branch(by);
                to.kind = short.unwrap_or(kind::BRANCH_BY);
                to.step(&mut self.site, site);
                if short.is_none() {
                    to.number(by.unwrap_or(0));
                }
            }
            Record::Opaque { site } => {
                to.kind = kind::OPAQUE;
                to.step(&mut self.site, site);
            }
            Record::Enter { site } if pack::segment(site) == self.segment => {
                let [kind, rest] = pack::enter_head(site).to_le_bytes();
                to.kind = kind;
                to.byte(rest);
            }
            Record::Enter { site } => {
                to.kind = kind::ENTER;
                to.step(&mut self.site, site);
            }
            Record::Exit { calls: 1 } => to.kind = kind::EXIT_ONE,
            Record::Exit { calls } => {
                to.kind = kind::EXIT;
                to.number(u64::from(calls));
            }
            Record::Sync { site, op, object, other } => {
                to.kind = kind::SYNC + op as u8;
                to.step(&mut self.site, site);
                to.step(self.last_addr(), object);
                to.number(other);
            }
        }
        to.finish()
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the logarithm of a size is at most 3")]
    fn access(&mut self, to: &mut Put<'_>, kind: u8, site: u64, addr: u64, size: u8) {
        to.kind = kind + size.trailing_zeros() as u8;
        to.step(&mut self.site, site);
        self.visit(site);
        to.step(self.last_addr(), addr);
    }

    /// Takes the next record from the beginning of `bytes`.
    pub fn decode<'a>(&mut self, bytes: &mut &'a [u8]) -> Result<Record<'a>, Malformed> {
        let kind = byte(bytes)?;
        if pack::is_packed(kind) {
            return self.unpack(kind, bytes);
        }
        if let Some(high) = kind.checked_sub(kind::SHORT_ENTER) {
            return Ok(Record::Enter { site: self.in_segment(high, byte(bytes)?) });
        }
        if let Some(op) = kind.checked_sub(kind::SYNC) {
            let op = SyncOp::from_code(op)?;
            let (site, object) = (self.next_site(bytes)?, self.next_addr(bytes)?);
            return Ok(Record::Sync { site, op, object, other: take(bytes)? });
        }
        match kind {
            kind::CLOCK => Ok(Record::Clock(take(bytes)?)),
            kind::AHEAD => Ok(Record::Ahead(take(bytes)?)),
            kind::FENCE => Ok(Record::Fence { order: MemoryOrder::from_code(byte(bytes)?) }),
            kind::BRANCH => Ok(Record::Branch { site: self.next_site(bytes)?, by: None }),
            kind::BRANCH_BY_0 => Ok(Record::Branch { site: self.next_site(bytes)?, by: Some(0) }),
            kind::BRANCH_BY_1 => Ok(Record::Branch { site: self.next_site(bytes)?, by: Some(1) }),
            kind::BRANCH_BY => Ok(Record::Branch { site: self.next_site(bytes)?, by: Some(take(bytes)?) }),
            kind::OPAQUE => Ok(Record::Opaque { site: self.next_site(bytes)? }),
            kind::ENTER => Ok(Record::Enter { site: self.next_site(bytes)? }),
            kind::EXIT => Ok(Record::Exit { calls: small(bytes)? }),
            kind::EXIT_ONE => Ok(Record::Exit { calls: 1 }),
            kind::READ..kind::READ_RANGE => self.sized(kind, bytes),
            kind::SCAN | kind::READ_RANGE..=kind::FILL => self.range(kind, bytes),
            _ => Err(Malformed),
        }
    }

    fn sized<'a>(&mut self, kind: u8, bytes: &mut &'a [u8]) -> Result<Record<'a>, Malformed> {
        let site = self.next_site(bytes)?;
        self.visit(site);
        let (addr, size) = (self.next_addr(bytes)?, 1 << (kind & 3));
        let value = take(bytes)?;
        Ok(match kind & !3 {
            kind::READ => Record::Read { site, addr, size, value },
            kind::WRITE => Record::Write { site, addr, size, value },
            kind::ATOMIC_LOAD => {
                Record::AtomicLoad { site, addr, size, value, order: MemoryOrder::from_code(byte(bytes)?) }
            }
            kind::ATOMIC_STORE => {
                Record::AtomicStore { site, addr, size, value, order: MemoryOrder::from_code(byte(bytes)?) }
            }
            _ => {
                let written = take(bytes)?;
                let order = MemoryOrder::from_code(byte(bytes)?);
                Record::Rmw { site, addr, size, read: value, written, order }
            }
        })
    }

    fn range<'a>(&mut self, kind: u8, bytes: &mut &'a [u8]) -> Result<Record<'a>, Malformed> {
        let site = self.next_site(bytes)?;
        self.visit(site);
        let addr = self.next_addr(bytes)?;
        Ok(match kind {
            kind::READ_RANGE => Record::ReadRange { site, addr, bytes: take_bytes(bytes)? },
            kind::SCAN => Record::Scan { site, addr, bytes: take_bytes(bytes)? },
            kind::WRITE_RANGE => Record::WriteRange { site, addr, bytes: take_bytes(bytes)? },
            kind::COPY => {
                let to = self.next_addr(bytes)?;
                Record::Copy { site, to, from: addr, bytes: take_bytes(bytes)? }
            }
            _ => Record::Fill { site, addr, byte: byte(bytes)?, length: take(bytes)? },
        })
    }

    fn next_site(&mut self, bytes: &mut &[u8]) -> Result<u64, Malformed> {
        self.site = follow(self.site, take(bytes)?);
        Ok(self.site)
    }

    fn next_addr(&mut self, bytes: &mut &[u8]) -> Result<u64, Malformed> {
        let last = self.last_addr();
        *last = follow(*last, take(bytes)?);
        Ok(*last)
    }
}

fn put_bytes(to: &mut Put<'_>, bytes: &[u8]) {
    to.number(bytes.len() as u64);
    to.out[to.length..to.length + bytes.len()].copy_from_slice(bytes);
    to.length += bytes.len();
}

fn take_bytes<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8], Malformed> {
    let length = usize::try_from(take(bytes)?).map_err(|_| Malformed)?;
    let (taken, rest) = bytes.split_at_checked(length).ok_or(Malformed)?;
    *bytes = rest;
    Ok(taken)
}

fn small(bytes: &mut &[u8]) -> Result<u32, Malformed> {
    u32::try_from(take(bytes)?).map_err(|_| Malformed)
}

fn byte(bytes: &mut &[u8]) -> Result<u8, Malformed> {
    let (&first, rest) = bytes.split_first().ok_or(Malformed)?;
    *bytes = rest;
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back() {
        let (site, addr, order) = (0x5555_0001, 0x7fff_1234_5678, MemoryOrder::AcqRel);
        let records = [
            Record::Clock(3),
            Record::Ahead(1 << 40),
            Record::Read { site, addr, size: 4, value: 7 },
            Record::Write { site: site + 1, addr: addr + 4, size: 8, value: u64::MAX },
            Record::AtomicLoad { site, addr, size: 1, value: 1, order: MemoryOrder::Acquire },
            Record::AtomicStore { site, addr, size: 2, value: 1, order: MemoryOrder::SeqCst },
            Record::Rmw { site, addr, size: 8, read: 1, written: 2, order },
            Record::ReadRange { site, addr, bytes: b"sixteen bytes ..." },
            Record::Scan { site, addr: addr + 1, bytes: b"text" },
            Record::WriteRange { site, addr, bytes: b"" },
            Record::Copy { site, to: 1, from: addr, bytes: b"abc" },
            Record::Fill { site: 0, addr, byte: 255, length: 1 << 40 },
            Record::Fence { order },
            Record::Branch { site, by: None },
            Record::Branch { site, by: Some(0) },
            Record::Branch { site, by: Some(1) },
            Record::Branch { site: site + 1, by: Some(u64::MAX) },
            Record::Opaque { site },
            Record::Enter { site: site + 9 },
            Record::Enter { site: site + 8 },
            Record::Enter { site: site ^ 0x4_0000_0000 },
            Record::Exit { calls: 1 },
            Record::Exit { calls: u32::MAX },
            Record::Sync { site, op: SyncOp::Free, object: addr, other: 0 },
            Record::Sync { site, op: SyncOp::Begin, object: 1, other: u64::MAX },
        ];
        let (mut out, mut context) = (Vec::new(), Context::NEW);
        for record in &records {
            let mut room = [0; LONGEST_RECORD + 32];
            let length = context.encode(record, &mut room);
            assert!(length <= LONGEST_RECORD + record.carried());
            out.extend_from_slice(&room[..length]);
        }
        let (mut rest, mut context) = (out.as_slice(), Context::NEW);
        for record in &records {
            assert_eq!(context.decode(&mut rest), Ok(*record));
        }
        assert!(rest.is_empty());
        assert_eq!(context.decode(&mut &out[..0]), Err(Malformed));
    }

    #[test]
    fn a_walk_through_an_array_is_small() {
        let mut context = Context::NEW;
        let mut room = [0; LONGEST_RECORD];
        let record = |k: u64| Record::Read { site: 0x5555_0001, addr: 0x1000 + 4 * k, size: 4, value: k };
        context.encode(&record(0), &mut room);
        assert!(context.encode(&record(1), &mut room) <= 4);
    }
}
