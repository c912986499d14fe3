//! States as bytes, the same bytes for the same state however it was reached, and back.
//!
//! Threads are numbered in the order in which they happened to start, which depends on the schedule. So a key numbers
//! them anew: a thread, then those that it started in their order, each followed by its own. The number of threads that
//! each has started then tells who started whom. Cells are named by who allocated them and so need no more.

use super::{Action, Cell, Frame, Lock, Machine, Shadow, Slot, Status, Thread, narrow};
use crate::value::{CellRef, ThreadRef, Value};

const READY: u64 = 0;
const WAITING: u64 = 1;
const WOKEN: u64 = 2;
const ENDED: u64 = 3;

impl<S: Shadow> Machine<'_, S> {
    /// Replaces `key` by the key of this state. States that went wrong have none of their own: what matters of them is
    /// the failure. Loop counters matter only if there is a limit to them.
    pub fn key(&self, key: &mut Vec<u8>) {
        key.clear();
        let order = self.canonical_order();
        let mut writer = Writer { key, ranks: order.as_ref().map(|order| ranks(order)) };
        for slot in &self.memory {
            writer.value(slot.value);
        }
        for lock in &self.locks {
            writer.number(u64::from(lock.depth));
            if lock.depth > 0 {
                writer.thread(lock.owner);
            }
        }
        for &permits in &self.semaphores {
            writer.number(u64::from(permits));
        }
        match &order {
            None => self.threads.iter().for_each(|thread| self.write_thread(thread, &mut writer)),
            Some(order) => {
                for thread in order {
                    self.write_thread(&self.threads[thread.index()], &mut writer);
                }
            }
        }
    }

    /// The threads in the order of keys, unless that is the order in which they started.
    fn canonical_order(&self) -> Option<Vec<ThreadRef>> {
        if self.threads.len() == self.program.threads.len() {
            return None;
        }
        let mut open = Vec::new();
        let mut children = vec![Vec::new(); self.threads.len()];
        for (thread, state) in self.threads().zip(&self.threads) {
            // A thread starts after those that the same parent started before it, so these are in their order.
            match state.parent {
                Some(parent) => children[parent.index()].push(thread),
                None => open.push(thread),
            }
        }
        let mut order = Vec::with_capacity(self.threads.len());
        open.reverse();
        while let Some(thread) = open.pop() {
            order.push(thread);
            open.extend(children[thread.index()].iter().rev());
        }
        Some(order)
    }

    fn write_thread(&self, thread: &Thread<S>, writer: &mut Writer<'_>) {
        writer.number(u64::from(thread.forks));
        writer.number(thread.cells.len() as u64);
        for cell in &thread.cells {
            writer.number(u64::from(cell.kind));
            cell.fields.iter().for_each(|slot| writer.value(slot.value));
        }
        let (status, depth) = match thread.status {
            Status::Ready => (READY, None),
            Status::Waiting { depth } => (WAITING, Some(depth)),
            Status::Woken { depth } => (WOKEN, Some(depth)),
            Status::Ended => (ENDED, None),
        };
        writer.number(status);
        if status == ENDED {
            return;
        }
        if let (Some(depth), Action::Woken { condition, lock }) = (depth, thread.next) {
            [depth, condition, lock].iter().for_each(|&number| writer.number(u64::from(number)));
        }
        writer.number(thread.frames.len() as u64);
        for frame in &thread.frames {
            writer.number(u64::from(frame.function));
            writer.number(u64::from(frame.pc));
            writer.number(u64::from(frame.base));
        }
        writer.number(thread.slots.len() as u64);
        thread.slots.iter().for_each(|slot| writer.value(slot.value));
        if self.bounds.loop_bound.is_some() {
            thread.counters.iter().for_each(|&count| writer.number(u64::from(count)));
        }
    }

    /// Goes to the state with this key, which must be of the same program under the same bounds. Threads have the
    /// numbers of the key from then on. Tags and controls are lost.
    pub fn restore(&mut self, key: &[u8], shadow: &mut S) {
        let mut reader = Reader { rest: key };
        self.failure = None;
        for slot in &mut self.memory {
            *slot = reader.slot();
        }
        for lock in &mut self.locks {
            let depth = reader.narrow();
            let owner = if depth > 0 { reader.thread() } else { ThreadRef(0) };
            *lock = Lock { owner, depth };
        }
        for permits in &mut self.semaphores {
            *permits = reader.narrow();
        }
        let mut count = 0;
        for root in 0..self.program.threads.len() {
            self.read_family(None, narrow(root), &mut count, &mut reader);
        }
        self.threads.truncate(count);
        for thread in self.threads() {
            if self.threads[thread.index()].status == Status::Ready {
                self.advance(thread, shadow);
            }
        }
    }

    /// Reads a thread and those that it started. Their number is bounded by that of threads, so this cannot nest
    /// deeper.
    fn read_family(
        &mut self,
        parent: Option<ThreadRef>,
        number: u32,
        count: &mut usize,
        reader: &mut Reader<'_>,
    ) {
        let thread = *count;
        *count += 1;
        if thread == self.threads.len() {
            self.threads.push(Thread::new(parent, number, S::Control::default()));
        }
        self.read_thread(thread, reader);
        let state = &mut self.threads[thread];
        state.parent = parent;
        state.number = number;
        for child in 1..=state.forks {
            self.read_family(Some(ThreadRef(narrow(thread))), child, count, reader);
        }
    }

    fn read_thread(&mut self, thread: usize, reader: &mut Reader<'_>) {
        let program = self.program;
        let state = &mut self.threads[thread];
        state.forks = reader.narrow();
        let cells = reader.number();
        state.cells.clear();
        for _ in 0..cells {
            let kind = reader.narrow();
            let fields = program.cells[kind as usize].fields.iter().map(|_| reader.slot()).collect();
            state.cells.push(Cell { kind, fields });
        }
        state.fault = None;
        state.frames.clear();
        state.slots.clear();
        state.counters.clear();
        state.status = match reader.number() {
            READY => Status::Ready,
            WAITING => Status::Waiting { depth: reader.narrow() },
            WOKEN => Status::Woken { depth: reader.narrow() },
            _ => {
                state.status = Status::Ended;
                return;
            }
        };
        if state.status != Status::Ready {
            state.next = Action::Woken { condition: reader.narrow(), lock: reader.narrow() };
        }
        for _ in 0..reader.number() {
            let frame = Frame {
                function: reader.narrow(),
                pc: reader.narrow(),
                base: reader.narrow(),
                counters: narrow(state.counters.len()),
            };
            let loops = usize::from(program.functions[frame.function as usize].loops);
            state.counters.resize(state.counters.len() + loops, 0);
            state.frames.push(frame);
        }
        let slots = reader.number();
        state.slots.extend((0..slots).map(|_| reader.slot()));
        if self.bounds.loop_bound.is_some() {
            state.counters.iter_mut().for_each(|count| *count = reader.narrow());
        }
    }
}

