//! The records of one thread on their way into its chunk of the log.

use std::mem::offset_of;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, compiler_fence};

use foretell_online::ShortRecord;
use foretell_wire::hook::front;
use foretell_wire::log::{Chunk, ChunkContent, HEADER, PAGE};
use foretell_wire::pack::Packed;
use foretell_wire::record::{Context, LONGEST_RECORD, Record};

use crate::detect;
use crate::file;
use crate::signals;
use crate::system::without_signals;

/// What a thread writes to. It stays in the caches.
const CHUNK: usize = 64 << 10;
/// So many bytes of memory go into one record at most; longer ranges are several records.
pub const LONGEST_RANGE: usize = 1 << 12;
/// Room for any record that carries no bytes, for the clock before it, and for what is written too far.
const ROOM: usize = 2 * LONGEST_RECORD + size_of::<Packed>();

/// Generations are multiples of this, above all addresses of programs. There are so few that they come again: see
/// [`LogWriter::forget_seen`].
const FIRST_GENERATION: u64 = 1 << 48;

/// The accesses that the detector has seen, see [`front::SEEN`].
pub type Seen = [u64; SEEN];
#[expect(clippy::cast_possible_truncation, reason = "there are some thousands")]
const SEEN: usize = (front::KEPT * front::KINDS) as usize;

const _: () = assert!(HEADER.is_multiple_of(align_of::<ShortRecord>()) && size_of::<ShortRecord>() < ROOM);

/// The clock with which the next turn begins, where threads take turns.
static TURN_CLOCK: AtomicU64 = AtomicU64::new(1);

/// Writes what one thread does; touched by that thread alone, but for `limit`, and `inside`, where others may look.
/// Instrumented code knows how it begins.
#[repr(C)]
pub struct LogWriter {
    /// Where the next record goes.
    cursor: usize,
    /// The end of the room in the chunk.
    end: usize,
    /// How much the thread has done, see [`front::TIME`]: turns are counted in this, and it is the same whether
    /// anything is recorded or not.
    time: u64,
    /// At which time the thread has to look up before it records on: at the end of its quantum, or at once. Only
    /// whose turn it is may write on without looking up.
    limit: AtomicU64,
    /// The same, where races are looked for instead, and no handler of a signal can come in between. One of the two
    /// is 0.
    watch: AtomicU64,
    /// Where the stack ended when the thread came into our code, or began to write here by itself: whatever happens
    /// further down is not the program's doing. 0 if it does neither.
    inside: AtomicUsize,
    /// The segment of the context, if the log knows the calls that the thread is in; 0 if not.
    open: u64,
    /// What the detector has seen, see [`front::SEEN`]; nothing where there is none.
    seen: *mut Seen,
    /// When it has seen what counts, see [`front::GENERATION`].
    generation: u64,
    context: Context,
    /// When the quantum ends.
    until: u64,
    /// At which time the thread has to look up, whatever it may do by itself: at the end of its quantum, or at once.
    calm: AtomicU64,
    /// Where the last recorded decision ends.
    decided: usize,
    /// The chunk, mapped from the log.
    chunk: *mut u8,
    /// Up to where the detector has seen the records, if there is one.
    shown: usize,
    /// Whose records these are.
    thread: u32,
    /// The log could not be written, so the chunk is none.
    is_lost: bool,
    /// The clock at a moment, and where the cursor was then. A record has at least one byte, so that the clock is not
    /// beyond the sum of this and of the bytes since.
    since: (u64, usize),
    /// The clock of the next record; counted only where threads run in parallel.
    pub clock: u64,
    /// How many steps were put here, see [`Record::is_step`]. Those that the program writes itself are not counted.
    pub steps: u64,
}

