//! The kernel and the C library, without detours through what we replace.

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::{CStr, c_int, c_void};
use std::io::Write;
use std::ops::Range;
use std::sync::atomic::AtomicU32;

use crate::arena;
use crate::signals;

unsafe extern "C" {
    fn __libc_memalign(alignment: usize, bytes: usize) -> *mut c_void;
    fn __libc_free(block: *mut c_void);
}

/// Our own memory comes from the C library's allocator by its other name, so that it is not recorded; that of the
/// detector from elsewhere.
struct Unrecorded;

// SAFETY: blocks come from the arena or the C library, and go back to where they came from; both keep to the layout.
unsafe impl GlobalAlloc for Unrecorded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match arena::allocate(layout) {
            Some((block, _)) => block,
            // SAFETY: the layout is the caller's, which has a size.
            None => unsafe { from_library(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let (block, is_used) =
            // SAFETY: the layout is the caller's, which has a size.
            arena::allocate(layout).unwrap_or_else(|| (unsafe { from_library(layout) }, true));
        if is_used && !block.is_null() {
            // SAFETY: the block was just allocated with so many bytes.
            unsafe { block.write_bytes(0, layout.size()) };
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if arena::contains(block) {
            arena::free(block, layout);
        } else {
            // SAFETY: it is not from the arena, so it is from the C library, and the caller gives it back.
            unsafe { __libc_free(block.cast()) }
        }
    }
}

unsafe fn from_library(layout: Layout) -> *mut u8 {
    // SAFETY: the alignment is a power of two.
    unsafe { __libc_memalign(layout.align().max(16), layout.size()).cast() }
}

#[global_allocator]
static ALLOCATOR: Unrecorded = Unrecorded;

/// A call into the kernel, past the C library, some of whose functions are ours here. Its result is the C library's:
/// -1, and the reason in `errno`.
pub fn kernel(number: i64, arguments: [usize; 6]) -> i64 {
    const ERRORS: i64 = -4095;
    // SAFETY: callers pass what the call wants: addresses of memory that is theirs, or the program's own arguments.
    let result = unsafe { enter_kernel(number, arguments) };
    match i32::try_from(-result) {
        Ok(error) if (ERRORS..0).contains(&result) => {
            set_errno(error);
            -1
        }
        _ => result,
    }
}

/// As [`kernel`], but `errno` stays what it was: a negative result says what is wrong.
pub fn ask_kernel(number: i64, arguments: [usize; 6]) -> i64 {
    // SAFETY: as in [`kernel`].
    unsafe { enter_kernel(number, arguments) }
}

#[cfg(target_arch = "x86_64")]
unsafe fn enter_kernel(number: i64, [a, b, c, d, e, f]: [usize; 6]) -> i64 {
    let result;
    // SAFETY: the kernel keeps all registers but those that are named here.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

#[cfg(target_arch = "aarch64")]
unsafe fn enter_kernel(number: i64, [a, b, c, d, e, f]: [usize; 6]) -> i64 {
    let result;
    // SAFETY: the kernel keeps all registers but those that are named here.
    unsafe {
        std::arch::asm!(
            "svc #0",
            in("x8") number,
            inlateout("x0") a => result,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f,
            options(nostack),
        );
    }
    result
}

/// Where the stack of the calling thread ends.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn stack_end() -> usize {
    let end;
    // SAFETY: a register is copied, and nothing else happens.
    unsafe { std::arch::asm!("mov {}, rsp", out(reg) end, options(nomem, nostack, preserves_flags)) };
    end
}

/// Where the stack of the calling thread ends.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub fn stack_end() -> usize {
    let end;
    // SAFETY: a register is copied, and nothing else happens.
    unsafe { std::arch::asm!("mov {}, sp", out(reg) end, options(nomem, nostack, preserves_flags)) };
    end
}

/// The stack that the thread has for handlers of signals; empty if there is none.
pub fn stack_of_handlers() -> Range<usize> {
    let mut stack = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: 0, ss_size: 0 };
    kernel(libc::SYS_sigaltstack, [0, std::ptr::from_mut(&mut stack) as usize, 0, 0, 0, 0]);
    let start = stack.ss_sp as usize;
    start..start.saturating_add(stack.ss_size)
}

