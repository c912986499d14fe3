//! What runs before an event in every schedule of a model, as far as a few passes over the trace tell.
//!
//! An ordered pair that is found here need never be asked about; on long traces that is nearly all of them. What is
//! known of single events is known in every window, too: it is what makes a refutation local that would otherwise need
//! the whole past. `pass.rs` tells how it is found, and `docs/design/analysis.md` why it holds.
//!
//! Memory is bounded: a clock that is not kept makes answers weaker, never wrong.

mod pass;

use std::sync::atomic::AtomicBool;

use foretell_trace::Model;

use self::pass::CausalPass;
use crate::index::{Index, NONE};

/// How many entries all clocks of one kind may have together.
const MOST_ENTRIES: usize = 1 << 26;
/// Every thread has clocks with an entry for each: with more threads nothing is ordered.
const MOST_THREADS: usize = 1 << 12;
/// So many passes are made after the first one, as long as each tells enough that is new.
const MOST_FURTHER_PASSES: usize = 3;
/// Another pass is worth it if the one before has settled this part of what was in doubt.
const WORTHWHILE: usize = 20;

/// For each thread, how many of its events run before some point.
type Clock = Box<[u32]>;

/// What runs before each event.
#[derive(Debug)]
pub(crate) struct Causal {
    clocks: Vec<u32>,
    width: usize,
    /// For each event the clock of what runs before it whenever it runs, or [`NONE`].
    ran: Vec<u32>,
    /// The same for what also ran if its thread has seen what it saw, up to the event itself.
    as_observed: Vec<u32>,
    /// For each read no later than the first write that it may see, if it is to see what it saw.
    first_source: Vec<u32>,
    /// How many writes may come before a read that sees them though they were recorded after it.
    doubts: usize,
}

/// Where reads may see anything, they tell nothing.
fn known_of(model: Model) -> Option<Model> {
    Some(model).filter(|&model| model != Model::Values)
}

impl Causal {
    /// What one pass tells.
    pub(crate) fn new(index: &Index<'_>, model: Model, same_write: bool) -> Causal {
        CausalPass::new(index, known_of(model), same_write, None).run()
    }

    /// What runs before an access whatever reads see.
    pub(crate) fn certain(index: &Index<'_>) -> Causal {
        CausalPass::new(index, None, true, None).run()
    }

    /// What further passes tell, if they may tell more and need not stop.
    pub(crate) fn deepened(
        &self,
        index: &Index<'_>,
        model: Model,
        same_write: bool,
        stop: &AtomicBool,
    ) -> Option<Causal> {
        let mut deepest: Option<Causal> = None;
        for _ in 0..MOST_FURTHER_PASSES {
            let known = deepest.as_ref().unwrap_or(self);
            if known.doubts == 0 {
                break;
            }
            let pass = CausalPass::new(index, known_of(model), same_write, Some(known));
            let Some(next) = pass.run_unless(stop) else { break };
            let is_worthwhile = next.doubts < known.doubts - known.doubts / WORTHWHILE;
            deepest = Some(next);
            if !is_worthwhile {
                break;
            }
        }
        deepest
    }

    /// How many events of `thread` run before the event.
    pub(crate) fn before(&self, event: u32, thread: usize) -> u32 {
        self.entry(self.ran[event as usize], thread)
    }

    /// The same if its thread has seen what it saw, up to the event itself.
    fn before_as_observed(&self, event: u32, thread: usize) -> u32 {
        self.entry(self.as_observed[event as usize], thread)
    }

    /// Whether the read cannot see a write before this event of the trace, nor what was there at first, if it is to
    /// see what it saw.
    pub(crate) fn sees_only_from(&self, read: u32, begin: u32) -> bool {
        begin > 0 && self.first_source[read as usize] >= begin
    }

    /// What is newly known at an access, compared to the one before it in its thread: how many events of which thread
    /// run before it.
    pub(crate) fn news(&self, index: &Index<'_>, access: u32) -> impl Iterator<Item = (usize, u32)> {
        let (of, place) = (index.event(access).thread.index(), index.place[access as usize]);
        let mut earlier = index.threads[of][..place as usize].iter().rev();
        let before = earlier.find(|&&event| index.event(event).op.access().is_some());
        let now = self.ran[access as usize];
        let last = before.map_or(NONE, |&event| self.ran[event as usize]);
        let threads = if now == last { 0 } else { self.width };
        (0..threads)
            .filter(move |&thread| thread != of)
            .map(move |thread| (thread, self.entry(now, thread), self.entry(last, thread)))
            .filter(|(_, now, last)| now > last)
            .map(|(thread, now, _)| (thread, now))
    }

    fn entry(&self, clock: u32, thread: usize) -> u32 {
        if clock == NONE { 0 } else { self.clocks[clock as usize * self.width + thread] }
    }

    fn clock(&self, clock: u32) -> &[u32] {
        if clock == NONE { &[] } else { &self.clocks[clock as usize * self.width..][..self.width] }
    }

    /// Whether `event` comes after `earlier`, an event of another thread, for sure.
    fn is_after(&self, index: &Index<'_>, event: u32, earlier: u32) -> bool {
        self.before(event, index.event(earlier).thread.index()) > index.place[earlier as usize]
    }

    /// Whether one of the last writes of other threads comes after the write, for sure.
    pub(crate) fn is_overwritten(&self, index: &Index<'_>, write: u32, last: &[u32]) -> bool {
        let thread = index.event(write).thread;
        let others = last.iter().filter(|&&other| index.event(other).thread != thread);
        others.copied().any(|other| self.is_after(index, other, write))
    }

    /// Keeps a clock, and tells its number; that of an earlier one if there is no room.
    fn keep(&mut self, clock: &[u32], earlier: u32) -> u32 {
        if self.clocks.len() >= MOST_ENTRIES {
            return earlier;
        }
        let number = u32::try_from(self.clocks.len() / self.width).unwrap_or(NONE);
        self.clocks.extend_from_slice(clock);
        number
    }
}