const _: () = {
    let start = front::CURSOR;
    assert!(offset_of!(LogWriter, cursor) == 0);
    assert!(start + offset_of!(LogWriter, end) as u64 == front::END);
    assert!(start + offset_of!(LogWriter, time) as u64 == front::TIME);
    assert!(start + offset_of!(LogWriter, limit) as u64 == front::LIMIT);
    assert!(start + offset_of!(LogWriter, watch) as u64 == front::WATCH);
    assert!(start + offset_of!(LogWriter, inside) as u64 == front::INSIDE);
    assert!(start + offset_of!(LogWriter, open) as u64 == front::OPEN);
    assert!(start + offset_of!(LogWriter, seen) as u64 == front::SEEN);
    assert!(start + offset_of!(LogWriter, generation) as u64 == front::GENERATION);
    assert!(start + offset_of!(LogWriter, context) as u64 == front::ADDRS);
};

impl LogWriter {
    /// The writer of a thread, which has no room yet.
    pub fn new(thread: u32) -> LogWriter {
        LogWriter {
            cursor: 0,
            end: 0,
            time: 0,
            limit: AtomicU64::new(0),
            watch: AtomicU64::new(0),
            // A thread begins in our code, further out than any jump can lead.
            inside: AtomicUsize::new(usize::MAX),
            open: 0,
            seen: std::ptr::null_mut(),
            generation: FIRST_GENERATION,
            context: Context::NEW,
            until: 0,
            calm: AtomicU64::new(0),
            decided: 0,
            chunk: std::ptr::null_mut(),
            shown: 0,
            thread,
            is_lost: false,
            since: (0, 0),
            clock: 1,
            steps: 0,
        }
    }

    /// Whether the thread is in our code.
    #[inline(always)]
    pub fn is_inside(&self) -> bool {
        self.entered().is_some()
    }

    /// Where the stack ended when the thread came into our code, if it is there.
    #[inline(always)]
    pub fn entered(&self) -> Option<usize> {
        let entered = self.inside.load(Ordering::Relaxed);
        (entered != 0).then_some(entered)
    }

    /// The thread comes into our code, and the stack ends here.
    #[inline(always)]
    pub fn enter(&self, stack: usize) {
        self.inside.store(stack, Ordering::Relaxed);
    }

    /// The thread leaves our code.
    #[inline(always)]
    pub fn leave(&self) {
        self.inside.store(0, Ordering::Relaxed);
    }

    /// The calls have changed: that is recorded before anything else.
    #[inline(always)]
    pub fn close(&mut self) {
        self.open = 0;
    }

    /// Whether anything was recorded since the last decision.
    #[inline(always)]
    pub fn is_undecided(&self) -> bool {
        self.cursor != self.decided
    }

    /// Whether the thread may go on without looking up.
    #[inline(always)]
    pub fn may_go_on(&self) -> bool {
        self.time < self.calm.load(Ordering::Relaxed)
    }

    /// Whether the thread may go on without looking up, and what it does is shown to the detector at once.
    #[inline(always)]
    pub fn may_watch(&self) -> bool {
        self.time < self.watch.load(Ordering::Relaxed)
    }

    /// Something was done that takes time, and is not recorded here.
    #[inline(always)]
    pub fn tick(&mut self) {
        self.time += 1;
    }

    /// The thread may do so much before its quantum is over.
    pub fn set_quantum(&mut self, steps: u32) {
        self.until = self.time + u64::from(steps);
        self.allow();
    }

    /// Whether the quantum is over. If not, the thread may go on.
    pub fn quantum_is_over(&mut self) -> bool {
        let is_over = self.time >= self.until;
        if !is_over {
            self.allow();
        }
        is_over
    }

    /// The thread may go on until the end of its quantum. It is inside, so no thread stops it meanwhile.
    fn allow(&mut self) {
        self.calm.store(self.until, Ordering::Relaxed);
        if !detect::is_on() {
            self.limit.store(self.until, Ordering::Relaxed);
        } else if !signals::may_break_in() {
            self.show();
            if self.seen.is_null() {
                self.seen = detect::nothing_seen();
            }
            if !self.seen.is_null() {
                self.watch.store(self.until, Ordering::Relaxed);
            }
        }
    }

