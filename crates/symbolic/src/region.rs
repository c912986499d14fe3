//! What a thread has done between two records that follow each other in one call of a function.
//!
//! NoShadow knows which way it went, so all ways count on which nothing is recorded. What they make of what is summed
//! up once, and remembered: each value afterwards is made of values before, and some values before were decided by.

mod order;
mod paths;
mod sum;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::code::{FunctionId, Functions};
use crate::shape::{Call, Shape, Silently, Slot};
use paths::Paths;

/// Where the ways lead.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Target {
    /// To this instruction.
    At(u32),
    /// To the end of the function, however it comes about.
    End,
    /// NoShadow knows.
    Anywhere,
}

/// What all ways from one place to another do together.
#[derive(Debug, Default)]
pub(crate) struct Region {
    /// NoShadow knows what happens on them.
    pub(crate) is_unknown: bool,
    /// What is decided by.
    pub(crate) steering: Vec<Slot>,
    /// What values are made of afterwards. Those that may not have changed are among what they are made of.
    pub(crate) changes: Vec<(Slot, Vec<Slot>)>,
    /// What the function returns.
    pub(crate) result: Vec<Slot>,
}

/// What a function does from its beginning to its end without any record, in terms of its parameters.
#[derive(PartialEq, Eq, Debug, Default)]
struct Silence {
    is_unknown: bool,
    steering: Vec<u32>,
    result: Vec<u32>,
}

impl Silence {
    fn unknown() -> Silence {
        Silence { is_unknown: true, ..Silence::default() }
    }
}

/// All that was summed up so far.
#[derive(Debug, Default)]
pub(crate) struct Regions {
    shapes: FxHashMap<FunctionId, Option<Rc<Shape>>>,
    regions: FxHashMap<(FunctionId, Option<u32>, Target), Option<Rc<Region>>>,
    /// None if the function always leaves a record.
    silences: FxHashMap<FunctionId, Option<Rc<Silence>>>,
    /// What is being found out of functions that may call each other.
    search: Option<Search>,
}

/// Functions that may call each other, each of which is looked at once in a round, with what the last one found of
/// those that it calls. In the first round calls within calls are not passed at all.
#[derive(Debug, Default)]
struct Search {
    found: FxHashMap<FunctionId, Option<Rc<Silence>>>,
    /// Those that this round has looked at, or is looking at.
    met: FxHashSet<FunctionId>,
    /// Those that it is looking at,
    open: FxHashSet<FunctionId>,
    /// and those of them that were asked about meanwhile.
    asked: FxHashSet<FunctionId>,
    /// A caller was given another answer than what was found afterwards.
    is_news: bool,
    /// The regions that were summed up in this round.
    summed_up: Vec<(FunctionId, Option<u32>, Target)>,
    /// How many functions are being looked at, each because of the one before.
    depth: u32,
}

/// Paths over more instructions than this are not summed up.
const MOST_INSTRUCTIONS: usize = 1 << 12;

/// Of calls within calls no more are looked at.
const DEEPEST: u32 = 64;

/// After so many rounds, functions that call each other are unknown.
const MOST_ROUNDS: usize = 32;

impl Regions {
    /// The function, prepared.
    pub(crate) fn shape(&mut self, functions: &Functions, id: FunctionId) -> Option<Rc<Shape>> {
        let shape = self.shapes.entry(id).or_insert_with(|| Shape::of(functions, id).map(Rc::new));
        shape.clone()
    }

    /// From one instruction, or the beginning, to another place. None if no way leads there.
    pub(crate) fn between(
        &mut self,
        functions: &Functions,
        id: FunctionId,
        from: Option<u32>,
        to: Target,
    ) -> Option<Rc<Region>> {
        if let Some(region) = self.regions.get(&(id, from, to)) {
            return region.clone();
        }
        let region = self.shape(functions, id).and_then(|shape| {
            let ways = Paths { functions, shape: &shape, from, to };
            ways.sum_up(self)
        });
        let region = region.map(Rc::new);
        self.regions.insert((id, from, to), region.clone());
        if let Some(search) = &mut self.search {
            search.summed_up.push((id, from, to));
        }
        region
    }

