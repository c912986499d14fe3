//! The calls that a thread is in, as far as instrumented code makes them.
//!
//! Each call puts its site on top of a stack of our own, and the thread that comes back, be it by an exception or a
//! long jump, says where it is. As long as the log knows the calls, instrumented code tells it of the next ones by
//! itself, see [`front`]. Otherwise calls are logged only when something else is recorded within them, and of
//! those that have not ended since only once.

use std::cell::{Cell, UnsafeCell};
use std::mem::offset_of;

use foretell_wire::hook::front;

use crate::system::without_signals;

/// Which calls a thread is in, as instrumented functions remember it: a number to them. What is said here holds even
/// where the program switches stacks by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CallStack {
    /// How many there are.
    depth: u32,
    /// How often the thread has gone out of instrumented code and was called back into it: even if it is in
    /// instrumented code. Of the odd numbers every other one stands for a library whose effects are known.
    outside: u32,
}

impl From<CallStack> for u64 {
    fn from(calls: CallStack) -> u64 {
        u64::from(calls.outside) << 32 | u64::from(calls.depth)
    }
}

impl From<u64> for CallStack {
    #[expect(clippy::cast_possible_truncation, reason = "a half of the number each")]
    fn from(number: u64) -> CallStack {
        CallStack { depth: number as u32, outside: (number >> 32) as u32 }
    }
}

/// What [`CallStack::outside`] leaves as a remainder where a thread is in code of which nothing is known.
const UNKNOWN: u32 = 1;
/// What it leaves where the thread is in a library that records what it does by other means.
const KNOWN: u32 = 3;
const KINDS: u32 = 4;

impl CallStack {
    /// Out of instrumented code, into code of this kind.
    fn out(self, kind: u32) -> u32 {
        let distance = (kind + KINDS - self.outside % KINDS) % KINDS;
        self.outside.saturating_add(if distance == 0 { KINDS } else { distance })
    }
}

/// The sites of calls, touched by their thread alone, and by nothing that it calls meanwhile.
#[derive(Debug, Default)]
struct Sites(UnsafeCell<Vec<u64>>);

impl Sites {
    /// The sites as they are. The slice is not kept while the thread makes or leaves calls.
    #[inline]
    fn get(&self) -> &[u64] {
        // SAFETY: only the thread itself reaches its sites, and it changes them in `change` alone.
        unsafe { &*self.0.get() }
    }

    /// Changes them. No borrow is counted: a handler that jumps away would leave one for ever.
    #[inline]
    fn change<R>(&self, act: impl FnOnce(&mut Vec<u64>) -> R) -> R {
        // SAFETY: only the thread itself reaches its sites, and `act` calls nothing that does so.
        act(unsafe { &mut *self.0.get() })
    }
}

/// The stack of calls of one thread. Instrumented code knows how it begins.
#[derive(Debug)]
#[repr(C)]
pub struct Stack {
    /// The calls that the thread is in, as a number.
    calls: Cell<u64>,
    /// Where the sites of the calls are. Beyond the present depth, those of calls that have ended.
    top: Cell<*mut u64>,
    /// For how many sites there is room.
    room: Cell<usize>,
    /// In how many calls the thread is according to the log, if that is not where it is.
    told: Cell<u32>,
    /// How many of the sites have not changed since.
    same: Cell<u32>,
    /// The log may need a record.
    changed: Cell<bool>,
    /// The room.
    sites: Sites,
}

const _: () = {
    assert!(offset_of!(Stack, calls) as u64 == front::CALLS);
    assert!(offset_of!(Stack, top) as u64 == front::STACK);
    assert!(offset_of!(Stack, room) as u64 == front::ROOM);
    assert!(offset_of!(Stack, same) as u64 == front::SAME);
};

impl Stack {
    /// A thread that is in no call.
    pub(crate) fn new() -> Stack {
        Stack {
            calls: Cell::new(0),
            top: Cell::new(std::ptr::null_mut()),
            room: Cell::new(0),
            told: Cell::new(0),
            same: Cell::new(0),
            // Nothing is to be recorded, but that is only known after a look.
            changed: Cell::new(true),
            sites: Sites::default(),
        }
    }

    /// The same calls, for a log that has none of them yet.
    pub fn copy(&self) -> Stack {
        let copy = Stack::new();
        let calls = self.calls();
        for (depth, &site) in (0..calls.depth).zip(self.sites.get().iter()) {
            copy.put(depth, site);
        }
        copy.calls.set(calls.into());
        copy
    }

    /// Which calls the thread is in.
    #[inline]
    pub fn calls(&self) -> CallStack {
        CallStack::from(self.calls.get())
    }

    /// Whether the thread is in no call that was recorded.
    pub fn is_empty(&self) -> bool {
        self.calls().depth == 0
    }

    /// Whether the thread is in code that is not instrumented, as far as we know.
    #[inline]
    pub fn is_outside(&self) -> bool {
        self.calls().outside % 2 == 1
    }

    /// Whether the thread is in a library that records what it does by other means.
    #[inline]
    pub fn is_in_known_library(&self) -> bool {
        self.calls().outside % KINDS == KNOWN
    }

    /// A function begins that may have been called back; says whether code has called it of which nothing is known.
    #[inline]
    pub fn come_in(&self) -> bool {
        let calls = self.calls();
        if self.is_outside() {
            self.calls.set(CallStack { outside: calls.outside.saturating_add(1), ..calls }.into());
        }
        calls.outside % KINDS == UNKNOWN
    }

    /// The sites of the calls that the thread is in, the outermost one first. For the thread itself.
    pub fn sites(&self) -> &[u64] {
        self.sites.get().get(..self.calls().depth as usize).unwrap_or_default()
    }