    /// The thread has to look up before it does anything else. Any thread may say so.
    pub fn stop(&self) {
        self.limit.store(0, Ordering::Relaxed);
        self.watch.store(0, Ordering::Relaxed);
        self.calm.store(0, Ordering::SeqCst);
    }

    /// Whether a thread has said so.
    pub fn is_stopped(&self) -> bool {
        self.calm.load(Ordering::SeqCst) == 0
    }

    /// How much the thread has done.
    pub fn time(&self) -> u64 {
        self.time
    }

    /// How far it has come: to be compared only.
    pub fn position(&self) -> u64 {
        self.time.wrapping_add(self.cursor as u64)
    }

    /// A plain access, with room for it; says whether it is short.
    #[inline(always)]
    fn short(&mut self, writes: bool, size: u32, site: u64, addr: u64, value: u64) -> bool {
        let Some(short) = self.context.short(writes, size, site, addr, value) else { return false };
        let at = self.cursor as *mut u8;
        // SAFETY: there is room for it. The kind is among the first bytes, and these are written last.
        unsafe { at.add(4).cast::<u64>().write_unaligned(value.to_le()) };
        compiler_fence(Ordering::Release);
        // SAFETY: there is room for it, see above.
        unsafe { at.cast::<u32>().write_unaligned(short.first.to_le()) };
        self.cursor += short.length;
        true
    }

    /// A decision, with room for it; says whether it is short.
    #[inline(always)]
    pub fn short_branch(&mut self, site: u64, by: Option<u64>) -> bool {
        let Some(short) = self.context.short_branch(site, by) else { return false };
        // SAFETY: there is room for it.
        unsafe { (self.cursor as *mut u32).write_unaligned(short.first.to_le()) };
        self.cursor += short.length;
        self.decided = self.cursor;
        true
    }

    /// Any plain access, in calls that the log knows.
    pub fn access(&mut self, writes: bool, size: u32, site: u64, addr: u64, value: u64) {
        self.make_room(0);
        if detect::is_on() {
            if !signals::may_break_in() {
                self.show();
                return self.watch_access(writes, size, site, addr);
            }
            self.keep_step(ShortRecord::Access { site, addr, size: 1 << size, writes });
        } else {
            return self.record_access(writes, size, site, addr, value);
        }
        self.time += 1;
        self.steps += 1;
    }

    /// The same where nothing is shown to the detector.
    #[inline(always)]
    pub fn record_access(&mut self, writes: bool, size: u32, site: u64, addr: u64, value: u64) {
        self.make_room(0);
        self.clock += 1;
        if !self.short(writes, size, site, addr, value) {
            self.longer(writes, size, site, addr, value);
        }
        self.open = self.context.segment();
        self.time += 1;
        self.steps += 1;
    }

    /// So many calls have ended, and then these were made.
    #[inline(never)]
    pub fn calls(&mut self, ended: u32, made: &[u64]) {
        if detect::is_on() && !signals::may_break_in() {
            self.show();
            return detect::calls(self.thread, ended, made);
        }
        if ended > 0 {
            self.put(&Record::Exit { calls: ended });
        }
        made.iter().for_each(|&site| self.put(&Record::Enter { site }));
    }

    /// A plain access where [`LogWriter::may_watch`]. If the detector need not see it again, it will not, until
    /// something else happens.
    #[inline(always)]
    pub fn watch_access(&mut self, writes: bool, size: u32, site: u64, addr: u64) {
        self.time += 1;
        self.steps += 1;
        if !detect::access(self.thread, site, addr, 1 << size, writes) {
            self.forget_seen();
        // SAFETY: only this thread has the table, which lives as long as its log, or it is null.
        } else if let Some(seen) = unsafe { self.seen.as_mut() }
            && let Some(place) = seen.get_mut(front::seen(writes, size, addr))
        {
            *place = addr.wrapping_add(self.generation);
        }
    }

