//! What the compiler pass has put into the program, see [`foretell_wire::hook`].
//!
//! Plain accesses come here only if the program cannot record them itself, see [`foretell_wire::hook::front`].
//!
//! Safety of all hooks: the program would have made the same access at the same address.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a value is as wide as its access; what is above that is nothing"
)]

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use foretell_wire::hook::{MemoryOrder, Update};
use foretell_wire::record::{Record, SyncOp};

use crate::acts;
use crate::detect;
use crate::functions;
use crate::log::LONGEST_RANGE;
use crate::programs;
use crate::stack::CallStack;
use crate::thread::{self, AsNative, Thread, me};
use crate::turn::Turn;

macro_rules! words {
    ($($size:literal $log:literal $word:ty, $atomic:ty: $load:ident $store:ident $atomic_load:ident $atomic_store:ident $rmw:ident $cmpxchg:ident;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $load(site: u64, addr: *const $word) -> u64 {
            // SAFETY: the program makes this very load: the pass has put the hook in its place.
            let read = move || u64::from(unsafe { addr.read_unaligned() });
            let Some(me) = me() else { return read() };
            if !me.enter() {
                return missed(me, read);
            }
            if !me.log().may_go_on() {
                return load_with_care(me, $log, site, addr as u64, read);
            }
            let value = read();
            me.tell_calls();
            if me.log().may_watch() {
                me.log().watch_access(false, $log, site, addr as u64);
                me.leave();
                return value;
            }
            me.log().access(false, $log, site, addr as u64, value);
            me.leave();
            value
        }

        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $store(site: u64, addr: *mut $word, value: u64) {
            // SAFETY: the program makes this very store: the pass has put the hook in its place.
            let write = move || unsafe { addr.write_unaligned(value as $word) };
            let Some(me) = me() else { return write() };
            if !me.enter() {
                return missed(me, write);
            }
            let value = u64::from(value as $word);
            if !me.log().may_go_on() {
                return store_with_care(me, $log, site, addr as u64, value, write);
            }
            write();
            me.tell_calls();
            if me.log().may_watch() {
                me.log().watch_access(true, $log, site, addr as u64);
                return me.leave();
            }
            me.log().access(true, $log, site, addr as u64, value);
            me.leave();
        }

        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $atomic_load(site: u64, addr: *mut $word, order: u32) -> u64 {
            // SAFETY: the program makes this very atomic access, at an address that is aligned for it.
            let load = || u64::from(unsafe { <$atomic>::from_ptr(addr) }.load(Ordering::SeqCst));
            let Some(turn) = enter().map(Turn::of) else { return load() };
            turn.access(addr as usize, $size, || {
                let (value, addr, order) = (load(), addr as u64, order_of(order).of_load());
                turn.log(&Record::AtomicLoad { site, addr, size: $size, value, order });
                value
            })
        }

        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $atomic_store(site: u64, addr: *mut $word, value: u64, order: u32) {
            // SAFETY: the program makes this very atomic access, at an address that is aligned for it.
            let store = || unsafe { <$atomic>::from_ptr(addr) }.store(value as $word, Ordering::SeqCst);
            let Some(turn) = enter().map(Turn::of) else { return store() };
            turn.access(addr as usize, $size, || {
                store();
                let (value, addr, order) = (u64::from(value as $word), addr as u64, order_of(order));
                turn.log(&Record::AtomicStore { site, addr, size: $size, value, order });
            });
        }

        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $rmw(site: u64, addr: *mut $word, operand: u64, update: u32, order: u32) -> u64 {
            let update = Update::from_code(update).unwrap_or(Update::Xchg);
            let apply = |old: $word| Some(update.apply(old.into(), operand, $size) as $word);
            // SAFETY: the program makes this very atomic access, at an address that is aligned for it.
            let atomic = unsafe { <$atomic>::from_ptr(addr) };
            let run = || {
                let found = atomic.fetch_update(Ordering::SeqCst, Ordering::SeqCst, apply);
                u64::from(found.unwrap_or_else(|found| found))
            };
            let Some(turn) = enter().map(Turn::of) else { return run() };
            turn.access(addr as usize, $size, || {
                let read = run();
                let (written, addr, order) = (update.apply(read, operand, $size), addr as u64, order_of(order));
                turn.log(&Record::Rmw { site, addr, size: $size, read, written, order });
                read
            })
        }

        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $cmpxchg(
            site: u64, addr: *mut $word, expected: u64, desired: u64, success: u32, failure: u32,
        ) -> u64 {
            let (expected, desired) = (expected as $word, desired as $word);
            // SAFETY: the program makes this very atomic access, at an address that is aligned for it.
            let atomic = unsafe { <$atomic>::from_ptr(addr) };
            let run = || atomic.compare_exchange(expected, desired, Ordering::SeqCst, Ordering::SeqCst);
            let Some(turn) = enter().map(Turn::of) else { return run().unwrap_or_else(|found| found).into() };
            turn.access(addr as usize, $size, || {
                let (found, addr) = (run(), addr as u64);
                match found {
                    Ok(read) => {
                        let (read, written, order) = (read.into(), desired.into(), order_of(success));
                        turn.log(&Record::Rmw { site, addr, size: $size, read, written, order });
                        read
                    }
                    Err(read) => {
                        let (value, order) = (read.into(), order_of(failure).of_load());
                        turn.log(&Record::AtomicLoad { site, addr, size: $size, value, order });
                        // That it failed is a decision.
                        turn.log_branch(site, None);
                        value
                    }
                }
            })
        }
    )*};
}

