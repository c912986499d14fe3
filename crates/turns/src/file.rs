//! The file of the log. What is being written to is mapped into the process, so that nothing is lost whatever ends
//! it; what is complete is appended, which costs the kernel much less than ever new pages.
//!
//! Space is allocated before it is mapped. A full disk is an error at that moment, or when something is appended;
//! after which the log is cut: the program goes on, and nothing that depends on a record that could not be written is
//! taken for true. So it is when the logs of all processes together are as long as they may be; these count in a page
//! that they share.

use std::ffi::{CStr, c_int};
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use foretell_wire::log::{
    CUT, ENDED, FRONT_ROOM, IncompleteReason, MAGIC, PAGE, TIMED, TIMED_SITE, Timing, WHY,
};

use crate::kept::LOG;
use crate::mode;
use crate::rotation;
use crate::system::{self, errno, kernel, say};

/// Ask the kernel to bring pages in at once; writing to them one by one would cost a fault each.
const POPULATE_WRITE: usize = 23;

/// Where in the file the next pages are taken from.
static NEXT: AtomicUsize = AtomicUsize::new(0);
/// The first page.
static FIRST: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
/// How long all logs together may be.
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);
/// How long they are, in a page that all processes share; where there is none, each counts for itself.
static USED: AtomicPtr<AtomicU64> = AtomicPtr::new(&raw const OWN as *mut AtomicU64);
static OWN: AtomicU64 = AtomicU64::new(0);

/// All logs together may be so long; the processes count that in this file.
pub fn limit(bytes: u64, counted_in: &CStr) {
    LIMIT.store(bytes, Ordering::Relaxed);
    let file =
        // SAFETY: the path ends with a zero.
        unsafe { libc::open(counted_in.as_ptr(), libc::O_CREAT | libc::O_RDWR | libc::O_CLOEXEC, 0o600) };
    if file < 0 {
        return;
    }
    if allocate(file, 0, PAGE).is_ok()
        && let Ok(page) = map_at(file, 0, PAGE)
    {
        // The page stays.
        USED.store(page.cast(), Ordering::Relaxed);
    }
    system::close(file);
}

/// How long all logs together are.
fn used() -> &'static AtomicU64 {
    // SAFETY: it is our own, or in a page that stays.
    unsafe { &*USED.load(Ordering::Relaxed) }
}

/// Whether so many bytes fit, which are then taken.
fn reserve(bytes: usize) -> Result<(), IncompleteReason> {
    let limit = LIMIT.load(Ordering::Relaxed);
    let fits = |old: u64| old.checked_add(bytes as u64).filter(|&new| new <= limit);
    used()
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits)
        .map(drop)
        .map_err(|_| IncompleteReason::Full(limit))
}

/// Begins a log in the file that is kept for it, which is empty; says whether that worked.
pub fn open() -> bool {
    NEXT.store(0, Ordering::Relaxed);
    FIRST.store(std::ptr::null_mut(), Ordering::Relaxed);
    let Some(first) = map(PAGE, 0) else { return false };
    // SAFETY: the page is ours alone.
    unsafe { first.cast::<[u8; 8]>().write(MAGIC) };
    FIRST.store(first, Ordering::Relaxed);
    if rotation::is_on() {
        NEXT.fetch_add(FRONT_ROOM, Ordering::Relaxed);
    }
    true
}

/// A number in the first page.
fn number(at: usize) -> Option<&'static AtomicU64> {
    let first = FIRST.load(Ordering::Relaxed);
    // SAFETY: the page stays, and its numbers are aligned.
    (!first.is_null()).then(|| unsafe { AtomicU64::from_ptr(first.add(at).cast()) })
}

/// The program has ended in good order, or it goes on after all.
pub fn set_ended(ended: bool) {
    if let Some(place) = number(ENDED) {
        place.store(ended.into(), Ordering::SeqCst);
    }
}

/// Why the log will not be complete. The first reason counts.
pub fn set_why(why: IncompleteReason) {
    if let Some(place) = number(WHY) {
        // There is nothing to change if there is a reason already.
        let _ = place.compare_exchange(0, why.code(), Ordering::SeqCst, Ordering::SeqCst);
    }
}

/// What happens next depends on real time, because of what this thread did here. The first reason counts.
pub fn set_timing(timing: Timing, thread: u32, site: u64) {
    if mode::is_parallel() {
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
pub fn map(bytes: usize, clock: u64) -> Option<*mut u8> {
    take(bytes, clock, |file, offset| {
        allocate(file, offset, bytes)?;
        map_at(file, offset, bytes)
    })
}

/// Appends a chunk, whose magic is written last. Otherwise as [`map`].
pub fn append(chunk: &[u8], clock: u64) -> Option<()> {
    take(chunk.len(), clock, |file, offset| {
        may_grow(offset, chunk.len())?;
        let (magic, rest) = chunk.split_at_checked(MAGIC.len()).ok_or(libc::EINVAL)?;
        write_at(file, offset + magic.len(), rest)?;
        write_at(file, offset, magic)
    })
}

/// Appends the copy of a chunk that counts instead of it until it is complete. Otherwise as [`map`].
pub fn append_copy(chunk: &[u8], clock: u64) -> Option<()> {
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
    let fits =
        || used().load(Ordering::Relaxed).saturating_add(PIECE as u64) <= LIMIT.load(Ordering::Relaxed);
    if offset / PIECE != (offset + bytes) / PIECE && fits() && may_grow(offset, bytes + PIECE).is_ok() {
        // If that fails, space is found when it is needed, or not.
        kernel(libc::SYS_fallocate, [system::word(file), keep_size, offset, bytes + PIECE, 0, 0]);
    }
}

/// Does something with so many new bytes of the file. If that fails, the user is informed once.
fn take<R>(bytes: usize, clock: u64, act: impl FnOnce(c_int, usize) -> Result<R, c_int>) -> Option<R> {
    if !LOG.is_there() {
        cut(clock);
        return None;
    }
    let not_written = |error: c_int| IncompleteReason::NotWritten(error.unsigned_abs());
    let result =
        LOG.descriptor().ok_or(IncompleteReason::NotWritten(libc::EBADF.unsigned_abs())).and_then(|file| {
            rotation::wait_for(|| reserve(bytes))?;
            act(file, NEXT.fetch_add(bytes, Ordering::Relaxed)).map_err(not_written)
        });
    if let Err(why) = result {
        cut(clock);
        set_why(why);
        if LOG.abandon() {
            say(&why_not(why));
        }
    }
    result.ok()
}

fn why_not(why: IncompleteReason) -> String {
    match why {
        IncompleteReason::NotWritten(error) => {
            let error = std::io::Error::from_raw_os_error(c_int::try_from(error).unwrap_or(0));
            format!("the recording ends here, it cannot be written: {error}")
        }
        _ => "the recording ends here, because the log is full (raise --log-limit); the program continues"
            .to_string(),
    }
}

/// To exceed the limit of the process would send it a signal.
pub fn may_grow(offset: usize, bytes: usize) -> Result<(), c_int> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is ours to be filled.
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

/// Writes all bytes there, or says why not.
pub fn write_at(file: c_int, mut offset: usize, mut bytes: &[u8]) -> Result<(), c_int> {
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
pub fn unmap(start: *mut u8, bytes: usize) {
    kernel(libc::SYS_munmap, [start as usize, bytes, 0, 0, 0, 0]);
}

/// The process is a copy: the file belongs to the original. Returns its descriptor, if it is there.
pub fn disown() -> Option<c_int> {
    FIRST.store(std::ptr::null_mut(), Ordering::Relaxed);
    LOG.give_up()
}