/// A number of the C library as the kernel takes it; negative ones keep their bits.
pub fn word(number: c_int) -> usize {
    (number as isize).cast_unsigned()
}

/// Waits until a thread wakes this word, it is not `value`, or the time is over; returns early at will.
pub fn wait_on(word: &AtomicU32, value: u32, nanoseconds: Option<u64>) {
    let limit = nanoseconds.map(timespec);
    let limit = limit.as_ref().map_or(std::ptr::null(), |limit| limit as *const libc::timespec);
    let what = self::word(libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG);
    kernel(libc::SYS_futex, [word.as_ptr() as usize, what, value as usize, limit as usize, 0, 0]);
}

/// Wakes who waits on this word.
pub fn wake(word: &AtomicU32) {
    let what = self::word(libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG);
    kernel(libc::SYS_futex, [word.as_ptr() as usize, what, 1, 0, 0, 0]);
}

/// Does nothing for so long.
pub fn pause(nanoseconds: u64) {
    wait_on(&AtomicU32::new(0), 0, Some(nanoseconds));
}

/// Does something that no handler of a signal interrupts.
pub fn without_signals<R>(act: impl FnOnce() -> R) -> R {
    if signals::may_interrupt() { with_signals_blocked(act) } else { act() }
}

/// The same in our code, by whose turn it is: most handlers are put off there anyway.
pub fn without_break_ins<R>(act: impl FnOnce() -> R) -> R {
    if signals::may_break_in() { with_signals_blocked(act) } else { act() }
}

fn with_signals_blocked<R>(act: impl FnOnce() -> R) -> R {
    let before = set_signals(u64::MAX);
    let result = act();
    set_signals(before);
    result
}

/// Keeps signals from the calling thread, and from those that it starts; not those that the C library sends itself.
/// Returns what was kept from it before.
pub fn block_signals() -> u64 {
    const OF_LIBRARY: u64 = 0b11 << 31;
    set_signals(!OF_LIBRARY)
}

/// These signals, a bit each, do not come to the calling thread. Returns those that did not before.
pub fn set_signals(new: u64) -> u64 {
    let mut old = 0_u64;
    let (new, old_place) = (std::ptr::from_ref(&new) as usize, &raw mut old as usize);
    kernel(libc::SYS_rt_sigprocmask, [word(libc::SIG_SETMASK), new, old_place, size_of::<u64>(), 0, 0]);
    old
}

/// What the kernel does at a signal, as it has it.
#[repr(C)]
#[derive(Default)]
pub struct KernelAction {
    /// Which function it calls, or one of the numbers for what it does by itself.
    pub handler: usize,
    /// How it does that.
    pub flags: u64,
    restorer: usize,
    mask: u64,
}

/// What the kernel does at this signal.
pub fn action_of(signal: c_int) -> KernelAction {
    let mut action = KernelAction::default();
    let place = &raw mut action as usize;
    ask_kernel(libc::SYS_rt_sigaction, [word(signal), 0, place, size_of::<u64>(), 0, 0]);
    action
}

/// The kernel does this at the signal from now on.
pub fn set_action(signal: c_int, action: &KernelAction) {
    let place = std::ptr::from_ref(action) as usize;
    ask_kernel(libc::SYS_rt_sigaction, [word(signal), place, 0, size_of::<u64>(), 0, 0]);
}

/// Whether a call that the handler of this signal has interrupted goes on afterwards.
pub fn is_restarted_after(signal: c_int) -> bool {
    action_of(signal).flags & u64::from(libc::SA_RESTART.cast_unsigned()) != 0
}

/// These signals, a bit each, come to the calling thread again.
pub fn let_signals_through(signals: u64) {
    let place = std::ptr::from_ref(&signals) as usize;
    ask_kernel(libc::SYS_rt_sigprocmask, [word(libc::SIG_UNBLOCK), place, 0, size_of::<u64>(), 0, 0]);
}

/// Lets other threads of the machine run.
pub fn yield_processor() {
    kernel(libc::SYS_sched_yield, [0; 6]);
}

