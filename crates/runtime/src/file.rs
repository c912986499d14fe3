//! The file of the log. What is being written to is mapped into the process, so that nothing is lost whatever ends it; what is
//! complete is appended, which costs the kernel much less than ever new pages.
//!
//! Space is allocated before it is mapped. A full disk is an error at that moment, or when something is appended; after which
//! the log is cut: the program goes on, and nothing that depends on a record that could not be written is taken for true.

use std::ffi::c_int;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use foretell_wire::log::{CUT, ENDED, MAGIC, PAGE, TIMED, TIMED_SITE, Timing, WHY, Why};

use crate::kept::LOG;
use crate::order::is_striped;
use crate::system::{self, errno, kernel, say};

/// Ask the kernel to bring pages in at once; writing to them one by one would cost a fault each.
const POPULATE_WRITE: usize = 23;

/// Where in the file the next pages are taken from.
static NEXT: AtomicUsize = AtomicUsize::new(0);
/// The first page.
static FIRST: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

/// Begins a log in the file that is kept for it, which is empty; says whether that worked.
pub(crate) fn open() -> bool {
    NEXT.store(0, Ordering::Relaxed);
    FIRST.store(std::ptr::null_mut(), Ordering::Relaxed);
    let Some(first) = map(PAGE, 0) else { return false };
    // The page is ours alone.
    unsafe { first.cast::<[u8; 8]>().write(MAGIC) };
    FIRST.store(first, Ordering::Relaxed);
    true
}

/// A number in the first page.
fn number(at: usize) -> Option<&'static AtomicU64> {
    let first = FIRST.load(Ordering::Relaxed);
    // The page stays, and its numbers are aligned.
    (!first.is_null()).then(|| unsafe { AtomicU64::from_ptr(first.add(at).cast()) })
}

/// The program has ended in good order, or it goes on after all.
pub(crate) fn set_ended(ended: bool) {
    if let Some(place) = number(ENDED) {
        place.store(ended.into(), Ordering::SeqCst);
    }
}

/// Why the log will not be complete. What is told first counts.
pub(crate) fn set_why(why: Why) {
    if let Some(place) = number(WHY) {
        // There is nothing to change if something was told already.
        let _ = place.compare_exchange(0, why.code(), Ordering::SeqCst, Ordering::SeqCst);
    }
}

/// What happens next depends on real time, because of what this thread did here. What is told first counts.
pub(crate) fn set_timing(timing: Timing, thread: u32, site: u64) {
    if is_striped() {
        // Then everything does.
        return;
    }
    let (Some(place), Some(site_place)) = (number(TIMED), number(TIMED_SITE)) else { return };
    if place.compare_exchange(0, timing.code(thread), Ordering::SeqCst, Ordering::SeqCst).is_ok() {
        site_place.store(site, Ordering::SeqCst);
    }
}

/// Records with this clock are missing.
fn cut(clock: u64) {
    let Some(place) = number(CUT) else { return };
    let earlier = |old: u64| (old == 0 || clock < old).then_some(clock.max(1));
    // There is nothing to change if the log was cut earlier already.
    let _ = place.fetch_update(Ordering::SeqCst, Ordering::SeqCst, earlier);
}

/// New pages of the log. If there are none, records from this clock on are missing.
pub(crate) fn map(bytes: usize, clock: u64) -> Option<*mut u8> {
    take(bytes, clock, |file, offset| {
        allocate(file, offset, bytes)?;
        map_at(file, offset, bytes)
    })
}

/// Appends a chunk, whose magic is written last. Otherwise as [`map`].
pub(crate) fn append(chunk: &[u8], clock: u64) -> Option<()> {
    take(chunk.len(), clock, |file, offset| {
        may_grow(offset, chunk.len())?;
        let (magic, rest) = chunk.split_at_checked(MAGIC.len()).ok_or(libc::EINVAL)?;
        write_at(file, offset + magic.len(), rest)?;
        write_at(file, offset, magic)
    })
}

