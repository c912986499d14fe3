//! Jumps out of the handler of a signal. If the signal has come while the thread was in our code, we never come to an
//! end there: so whatever the thread holds is given up before it jumps, and what it did not finish was not done.

use std::ffi::{c_int, c_void};

use super::{original, pass_on};
use crate::detect;
use crate::scheduler;
use crate::shared;
use crate::stripes;
use crate::system::stack_of_handlers;
use crate::thread::{AsNative, me};
use crate::turn::Turn;

type Target = *mut c_void;

macro_rules! jumping {
    ($($name:ident, $text:literal;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name(target: Target, value: c_int) -> ! {
            leave_our_code(target);
            pass_on!(original!($text: fn(Target, c_int) -> !)(target, value))
        }
    )*};
}

jumping! {
    longjmp, c"longjmp";
    _longjmp, c"_longjmp";
    siglongjmp, c"siglongjmp";
    __longjmp_chk, c"__longjmp_chk";
}

/// If the thread is in our code and jumps out of it, it is out of it now.
fn leave_our_code(target: Target) {
    let Some(me) = me() else { return };
    let Some(entered) = me.log().entered() else { return };
    // Where that is not known, it is taken to be so: handlers jump to where the program waits for that.
    if stack_at(target).is_some_and(|target| !is_further_out(target, entered)) {
        return;
    }
    let clock = stripes::leave(me, me.log().clock);
    shared::leave(me);
    scheduler::jump_back(me);
    detect::jump_away();
    me.log().abandon(clock);
    me.native().library.leave();
    me.stack.tell_again();
    let turn = Turn::of(me);
    turn.fence(me.site.get());
}

/// Whether the calls that end at this place of the stack had begun when it ended at the other one. Who is called
/// later is further down; a handler with a stack of its own was called from the other stack.
fn is_further_out(place: usize, other: usize) -> bool {
    let handlers = stack_of_handlers();
    let height = |place: usize| (!handlers.contains(&place), place);
    height(place) >= height(other)
}

/// Where the stack will end after the jump, as far as that is known. The C library writes it down in disguise.
#[cfg(target_arch = "x86_64")]
fn stack_at(target: Target) -> Option<usize> {
    const STACK: usize = 6;
    const TURNED: u32 = 17;
    let secret: usize;
    // SAFETY: glibc keeps its secret there on this machine; nothing is written.
    unsafe { std::arch::asm!("mov {}, fs:[0x30]", out(reg) secret, options(nostack, readonly)) };
    // SAFETY: `setjmp` has filled the target, whose layout is glibc's on this machine.
    let disguised = unsafe { target.cast::<usize>().add(STACK).read() };
    Some(disguised.rotate_right(TURNED) ^ secret)
}

#[cfg(not(target_arch = "x86_64"))]
fn stack_at(_: Target) -> Option<usize> {
    None
}