    /// Keeps a step for later: a handler of a signal that jumps away while the detector looks at it would leave
    /// something in between.
    #[cold]
    fn keep_step(&mut self, step: ShortRecord) {
        self.make_room(0);
        // SAFETY: there is room for it, and the chunk is ours. It is one as soon as the cursor says so.
        unsafe { (self.cursor as *mut ShortRecord).write(step) };
        compiler_fence(Ordering::Release);
        self.cursor += size_of::<ShortRecord>();
    }

    /// Has the detector look at a record.
    fn watch_record(&mut self, record: &Record<'_>) {
        match *record {
            Record::Branch { .. } | Record::Clock(_) | Record::Ahead(_) => {}
            Record::Enter { site } => self.keep_step(ShortRecord::Enter { site }),
            Record::Exit { calls } => self.keep_step(ShortRecord::Exit { calls }),
            _ => {
                self.show();
                detect::record(self.thread, record);
                self.forget_seen();
            }
        }
    }

    /// What the detector has seen so far may be something new from now on.
    #[inline]
    fn forget_seen(&mut self) {
        self.generation = self.generation.wrapping_add(FIRST_GENERATION);
        if self.generation == 0 {
            self.forget_all();
        }
    }

    /// All generations were there: it begins with the first one again.
    #[cold]
    fn forget_all(&mut self) {
        self.generation = FIRST_GENERATION;
        // SAFETY: only this thread has the table, which lives as long as its log, or it is null.
        if let Some(seen) = unsafe { self.seen.as_mut() } {
            seen.fill(0);
        }
    }

    #[inline(never)]
    fn longer(&mut self, writes: bool, size: u32, site: u64, addr: u64, value: u64) {
        let Some(packed) = self.context.pack(writes, size, site, addr, value) else {
            let size = 1 << size;
            return self.encode(&match writes {
                true => Record::Write { site, addr, size, value },
                false => Record::Read { site, addr, size, value },
            });
        };
        let at = self.cursor as *mut u8;
        // SAFETY: there is room for it. The kind is among the first bytes, and these are written last.
        unsafe { at.add(packed.offset).cast::<u64>().write_unaligned(packed.last.to_le()) };
        compiler_fence(Ordering::Release);
        // SAFETY: there is room for it, see above.
        unsafe { at.cast::<u64>().write_unaligned(packed.first.to_le()) };
        self.cursor += packed.length;
    }

    /// Any record. Ranges are no longer than [`LONGEST_RANGE`].
    pub fn put(&mut self, record: &Record<'_>) {
        self.time += u64::from(takes_time(record));
        self.steps += u64::from(record.is_step());
        if detect::is_on() {
            self.make_room(0);
            return self.watch_record(record);
        }
        self.make_room(record.carried());
        self.encode(record);
        self.clock += 1;
    }

    #[inline(never)]
    fn encode(&mut self, record: &Record<'_>) {
        let room = (self.chunk as usize + CHUNK).saturating_sub(self.cursor);
        // SAFETY: the rest of the chunk is ours.
        let room = unsafe { std::slice::from_raw_parts_mut(self.cursor as *mut u8, room) };
        self.cursor += self.context.encode(record, room);
        if self.open != 0 {
            self.open = self.context.segment();
        }
        if matches!(record, Record::Branch { .. }) {
            self.decided = self.cursor;
        }
    }

    /// Room for a record that carries so many bytes.
    pub fn make_room(&mut self, carried: usize) {
        if !self.has_room(carried) {
            self.begin_chunk();
        }
    }

    /// Whether there is room for a record that carries so many bytes.
    #[inline]
    pub fn has_room(&self, carried: usize) -> bool {
        self.cursor + carried < self.end
    }