/// Appends the copy of a chunk that counts instead of it until it is complete. Otherwise as [`map`].
pub(crate) fn append_copy(chunk: &[u8], clock: u64) -> Option<()> {
    take(chunk.len(), clock, |file, offset| {
        may_grow(offset, chunk.len())?;
        foresee(file, offset, chunk.len());
        write_at(file, offset, chunk)
    })
}

/// A log that is long already will be longer: to find space in large pieces costs the kernel much less.
fn foresee(file: c_int, offset: usize, bytes: usize) {
    const PIECE: usize = 16 << 20;
    let keep_size = system::word(libc::FALLOC_FL_KEEP_SIZE);
    if offset / PIECE != (offset + bytes) / PIECE && may_grow(offset, bytes + PIECE).is_ok() {
        // If that fails, space is found when it is needed, or not.
        kernel(libc::SYS_fallocate, [system::word(file), keep_size, offset, bytes + PIECE, 0, 0]);
    }
}

/// Does something with so many new bytes of the file. If that fails, the user is told once.
fn take<R>(bytes: usize, clock: u64, act: impl FnOnce(c_int, usize) -> Result<R, c_int>) -> Option<R> {
    if !LOG.is_there() {
        cut(clock);
        return None;
    }
    let file = LOG.descriptor().ok_or(libc::EBADF);
    let result = file.and_then(|file| act(file, NEXT.fetch_add(bytes, Ordering::Relaxed)));
    if let Err(error) = result {
        cut(clock);
        set_why(Why::NotWritten(error.unsigned_abs()));
        if LOG.abandon() {
            let error = std::io::Error::from_raw_os_error(error);
            say(&format!("the recording ends here, it cannot be written: {error}"));
        }
    }
    result.ok()
}

/// To exceed the limit of the process would send it a signal.
pub(crate) fn may_grow(offset: usize, bytes: usize) -> Result<(), c_int> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    let known = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } == 0;
    if known && (offset + bytes) as u64 > limit.rlim_cur { Err(libc::EFBIG) } else { Ok(()) }
}

fn allocate(file: c_int, offset: usize, bytes: usize) -> Result<(), c_int> {
    may_grow(offset, bytes)?;
    loop {
        if kernel(libc::SYS_fallocate, [system::word(file), 0, offset, bytes, 0, 0]) == 0 {
            return Ok(());
        }
        match errno() {
            libc::EINTR => {}
            // Where the file system cannot allocate space, writing does.
            libc::EOPNOTSUPP => return write_at(file, offset, &vec![0; bytes]),
            error => return Err(error),
        }
    }
}

pub(crate) fn write_at(file: c_int, mut offset: usize, mut bytes: &[u8]) -> Result<(), c_int> {
    while !bytes.is_empty() {
        let arguments = [system::word(file), bytes.as_ptr() as usize, bytes.len(), offset, 0, 0];
        match usize::try_from(kernel(libc::SYS_pwrite64, arguments)) {
            Ok(0) => return Err(libc::ENOSPC),
            Ok(written) => {
                bytes = bytes.get(written..).unwrap_or_default();
                offset += written;
            }
            Err(_) if errno() == libc::EINTR => {}
            Err(_) => return Err(errno()),
        }
    }
    Ok(())
}

fn map_at(file: c_int, offset: usize, bytes: usize) -> Result<*mut u8, c_int> {
    let how = system::word(libc::PROT_READ | libc::PROT_WRITE);
    let shared = system::word(libc::MAP_SHARED);
    let start = kernel(libc::SYS_mmap, [0, bytes, how, shared, system::word(file), offset]);
    let start = usize::try_from(start).map_err(|_| errno())?;
    // It is only a hint.
    kernel(libc::SYS_madvise, [start, bytes, POPULATE_WRITE, 0, 0, 0]);
    Ok(start as *mut u8)
}

/// Gives mapped pages back; the file keeps them.
pub(crate) fn unmap(start: *mut u8, bytes: usize) {
    kernel(libc::SYS_munmap, [start as usize, bytes, 0, 0, 0, 0]);
}

/// The process is a copy: the file belongs to the original. Returns its descriptor, if it is there.
pub(crate) fn disown() -> Option<c_int> {
    FIRST.store(std::ptr::null_mut(), Ordering::Relaxed);
    LOG.give_up()
}
