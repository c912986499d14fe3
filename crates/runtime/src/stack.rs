//! The calls that a thread is in, as far as instrumented code makes them.
//!
//! Each call puts its site on top of a stack of our own, and whoever comes back, be it by an exception or a long jump, says
//! where it is. The log is told of calls only when something else is recorded within them, and of those that are still the
//! same only once.

use std::cell::{Cell, UnsafeCell};

use foretell_wire::record::Record;

use crate::system::without_signals;

/// Which calls a thread is in, as instrumented functions remember it: a number to them. What is told here holds even
/// where the program switches stacks by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Calls {
    /// How many there are.
    depth: u32,
    /// How often the thread has gone out of instrumented code and was called back into it: odd if it is out.
    outside: u32,
}

impl From<Calls> for u64 {
    fn from(calls: Calls) -> u64 {
        u64::from(calls.outside) << 32 | u64::from(calls.depth)
    }
}

impl From<u64> for Calls {
    #[expect(clippy::cast_possible_truncation, reason = "a half of the number each")]
    fn from(number: u64) -> Calls {
        Calls { depth: number as u32, outside: (number >> 32) as u32 }
    }
}

/// The sites of calls, touched by their thread alone, and by nothing that it calls meanwhile.
#[derive(Debug, Default)]
struct Sites(UnsafeCell<Vec<u64>>);

impl Sites {
    /// No borrow is counted: a handler that jumps away would leave one for ever.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "the compiler cannot see which thread we are")]
    fn get(&self) -> &mut Vec<u64> {
        unsafe { &mut *self.0.get() }
    }
}

/// The stack of calls of one thread.
#[derive(Debug, Default)]
pub(crate) struct Stack {
    /// The sites of the calls. Beyond the present depth, those of calls that have ended.
    sites: Sites,
    calls: Cell<Calls>,
    /// In how many calls the thread is according to the log.
    told: Cell<u32>,
    /// How many of the sites have not changed since.
    same: Cell<u32>,
    /// Whether anything may have changed since.
    changed: Cell<bool>,
}

impl Stack {
    /// The same calls, for a log that was not told of any.
    pub(crate) fn copy(&self) -> Stack {
        let copy = Stack::default();
        copy.sites.get().clone_from(self.sites.get());
        copy.calls.set(self.calls.get());
        copy.changed.set(true);
        copy
    }

    #[inline]
    pub(crate) fn calls(&self) -> Calls {
        self.calls.get()
    }

    /// Whether the thread is in code that is not instrumented, as far as we know.
    #[inline]
    pub(crate) fn is_outside(&self) -> bool {
        self.calls.get().outside % 2 == 1
    }

    /// A function begins that may have been called back; says whether it was.
    #[inline]
    pub(crate) fn come_in(&self) -> bool {
        let calls = self.calls.get();
        let is_outside = self.is_outside();
        if is_outside {
            self.calls.set(Calls { outside: calls.outside.saturating_add(1), ..calls });
        }
        is_outside
    }

    /// The site of the call that is made, or was made last, from here.
    pub(crate) fn site(&self, calls: Calls) -> u64 {
        self.sites.get().get(calls.depth as usize).copied().unwrap_or(0)
    }

    /// Calls an instrumented function; returns the calls before.
    #[inline]
    pub(crate) fn enter(&self, site: u64) -> Calls {
        self.push(site, 0)
    }

    /// Calls code that is not instrumented; returns the calls before.
    pub(crate) fn leave(&self, site: u64) -> Calls {
        // Who is out already, but in an instrumented function that did not notice, stays out.
        self.push(site, if self.is_outside() { 2 } else { 1 })
    }

    #[inline]
    fn push(&self, site: u64, outside: u32) -> Calls {
        let before = self.calls.get();
        let sites = self.sites.get();
        match sites.get_mut(before.depth as usize) {
            Some(last) if *last == site => {}
            Some(last) => {
                *last = site;
                self.same.set(self.same.get().min(before.depth));
            }
            None => grow(sites, before.depth as usize, site),
        }
        self.calls.set(Calls {
            depth: before.depth.saturating_add(1),
            outside: before.outside.saturating_add(outside),
        });
        self.changed.set(true);
        before
    }

    /// The thread is back in these calls; says whether it comes from code that is not instrumented.
    #[inline]
    pub(crate) fn go_back(&self, calls: Calls) -> bool {
        self.changed.set(true);
        self.calls.replace(calls).outside != calls.outside
    }

    /// Whether the log may have to be told.
    #[inline]
    pub(crate) fn has_changed(&self) -> bool {
        self.changed.get()
    }

    /// Tells which calls have ended and which have begun since the last time.
    #[cold]
    pub(crate) fn tell(&self, mut log: impl FnMut(Record<'_>)) {
        let (depth, told) = (self.calls.get().depth, self.told.get());
        let kept = self.same.get().min(depth).min(told);
        if told > kept {
            log(Record::Exit { calls: told - kept });
        }
        for &site in self.sites.get().get(kept as usize..depth as usize).unwrap_or_default() {
            log(Record::Enter { site });
        }
        self.told.set(depth);
        self.same.set(depth);
        self.changed.set(false);
    }

    /// A handler jumps away, maybe while something was told: all is told anew.
    pub(crate) fn tell_again(&self) {
        self.told.set(u32::MAX);
        self.same.set(0);
        self.changed.set(true);
    }
}

/// A handler that jumps away would leave something in between.
#[cold]
#[inline(never)]
fn grow(sites: &mut Vec<u64>, depth: usize, site: u64) {
    without_signals(|| {
        sites.resize(depth, 0);
        sites.push(site);
    });
}