/// The place of each thread in the order.
fn ranks(order: &[ThreadRef]) -> Vec<u32> {
    let mut ranks = vec![0; order.len()];
    for (rank, thread) in order.iter().enumerate() {
        ranks[thread.index()] = narrow(rank);
    }
    ranks
}

/// What the two lowest bits of a value say.
const SMALL: u64 = 0;
const CELL: u64 = 1;
const THREAD: u64 = 2;
const LARGE: u64 = 3;

struct Writer<'k> {
    key: &'k mut Vec<u8>,
    ranks: Option<Vec<u32>>,
}

impl Writer<'_> {
    /// Seven bits per byte, the lowest first; the highest bit says that more follow.
    #[expect(clippy::cast_possible_truncation, reason = "one byte at a time")]
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.key.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.key.push(number as u8);
    }

    fn rank(&self, thread: ThreadRef) -> u64 {
        let rank = self.ranks.as_ref().map_or(thread.0, |ranks| ranks[thread.index()]);
        u64::from(rank)
    }

    fn thread(&mut self, thread: ThreadRef) {
        self.number(self.rank(thread));
    }

    fn value(&mut self, value: Value) {
        match value {
            Value::Number(number) => {
                // Small numbers of either sign become small numbers.
                let folded = (number.cast_unsigned() << 1) ^ (number >> 63).cast_unsigned();
                if folded < 1 << 62 {
                    self.number(folded << 2 | SMALL);
                } else {
                    self.number(LARGE);
                    self.number(folded);
                }
            }
            Value::Cell(cell) => {
                self.number(self.rank(cell.owner) << 2 | CELL);
                self.number(u64::from(cell.number));
            }
            Value::Thread(thread) => self.number(self.rank(thread) << 2 | THREAD),
        }
    }
}

struct Reader<'k> {
    rest: &'k [u8],
}

impl Reader<'_> {
    fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        while let Some((&byte, rest)) = self.rest.split_first() {
            self.rest = rest;
            number |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        number
    }

    /// A number that was narrow when it was written.
    #[expect(clippy::cast_possible_truncation, reason = "it was a u32 when it was written")]
    fn narrow(&mut self) -> u32 {
        self.number() as u32
    }

    fn thread(&mut self) -> ThreadRef {
        ThreadRef(self.narrow())
    }

    fn slot<T: Default>(&mut self) -> Slot<T> {
        let head = self.number();
        let rank = ThreadRef(u32::try_from(head >> 2).unwrap_or(u32::MAX));
        let value = match head & 3 {
            SMALL => Value::Number(unfold(head >> 2)),
            CELL => Value::Cell(CellRef { owner: rank, number: self.narrow() }),
            THREAD => Value::Thread(rank),
            _ => Value::Number(unfold(self.number())),
        };
        Slot { value, tag: T::default() }
    }
}

fn unfold(folded: u64) -> i64 {
    (folded >> 1).cast_signed() ^ -((folded & 1).cast_signed())
}
