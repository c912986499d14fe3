//! Allocators that the program brings along.
//!
//! Memory that one thread gives back and another one gets next is recorded as other memory, if it passes our `malloc`
//! and `free`. A program may have others: `malloc` of its own, linked before ours, or a library that does `operator
//! new` by itself. If those have hooks, they tell what they do, like every pool of blocks. If they have none, no thread
//! sees memory change hands; so nothing is reordered around a call that gives memory back: the thread that had it comes
//! before that, and the thread that gets it after.
//!
//! No thread hands over within an allocator of the program, where threads take turns: the C library allocates while
//! it starts a thread, say, and the thread that has its turn must not wait then for a lock of a thread that does not.
//!
//! Whose a function is turns out when it is called for no memory at all, which is allowed and does nothing: ours
//! notices.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::functions;
use crate::interpose::as_function;
use crate::thread::{AsNative, Thread, me};
use crate::turn::Turn;

/// All functions that give memory back have one of a few names.
const MOST: usize = 32;

/// The functions that were asked, each with its lowest bit set if it is not ours.
static ASKED: [AtomicUsize; MOST] = [const { AtomicUsize::new(0) }; MOST];
/// Some function is not ours.
static IS_FOREIGN: AtomicBool = AtomicBool::new(false);
/// The functions that all code calls were checked.
static IS_SURE: AtomicBool = AtomicBool::new(false);

/// Addresses are asked as such, whatever bit is lowest.
fn key(function: usize) -> usize {
    function << 1
}

/// Our `free` was called for no memory.
pub(crate) fn is_reached() {
    if let Some(me) = me() {
        me.native().probes.set(false);
    }
}

/// Whether memory that is given back by this function changes hands unseen.
fn is_foreign(me: &'static Thread, function: usize) -> bool {
    for place in &ASKED {
        match place.load(Ordering::Relaxed) {
            0 => {
                let found = find_out(me, function);
                // If another thread was quicker, it has found out the same, or this is asked again.
                let new = key(function) | usize::from(found);
                let _ = place.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed);
                return found;
            }
            known if known & !1 == key(function) => return known & 1 != 0,
            _ => {}
        }
    }
    true
}

fn find_out(me: &'static Thread, function: usize) -> bool {
    if functions::is_instrumented(function as u64) {
        return false;
    }
    type GiveBack = unsafe extern "C-unwind" fn(*mut c_void, usize, usize);
    let give_back: GiveBack = as_function(function as *mut c_void);
    me.native().probes.set(true);
    // Some also get the size and the alignment.
    // SAFETY: the function does nothing with a null pointer, as `free` does.
    unsafe { give_back(std::ptr::null_mut(), 0, 0) };
    let is_foreign = me.native().probes.take();
    if is_foreign {
        IS_FOREIGN.store(true, Ordering::Relaxed);
    }
    is_foreign
}

/// Before there are threads: finds out whether libraries without hooks give memory of the program back unseen.
pub(crate) fn ask_all() {
    const NAMES: [&CStr; 2] = [c"free", c"_ZdlPv"];
    let Some(me) = me().filter(|me| !me.log().is_inside()) else { return };
    if IS_SURE.swap(true, Ordering::Relaxed) {
        return;
    }
    // What is not there leaves a message behind, in memory that is no concern of the program.
    let Some(turn) = Turn::take() else { return };
    // SAFETY: the name ends with a zero.
    let functions = NAMES.map(|name| unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) });
    drop(turn);
    for function in functions.into_iter().filter(|function| !function.is_null()) {
        is_foreign(me, function as usize);
    }
}

/// Whether anything was found that gives memory back unseen.
pub(crate) fn is_unseen() -> bool {
    IS_FOREIGN.load(Ordering::Relaxed)
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_give_back(site: u64, function: usize) {
    let Some(me) = me() else { return };
    me.site.set(site);
    if me.log().is_inside() || !is_foreign(me, function) {
        return;
    }
    me.native().allocates.set(true);
    if let Some(turn) = Turn::take() {
        turn.fence(site);
    }
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_take(site: u64) {
    if let Some(me) = me() {
        me.site.set(site);
        me.native().allocates.set(is_unseen());
    }
}

/// So often in a row a thread keeps its turn where it could hand over. It may have left its allocator by an
/// exception, or wait for others within a library.
const MOST_KEPT: u32 = 1000;

/// Whether the thread is, or may be, in an allocator of the program, and does not hand over for that reason.
pub(crate) fn keeps_turn(me: &Thread) -> bool {
    let may_be_there = me.native().allocates.get()
        || me.native().library.is_in_allocator()
        || (is_unseen() && me.stack.is_outside());
    let kept = me.native().kept.get();
    if !may_be_there || kept >= MOST_KEPT {
        me.native().kept.set(0);
        return false;
    }
    me.native().kept.set(kept + 1);
    true
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_allocator(gives_back: u32) {
    let Some(turn) = Turn::take() else { return };
    // How often the library knows what is described there is not recorded, so a thread that has looked at it would seem
    // to race with the allocator.
    if gives_back != 0 && turn.me.native().forgets() {
        turn.fence(turn.me.site.get());
    }
    turn.me.native().library.begin_allocator();
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_allocator_end() {
    if let Some(turn) = Turn::take() {
        turn.me.native().library.end_allocator();
    }
}