/// The calling thread, if it is recorded, and now in our code.
#[inline(always)]
fn enter() -> Option<&'static Thread> {
    let me = me()?;
    if !me.enter() {
        me.miss();
        return None;
    }
    Some(me)
}

/// A signal handler in our code.
#[cold]
#[inline(never)]
fn missed<R>(me: &'static Thread, act: impl FnOnce() -> R) -> R {
    me.miss();
    act()
}

/// Where threads run in parallel, every access comes here: so it is no cold code.
#[inline(never)]
fn load_with_care(me: &'static Thread, size: u32, site: u64, addr: u64, read: impl FnOnce() -> u64) -> u64 {
    if let Some(stripe) = Turn::hold_word(me, addr as usize, 1 << size) {
        let value = read();
        me.tell_calls();
        me.log().record_access(false, size, site, addr, value);
        Turn::release_word(me, stripe);
        return value;
    }
    let turn = Turn::of(me);
    turn.access(addr as usize, 1 << size, || {
        let value = read();
        turn.tell_calls();
        me.log().access(false, size, site, addr, value);
        value
    })
}

#[inline(never)]
fn store_with_care(me: &'static Thread, size: u32, site: u64, addr: u64, value: u64, write: impl FnOnce()) {
    if let Some(stripe) = Turn::hold_word(me, addr as usize, 1 << size) {
        write();
        me.tell_calls();
        me.log().record_access(true, size, site, addr, value);
        return Turn::release_word(me, stripe);
    }
    let turn = Turn::of(me);
    turn.access(addr as usize, 1 << size, || {
        write();
        turn.tell_calls();
        me.log().access(true, size, site, addr, value);
    });
}

