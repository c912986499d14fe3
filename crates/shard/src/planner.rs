//! One pass over a trace that cuts it into shards.
//!
//! The trace is cut into steps of equal length. Shard k consists of the steps k and k + 1, so neighbours overlap by
//! half, and any two events that are less than a step apart lie in a common shard. A pair of accesses belongs to the
//! last shard that begins at least a step before the second one: there the pair has as much of the past around it as it
//! can have. So each pair is decided once, no matter who works on which shard.
//!
//! Memory is bounded by two steps and what is known of each variable.

use foretell_trace::name::NameError;
use foretell_trace::{Event, Loc, Names, Op, Symbol, ThreadId, ops};
use rustc_hash::FxHashSet;

use crate::ShardError;
use crate::border::{BorderEvent, Standing, State};
use crate::memory::Memory;
use crate::renumber::Renumber;
use crate::shard::{BorderSemaphore, Shard, unused_name};

/// Cuts a trace into shards, event by event.
#[derive(Debug)]
pub struct Planner {
    step: usize,
    /// How many events there were so far.
    events: u32,
    state: State,
    memory: Memory,
    /// The step before the present one, if there is one.
    earlier: Option<Piece>,
    present: Piece,
    /// How many shards there were so far.
    shards: u32,
}

/// One step, as the beginning of a shard.
#[derive(Debug, Default)]
struct Piece {
    /// The index of its first event.
    begin: u32,
    /// The state there, but for memory.
    standing: Standing,
    /// The events that bring about what variables hold there, of those that the shard has touched.
    memory: Vec<BorderEvent>,
    events: Vec<Event>,
}

impl Planner {
    /// Shards have twice as many events as a step.
    pub fn new(step: usize) -> Planner {
        let step = step.max(1);
        Planner {
            step,
            events: 0,
            state: State::default(),
            memory: Memory::default(),
            earlier: None,
            present: Piece::default(),
            shards: 0,
        }
    }

    /// Takes the next event, which has been checked. A shard that is complete comes back.
    pub fn event(&mut self, event: &Event, names: &Names) -> Result<Option<Shard>, ShardError> {
        let shard = if self.present.events.len() < self.step { None } else { self.next_step(names)? };
        let index = self.events;
        let begins = [self.earlier.as_ref().map(|piece| piece.begin), Some(self.present.begin)];
        let Planner { memory, earlier, present, .. } = self;
        memory.enter(event, begins, |which, event| {
            let piece = if which == 0 { earlier.as_mut() } else { Some(&mut *present) };
            if let Some(piece) = piece {
                piece.memory.push(BorderEvent::of(event));
            }
        });
        let kept = self.state.event(index, event);
        self.memory.leave(index, event);
        self.present.events.push(kept);
        self.events = index.checked_add(1).ok_or(ShardError::TooLarge)?;
        Ok(shard)
    }

    /// There are no more events. The last shard comes back, if the trace has any event.
    pub fn finish(mut self, names: &Names) -> Result<Option<Shard>, ShardError> {
        Ok(match self.earlier.take() {
            _ if self.events == 0 => None,
            Some(earlier) => Some(self.cut(&earlier, Some(&self.present), names, false)?),
            None => Some(self.cut(&self.present, None, names, false)?),
        })
    }

    /// The present step is full.
    fn next_step(&mut self, names: &Names) -> Result<Option<Shard>, ShardError> {
        let shard = match self.earlier.take() {
            Some(earlier) => Some(self.cut(&earlier, Some(&self.present), names, true)?),
            None => None,
        };
        self.shards += u32::from(shard.is_some());
        let next = Piece { begin: self.events, standing: self.state.standing(), ..Piece::default() };
        self.earlier = Some(std::mem::replace(&mut self.present, next));
        Ok(shard)
    }

