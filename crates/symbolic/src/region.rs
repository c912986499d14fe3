//! What a thread has done between two records that follow each other in one call of a function.
//!
//! The path is unknown, so all paths without a record count. Their joint effect is computed once and cached: which
//! values before each value afterwards depends on, and which values before decide branches.

mod order;
mod paths;
mod sum;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::code::{FunctionId, Functions};
use crate::shape::{Call, Shape, Silently, Slot};
use paths::Paths;

/// Where the paths lead.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Target {
    /// To this instruction.
    At(u32),
    /// To the end of the function, by a return or an exception.
    End,
    /// Unknown.
    Anywhere,
}

/// The joint effect of all paths from one position to another.
#[derive(Debug, Default)]
pub(crate) struct Region {
    /// The effect is unknown.
    pub(crate) is_unknown: bool,
    /// The values that branches depend on.
    pub(crate) steering: Vec<Slot>,
    /// What values depend on afterwards. A value that may be unchanged depends on itself, too.
    pub(crate) changes: Vec<(Slot, Vec<Slot>)>,
    /// What the function returns.
    pub(crate) result: Vec<Slot>,
}

/// The effect of a whole function without records, in terms of its parameters.
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

/// All effects computed so far.
#[derive(Debug, Default)]
pub(crate) struct Regions {
    shapes: FxHashMap<FunctionId, Option<Rc<Shape>>>,
    regions: FxHashMap<(FunctionId, Option<u32>, Target), Option<Rc<Region>>>,
    /// None if the function always leaves a record.
    silences: FxHashMap<FunctionId, Option<Rc<Silence>>>,
    /// The analysis of mutually recursive functions.
    search: Option<Search>,
}

/// Functions that may call each other, each analysed once per round, with the results of the last round for its
/// callees. In the first round, recursive calls do not return.
#[derive(Debug, Default)]
struct Search {
    found: FxHashMap<FunctionId, Option<Rc<Silence>>>,
    /// Those that were begun in this round.
    met: FxHashSet<FunctionId>,
    /// Those that are not finished,
    open: FxHashSet<FunctionId>,
    /// and those of them whose effects were needed before that.
    asked: FxHashSet<FunctionId>,
    /// A caller used a result that has changed since.
    is_news: bool,
    /// The regions that were computed in this round.
    summed_up: Vec<(FunctionId, Option<u32>, Target)>,
    /// The current nesting of functions.
    depth: u32,
}

/// The most instructions of a region.
const MOST_INSTRUCTIONS: usize = 1 << 12;

/// The deepest nesting of calls.
const DEEPEST: u32 = 64;

/// After so many rounds, the effects of mutually recursive functions are unknown.
const MOST_ROUNDS: usize = 32;

impl Regions {
    /// The function, prepared.
    pub(crate) fn shape(&mut self, functions: &Functions, id: FunctionId) -> Option<Rc<Shape>> {
        let shape = self.shapes.entry(id).or_insert_with(|| Shape::of(functions, id).map(Rc::new));
        shape.clone()
    }

    /// From one instruction, or the beginning, to a target. None if no path leads there.
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

    /// The effect of a function without records; none if it always leaves one.
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

    /// Analyses a function, unless that was done in this round; returns the current result.
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

    /// The effect of an instruction without a record; none if it always leaves one.
    fn effect(&mut self, functions: &Functions, shape: &Shape, index: u32) -> Option<Effect> {
        let step = shape.step(index).filter(|step| !step.is_recorded)?;
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
        // Variadic arguments are not parameters.
        effect.steering.extend(call.arguments.iter().skip(parameters as usize).copied().flatten());
        effect.defines.push((index, silence.result.iter().filter_map(argument).collect(), true));
        Some(())
    }
}

/// The effect of an instruction without a record.
struct Effect {
    is_unknown: bool,
    steering: Vec<Slot>,
    /// Slots, the slots that they depend on, and whether their old values are overwritten.
    defines: Vec<(Slot, Vec<Slot>, bool)>,
}

#[cfg(test)]
mod tests;