words! {
    1 0 u8, AtomicU8: __foretell_load1 __foretell_store1 __foretell_atomic_load1 __foretell_atomic_store1 __foretell_rmw1 __foretell_cmpxchg1;
    2 1 u16, AtomicU16: __foretell_load2 __foretell_store2 __foretell_atomic_load2 __foretell_atomic_store2 __foretell_rmw2 __foretell_cmpxchg2;
    4 2 u32, AtomicU32: __foretell_load4 __foretell_store4 __foretell_atomic_load4 __foretell_atomic_store4 __foretell_rmw4 __foretell_cmpxchg4;
    8 3 u64, AtomicU64: __foretell_load8 __foretell_store8 __foretell_atomic_load8 __foretell_atomic_store8 __foretell_rmw8 __foretell_cmpxchg8;
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __foretell_read_range(site: u64, addr: *const u8, into: *mut u8, bytes: usize) {
    // SAFETY: the pass has made room for so many bytes, which the program reads here.
    let copy = || unsafe { std::ptr::copy(addr, into, bytes) };
    let Some(turn) = enter().map(Turn::of) else { return copy() };
    turn.access(addr as usize, bytes, || {
        copy();
        // SAFETY: the pass has made room for so many bytes, and they are written by now.
        let (addr, content) = (addr as u64, unsafe { std::slice::from_raw_parts(into, bytes) });
        turn.log_range(content, |offset, bytes| Record::ReadRange { site, addr: addr + offset, bytes });
    });
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __foretell_write_range(site: u64, addr: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the pass has put so many bytes there, which the program writes here.
    let copy = || unsafe { std::ptr::copy(from, addr, bytes) };
    let Some(turn) = enter().map(Turn::of) else { return copy() };
    turn.access(addr as usize, bytes, || {
        copy();
        // SAFETY: the pass has put so many bytes there, and nothing changes them.
        let (addr, content) = (addr as u64, unsafe { std::slice::from_raw_parts(from, bytes) });
        turn.log_range(content, |offset, bytes| Record::WriteRange { site, addr: addr + offset, bytes });
    });
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __foretell_copy(site: u64, to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the program copies these very bytes: the pass has put the hook in the place of that.
    let copy = || unsafe { std::ptr::copy(from, to, bytes) };
    let Some(turn) = enter().map(Turn::of) else { return copy() };
    turn.step();
    turn.at_both(to as usize, from as usize, bytes, || {
        copy();
        // SAFETY: these bytes were just written, and the turn or the stripes keep other threads away.
        let content = unsafe { std::slice::from_raw_parts(to, bytes) };
        let (to, from) = (to as u64, from as u64);
        if bytes <= LONGEST_RANGE {
            turn.log(&Record::Copy { site, to, from, bytes: content });
        } else {
            // All is read before anything is written: the two sides may overlap.
            turn.log_range(content, |offset, bytes| Record::ReadRange { site, addr: from + offset, bytes });
            turn.log_range(content, |offset, bytes| Record::WriteRange { site, addr: to + offset, bytes });
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __foretell_fill(site: u64, addr: *mut u8, byte: u32, length: usize) {
    let byte = byte as u8;
    // SAFETY: the program fills these very bytes: the pass has put the hook in the place of that.
    let fill = || unsafe { std::ptr::write_bytes(addr, byte, length) };
    let Some(turn) = enter().map(Turn::of) else { return fill() };
    turn.access(addr as usize, length.max(1), || {
        fill();
        if length > 0 {
            turn.log(&Record::Fill { site, addr: addr as u64, byte, length: length as u64 });
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_local_end(site: u64, addr: usize, bytes: usize) {
    // Without a thread that was started and never joined, all other threads come before or after.
    if !thread::has_unjoined() {
        return;
    }
    if let Some(turn) = Turn::take() {
        turn.due_to_free(addr, bytes);
        let (object, other) = (addr as u64, bytes as u64);
        turn.at(addr, bytes, || turn.log(&Record::Sync { site, op: SyncOp::LocalEnd, object, other }));
    }
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_fence(order: u32) {
    if let Some(turn) = enter().map(Turn::of) {
        turn.step();
        turn.log_sync_record(&Record::Fence { order: order_of(order) });
    }
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_branch(site: u64) {
    decide(site, None);
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_branch_by(site: u64, value: u64) {
    decide(site, Some(value));
}

#[inline(always)]
fn decide(site: u64, by: Option<u64>) {
    let Some(me) = me() else { return };
    if detect::is_on() || !me.log().is_undecided() {
        return;
    }
    if !me.enter() {
        return missed(me, || {});
    }
    if !me.log().may_go_on() || !me.log().has_room(0) || !me.log().short_branch(site, by) {
        return decide_with_care(me, site, by);
    }
    me.leave();
}

#[cold]
#[inline(never)]
fn decide_with_care(me: &'static Thread, site: u64, by: Option<u64>) {
    let turn = Turn::of(me);
    turn.decide();
    turn.log_branch(site, by);
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_call(site: u64) {
    if let Some(me) = me() {
        me.site.set(site);
        me.native().allocates.set(false);
    }
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_unasked(site: u64) {
    if let Some(me) = me() {
        me.site.set(site);
        me.native().allocates.set(false);
        me.native().unasked.set(true);
    }
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_stack() -> u64 {
    me().map_or(0, |me| me.stack.calls().into())
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_enter(site: u64) -> u64 {
    let Some(me) = me().filter(|me| me.enter()) else { return 0 };
    let before = me.call(site);
    me.leave();
    before.into()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn __foretell_leave(site: u64, callee: u64) -> u64 {
    __foretell_call(site);
    if functions::is_instrumented(callee) {
        return __foretell_enter(site);
    }
    Turn::take().map_or(0, |turn| leave(&turn, site).into())
}

/// Code is called that sees what it is given, and any memory.
fn leave(turn: &Turn, site: u64) -> CallStack {
    // Who waits for something by asking for it again and again must let others go on.
    turn.pass();
    turn.log_branch(site, None);
    turn.fence(site);
    turn.me.call_outside(site)
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_tail(site: u64, callee: u64) {
    __foretell_call(site);
    // A chain of instrumented functions may go on for ever: they take each other's places.
    if !functions::is_instrumented(callee)
        && let Some(turn) = Turn::take()
    {
        leave(&turn, site);
    }
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_called() -> u64 {
    if me().is_none() {
        // The thread that begins to run the program comes by here.
        programs::note_thread();
    }
    let Some(turn) = Turn::take() else { return 0 };
    let before = turn.me.stack.calls();
    let is_known = turn.me.stack.is_in_known_library();
    if turn.me.stack.come_in() {
        turn.fence(turn.me.site.get());
    } else if is_known {
        acts::called_back(&turn);
    }
    before.into()
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_return(calls: u64) {
    let Some(me) = me().filter(|me| me.enter()) else { return };
    let calls = CallStack::from(calls);
    if me.go_back(calls) {
        return return_from_outside(me, me.stack.site(calls));
    }
    if me.stack.is_in_known_library() {
        return acts::back_in_library(me);
    }
    me.leave();
}

#[cold]
#[inline(never)]
fn return_from_outside(me: &'static Thread, site: u64) {
    let turn = Turn::of(me);
    turn.catch_up();
    turn.fence(site);
}

fn order_of(code: u32) -> MemoryOrder {
    MemoryOrder::from_code(u8::try_from(code).unwrap_or(u8::MAX))
}
