//! Turns that are given by a strategy of [`foretell_schedule`], if the environment names one.
//!
//! Threads then hand over at every synchronisation, before locks with the word which one they are about to take.
//! Accesses are no such moments, as they are far too many; but now and then a quantum ends, as always, and then it is
//! not known what the thread does next. So priorities may change between accesses, too, but not between any two.
//!
//! When the process ends, what was learnt is written beside its log, together with how many picks there were.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use foretell_schedule::{Functions, Name, Operation, Plan, REACH, Ready, Relation, Strategy, innermost};
use foretell_wire::log::module::Module;
use foretell_wire::settings::{self, Setting};

use super::places::StrategyPlaces;
use super::{RunState, SCHEDULER, Scheduler};
use crate::mode::{self, Mode};
use crate::system::{say, without_signals};
use crate::thread::{Thread, me};

/// The strategy learns from what happens.
static IS_LEARNING: AtomicBool = AtomicBool::new(false);

#[inline]
fn is_learning() -> bool {
    IS_LEARNING.load(Ordering::Relaxed)
}

/// What the environment says of strategies.
pub struct StrategySettings {
    name: Name,
    depth: u32,
    steps: u64,
    /// What the run before has learnt, as text.
    triggers: Option<String>,
}

impl StrategySettings {
    /// What the variables say; nothing if turns are given as usual.
    pub fn read(variable: impl Fn(&Setting) -> Option<String>) -> Option<StrategySettings> {
        let text = variable(&settings::STRATEGY)?;
        let Ok(name) = text.parse::<Name>() else {
            say(&format!("there is no strategy `{text}`: turns are given at random"));
            return None;
        };
        let number = |setting| variable(setting).and_then(|number| number.parse::<u64>().ok());
        let depth = number(&settings::DEPTH).and_then(|depth| u32::try_from(depth).ok());
        let triggers = variable(&settings::TRIGGERS).and_then(|path| match std::fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) => {
                say(&format!("cannot read {path}: {error}"));
                None
            }
        });
        (name != Name::Random).then(|| StrategySettings {
            name,
            depth: depth.unwrap_or(name.usual_depth()),
            steps: number(&settings::STEPS).unwrap_or(settings::DEFAULT_STEPS),
            triggers,
        })
    }
}

/// A strategy at work.
pub(super) struct Hunt {
    strategy: Box<dyn Strategy + Send>,
    places: StrategyPlaces,
    /// What each thread began with, and the calls that it was started in: to start a thread is to call what it does.
    origins: BTreeMap<u32, Vec<u32>>,
    /// How often it has picked.
    picks: u64,
    /// Those who can run; kept for its room.
    ready: Vec<Ready>,
    /// The name of the strategy, and where to write what was learnt.
    name: &'static str,
    file: String,
}

/// What is known of a thread that does not have its turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitingThread {
    next: Operation,
    functions: Functions,
}

impl WaitingThread {
    pub(super) const NOWHERE: WaitingThread =
        WaitingThread { next: Operation::Other, functions: [None; REACH] };
}

/// From now on turns are given by a strategy; what it learns goes to the file.
pub fn hunt(wanted: &StrategySettings, seed: u64, file: String) {
    if !mode::is_scheduled() {
        mode::set(Mode::Strategy);
    }
    IS_LEARNING.store(wanted.name == Name::DrFinder, Ordering::Relaxed);
    SCHEDULER.with(|scheduler| {
        // A copy of the process knows what the original knew.
        let places = scheduler.hunt.take().map(|hunt| hunt.places).unwrap_or_default();
        scheduler.hunt = Some(Hunt::new(wanted, seed, file, places));
    });
}

/// A module was loaded.
pub fn note_module(module: &Module<'_>) {
    note(|places| places.add_module(module));
}

/// The calling thread has allocated a block, or gives it back.
pub fn note_block(me: &'static Thread, address: usize, bytes: usize, is_new: bool) {
    note(|places| {
        if is_new {
            let site = own_site(places, me);
            places.add_block(address as u64, bytes as u64, site);
        } else {
            places.remove_block(address as u64);
        }
    });
}

/// The calling thread initialises a lock.
pub fn note_lock(me: &'static Thread, address: usize) {
    note(|places| {
        let site = own_site(places, me);
        places.add_lock(address as u64, site);
    });
}

fn note(act: impl FnOnce(&mut StrategyPlaces)) {
    if is_learning() {
        without_signals(|| {
            SCHEDULER.with(|scheduler| scheduler.hunt.as_mut().map(|hunt| act(&mut hunt.places)))
        });
    }
}

/// The sites of the calls that the calling thread is in, the innermost one first. What it called out of last is one
/// of them only if it has not come back since.
fn sites(me: &'static Thread, has_called_out: bool) -> impl Iterator<Item = u64> {
    let innermost = has_called_out.then(|| me.site.get());
    innermost.into_iter().chain(me.stack.sites().iter().rev().copied())
}

/// Where in the program's own code the calling thread has called out.
fn own_site(places: &mut StrategyPlaces, me: &'static Thread) -> u64 {
    sites(me, true).find(|&site| places.function_of(site).is_some()).unwrap_or(me.site.get())
}

/// The calling thread has taken a lock.
pub fn note_taken(me: &'static Thread, lock: usize) {
    if is_learning() {
        without_signals(|| {
            SCHEDULER.with(|scheduler| scheduler.hunt.as_mut().map(|hunt| hunt.taken(me, lock)))
        });
    }
}

