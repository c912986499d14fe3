//! What the compiler pass has put into the program, see [`foretell_wire::hook`].
//!
//! Safety of all hooks: the program would have made the same access at the same address.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a value is as wide as its access; what is above that is nothing"
)]

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use foretell_wire::hook::{Order, Update};
use foretell_wire::record::Record;

use crate::functions;
use crate::log::LONGEST_RANGE;
use crate::stack::Calls;
use crate::thread::me;
use crate::turn::Turn;

macro_rules! words {
    ($($size:literal $word:ty, $atomic:ty: $load:ident $store:ident $atomic_load:ident $atomic_store:ident $rmw:ident $cmpxchg:ident;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $load(site: u64, addr: *const $word) -> u64 {
            let Some(turn) = Turn::take() else { return unsafe { addr.read_unaligned() }.into() };
            turn.step();
            let value = unsafe { addr.read_unaligned() }.into();
            turn.log_read(&Record::Read { site, addr: addr as u64, size: $size, value });
            value
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $store(site: u64, addr: *mut $word, value: u64) {
            let turn = Turn::take();
            if let Some(turn) = &turn {
                turn.step();
            }
            unsafe { addr.write_unaligned(value as $word) };
            if let Some(turn) = turn {
                turn.log(&Record::Write { site, addr: addr as u64, size: $size, value });
            }
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $atomic_load(site: u64, addr: *mut $word, order: u32) -> u64 {
            let turn = Turn::take();
            if let Some(turn) = &turn {
                turn.step();
            }
            let value = unsafe { <$atomic>::from_ptr(addr) }.load(Ordering::SeqCst).into();
            if let Some(turn) = turn {
                let order = order_of(order).of_load();
                turn.log_read(&Record::AtomicLoad { site, addr: addr as u64, size: $size, value, order });
            }
            value
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $atomic_store(site: u64, addr: *mut $word, value: u64, order: u32) {
            let turn = Turn::take();
            if let Some(turn) = &turn {
                turn.step();
            }
            unsafe { <$atomic>::from_ptr(addr) }.store(value as $word, Ordering::SeqCst);
            if let Some(turn) = turn {
                let order = order_of(order);
                turn.log(&Record::AtomicStore { site, addr: addr as u64, size: $size, value, order });
            }
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $rmw(site: u64, addr: *mut $word, operand: u64, update: u32, order: u32) -> u64 {
            let turn = Turn::take();
            if let Some(turn) = &turn {
                turn.step();
            }
            let update = Update::from_code(update).unwrap_or(Update::Xchg);
            let apply = |old: $word| Some(update.apply(old.into(), operand, $size) as $word);
            let atomic = unsafe { <$atomic>::from_ptr(addr) };
            let found = atomic.fetch_update(Ordering::SeqCst, Ordering::SeqCst, apply);
            let read = found.unwrap_or_else(|found| found).into();
            if let Some(turn) = turn {
                let (written, order) = (update.apply(read, operand, $size), order_of(order));
                turn.log_read(&Record::Rmw { site, addr: addr as u64, size: $size, read, written, order });
            }
            read
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $cmpxchg(
            site: u64, addr: *mut $word, expected: u64, desired: u64, success: u32, failure: u32,
        ) -> u64 {
            let turn = Turn::take();
            if let Some(turn) = &turn {
                turn.step();
            }
            let atomic = unsafe { <$atomic>::from_ptr(addr) };
            let found = atomic.compare_exchange(
                expected as $word, desired as $word, Ordering::SeqCst, Ordering::SeqCst);
            let (read, addr) = (found.unwrap_or_else(|found| found).into(), addr as u64);
            if let Some(turn) = turn {
                if found.is_ok() {
                    let order = order_of(success);
                    turn.log_read(&Record::Rmw { site, addr, size: $size, read, written: desired, order });
                } else {
                    let order = order_of(failure).of_load();
                    turn.log_read(&Record::AtomicLoad { site, addr, size: $size, value: read, order });
                    // That it failed is a decision.
                    turn.log_branch(site);
                }
            }
            read
        }
    )*};
}

words! {
    1 u8, AtomicU8: __foretell_load1 __foretell_store1 __foretell_atomic_load1 __foretell_atomic_store1 __foretell_rmw1 __foretell_cmpxchg1;
    2 u16, AtomicU16: __foretell_load2 __foretell_store2 __foretell_atomic_load2 __foretell_atomic_store2 __foretell_rmw2 __foretell_cmpxchg2;
    4 u32, AtomicU32: __foretell_load4 __foretell_store4 __foretell_atomic_load4 __foretell_atomic_store4 __foretell_rmw4 __foretell_cmpxchg4;
    8 u64, AtomicU64: __foretell_load8 __foretell_store8 __foretell_atomic_load8 __foretell_atomic_store8 __foretell_rmw8 __foretell_cmpxchg8;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __foretell_read_range(site: u64, addr: *const u8, into: *mut u8, bytes: usize) {
    let turn = Turn::take();
    if let Some(turn) = &turn {
        turn.step();
    }
    unsafe { std::ptr::copy(addr, into, bytes) };
    if let Some(turn) = turn {
        let content = unsafe { std::slice::from_raw_parts(into, bytes) };
        turn.log_range(content, |offset, bytes| Record::ReadRange {
            site,
            addr: addr as u64 + offset,
            bytes,
        });
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __foretell_write_range(site: u64, addr: *mut u8, from: *const u8, bytes: usize) {
    let turn = Turn::take();
    if let Some(turn) = &turn {
        turn.step();
    }
    unsafe { std::ptr::copy(from, addr, bytes) };
    if let Some(turn) = turn {
        let content = unsafe { std::slice::from_raw_parts(from, bytes) };
        turn.log_range(content, |offset, bytes| Record::WriteRange {
            site,
            addr: addr as u64 + offset,
            bytes,
        });
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __foretell_copy(site: u64, to: *mut u8, from: *const u8, bytes: usize) {
    let turn = Turn::take();
    if let Some(turn) = &turn {
        turn.step();
    }
    unsafe { std::ptr::copy(from, to, bytes) };
    if let Some(turn) = turn {
        let content = unsafe { std::slice::from_raw_parts(to, bytes) };
        let (to, from) = (to as u64, from as u64);
        if bytes <= LONGEST_RANGE {
            turn.log_read(&Record::Copy { site, to, from, bytes: content });
        } else {
            // All is read before anything is written: the two sides may overlap.
            turn.log_range(content, |offset, bytes| Record::ReadRange { site, addr: from + offset, bytes });
            turn.log_range(content, |offset, bytes| Record::WriteRange { site, addr: to + offset, bytes });
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __foretell_fill(site: u64, addr: *mut u8, byte: u32, length: usize) {
    let turn = Turn::take();
    if let Some(turn) = &turn {
        turn.step();
    }
    let byte = byte as u8;
    unsafe { std::ptr::write_bytes(addr, byte, length) };
    if let Some(turn) = turn
        && length > 0
    {
        turn.log(&Record::Fill { site, addr: addr as u64, byte, length: length as u64 });
    }
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_fence(order: u32) {
    if let Some(turn) = Turn::take() {
        turn.log(&Record::Fence { order: order_of(order) });
    }
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_branch(site: u64) {
    if let Some(turn) = Turn::take() {
        turn.step();
        turn.log_branch(site);
    }
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_call(site: u64) {
    if let Some(turn) = Turn::take() {
        turn.me.site.set(site);
    }
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_stack() -> u64 {
    me().map_or(0, |me| me.stack.calls().into())
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_enter(site: u64) -> u64 {
    Turn::take().map_or(0, |turn| turn.me.stack.enter(site).into())
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_leave(site: u64, callee: u64) -> u64 {
    let Some(turn) = Turn::take() else { return 0 };
    turn.me.site.set(site);
    let before = if functions::is_instrumented(callee) {
        turn.me.stack.enter(site)
    } else {
        turn.fence(site);
        turn.me.stack.leave(site)
    };
    before.into()
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_tail(site: u64, callee: u64) {
    if let Some(turn) = Turn::take() {
        turn.me.site.set(site);
        // A chain of instrumented functions may go on for ever: they take each other's places.
        if !functions::is_instrumented(callee) {
            turn.fence(site);
            turn.me.stack.leave(site);
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_return(calls: u64) {
    if let Some(turn) = Turn::take() {
        let calls = Calls::from(calls);
        if turn.me.stack.go_back(calls) {
            turn.fence(turn.me.stack.site(calls));
        }
    }
}

fn order_of(code: u32) -> Order {
    Order::from_code(u8::try_from(code).unwrap_or(u8::MAX))
}
