//! Jumps out of the handler of a signal. If the signal has come while the thread was in our code, we never come to an end there:
//! so whatever the thread holds is given up before it jumps, and what it did not finish was not done.

use std::ffi::{c_int, c_void};

use super::original;
use crate::scheduler;
use crate::shared;
use crate::stripes;
use crate::thread::me;
use crate::turn::Turn;

type Target = *mut c_void;

macro_rules! jumping {
    ($($name:ident, $text:literal;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name(target: Target, value: c_int) -> ! {
            leave_our_code(target);
            unsafe { original!($text: fn(Target, c_int) -> !)(target, value) }
        }
    )*};
}

jumping! {
    longjmp, c"longjmp";
    _longjmp, c"_longjmp";
    siglongjmp, c"siglongjmp";
    __longjmp_chk, c"__longjmp_chk";
}

/// If the thread is in our code and jumps over it, it is out of it now.
fn leave_our_code(target: Target) {
    let Some(me) = me().filter(|me| me.is_inside()) else { return };
    if !Walk::to(stack_at(target)).jumps_over_us() {
        return;
    }
    let clock = stripes::leave(me, me.log().clock);
    shared::leave(me);
    scheduler::jump_back(me);
    me.log().abandon(clock);
    me.library.leave();
    me.stack.tell_again();
    let turn = Turn::of(me);
    turn.fence(me.site.get());
}

/// Where the stack will end after the jump, as far as that is known. The C library writes it down in disguise.
#[cfg(target_arch = "x86_64")]
fn stack_at(target: Target) -> Option<usize> {
    const STACK: usize = 6;
    const TURNED: u32 = 17;
    let secret: usize;
    unsafe { std::arch::asm!("mov {}, fs:[0x30]", out(reg) secret, options(nostack, readonly)) };
    let disguised = unsafe { target.cast::<usize>().add(STACK).read() };
    Some(disguised.rotate_right(TURNED) ^ secret)
}

#[cfg(not(target_arch = "x86_64"))]
fn stack_at(_: Target) -> Option<usize> {
    None
}

/// A walk over the calls that the thread is in, from the innermost on.
struct Walk {
    /// Frames below this one are jumped over.
    target: Option<usize>,
    /// It has come past the handler, to what the signal has interrupted.
    is_past_handler: bool,
    /// Whether the function of ours is jumped over that the signal has interrupted, once that is found: the innermost one. Further
    /// out there are others, such as what every thread runs first.
    jumps_over_us: Option<bool>,
}

type Frame = *mut c_void;

unsafe extern "C" {
    fn _Unwind_Backtrace(look: extern "C" fn(Frame, *mut c_void) -> c_int, walk: *mut c_void) -> c_int;
    fn _Unwind_GetIPInfo(frame: Frame, is_interrupted: *mut c_int) -> usize;
    fn _Unwind_GetCFA(frame: Frame) -> usize;
}

impl Walk {
    fn to(target: Option<usize>) -> Walk {
        let mut walk = Walk { target, is_past_handler: false, jumps_over_us: None };
        unsafe { _Unwind_Backtrace(look, std::ptr::from_mut(&mut walk).cast()) };
        walk
    }

    /// Where calls cannot be followed, it is taken to be so: handlers jump to where the program waits for that.
    fn jumps_over_us(&self) -> bool {
        self.jumps_over_us.unwrap_or(true)
    }

    fn look(&mut self, frame: Frame) {
        let mut is_interrupted = 0;
        let (place, end) = unsafe { (_Unwind_GetIPInfo(frame, &mut is_interrupted), _Unwind_GetCFA(frame)) };
        self.is_past_handler |= is_interrupted != 0;
        if self.is_past_handler && self.jumps_over_us.is_none() && is_ours(place) {
            self.jumps_over_us = Some(self.target.is_none_or(|target| end <= target));
        }
    }
}

extern "C" fn look(frame: Frame, walk: *mut c_void) -> c_int {
    unsafe { &mut *walk.cast::<Walk>() }.look(frame);
    0
}

/// Whether this code is in our library.
fn is_ours(place: usize) -> bool {
    module(place).is_some_and(|module| self::module(is_ours as *const () as usize) == Some(module))
}

/// Where the module begins that this code is in.
fn module(place: usize) -> Option<usize> {
    let mut about: libc::Dl_info = unsafe { std::mem::zeroed() };
    let found = unsafe { libc::dladdr(place as *const c_void, &mut about) } != 0;
    found.then_some(about.dli_fbase as usize)
}