/// The process ends: writes down what was learnt.
pub fn save_lessons() {
    if mode::is_strategic() {
        SCHEDULER.with(|scheduler| scheduler.hunt.as_ref().map(Hunt::save));
    }
}

impl Hunt {
    fn new(wanted: &StrategySettings, seed: u64, file: String, mut places: StrategyPlaces) -> Hunt {
        let relation = wanted.triggers.as_deref().map(|text| {
            let (functions, kinds) = (&mut places.functions, &mut places.kinds);
            let known =
                Relation::parse(text, |name| Some(functions.number(name)), |name| Some(kinds.number(name)));
            known.unwrap_or_else(|error| {
                say(&format!("what the run before has learnt cannot be read: {error}"));
                Relation::default()
            })
        });
        let &StrategySettings { name, depth, steps, .. } = wanted;
        let plan = Plan { name, seed, depth, steps, relation: relation.unwrap_or_default() };
        Hunt {
            strategy: plan.strategy(),
            places,
            origins: BTreeMap::new(),
            picks: 0,
            ready: Vec::new(),
            name: name.text(),
            file,
        }
    }

    fn taken(&mut self, me: &'static Thread, lock: usize) {
        let operation = Operation::Acquire { lock: lock as u64, kind: self.places.kind_of(lock as u64) };
        let calls = self.calls(me, true);
        self.strategy.happens(me.id, operation, &mut calls.into_iter());
    }

    /// Where the calling thread stands.
    fn standing(&mut self, me: &'static Thread) -> WaitingThread {
        if !is_learning() {
            return WaitingThread { next: me.next.get(), ..WaitingThread::NOWHERE };
        }
        let next = match me.next.get() {
            Operation::Acquire { lock, .. } => Operation::Acquire { lock, kind: self.places.kind_of(lock) },
            other => other,
        };
        let has_called_out = next != Operation::Unknown;
        WaitingThread { next, functions: innermost(self.calls(me, has_called_out)) }
    }

    /// The functions that the calling thread is in, the innermost one first, and then those that it was started in.
    fn calls(&mut self, me: &'static Thread, has_called_out: bool) -> Vec<u32> {
        let places = &mut self.places;
        let functions = sites(me, has_called_out).filter_map(|site| places.function_of(site));
        let mut functions: Vec<u32> =
            functions.chain(self.origins.get(&me.id).into_iter().flatten().copied()).collect();
        functions.dedup();
        functions
    }

    /// The calling thread starts another one, to which the calls that it is in belong as well.
    fn start(&mut self, me: &'static Thread, thread: &Thread) -> WaitingThread {
        let site = own_site(&mut self.places, me);
        let mut origin = vec![self.places.beginning_at(site)];
        origin.extend(self.calls(me, true));
        let functions = innermost(origin.iter().copied());
        self.origins.insert(thread.id, origin);
        WaitingThread { functions, ..WaitingThread::NOWHERE }
    }

    fn save(&self) {
        let mut notes = vec![format!("strategy {}", self.name), format!("picks {}", self.picks)];
        let empty = Relation::default();
        let learnt = self.strategy.learnt();
        notes.extend(learnt.iter().flat_map(|learnt| learnt.statistics.notes()));
        let relation = learnt.map_or(&empty, |learnt| &learnt.relation);
        let text = relation.to_text(
            |function| self.places.functions.text(function),
            |kind| self.places.kinds.text(kind),
            &notes,
        );
        if let Err(error) = std::fs::write(&self.file, text) {
            say(&format!("cannot write {}: {error}", self.file));
        }
    }
}

impl Scheduler {
    /// The thread, which is the calling one, hands over.
    pub(super) fn note_standing(&mut self, me: &'static Thread, state: RunState) {
        let Some(hunt) = &mut self.hunt else { return };
        if state == RunState::Done {
            hunt.strategy.ended(me.id);
        }
        let standing = hunt.standing(me);
        if let Some(slot) = self.slot(me) {
            slot.standing = standing;
        }
    }

    /// Where a new thread stands, which the calling one has started.
    pub(super) fn standing_of_new(&mut self, thread: &Thread) -> WaitingThread {
        match (&mut self.hunt, me()) {
            (Some(hunt), Some(me)) if is_learning() => hunt.start(me, thread),
            _ => WaitingThread::NOWHERE,
        }
    }

    /// The thread that the strategy picks; none if no thread can run.
    pub(super) fn pick_by_strategy(&mut self) -> Option<&'static Thread> {
        let hunt = self.hunt.as_mut()?;
        let is_ready = |slot: &&super::Slot| slot.state == RunState::Ready;
        hunt.ready.clear();
        hunt.ready.extend(self.slots.iter().filter(is_ready).map(|slot| {
            let WaitingThread { next, functions } = slot.standing;
            Ready { thread: slot.thread.id, next, functions }
        }));
        if hunt.ready.is_empty() {
            return None;
        }
        hunt.picks += 1;
        let picked = hunt.strategy.pick(&hunt.ready);
        self.slots.get(picked as usize).filter(is_ready).map(|slot| slot.thread)
    }

    /// No thread will run any more.
    pub(super) fn save_lessons_at_deadlock(&self) {
        if let Some(hunt) = &self.hunt {
            hunt.save();
        }
    }
}