/// Writes all bytes, or says why not.
pub fn write_all(file: c_int, mut bytes: &[u8]) -> Result<(), c_int> {
    while !bytes.is_empty() {
        let arguments = [word(file), bytes.as_ptr() as usize, bytes.len(), 0, 0, 0];
        let written = kernel(libc::SYS_write, arguments);
        match usize::try_from(written) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(_) if errno() == libc::EINTR => {}
            Err(_) => return Err(errno()),
        }
    }
    Ok(())
}

/// Whether there is a file at this path.
pub fn exists(path: &CStr) -> bool {
    kernel(libc::SYS_faccessat, [word(libc::AT_FDCWD), path.as_ptr() as usize, 0, 0, 0, 0]) == 0
}

fn open(path: &CStr, how: c_int) -> Option<c_int> {
    let (path, how) = (path.as_ptr() as usize, word(how | libc::O_CLOEXEC));
    let opened = kernel(libc::SYS_openat, [word(libc::AT_FDCWD), path, how, 0o600, 0, 0]);
    c_int::try_from(opened).ok().filter(|&file| file >= 0)
}

/// Writes the bytes at the end of a file, all at once, so that they stay together any other thread that does so.
pub fn append_file(path: &CStr, bytes: &[u8]) {
    if let Some(file) = open(path, libc::O_CREAT | libc::O_WRONLY | libc::O_APPEND) {
        // If there is no room for it, there is none for the log either, which says so.
        let _ = write_all(file, bytes);
        close(file);
    }
}

/// Writes a file as a whole; if that fails, the thread that waits for it finds none, or not all of it.
pub fn write_file(path: &CStr, bytes: &[u8]) {
    if let Some(file) = open(path, libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC) {
        // See above.
        let _ = write_all(file, bytes);
        close(file);
    }
}

/// The text in a file, which stays in memory of its own, far from where the program's would come to lie.
pub fn map_text(path: &CStr) -> Option<&'static str> {
    const FAR: usize = 1 << 40;
    let file = open(path, libc::O_RDONLY)?;
    let end = kernel(libc::SYS_lseek, [word(file), 0, word(libc::SEEK_END), 0, 0, 0]);
    let bytes = usize::try_from(end).ok().filter(|&bytes| bytes > 0);
    let (how, shared) = (word(libc::PROT_READ), word(libc::MAP_PRIVATE));
    let start = bytes.map(|bytes| kernel(libc::SYS_mmap, [FAR, bytes, how, shared, word(file), 0]));
    close(file);
    let start = usize::try_from(start?).ok()?;
    // SAFETY: no thread takes the pages away.
    std::str::from_utf8(unsafe { std::slice::from_raw_parts(start as *const u8, bytes?) }).ok()
}

/// What debuggers call the calling thread from now on.
pub fn name_thread(name: &CStr) {
    kernel(libc::SYS_prctl, [word(libc::PR_SET_NAME), name.as_ptr() as usize, 0, 0, 0, 0]);
}

/// Says something to the user.
pub fn say(text: &str) {
    // nothing can be done about it.
    let _ = write_all(2, format!("foretell: {text}\n").as_bytes());
}

/// Ends the process at once.
pub fn exit_now(code: c_int) -> ! {
    loop {
        kernel(libc::SYS_exit_group, [word(code), 0, 0, 0, 0, 0]);
    }
}

/// The number by which the kernel knows this thread.
pub fn kernel_id() -> i32 {
    i32::try_from(kernel(libc::SYS_gettid, [0; 6])).unwrap_or(0)
}

/// The number of the process, which the C library may remember wrongly.
pub fn process_id() -> i32 {
    i32::try_from(kernel(libc::SYS_getpid, [0; 6])).unwrap_or(0)
}

/// Whether the kernel still has a thread with this number in our process.
pub fn is_alive(kernel_id: i32) -> bool {
    kernel(libc::SYS_tgkill, [word(process_id()), word(kernel_id), 0, 0, 0, 0]) == 0
}

/// What was wrong with the last call of the C library by this thread.
pub fn errno() -> c_int {
    // SAFETY: the C library gives the address of a variable of the calling thread.
    unsafe { *libc::__errno_location() }
}

/// Puts that back.
pub fn set_errno(value: c_int) {
    // SAFETY: the C library gives the address of a variable of the calling thread.
    unsafe { *libc::__errno_location() = value }
}