    /// What a function does without any record; none if it always leaves one.
    fn silence(&mut self, functions: &Functions, id: FunctionId) -> Option<Rc<Silence>> {
        if let Some(known) = self.silences.get(&id) {
            return known.clone();
        }
        if self.search.is_some() {
            return self.look_at(functions, id);
        }
        for _ in 0..MOST_ROUNDS {
            let last = self.search.take().unwrap_or_default();
            for key in last.summed_up {
                self.regions.remove(&key);
            }
            self.search = Some(Search { found: last.found, ..Search::default() });
            self.look_at(functions, id);
            if self.search.as_ref().is_some_and(|search| !search.is_news) {
                self.silences.extend(self.search.take().unwrap_or_default().found);
                return self.silences.get(&id).cloned().flatten();
            }
        }
        for key in self.search.take().unwrap_or_default().summed_up {
            self.regions.remove(&key);
        }
        let unknown = Some(Rc::new(Silence::unknown()));
        self.silences.insert(id, unknown.clone());
        unknown
    }

    /// Looks at a function, unless that was done in this round; what is found so far.
    fn look_at(&mut self, functions: &Functions, id: FunctionId) -> Option<Rc<Silence>> {
        let search = self.search.get_or_insert_default();
        if search.depth >= DEEPEST {
            return Some(Rc::new(Silence::unknown()));
        }
        let known = search.found.get(&id).cloned().flatten();
        if !search.met.insert(id) {
            if search.open.contains(&id) {
                search.asked.insert(id);
            }
            return known;
        }
        search.open.insert(id);
        search.depth += 1;
        let silence = self.sum_up_silence(functions, id).map(Rc::new);
        let search = self.search.get_or_insert_default();
        search.depth -= 1;
        search.open.remove(&id);
        search.is_news |= search.asked.contains(&id) && silence != known;
        search.found.insert(id, silence.clone());
        silence
    }

    fn sum_up_silence(&mut self, functions: &Functions, id: FunctionId) -> Option<Silence> {
        let region = self.between(functions, id, None, Target::End)?;
        let shape = self.shape(functions, id)?;
        let parameters = |slots: &[Slot]| slots.iter().filter_map(|&slot| shape.parameter_at(slot)).collect();
        Some(Silence {
            is_unknown: region.is_unknown,
            steering: parameters(&region.steering),
            result: parameters(&region.result),
        })
    }

    /// What an instruction does if it leaves no record; none if it always does.
    fn effect(&mut self, functions: &Functions, shape: &Shape, index: u32) -> Option<Effect> {
        let step = shape.step(index).filter(|step| !step.is_told)?;
        let mut effect = Effect {
            is_unknown: step.is_unknown,
            steering: step.steering.clone(),
            defines: step
                .defines
                .iter()
                .map(|define| (define.slot, define.from.clone(), define.is_whole))
                .collect(),
        };
        if let Some(call) = &step.call {
            self.call(functions, call, index, &mut effect)?;
        }
        Some(effect)
    }

    /// A call that leaves no record; none if it always does.
    fn call(&mut self, functions: &Functions, call: &Call, index: u32, effect: &mut Effect) -> Option<()> {
        let everything = || call.arguments.iter().copied().chain([call.callee]).flatten();
        let Silently::As(callee) = call.silently else {
            effect.steering.extend(everything());
            effect.defines.push((index, Vec::new(), true));
            return Some(());
        };
        let silence = self.silence(functions, callee)?;
        effect.is_unknown |= silence.is_unknown;
        let parameters = self.shape(functions, callee).map_or(0, |shape| shape.parameters);
        let argument = |parameter: &u32| call.arguments.get(*parameter as usize).copied().flatten();
        effect.steering.extend(silence.steering.iter().filter_map(argument));
        // What is passed beyond the parameters goes ways of its own.
        effect.steering.extend(call.arguments.iter().skip(parameters as usize).copied().flatten());
        effect.defines.push((index, silence.result.iter().filter_map(argument).collect(), true));
        Some(())
    }
}

/// What an instruction does without a record.
struct Effect {
    is_unknown: bool,
    steering: Vec<Slot>,
    /// Slots, what they are made of, and whether nothing is left of what they were.
    defines: Vec<(Slot, Vec<Slot>, bool)>,
}

#[cfg(test)]
mod tests;