    /// The shard that consists of these steps.
    fn cut(
        &self,
        first: &Piece,
        second: Option<&Piece>,
        names: &Names,
        continues: bool,
    ) -> Result<Shard, ShardError> {
        let mut cut = Cut::new(names);
        let later = second.map_or(&[][..], |piece| &piece.events);
        let own = || first.events.iter().chain(later);
        cut.border(first, &self.state, own()).map_err(|_| ShardError::TooLarge)?;
        let border = cut.events.len();
        for event in own() {
            let event = cut.renumber.event(event).map_err(|_| ShardError::TooLarge)?;
            cut.events.push(event);
        }
        let semaphores = first.standing.semaphores.iter().map(|(&sem, semaphore)| BorderSemaphore {
            name: names.sems.name(sem).to_string(),
            created: semaphore.created.map(|permits| permits.saturating_add_signed(-semaphore.used)),
            used: semaphore.used,
        });
        let names = cut.renumber.names;
        let semaphores = semaphores.filter(|semaphore| names.sems.get(&semaphore.name).is_some()).collect();
        // A shard has fewer events than the trace.
        let owned = if first.begin == 0 { 0 } else { u32::try_from(first.events.len()).unwrap_or(u32::MAX) };
        Ok(Shard {
            number: self.shards,
            first: first.begin,
            owned,
            continues,
            origins: cut.origins,
            border: u32::try_from(border).map_err(|_| ShardError::TooLarge)?,
            semaphores,
            events: cut.events,
            names,
        })
    }
}

/// A shard that is being put together.
struct Cut<'n> {
    renumber: Renumber<'n>,
    events: Vec<Event>,
    origins: Vec<u32>,
}

impl<'n> Cut<'n> {
    fn new(names: &'n Names) -> Cut<'n> {
        Cut { renumber: Renumber::new(names), events: Vec::new(), origins: Vec::new() }
    }

    /// Adds the border events of a shard that begins with this piece and has these events.
    fn border<'e>(
        &mut self,
        piece: &Piece,
        state: &State,
        own: impl Iterator<Item = &'e Event> + Clone,
    ) -> Result<(), NameError> {
        let mut border: Vec<BorderEvent> =
            piece.standing.events.iter().chain(&piece.memory).copied().collect();
        let mut threads: FxHashSet<ThreadId> = own.clone().map(|event| event.thread).collect();
        threads.extend(border.iter().filter_map(|event| event.thread));
        for (thread, calls) in &piece.standing.calls {
            if threads.contains(thread) {
                border.extend(calls.iter().map(|&call| BorderEvent::of(call)));
            }
        }
        border.extend(beginnings(threads, own, piece.begin, state));
        border.sort_by_key(|event| (event.at, event.step));
        for event in border {
            self.add(event)?;
        }
        Ok(())
    }

    fn add(&mut self, event: BorderEvent) -> Result<(), NameError> {
        let BorderEvent { at, thread, loc, op, .. } = event;
        // Whose notification it is does not matter.
        let Some(thread) = thread else { return self.add_by_no_thread(loc, op) };
        let event = self.renumber.event(&Event::new(thread, op, loc))?;
        self.events.push(event);
        self.origins.push(at.saturating_add(1));
        Ok(())
    }

    fn add_by_no_thread(&mut self, loc: Loc, op: Op) -> Result<(), NameError> {
        let any = ThreadId::from_index(0).ok_or(NameError::TooMany)?;
        let event = self.renumber.event(&Event::new(any, op, loc))?;
        let name = unused_name(&self.renumber.names);
        let thread = self.renumber.names.threads.intern(name.as_bytes())?;
        self.events.push(Event { thread, ..event });
        self.origins.push(0);
        Ok(())
    }
}

/// The forks of the threads, of their parents, and so on, as far as they lie before the border. A thread that is joined
/// without having been forked must have been seen.
fn beginnings<'e>(
    mut threads: FxHashSet<ThreadId>,
    own: impl Iterator<Item = &'e Event>,
    border: u32,
    state: &State,
) -> Vec<BorderEvent> {
    let mut found = Vec::new();
    let forked = |thread: ThreadId| state.forks.get(&thread).filter(|fork| fork.0 < border);
    let mut joined = Vec::new();
    for event in own {
        match event.op {
            Op::Join(child) if !threads.contains(&child) => joined.push(child),
            Op::Fork(child) => {
                threads.insert(child);
            }
            Op::Join(_) | Op::Begin | Op::End | Op::Branch => {}
            ops!(memory | locks | semaphores | conditions | barriers | labels) => {}
        }
    }
    for child in joined {
        if threads.insert(child) && !state.forks.contains_key(&child) {
            let loc = Loc(Symbol::ZERO);
            found.push(BorderEvent { at: 0, step: 0, thread: Some(child), loc, op: Op::Begin });
        }
    }
    let mut open: Vec<ThreadId> = threads.iter().copied().collect();
    open.sort_unstable_by_key(|thread| thread.index());
    while let Some(thread) = open.pop() {
        if let Some(&fork) = forked(thread) {
            found.push(BorderEvent::of(fork));
            if threads.insert(fork.1.thread) {
                open.push(fork.1.thread);
            }
        }
    }
    found
}
