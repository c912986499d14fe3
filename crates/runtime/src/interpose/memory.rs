//! Memory that comes and goes: what is allocated anew is another variable than what was there before.

use std::ffi::{c_int, c_void};

use foretell_wire::record::{Record, SyncOp};

use super::original;
use crate::turn::Turn;

type Block = *mut c_void;

unsafe extern "C" {
    fn __libc_malloc(bytes: usize) -> Block;
    fn __libc_calloc(count: usize, bytes: usize) -> Block;
    fn __libc_realloc(block: Block, bytes: usize) -> Block;
    fn __libc_free(block: Block);
    fn __libc_memalign(alignment: usize, bytes: usize) -> Block;
    fn malloc_usable_size(block: Block) -> usize;
}

fn allocated(block: Block, bytes: usize) -> Block {
    if !block.is_null()
        && let Some(turn) = Turn::take()
    {
        turn.log_sync(SyncOp::Alloc, block as usize, bytes as u64);
    }
    block
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn malloc(bytes: usize) -> Block {
    allocated(unsafe { __libc_malloc(bytes) }, bytes)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn calloc(count: usize, bytes: usize) -> Block {
    allocated(unsafe { __libc_calloc(count, bytes) }, count.saturating_mul(bytes))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memalign(alignment: usize, bytes: usize) -> Block {
    allocated(unsafe { __libc_memalign(alignment, bytes) }, bytes)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn aligned_alloc(alignment: usize, bytes: usize) -> Block {
    allocated(unsafe { __libc_memalign(alignment, bytes) }, bytes)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(block: *mut Block, alignment: usize, bytes: usize) -> c_int {
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<usize>()) {
        return libc::EINVAL;
    }
    let found = allocated(unsafe { __libc_memalign(alignment, bytes) }, bytes);
    if found.is_null() {
        return libc::ENOMEM;
    }
    unsafe { block.write(found) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn free(block: Block) {
    if !block.is_null()
        && let Some(turn) = Turn::take()
    {
        turn.log_sync(SyncOp::Free, block as usize, 0);
    }
    unsafe { __libc_free(block) };
}

/// A new block into which the content of the old one is copied, even if it lies in the same place.
#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(block: Block, bytes: usize) -> Block {
    let Some(turn) = Turn::take() else { return unsafe { __libc_realloc(block, bytes) } };
    let site = turn.me.site.get();
    let content = if block.is_null() {
        Vec::new()
    } else {
        let kept = unsafe { malloc_usable_size(block) }.min(bytes);
        unsafe { std::slice::from_raw_parts(block.cast::<u8>(), kept) }.to_vec()
    };
    let new = unsafe { __libc_realloc(block, bytes) };
    if new.is_null() && bytes > 0 {
        return new;
    }
    if !block.is_null() {
        let old = block as u64;
        turn.log_range(&content, |offset, bytes| Record::ReadRange { site, addr: old + offset, bytes });
        turn.log_sync(SyncOp::Free, block as usize, 0);
    }
    if !new.is_null() {
        turn.log_sync(SyncOp::Alloc, new as usize, bytes as u64);
        let addr = new as u64;
        turn.log_range(&content, |offset, bytes| Record::WriteRange { site, addr: addr + offset, bytes });
    }
    new
}

#[unsafe(no_mangle)]
unsafe extern "C" fn reallocarray(block: Block, count: usize, bytes: usize) -> Block {
    match count.checked_mul(bytes) {
        Some(bytes) => unsafe { realloc(block, bytes) },
        None => {
            crate::system::set_errno(libc::ENOMEM);
            std::ptr::null_mut()
        }
    }
}

/// Mapped memory goes; what is mapped there next is new.
#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(start: *mut c_void, bytes: usize) -> c_int {
    if let Some(turn) = Turn::take() {
        turn.log_sync(SyncOp::Free, start as usize, bytes as u64);
    }
    unsafe { original!(c"munmap": fn(*mut c_void, usize) -> c_int)(start, bytes) }
}