/// A time in nanoseconds as the C library has it.
pub fn timespec(nanoseconds: u64) -> libc::timespec {
    let part = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    libc::timespec { tv_sec: part(nanoseconds / 1_000_000_000), tv_nsec: part(nanoseconds % 1_000_000_000) }
}

/// A time of the C library in nanoseconds; what is negative is none.
pub fn nanoseconds(time: &libc::timespec) -> u64 {
    let part = |number: i64| u64::try_from(number).unwrap_or(0);
    part(time.tv_sec).saturating_mul(1_000_000_000).saturating_add(part(time.tv_nsec))
}

/// The number at this address of our own memory, if there is memory.
pub fn peek(address: u64) -> Option<u64> {
    let mut number = [0; size_of::<u64>()];
    let read = copy_out(usize::try_from(address).ok()?, &mut number);
    (read == number.len()).then(|| u64::from_ne_bytes(number))
}

/// Copies what is at this address of our own memory, as far as it can be read; says how many bytes that are.
pub fn copy_out(address: usize, to: &mut [u8]) -> usize {
    let from = libc::iovec { iov_base: address as *mut c_void, iov_len: to.len() };
    let to = libc::iovec { iov_base: to.as_mut_ptr().cast(), iov_len: to.len() };
    // SAFETY: every process has a number.
    let process = unsafe { libc::getpid() };
    let (to, from) = (std::ptr::from_ref(&to) as usize, std::ptr::from_ref(&from) as usize);
    let read = kernel(libc::SYS_process_vm_readv, [word(process), to, 1, from, 1, 0]);
    usize::try_from(read).unwrap_or(0)
}

