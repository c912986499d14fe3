//! Files of ours that stay open whatever the program does to its descriptors.
//!
//! Programs close all descriptors that they do not know, and daemons always do. So calls that close descriptors pass
//! over ours, see `interpose/descriptor.rs`. Where that does not help, as with a direct call into the kernel, the
//! number may belong to another file by now: so it is compared before each use, and the file is opened anew if it is
//! not the same.

use std::ffi::{CString, c_char, c_int};
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU64, Ordering};

use crate::system::{ask_kernel, close, word};

/// Descriptors from this number on are not those of the program, as a rule.
const HIGH: usize = 900;

/// The file of the log.
pub static LOG: KeptFile = KeptFile::new();
/// The file that races are written to.
pub static RACES: KeptFile = KeptFile::new();

/// A file that stays open.
pub struct KeptFile {
    /// Its descriptor; negative if there is none.
    file: AtomicI32,
    /// What the kernel knows it by.
    device: AtomicU64,
    inode: AtomicU64,
    /// Where it is. A text that is never given back.
    path: AtomicPtr<c_char>,
}

impl KeptFile {
    const fn new() -> KeptFile {
        KeptFile {
            file: AtomicI32::new(-1),
            device: AtomicU64::new(0),
            inode: AtomicU64::new(0),
            path: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// Keeps this file, which was just made at this path. As long as it is open, others can see by its lock that
    /// a thread writes to it.
    pub fn keep(&self, file: c_int, path: CString) {
        let file = make_high(file);
        lock(file);
        let (device, inode) = identity(file).unwrap_or((0, 0));
        self.device.store(device, Ordering::Relaxed);
        self.inode.store(inode, Ordering::Relaxed);
        self.path.store(path.into_raw(), Ordering::Relaxed);
        self.file.store(file, Ordering::Release);
    }

    /// Its descriptor, if there is one.
    pub fn descriptor(&self) -> Option<c_int> {
        let file = self.file.load(Ordering::Acquire);
        if file < 0 {
            return None;
        }
        if self.is_it(file) { Some(file) } else { self.open_again(file) }
    }

    /// Whether the file was not given up, be it open or not.
    pub fn is_there(&self) -> bool {
        self.file.load(Ordering::Acquire) >= 0
    }

    fn is_it(&self, file: c_int) -> bool {
        let known = (self.device.load(Ordering::Relaxed), self.inode.load(Ordering::Relaxed));
        identity(file) == Some(known)
    }

    /// The program has taken the descriptor away.
    #[cold]
    fn open_again(&self, lost: c_int) -> Option<c_int> {
        let (path, how) = (self.path.load(Ordering::Relaxed) as usize, word(libc::O_RDWR | libc::O_CLOEXEC));
        let opened = ask_kernel(libc::SYS_openat, [word(libc::AT_FDCWD), path, how, 0, 0, 0]);
        let file = c_int::try_from(opened).ok().filter(|&file| file >= 0).map(make_high)?;
        if !self.is_it(file) {
            close(file);
            return None;
        }
        lock(file);
        match self.file.compare_exchange(lost, file, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Some(file),
            // Another thread was faster.
            Err(other) => {
                close(file);
                (other >= 0).then_some(other)
            }
        }
    }

    /// It is of no use any more; says whether it was until now.
    pub fn abandon(&self) -> bool {
        self.file.swap(-1, Ordering::AcqRel) >= 0
    }

    /// There is no file any more; returns its descriptor, if it was still there.
    pub fn give_up(&self) -> Option<c_int> {
        let file = self.file.swap(-1, Ordering::AcqRel);
        (file >= 0 && self.is_it(file)).then_some(file)
    }

    /// The program wants this number for itself: the file gets another one.
    fn move_away(&self, wanted: c_int) {
        let file = self.file.load(Ordering::Acquire);
        if file == wanted && self.is_it(file) {
            let from = usize::try_from(file + 1).unwrap_or(HIGH);
            let moved = duplicate(file, from).or_else(|| duplicate(file, 0));
            if let Some(moved) = moved {
                self.file.store(moved, Ordering::Release);
            }
        }
    }
}

/// Our descriptors, in order.
pub fn descriptors() -> impl Iterator<Item = c_int> {
    let mut files = [&LOG, &RACES].map(|kept| kept.file.load(Ordering::Acquire));
    files.sort_unstable();
    files.into_iter().filter(|&file| file >= 0)
}

/// Whether the descriptor is one of ours, of which the program knows nothing.
pub fn is_ours(file: c_int) -> bool {
    file >= 0
        && [&LOG, &RACES]
            .into_iter()
            .any(|kept| kept.file.load(Ordering::Acquire) == file && kept.is_it(file))
}

/// The program is about to use this number for a file of its own.
pub fn make_way(wanted: c_int) {
    [&LOG, &RACES].into_iter().for_each(|kept| kept.move_away(wanted));
}

/// What the kernel knows a file by. `errno` stays what it was.
fn identity(file: c_int) -> Option<(u64, u64)> {
    // SAFETY: the structure is of numbers, which may be zero.
    let mut about: libc::stat = unsafe { std::mem::zeroed() };
    let known = ask_kernel(libc::SYS_fstat, [word(file), &raw mut about as usize, 0, 0, 0, 0]) == 0;
    known.then_some((about.st_dev, about.st_ino))
}

/// Whether that works is of no matter: the lock only tells others that a thread is here. Who looks has it for a
/// moment.
fn lock(file: c_int) {
    ask_kernel(libc::SYS_flock, [word(file), word(libc::LOCK_SH), 0, 0, 0, 0]);
}

fn duplicate(file: c_int, from: usize) -> Option<c_int> {
    let found = ask_kernel(libc::SYS_fcntl, [word(file), word(libc::F_DUPFD_CLOEXEC), from, 0, 0, 0]);
    c_int::try_from(found).ok().filter(|&found| found >= 0)
}

/// The same file with a number that the program does not use itself.
fn make_high(low: c_int) -> c_int {
    let Some(high) = duplicate(low, HIGH) else { return low };
    close(low);
    high
}
