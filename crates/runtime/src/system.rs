//! The kernel and the C library, without detours through what we replace.

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::{c_int, c_void};
use std::sync::atomic::AtomicU32;

unsafe extern "C" {
    fn __libc_memalign(alignment: usize, bytes: usize) -> *mut c_void;
    fn __libc_free(block: *mut c_void);
}

/// Our own memory comes from the C library's allocator by its other name, so that it is not recorded.
struct Unrecorded;

unsafe impl GlobalAlloc for Unrecorded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        unsafe { __libc_memalign(layout.align().max(16), layout.size()).cast() }
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        unsafe { __libc_free(block.cast()) }
    }
}

#[global_allocator]
static ALLOCATOR: Unrecorded = Unrecorded;

/// Waits until somebody wakes this word, it is not `value`, or the time is over; returns early at will.
pub(crate) fn wait_on(word: &AtomicU32, value: u32, nanoseconds: Option<u64>) {
    let limit = nanoseconds.map(timespec);
    let limit = limit.as_ref().map_or(std::ptr::null(), |limit| limit as *const libc::timespec);
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG, value, limit);
    }
}

/// Wakes who waits on this word.
pub(crate) fn wake(word: &AtomicU32) {
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1);
    }
}

/// Lets other threads of the machine run.
pub(crate) fn yield_processor() {
    unsafe { libc::syscall(libc::SYS_sched_yield) };
}

/// Writes all bytes, or says why not.
pub(crate) fn write_all(file: c_int, mut bytes: &[u8]) -> Result<(), c_int> {
    while !bytes.is_empty() {
        let written = unsafe { libc::syscall(libc::SYS_write, file, bytes.as_ptr(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(_) if errno() == libc::EINTR => {}
            Err(_) => return Err(errno()),
        }
    }
    Ok(())
}

/// Says something to the user.
pub(crate) fn say(text: &str) {
    // There is nobody to tell that the user cannot be told.
    let _ = write_all(2, format!("foretell: {text}\n").as_bytes());
}

/// Ends the process at once.
pub(crate) fn exit_now(code: c_int) -> ! {
    loop {
        unsafe { libc::syscall(libc::SYS_exit_group, code) };
    }
}

/// The number by which the kernel knows this thread.
pub(crate) fn kernel_id() -> i32 {
    let id = unsafe { libc::syscall(libc::SYS_gettid) };
    i32::try_from(id).unwrap_or(0)
}

/// Whether the kernel still has a thread with this number in our process.
pub(crate) fn is_alive(kernel_id: i32) -> bool {
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), kernel_id, 0) == 0 }
}

pub(crate) fn errno() -> c_int {
    unsafe { *libc::__errno_location() }
}

pub(crate) fn set_errno(value: c_int) {
    unsafe { *libc::__errno_location() = value }
}

/// A time in nanoseconds as the C library has it.
pub(crate) fn timespec(nanoseconds: u64) -> libc::timespec {
    let part = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    libc::timespec { tv_sec: part(nanoseconds / 1_000_000_000), tv_nsec: part(nanoseconds % 1_000_000_000) }
}

/// A time of the C library in nanoseconds; what is negative is none.
pub(crate) fn nanoseconds(time: &libc::timespec) -> u64 {
    let part = |number: i64| u64::try_from(number).unwrap_or(0);
    part(time.tv_sec).saturating_mul(1_000_000_000).saturating_add(part(time.tv_nsec))
}

/// How long it is until this time on that clock.
pub(crate) fn until(clock: libc::clockid_t, time: &libc::timespec) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(clock, &mut now) };
    nanoseconds(time).saturating_sub(nanoseconds(&now))
}