/// A number of the loader as an address; these are as wide here.
pub fn wide(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Gives a file number back.
pub fn close(file: c_int) {
    kernel(libc::SYS_close, [word(file), 0, 0, 0, 0, 0]);
}

/// The time that this clock shows, in nanoseconds.
fn read_clock(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours to be filled.
    unsafe { libc::clock_gettime(clock, &mut now) };
    nanoseconds(&now)
}

/// The time since some moment in the past.
pub fn now() -> u64 {
    read_clock(libc::CLOCK_MONOTONIC)
}

/// As [`now`], some milliseconds late.
pub fn coarse_now() -> u64 {
    read_clock(libc::CLOCK_MONOTONIC_COARSE)
}

/// How long the thread has run on a processor.
pub fn processor_time(kernel_id: i32) -> u64 {
    // How the kernel names the clock of a thread.
    read_clock(!kernel_id << 3 | 6)
}

// When the following is asked depends on real time, so it must not allocate: that would move what the program
// allocates later.

/// Whether the thread sleeps in the kernel.
pub fn sleeps(kernel_id: i32) -> bool {
    state(kernel_id).is_some_and(|state| b"SD".contains(&state))
}

/// Whether nothing is left of the thread but its number.
pub fn is_zombie(kernel_id: i32) -> bool {
    state(kernel_id).is_none_or(|state| b"ZX".contains(&state))
}

/// What the thread does, as the kernel says by a letter.
fn state(kernel_id: i32) -> Option<u8> {
    let (mut path, mut stat) = ([0_u8; 48], [0_u8; 64]);
    // There is room for the longest number, and a zero after it.
    write!(&mut path[..47], "/proc/self/task/{kernel_id}/stat").ok()?;
    read_start(CStr::from_bytes_until_nul(&path).ok()?, &mut stat)?;
    // The state follows the name, which stands in parentheses.
    let after_name = stat.iter().rposition(|&byte| byte == b')').map(|end| end + 2)?;
    stat.get(after_name).copied()
}

/// Reads what a file begins with, as far as there is room; says how much that is.
fn read_start(path: &CStr, room: &mut [u8]) -> Option<usize> {
    let file = open(path, libc::O_RDONLY)?;
    let mut used = 0;
    while let Some(rest) = room.get_mut(used..).filter(|rest| !rest.is_empty()) {
        let read = kernel(libc::SYS_read, [word(file), rest.as_mut_ptr() as usize, rest.len(), 0, 0, 0]);
        match usize::try_from(read) {
            Ok(0) | Err(_) => break,
            Ok(read) => used += read,
        }
    }
    close(file);
    Some(used)
}

/// Shows all numbers by which the kernel knows the threads of this process; none if that is not possible.
pub fn each_thread(mut show: impl FnMut(i32)) -> Option<()> {
    /// Where the length of an entry stands, and where its name begins.
    const LENGTH: usize = 16;
    const NAME: usize = 19;
    let folder = open(c"/proc/self/task", libc::O_RDONLY | libc::O_DIRECTORY)?;
    let mut room = [0_u8; 4096];
    loop {
        let arguments = [word(folder), room.as_mut_ptr() as usize, room.len(), 0, 0, 0];
        let Ok(used) = usize::try_from(kernel(libc::SYS_getdents64, arguments)) else {
            close(folder);
            return None;
        };
        let mut entries = room.get(..used).unwrap_or_default();
        if entries.is_empty() {
            close(folder);
            return Some(());
        }
        while let Some(&[low, high]) = entries.get(LENGTH..LENGTH + 2) {
            let length = usize::from(u16::from_ne_bytes([low, high]));
            let name = entries.get(NAME..length).and_then(|name| CStr::from_bytes_until_nul(name).ok());
            // Two of them are no numbers: the folder itself, and the one that it is in.
            if let Some(id) = name.and_then(|name| name.to_str().ok()?.parse().ok()) {
                show(id);
            }
            entries = entries.get(length.max(1)..).unwrap_or_default();
        }
    }
}

/// Whether the program has handlers for signals that others may send it at any time.
pub fn catches_signals() -> Option<bool> {
    /// What a thread brings upon itself, and what the C library uses itself.
    const OTHERS: [c_int; 9] = [
        libc::SIGILL,
        libc::SIGTRAP,
        libc::SIGABRT,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGSEGV,
        libc::SIGSYS,
        32,
        33,
    ];
    let mut room = [0_u8; 4096];
    let used = read_start(c"/proc/self/status", &mut room)?;
    let status = std::str::from_utf8(room.get(..used)?).ok()?;
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
    let caught = u64::from_str_radix(caught.trim(), 16).ok()?;
    let others = OTHERS.iter().fold(0_u64, |mask, signal| mask | 1 << (signal - 1));
    Some(caught & !others != 0)
}

/// How long it is until this time on that clock.
pub fn until(clock: libc::clockid_t, time: &libc::timespec) -> u64 {
    nanoseconds(time).saturating_sub(read_clock(clock))
}

/// A word of this process, if there is memory at its address.
pub fn read_word(address: usize) -> Option<u32> {
    const PAGE: usize = 4096;
    let mut resident = 0_u8;
    let start = address & !(PAGE - 1);
    // SAFETY: the call only asks, and the byte is ours.
    let is_mapped = unsafe { libc::mincore(start as *mut c_void, PAGE, &mut resident) } == 0;
    // The word does not reach across pages, and it is our turn: no thread takes the page away.
    (is_mapped && address.is_multiple_of(size_of::<u32>()))
        // SAFETY: the page is mapped, the word does not reach across pages, and it is our turn: no other thread of
        // the program unmaps the page.
        .then(|| unsafe { (address as *const u32).read_volatile() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_survive_the_form_of_the_c_library() {
        for time in [0, 1, 999_999_999, 1_000_000_000, 3_000_000_017] {
            assert_eq!(nanoseconds(&timespec(time)), time);
        }
    }

    #[test]
    fn memory_is_read_only_where_there_is_any() {
        let number = 0x0123_4567_89AB_CDEF_u64;
        assert_eq!(peek(std::ptr::from_ref(&number) as u64), Some(number));
        assert_eq!(peek(8), None, "nothing is mapped there");
        assert_eq!(read_word(8), None);
    }

    #[test]
    fn errors_of_the_kernel_are_in_errno() {
        set_errno(0);
        assert_eq!((kernel(libc::SYS_close, [usize::MAX, 0, 0, 0, 0, 0]), errno()), (-1, libc::EBADF));
        set_errno(0);
        assert_eq!(ask_kernel(libc::SYS_close, [usize::MAX, 0, 0, 0, 0, 0]), -i64::from(libc::EBADF));
        assert_eq!(errno(), 0, "that asks quietly");
    }
}