    /// Begins the chunk anew, after its content was appended to the log; where that fails, in memory that no thread
    /// will read. A handler that jumps away would leave something in between.
    #[cold]
    fn begin_chunk(&mut self) {
        let clock = self.now();
        without_signals(|| self.begin_chunk_at(clock));
    }

    fn begin_chunk_at(&mut self, clock: u64) {
        if !self.is_lost && (self.chunk.is_null() || self.keep(clock).is_none()) {
            self.chunk = file::map(CHUNK, clock).unwrap_or_else(|| self.lose());
        }
        let chunk = Chunk { thread: self.thread, clock, content: ChunkContent::Records(&[]) };
        let mut header = chunk.header(CHUNK).unwrap_or_default();
        if detect::is_on() {
            // What is only shown is no part of the log.
            header[..8].fill(0);
        }
        put_header(self.chunk, header);
        self.cursor = self.chunk as usize + HEADER;
        self.shown = self.cursor;
        self.end = self.chunk as usize + CHUNK - ROOM;
        self.context = Context::NEW;
        (self.open, self.decided) = (0, 0);
        self.since = (clock, self.cursor);
    }

    /// The thread jumps away from whatever it was doing here; no record that it has not finished is there. Its next
    /// one is later than one with this clock, where threads run in parallel.
    pub fn abandon(&mut self, clock: u64) {
        if !self.chunk.is_null() {
            let rest = (self.chunk as usize + CHUNK).saturating_sub(self.cursor);
            // SAFETY: the rest of the chunk is ours.
            unsafe { (self.cursor as *mut u8).write_bytes(0, rest) };
        }
        self.clock = self.clock.max(clock.saturating_add(1)) + 1;
        // No two chunks of a thread begin with the same clock, even if the first one is empty.
        self.since = (self.now().max(TURN_CLOCK.load(Ordering::SeqCst)) + 1, self.cursor);
        self.begin_chunk();
        self.forget_seen();
        self.stop();
    }

    /// Shows the detector what was kept for it since the last time, if there is one. Then the room is free again.
    #[inline]
    pub fn show(&mut self) {
        if self.shown < self.cursor && detect::is_on() {
            self.show_kept();
        }
    }

    #[cold]
    fn show_kept(&mut self) {
        let count = (self.cursor - self.shown) / size_of::<ShortRecord>();
        // SAFETY: these bytes of the chunk are ours, and all steps there are complete.
        let steps = unsafe { std::slice::from_raw_parts(self.shown as *const ShortRecord, count) };
        self.cursor = self.shown;
        detect::steps(self.thread, steps);
    }

    /// Appends the chunk to the log and empties it. While it says what it is, its copy does not count; as soon as it
    /// says nothing, the copy does.
    fn keep(&mut self, clock: u64) -> Option<()> {
        if detect::is_on() {
            self.show();
            return Some(());
        }
        // SAFETY: the chunk is ours.
        let content = unsafe { std::slice::from_raw_parts_mut(self.chunk, CHUNK) };
        file::append_copy(content, clock)?;
        // SAFETY: the chunk is ours, and begins on a page.
        unsafe { self.chunk.cast::<u64>().write_volatile(0) };
        compiler_fence(Ordering::Release);
        content.get_mut(HEADER..)?.fill(0);
        Some(())
    }

    /// From now on records go where no thread reads them.
    fn lose(&mut self) -> *mut u8 {
        self.is_lost = true;
        Box::leak(vec![0_u8; CHUNK].into_boxed_slice()).as_mut_ptr()
    }

    /// The thread needs its chunk no longer.
    pub fn give_back(&mut self) {
        if !self.chunk.is_null() && !self.is_lost {
            file::unmap(self.chunk, CHUNK);
        }
        (self.chunk, self.cursor, self.end, self.shown) = (std::ptr::null_mut(), 0, 0, 0);
        self.stop();
        detect::give_back(std::mem::replace(&mut self.seen, std::ptr::null_mut()));
    }

