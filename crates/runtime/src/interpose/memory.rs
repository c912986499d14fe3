//! Memory that comes and goes: what is allocated anew is another variable than what was there before.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use foretell_wire::record::{Record, SyncOp};

use super::blocking::received;
use super::{as_function, find_in_c_library};
use crate::allocator;
use crate::thread::AsNative;
use crate::turn::Turn;

type Block = *mut c_void;

unsafe extern "C" {
    fn __libc_malloc(bytes: usize) -> Block;
    fn __libc_calloc(count: usize, bytes: usize) -> Block;
    fn __libc_realloc(block: Block, bytes: usize) -> Block;
    fn __libc_free(block: Block);
    fn __libc_memalign(alignment: usize, bytes: usize) -> Block;
    fn __libc_valloc(bytes: usize) -> Block;
    fn __libc_pvalloc(bytes: usize) -> Block;
}

/// How many bytes the block has that begins here.
pub(crate) fn block_size(block: usize) -> usize {
    // SAFETY: the caller passes the beginning of a block that was not given back.
    unsafe { malloc_usable_size(block as Block) }
}

/// The C library's own, for its own blocks: another allocator may have been loaded before it that has a function of
/// this name.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn malloc_usable_size(block: Block) -> usize {
    static FOUND: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    if block.is_null() {
        return 0;
    }
    let function = find_in_c_library(&FOUND, c"malloc_usable_size");
    // SAFETY: the function is the C library's, which has made the block.
    unsafe { as_function::<unsafe extern "C-unwind" fn(Block) -> usize>(function)(block) }
}

fn allocated(block: Block) -> Block {
    if !block.is_null()
        && let Some(turn) = Turn::take()
    {
        log_new(&turn, block);
    }
    block
}

/// A block is larger than was asked for, and programs that ask how large it is use all of it.
fn log_new(turn: &Turn, block: Block) {
    // SAFETY: the block was allocated by the C library, and is not given back yet.
    turn.log_memory(SyncOp::Alloc, block as usize, unsafe { malloc_usable_size(block) });
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn malloc(bytes: usize) -> Block {
    // SAFETY: any size may be asked for.
    allocated(unsafe { __libc_malloc(bytes) })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn calloc(count: usize, bytes: usize) -> Block {
    // SAFETY: any size may be asked for.
    allocated(unsafe { __libc_calloc(count, bytes) })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn memalign(alignment: usize, bytes: usize) -> Block {
    // SAFETY: any size and alignment may be asked for.
    allocated(unsafe { __libc_memalign(alignment, bytes) })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn aligned_alloc(alignment: usize, bytes: usize) -> Block {
    // SAFETY: any size and alignment may be asked for.
    allocated(unsafe { __libc_memalign(alignment, bytes) })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn valloc(bytes: usize) -> Block {
    // SAFETY: any size may be asked for.
    allocated(unsafe { __libc_valloc(bytes) })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pvalloc(bytes: usize) -> Block {
    // SAFETY: any size may be asked for.
    allocated(unsafe { __libc_pvalloc(bytes) })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn posix_memalign(block: *mut Block, alignment: usize, bytes: usize) -> c_int {
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<usize>()) {
        return libc::EINVAL;
    }
    // SAFETY: any size and alignment may be asked for.
    let found = allocated(unsafe { __libc_memalign(alignment, bytes) });
    if found.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the program passes a place for the address.
    unsafe { block.write(found) };
    if let Some(turn) = Turn::take() {
        received(&turn, block.cast(), size_of::<Block>());
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn free(block: Block) {
    if block.is_null() {
        return allocator::is_reached();
    }
    if let Some(turn) = Turn::take() {
        if !turn.me.native().forgets() {
            // SAFETY: the block was allocated by the C library, and is not given back yet.
            turn.due_to_free(block as usize, unsafe { malloc_usable_size(block) });
            turn.log_memory(SyncOp::Free, block as usize, 0);
        }
        // SAFETY: the block was kept since the program gave it back, and nothing gives it back twice.
        return unsafe { __libc_free(keep_for_a_while(block)) };
    }
    // SAFETY: the program gives the block back, which the C library has allocated.
    unsafe { __libc_free(block) };
}

/// So many blocks are not used again at once,
const KEPT: usize = 4096;
/// if they have no more bytes than this each: what is kept must not become much.
const SMALL: usize = 4096;

/// Memory that goes from thread to thread by way of the allocator orders them, and that hides races. So a small block
/// is given back only when many others were freed after it. Takes a block and returns the one whose time has come, if
/// there is any.
fn keep_for_a_while(block: Block) -> Block {
    static BLOCKS: [AtomicPtr<c_void>; KEPT] = [const { AtomicPtr::new(std::ptr::null_mut()) }; KEPT];
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    // SAFETY: the block was allocated by the C library, and is not given back yet.
    if unsafe { malloc_usable_size(block) } > SMALL {
        return block;
    }
    let place = NEXT.fetch_add(1, Ordering::Relaxed) % KEPT;
    BLOCKS[place].swap(block, Ordering::AcqRel)
}

/// Always a new block into which the content of the old one is copied: so the old one is known to be given back
/// before any other thread can get it.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn realloc(block: Block, bytes: usize) -> Block {
    if block.is_null() {
        // SAFETY: any size may be asked for.
        return unsafe { malloc(bytes) };
    }
    // SAFETY: the program passes a block that the C library has allocated.
    let Some(turn) = Turn::take() else { return unsafe { __libc_realloc(block, bytes) } };
    // SAFETY: any size may be asked for.
    let new = if bytes == 0 { std::ptr::null_mut() } else { unsafe { __libc_malloc(bytes) } };
    if bytes > 0 && new.is_null() {
        return new;
    }
    if !new.is_null() {
        log_new(&turn, new);
        turn.due();
        // SAFETY: the block was allocated by the C library, and is not given back yet.
        move_content(&turn, new, block, unsafe { malloc_usable_size(block) }.min(bytes));
    }
    // SAFETY: the block was allocated by the C library, and is not given back yet.
    turn.due_to_free(block as usize, unsafe { malloc_usable_size(block) });
    turn.log_memory(SyncOp::Free, block as usize, 0);
    // SAFETY: the program gives the block back, which the C library has allocated.
    unsafe { __libc_free(block) };
    new
}

fn move_content(turn: &Turn, to: Block, from: Block, bytes: usize) {
    let site = turn.me.site.get();
    turn.at_both(to as usize, from as usize, bytes, || {
        // SAFETY: both blocks are at least as large.
        unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast::<u8>(), bytes) };
        // SAFETY: so many bytes were just copied there, and the block is not known to others yet.
        let content = unsafe { std::slice::from_raw_parts(to.cast::<u8>(), bytes) };
        let (to, from) = (to as u64, from as u64);
        turn.log_range(content, |offset, bytes| Record::ReadRange { site, addr: from + offset, bytes });
        turn.log_range(content, |offset, bytes| Record::WriteRange { site, addr: to + offset, bytes });
    });
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn reallocarray(block: Block, count: usize, bytes: usize) -> Block {
    match count.checked_mul(bytes) {
        // SAFETY: the program passes a block that the C library has allocated.
        Some(bytes) => unsafe { realloc(block, bytes) },
        None => {
            crate::system::set_errno(libc::ENOMEM);
            std::ptr::null_mut()
        }
    }
}
