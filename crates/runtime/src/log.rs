//! The records on their way to the file.

use std::cell::UnsafeCell;
use std::ffi::c_int;

use foretell_wire::log::{MAGIC, Piece};
use foretell_wire::record::{Context, LONGEST_RECORD, Record};

use crate::system::{say, write_all};

/// So many bytes of records make a piece of the log.
const PIECE: usize = 1 << 16;
/// So many bytes of memory go into one record at most; longer ranges are several records.
pub(crate) const LONGEST_RANGE: usize = 1 << 12;

/// Records that are not written yet, and the file that they go to.
pub(crate) struct Log {
    /// The file, until writing has failed once.
    file: Option<c_int>,
    buffer: Vec<u8>,
    used: usize,
    context: Context,
    /// Whose records are being written.
    thread: Option<u32>,
}

/// The log, to be touched by the thread whose turn it is.
pub(crate) struct LogCell(UnsafeCell<Log>);

// Only one thread at a time has its turn, and turns are handed over through the scheduler's lock.
unsafe impl Sync for LogCell {}

/// The log of this process.
pub(crate) static LOG: LogCell = LogCell(UnsafeCell::new(Log {
    file: None,
    buffer: Vec::new(),
    used: 0,
    context: Context::NEW,
    thread: None,
}));

impl LogCell {
    /// # Safety
    /// It is the calling thread's turn, or there is no other thread; and no other borrow is alive.
    #[expect(clippy::mut_from_ref, reason = "what a turn guarantees the compiler cannot see")]
    pub(crate) unsafe fn get(&self) -> &mut Log {
        unsafe { &mut *self.0.get() }
    }
}

impl Log {
    /// Begins to write to this file.
    pub(crate) fn open(&mut self, file: c_int) {
        self.buffer = vec![0; PIECE + LONGEST_RANGE + 2 * LONGEST_RECORD];
        self.file = Some(file);
        self.write(&MAGIC);
    }

    /// The process is a copy: the file belongs to the original.
    pub(crate) fn disown(&mut self) {
        self.file = None;
        self.used = 0;
    }

    /// Adds what a thread has done. Ranges are no longer than [`LONGEST_RANGE`].
    #[inline]
    pub(crate) fn put(&mut self, thread: u32, record: &Record<'_>) {
        if self.used >= PIECE {
            self.flush();
        }
        if self.thread != Some(thread) {
            self.thread = Some(thread);
            self.encode(&Record::Thread(thread));
        }
        self.encode(record);
    }

    #[inline]
    fn encode(&mut self, record: &Record<'_>) {
        if let Some(room) = self.buffer.get_mut(self.used..) {
            self.used += self.context.encode(record, room);
        }
    }

    /// Writes what there is, as a piece of its own.
    pub(crate) fn flush(&mut self) {
        let content = std::mem::take(&mut self.buffer);
        if self.used > 0 {
            self.piece(&Piece::Records(content.get(..self.used).unwrap_or_default()));
        }
        self.buffer = content;
        self.used = 0;
        self.context = Context::NEW;
        self.thread = None;
    }

    /// Writes a piece. Records that came before it must have been flushed.
    pub(crate) fn piece(&mut self, piece: &Piece<'_>) {
        let Ok(header) = piece.header() else { return };
        self.write(&header);
        if let Piece::Records(content) | Piece::Module(content) = piece {
            self.write(content);
        }
    }

    /// A full disk must not end the program: the log ends where it is, and the user is told.
    fn write(&mut self, bytes: &[u8]) {
        let Some(file) = self.file else { return };
        if let Err(error) = write_all(file, bytes) {
            let error = std::io::Error::from_raw_os_error(error);
            say(&format!("the recording ends here, it cannot be written: {error}"));
            self.file = None;
        }
    }
}
