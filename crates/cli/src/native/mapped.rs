//! A log in memory, page by page: what was read is given back to the system, so that a long log takes no more room than
//! a short one.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr;
use std::sync::atomic::AtomicU64;

/// How many calls of `pass_by` it takes until pages that were read are released.
const PASSES: u32 = 32;

/// A file whose pages are there when they are looked at. It never shrinks: it is in a folder of ours, and its writer
/// only appends.
pub(crate) struct Mapped {
    start: *mut libc::c_void,
    length: usize,
    passes: Cell<u32>,
}

impl Mapped {
    pub(crate) fn open(path: &Path) -> io::Result<Mapped> {
        let file = File::open(path)?;
        let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        let start = if length == 0 { ptr::null_mut() } else { map(&file, length)? };
        Ok(Mapped { start, length, passes: Cell::new(0) })
    }

    /// A sequential reader makes progress.
    #[expect(unsafe_code, reason = "there is no other way to give pages back")]
    pub(crate) fn pass_by(&self) {
        self.passes.set(self.passes.get() % PASSES + 1);
        if self.passes.get() == PASSES && self.length > 0 {
            // SAFETY: the range is mapped, and nothing was written to it. The pages are those of the file, and come
            // back when they are looked at. If that fails, they stay.
            unsafe { libc::madvise(self.start, self.length, libc::MADV_DONTNEED) };
        }
    }
}

#[expect(unsafe_code, reason = "there is no other way to map a file")]
fn map(file: &File, length: usize) -> io::Result<*mut libc::c_void> {
    // SAFETY: the kernel chooses where; the length is that of the file.
    let start = unsafe {
        libc::mmap(ptr::null_mut(), length, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0)
    };
    if start == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(start) }
}

impl Deref for Mapped {
    type Target = [u8];

    #[expect(unsafe_code, reason = "the bytes are there as long as this is")]
    fn deref(&self) -> &[u8] {
        if self.length == 0 {
            &[]
        } else {
            // SAFETY: so many bytes are mapped for as long as this lives. The folder is ours alone, so nothing
            // truncates the file.
            unsafe { std::slice::from_raw_parts(self.start.cast(), self.length) }
        }
    }
}

impl Drop for Mapped {
    #[expect(unsafe_code, reason = "the mapping has no reader any more")]
    fn drop(&mut self) {
        if self.length > 0 {
            // SAFETY: the range was mapped by `map`, and nothing borrows it any more.
            unsafe { libc::munmap(self.start, self.length) };
        }
    }
}

/// A number that recorded processes change, too, at the beginning of a file.
pub(crate) struct Shared {
    start: *mut libc::c_void,
}

impl Shared {
    /// The file must have a page, and keeps it.
    #[expect(unsafe_code, reason = "there is no other way to map a file")]
    pub(crate) fn open(path: &Path) -> io::Result<Shared> {
        let file = File::options().read(true).write(true).open(path)?;
        if file.metadata()?.len() < size_of::<AtomicU64>() as u64 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        let how = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the kernel chooses where; the file is that long.
        let start = unsafe {
            libc::mmap(ptr::null_mut(), size_of::<AtomicU64>(), how, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if start == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(Shared { start }) }
    }

    #[expect(unsafe_code, reason = "the number is in a file")]
    pub(crate) fn number(&self) -> &AtomicU64 {
        // SAFETY: it is at the beginning of a page that is mapped for as long as this lives; all change it atomically.
        unsafe { AtomicU64::from_ptr(self.start.cast()) }
    }
}

impl Drop for Shared {
    #[expect(unsafe_code, reason = "the mapping has no user any more")]
    fn drop(&mut self) {
        // SAFETY: it was mapped by `open`, and nothing borrows it any more.
        unsafe { libc::munmap(self.start, size_of::<AtomicU64>()) };
    }
}