    /// The site of the call that is made, or was made last, from here.
    pub fn site(&self, calls: CallStack) -> u64 {
        self.sites.get().get(calls.depth as usize).copied().unwrap_or(0)
    }

    /// Calls an instrumented function; returns the calls before.
    #[inline]
    pub fn enter(&self, site: u64) -> CallStack {
        self.push(site, self.calls().outside)
    }

    /// Calls code that is not instrumented; returns the calls before.
    pub fn leave(&self, site: u64) -> CallStack {
        self.push(site, self.calls().out(UNKNOWN))
    }

    /// Calls a library that records what it does by other means; returns the calls before.
    pub fn leave_for_known_library(&self, site: u64) -> CallStack {
        self.push(site, self.calls().out(KNOWN))
    }

    #[inline]
    fn push(&self, site: u64, outside: u32) -> CallStack {
        self.begin_change();
        let before = self.calls();
        // Also if it was made from the same place before: it is another call.
        self.same.set(self.same.get().min(before.depth));
        if self.site(before) != site || before.depth as usize >= self.room.get() {
            self.put(before.depth, site);
        }
        let depth = before.depth.saturating_add(1);
        self.calls.set(CallStack { depth, outside }.into());
        before
    }

    fn put(&self, depth: u32, site: u64) {
        let depth = depth as usize;
        self.sites.change(|sites| {
            if depth >= sites.len() {
                self.grow(sites, 2 * depth + 16);
            }
            if let Some(place) = sites.get_mut(depth) {
                *place = site;
            }
        });
    }

    /// From now on the log does not know the calls. It knew those that the thread is in, if it did before.
    fn begin_change(&self) {
        if !self.changed.replace(true) {
            self.told.set(self.calls().depth);
            self.same.set(self.calls().depth);
        }
    }

    /// The thread is back in these calls; says whether it comes from code of which nothing is known, or goes there.
    #[inline]
    pub fn go_back(&self, calls: CallStack) -> bool {
        self.begin_change();
        let left = CallStack::from(self.calls.replace(calls.into())).outside;
        let is_known = |from: u32, to: u32| from % KINDS == KNOWN && to.is_multiple_of(2);
        left != calls.outside && !is_known(left, calls.outside) && !is_known(calls.outside, left)
    }

    /// Whether the log may need a record.
    #[inline]
    pub fn has_changed(&self) -> bool {
        self.changed.get()
    }

    /// Whether there is nothing to tell, where instrumented code does not do that by itself: see [`Stack::tell`].
    #[inline]
    pub fn is_told(&self) -> bool {
        let depth = self.calls().depth;
        self.told.get() == depth && self.same.get() >= depth
    }

    /// How many calls have ended since the last time, and the sites of those that have begun. From then on they count
    /// as recorded. If instrumented code does not go on to tell by itself what changes, there may always be something
    /// to tell.
    pub fn tell(&self, goes_on: bool) -> (u32, &[u64]) {
        let (depth, told) = (self.calls().depth, self.told.get());
        let kept = self.same.get().min(depth).min(told);
        self.told.set(depth);
        self.same.set(depth);
        self.changed.set(!goes_on);
        (told - kept, self.sites.get().get(kept as usize..depth as usize).unwrap_or_default())
    }

    /// Makes room for so many sites. A handler that jumps away would leave something in between.
    #[cold]
    #[inline(never)]
    fn grow(&self, sites: &mut Vec<u64>, room: usize) {
        without_signals(|| {
            sites.resize(room, 0);
            self.top.set(sites.as_mut_ptr());
            self.room.set(sites.len());
        });
    }

    /// A handler jumps away, maybe while something was recorded: everything is recorded again.
    pub fn tell_again(&self) {
        self.told.set(u32::MAX);
        self.same.set(0);
        self.changed.set(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_told_what_has_changed() {
        let stack = Stack::new();
        stack.enter(1);
        let inner = stack.enter(2);
        assert_eq!((stack.sites(), stack.tell(true)), (&[1, 2][..], (0, &[1, 2][..])));
        assert!(stack.is_told() && !stack.has_changed());
        stack.go_back(inner);
        stack.enter(3);
        assert_eq!(stack.tell(true), (1, &[3][..]), "one call has ended, and another was made");
    }

    #[test]
    fn deep_calls_find_room() {
        let stack = Stack::new();
        for site in 0..1000 {
            stack.enter(site);
        }
        assert!(stack.sites().iter().copied().eq(0..1000));
        let copy = stack.copy();
        assert_eq!((copy.sites(), copy.tell(true).0), (stack.sites(), 0), "a new log was told of none");
    }

    #[test]
    fn uninstrumented_code_may_call_back() {
        let stack = Stack::new();
        let before = stack.leave(1);
        assert!(stack.is_outside());
        assert!(stack.come_in() && !stack.is_outside());
        assert!(!stack.come_in(), "it is inside already");
        assert!(stack.go_back(before) && stack.is_empty());
    }

    #[test]
    fn libraries_with_known_effects_are_no_unknown_code() {
        let stack = Stack::new();
        let before = stack.leave_for_known_library(1);
        assert!(stack.is_outside() && stack.is_in_known_library());
        let within = stack.calls();
        assert!(!stack.come_in() && !stack.is_outside(), "a callback of such a library");
        let called_back = stack.leave(2);
        assert!(stack.is_outside() && !stack.is_in_known_library(), "the callback calls unknown code");
        assert!(stack.go_back(called_back) && !stack.go_back(within) && stack.is_in_known_library());
        assert!(!stack.go_back(before) && !stack.is_outside());
    }
}