    /// The clock of the next record, or a larger one that is taken for it.
    fn now(&self) -> u64 {
        if crate::mode::is_parallel() {
            return self.clock;
        }
        self.since.0 + self.cursor.saturating_sub(self.since.1) as u64
    }

    /// The turn of the thread begins: what it writes is later than all that others wrote.
    pub fn begin_turn(&mut self) {
        if detect::is_on() {
            return self.forget_seen();
        }
        let clock = TURN_CLOCK.load(Ordering::SeqCst);
        if clock != self.now() {
            self.jump(clock);
        }
    }

    /// The turn of the thread ends. What is left of its quantum is for the next one.
    pub fn end_turn(&mut self) {
        self.show();
        self.stop();
        TURN_CLOCK.store(self.now(), Ordering::SeqCst);
    }

    fn jump(&mut self, clock: u64) {
        self.since = (clock, self.cursor);
        self.tell_clock(&Record::Clock(clock));
        // To tell it takes no time.
        self.since.1 = self.cursor;
    }

    /// The next record is later than one with this clock. For threads that run in parallel.
    #[inline]
    pub fn follow(&mut self, clock: u64) {
        if clock >= self.clock {
            self.jump_ahead(clock);
        }
    }

    #[inline(never)]
    fn jump_ahead(&mut self, clock: u64) {
        let steps = clock + 1 - self.clock;
        self.clock = clock + 1;
        self.tell_clock(&Record::Ahead(steps));
    }

    /// The clock has changed. A chunk tells with which one it begins: if there is none to be had, nothing earlier is
    /// missing.
    fn tell_clock(&mut self, record: &Record<'_>) {
        if self.has_room(0) {
            self.encode(record);
        } else {
            self.begin_chunk();
        }
    }

    /// A module, known to all records that follow.
    pub fn module(&mut self, content: &[u8]) {
        let clock = self.now();
        let bytes = (HEADER + content.len()).next_multiple_of(PAGE);
        let chunk = Chunk { thread: self.thread, clock, content: ChunkContent::Module(content) };
        if let Ok(header) = chunk.header(bytes) {
            let mut whole = [&header, content].concat();
            whole.resize(bytes, 0);
            // If that fails, the log is cut.
            let _ = file::append(&whole, clock);
        }
        if !crate::mode::is_parallel() && !detect::is_on() {
            self.jump(clock);
        }
    }

    /// What memory holds before the first thread is started: so many bytes behind the room for a header. No thread
    /// writes a record in between, so no thread needs to know what comes first.
    pub fn memory(&self, room: &mut [u8], used: usize) {
        let clock = self.now();
        let bytes = (HEADER + used).next_multiple_of(PAGE);
        let Some((front, content)) =
            room.get_mut(..bytes).and_then(|whole| whole.split_at_mut_checked(HEADER))
        else {
            return;
        };
        let content = ChunkContent::Memory(content.get(..used).unwrap_or_default());
        if let Ok(header) = (Chunk { thread: self.thread, clock, content }).header(bytes) {
            front.copy_from_slice(&header);
            // If that fails, the log is cut.
            let _ = file::append(room.get(..bytes).unwrap_or_default(), clock);
        }
    }
}

/// Whether what the record tells takes time. When calls are recorded depends on what else is, and so does whether
/// decisions are: calls take time when they are made.
fn takes_time(record: &Record<'_>) -> bool {
    !matches!(record, Record::Branch { .. } | Record::Enter { .. } | Record::Exit { .. })
}

/// The first eight bytes say that the chunk is there.
fn put_header(start: *mut u8, header: [u8; HEADER]) {
    // SAFETY: the chunk begins on a page, and has room for the header.
    unsafe {
        start.add(8).copy_from_nonoverlapping(header.as_ptr().add(8), HEADER - 8);
        compiler_fence(Ordering::Release);
        start.copy_from_nonoverlapping(header.as_ptr(), 8);
    }
}
