//! What a thread has done between two records that follow each other in one call of a function.
//!
//! Nobody knows which way it went, so all ways count on which nothing is recorded. What they make of what is summed up once, and remembered:
//! each value afterwards is made of values before, and some values before were decided by.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::code::{FunctionId, Functions};
use crate::shape::{Call, End, Shape, Silently, Slot};

/// Where the ways lead.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Target {
    /// To this instruction.
    At(u32),
    /// To the end of the function, however it comes about.
    End,
    /// Nobody knows.
    Anywhere,
}

/// What all ways from one place to another do together.
#[derive(Debug, Default)]
pub(crate) struct Region {
    /// Nobody knows what happens on them.
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

/// Functions that may call each other, each of which is looked at once in a round, with what the last one found of those that it calls.
/// In the first round calls within calls are not passed at all.
#[derive(Debug, Default)]
struct Search {
    found: FxHashMap<FunctionId, Option<Rc<Silence>>>,
    /// Those that this round has looked at, or is looking at.
    met: FxHashSet<FunctionId>,
    /// Those that it is looking at,
    open: FxHashSet<FunctionId>,
    /// and those of them that were asked about meanwhile.
    asked: FxHashSet<FunctionId>,
    /// Somebody was told something else than what was found afterwards.
    is_news: bool,
    /// The regions that were summed up in this round.
    summed_up: Vec<(FunctionId, Option<u32>, Target)>,
    /// How many functions are being looked at, each because of the one before.
    depth: u32,
}

/// Ways over more instructions than this are not summed up.
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
            let ways = Ways { functions, shape: &shape, from, to };
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

/// The ways from one place to another.
struct Ways<'a> {
    functions: &'a Functions,
    shape: &'a Shape,
    from: Option<u32>,
    to: Target,
}

/// The instructions on the ways, and what they do.
type Effects = FxHashMap<u32, Effect>;

impl Ways<'_> {
    fn sum_up(&self, regions: &mut Regions) -> Option<Region> {
        let mut reached = self.reachable(regions);
        if self.shape.is_returned_to || self.is_ambiguous(&reached, regions) {
            return Some(Region { is_unknown: true, ..Region::default() });
        }
        self.keep_those_that_lead_there(&mut reached)?;
        let is_large = reached.effects.len() > MOST_INSTRUCTIONS;
        if is_large || reached.effects.values().any(|effect| effect.is_unknown) {
            return Some(Region { is_unknown: true, ..Region::default() });
        }
        let order = Order::of(self, &reached.effects);
        let mut sum = Sum::default();
        for group in &order.groups {
            match group[..] {
                [index] if !order.is_cyclic(index) => {
                    let always = order.always.contains(&index);
                    self.pass(&reached.effects, index, always, &mut sum);
                }
                _ => {
                    while group.iter().fold(false, |changed, &index| {
                        self.pass(&reached.effects, index, false, &mut sum) | changed
                    }) {}
                }
            }
        }
        Some(sum.finish(self.shape))
    }

    fn starts(&self) -> Vec<u32> {
        self.from.map_or_else(|| vec![0], |from| self.shape.next(from).to_vec())
    }

    /// All instructions that can be reached without a record, and whether the target can.
    fn reachable(&self, regions: &mut Regions) -> Reached {
        let mut reached = Reached::default();
        let mut open = self.starts();
        while let Some(index) = open.pop() {
            reached.is_there |= self.to == Target::At(index);
            if reached.effects.contains_key(&index) {
                continue;
            }
            let Some(effect) = regions.effect(self.functions, self.shape, index) else { continue };
            reached.effects.insert(index, effect);
            open.extend_from_slice(self.shape.next(index));
        }
        reached
    }

    /// Whether what is taken for a way on may be another call of the function, which no record tells of.
    fn is_ambiguous(&self, reached: &Reached, regions: &mut Regions) -> bool {
        let Target::At(target) = self.to else { return false };
        let calls_back = |&index: &u32| self.shape.step(index).is_some_and(|step| step.calls_back);
        if !reached.effects.keys().chain(&self.from).any(calls_back) {
            return false;
        }
        let anew = Ways { from: None, to: Target::At(target), ..*self };
        anew.reachable(regions).is_there
    }

    /// The target counts, if it can be passed without a record, only as what is passed.
    fn keep_those_that_lead_there(&self, reached: &mut Reached) -> Option<()> {
        if self.to == Target::Anywhere {
            return Some(());
        }
        let mut before: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for &index in reached.effects.keys() {
            for &next in self.shape.next(index) {
                before.entry(next).or_default().push(index);
            }
        }
        let mut open: Vec<u32> = match self.to {
            Target::At(target) => {
                if !reached.is_there {
                    return None;
                }
                before.get(&target).cloned().unwrap_or_default()
            }
            _ => reached.effects.keys().copied().filter(|&index| self.is_end(index)).collect(),
        };
        let mut lead = FxHashSet::default();
        while let Some(index) = open.pop() {
            if lead.insert(index) {
                open.extend(before.get(&index).into_iter().flatten());
            }
        }
        if self.to == Target::End && lead.is_empty() && !self.ends_at_once() {
            return None;
        }
        reached.effects.retain(|index, _| lead.contains(index));
        Some(())
    }

    /// Whether the function may end here. What it calls may end by an exception.
    fn is_end(&self, index: u32) -> bool {
        let step = self.shape.step(index);
        let throws = self.functions.unwinds && step.is_some_and(|step| step.call.is_some());
        throws || step.is_some_and(|step| step.end.is_some())
    }

    fn ends_at_once(&self) -> bool {
        self.from.is_some_and(|from| self.is_end(from))
    }

    /// How often a way leads from an instruction to the target.
    fn arrivals(&self, index: u32) -> usize {
        match self.to {
            Target::At(target) => self.shape.next(index).iter().filter(|&&next| next == target).count(),
            Target::End => usize::from(self.is_end(index)),
            Target::Anywhere => 1,
        }
    }

    /// Passes an instruction; says whether that made a difference.
    fn pass(&self, effects: &Effects, index: u32, always: bool, sum: &mut Sum) -> bool {
        let Some(effect) = effects.get(&index) else { return false };
        let mut changed = false;
        for &slot in &effect.steering {
            changed |= sum.steer(slot);
        }
        for (slot, from, is_whole) in &effect.defines {
            changed |= sum.define(*slot, from, always && *is_whole);
        }
        if let (Target::End, Some(End::Return(Some(slot)))) =
            (self.to, self.shape.step(index).and_then(|step| step.end))
        {
            let value = sum.value(slot);
            changed |= add(&mut sum.result, &value);
        }
        changed
    }
}

/// What can be reached without a record.
#[derive(Default)]
struct Reached {
    effects: Effects,
    is_there: bool,
}

/// The instructions on the ways in an order in which each comes before those that it leads to, but for loops: these are groups.
struct Order {
    groups: Vec<Vec<u32>>,
    /// Those that lead to themselves.
    loops: FxHashSet<u32>,
    /// Those that no way leads past.
    always: FxHashSet<u32>,
}

impl Order {
    fn of(ways: &Ways<'_>, effects: &Effects) -> Order {
        let next =
            |index: u32| ways.shape.next(index).iter().copied().filter(|next| effects.contains_key(next));
        let groups = Groups::find(effects, next);
        let loops = effects.keys().copied().filter(|&index| next(index).any(|next| next == index)).collect();
        let mut order = Order { groups, loops, always: FxHashSet::default() };
        order.always = order.find_always(ways, effects);
        order
    }

    fn is_cyclic(&self, index: u32) -> bool {
        self.loops.contains(&index)
    }

    /// A group is always passed if all ways that are open when it comes lead to it.
    fn find_always(&self, ways: &Ways<'_>, effects: &Effects) -> FxHashSet<u32> {
        let mut always = FxHashSet::default();
        if matches!(ways.to, Target::At(target) if effects.contains_key(&target)) {
            return always;
        }
        let next =
            |index: u32| ways.shape.next(index).iter().copied().filter(|next| effects.contains_key(next));
        let mut arriving: FxHashMap<u32, usize> = FxHashMap::default();
        let starts = ways.starts();
        for index in starts.iter().copied().filter(|index| effects.contains_key(index)) {
            *arriving.entry(index).or_default() += 1;
        }
        let at_once = match ways.to {
            Target::At(target) => starts.iter().filter(|&&start| start == target).count(),
            Target::End => usize::from(ways.ends_at_once()),
            Target::Anywhere => 1,
        };
        let mut open = arriving.values().sum::<usize>() + at_once;
        for index in effects.keys().copied() {
            for next in next(index) {
                *arriving.entry(next).or_default() += 1;
            }
        }
        for group in &self.groups {
            let inside: FxHashSet<u32> = group.iter().copied().collect();
            let within = group.iter().map(|&index| next(index).filter(|next| inside.contains(next)).count());
            let within: usize = within.sum();
            let arrivals: usize = group.iter().map(|index| arriving.get(index).copied().unwrap_or(0)).sum();
            let entering = arrivals.saturating_sub(within);
            if open == entering && group.len() == 1 {
                always.extend(group);
            }
            let leaving = group.iter().map(|&index| next(index).count() + ways.arrivals(index));
            open = (open + leaving.sum::<usize>()).saturating_sub(within + entering);
        }
        always
    }
}

/// Tarjan's way to find the groups of instructions that lead to each other, without recursion.
#[derive(Default)]
struct Groups {
    /// When each instruction was met, and the earliest one that it leads back to.
    met: FxHashMap<u32, (usize, usize)>,
    path: Vec<u32>,
    on_path: FxHashSet<u32>,
    found: Vec<Vec<u32>>,
}

impl Groups {
    fn find<I: Iterator<Item = u32>>(effects: &Effects, next: impl Fn(u32) -> I) -> Vec<Vec<u32>> {
        let mut groups = Groups::default();
        let mut all: Vec<u32> = effects.keys().copied().collect();
        all.sort_unstable();
        for start in all {
            if !groups.met.contains_key(&start) {
                groups.visit(start, &next);
            }
        }
        // Those that are led to were found first.
        groups.found.reverse();
        groups.found
    }

    fn visit<I: Iterator<Item = u32>>(&mut self, start: u32, next: &impl Fn(u32) -> I) {
        let mut open: Vec<(u32, Vec<u32>)> = vec![self.meet(start, next)];
        while let Some((index, rest)) = open.last_mut() {
            let index = *index;
            match rest.pop() {
                Some(other) if !self.met.contains_key(&other) => {
                    let met = self.meet(other, next);
                    open.push(met);
                }
                Some(other) => {
                    if self.on_path.contains(&other) {
                        self.lead_back(index, self.met[&other].0);
                    }
                }
                None => {
                    open.pop();
                    let (met, low) = self.met[&index];
                    if let Some((caller, _)) = open.last() {
                        self.lead_back(*caller, low);
                    }
                    if met == low {
                        self.close(index);
                    }
                }
            }
        }
    }

    fn meet<I: Iterator<Item = u32>>(&mut self, index: u32, next: &impl Fn(u32) -> I) -> (u32, Vec<u32>) {
        let now = self.met.len();
        self.met.insert(index, (now, now));
        self.path.push(index);
        self.on_path.insert(index);
        (index, next(index).collect())
    }

    fn lead_back(&mut self, index: u32, to: usize) {
        if let Some((_, low)) = self.met.get_mut(&index) {
            *low = (*low).min(to);
        }
    }

    /// The path from this instruction on is a group.
    fn close(&mut self, first: u32) {
        let start = self.path.iter().rposition(|&index| index == first).unwrap_or(0);
        let mut group = self.path.split_off(start);
        group.iter().for_each(|index| {
            self.on_path.remove(index);
        });
        group.sort_unstable();
        self.found.push(group);
    }
}

/// What has become of the values so far.
#[derive(Default)]
struct Sum {
    /// What changed values are made of; all others are what they were.
    values: FxHashMap<Slot, Vec<Slot>>,
    steering: Vec<Slot>,
    result: Vec<Slot>,
}

impl Sum {
    fn value(&self, slot: Slot) -> Vec<Slot> {
        self.values.get(&slot).cloned().unwrap_or_else(|| vec![slot])
    }

    fn steer(&mut self, slot: Slot) -> bool {
        let value = self.value(slot);
        add(&mut self.steering, &value)
    }

    fn define(&mut self, slot: Slot, from: &[Slot], is_whole: bool) -> bool {
        let mut value = if is_whole { Vec::new() } else { self.value(slot) };
        let mut changed = is_whole;
        for &part in from {
            changed |= add(&mut value, &self.value(part));
        }
        self.values.insert(slot, value);
        changed
    }

    /// Only values count that may be used later.
    fn finish(self, shape: &Shape) -> Region {
        let lasts = |slot: Slot| shape.lasts.get(slot as usize).copied().unwrap_or(true);
        let mut changes: Vec<_> =
            self.values.into_iter().filter(|(slot, from)| lasts(*slot) && from[..] != [*slot]).collect();
        changes.sort_unstable();
        Region { is_unknown: false, steering: self.steering, changes, result: self.result }
    }
}

/// Adds what is not there yet, in order; says whether there was anything.
fn add(to: &mut Vec<Slot>, slots: &[Slot]) -> bool {
    let before = to.len();
    for &slot in slots {
        if let Err(place) = to.binary_search(&slot) {
            to.insert(place, slot);
        }
    }
    to.len() > before
}

#[cfg(test)]
mod tests {
    use foretell_wire::code::{Code, Function, Operand, Position};
    use foretell_wire::log::module::Module;
    use foretell_wire::site::{Site, Table};

    use super::*;

    const NAMES: [&str; 7] = ["i32", "global", "callee", "caller", "mystery", "sqrt", "setjmp"];
    const LOAD: u8 = 27;
    const STORE: u8 = 28;

    fn result(index: u32) -> Operand {
        Operand::Instruction(index)
    }

    /// The name of a function, how many parameters it has, its blocks and its instructions.
    type About<'a> = (u32, u32, &'a [u32], &'a [(u8, &'a [Operand])]);

    /// Functions with these names, numbers of parameters, blocks and instructions. Loads and stores of the global are told, and so are
    /// all places that are named.
    fn functions(about: &[About<'_>], told: &[(u32, u32)]) -> Functions {
        let (mut made, mut sites) = (Vec::new(), vec![Site::default()]);
        for (function, &(name, parameters, blocks, instructions)) in (0..).zip(about) {
            let parameters = vec![0; parameters as usize];
            let mut code = Function { name, parameters, blocks: blocks.to_vec(), ..Function::default() };
            for (instruction, &(opcode, operands)) in (0..).zip(instructions) {
                code.add(opcode, 0, (0, 0, 0), operands);
                let is_access =
                    matches!(opcode, LOAD | STORE) && operands.last() == Some(&Operand::Global(1));
                if is_access || told.contains(&(function, instruction)) {
                    let position = Some(Position { function, instruction });
                    sites.push(Site { position, is_told: true, ..Site::default() });
                }
            }
            made.push(code);
        }
        let table = Table { texts: NAMES.map(str::to_string).to_vec(), sites, ..Table::default() };
        let table = Code { table, functions: made }.encode();
        let mut functions = Functions::default();
        functions.add(&Module { address: 0x100, table: &table, globals: Vec::new() });
        functions
    }

    fn region(functions: &Functions, from: Option<u32>, to: Target) -> Option<Rc<Region>> {
        Regions::default().between(functions, 0, from, to)
    }

    #[test]
    fn a_straight_way_replaces_what_was_there() {
        // local = global; global = local + parameter
        let functions = functions(
            &[(
                3,
                1,
                &[6],
                &[
                    (26, &[Operand::Number(1)]),
                    (LOAD, &[Operand::Global(1)]),
                    (STORE, &[result(1), result(0)]),
                    (LOAD, &[result(0)]),
                    (8, &[result(3), Operand::Parameter(0)]),
                    (STORE, &[result(4), Operand::Global(1)]),
                ],
            )],
            &[],
        );
        let found = region(&functions, Some(1), Target::At(5)).unwrap();
        // The slots of the parameter and of the variable's content follow those of the six instructions.
        assert_eq!(found.changes, [(4, vec![1, 6]), (7, vec![1])]);
        assert!(found.steering.is_empty() && !found.is_unknown);
        assert!(region(&functions, Some(5), Target::At(1)).is_none(), "no way leads back");
        assert!(region(&functions, None, Target::At(5)).is_none(), "the load on the way would be recorded");
    }

    /// `if (parameter) local = global's value; global = local`, with what is between.
    fn diamond(between: (u8, &[Operand])) -> Functions {
        functions(
            &[(
                3,
                1,
                &[3, 2, 2],
                &[
                    (26, &[Operand::Number(1)]),
                    (LOAD, &[Operand::Global(1)]),
                    (2, &[Operand::Parameter(0), Operand::Block(1), Operand::Block(2)]),
                    between,
                    (2, &[Operand::Block(2)]),
                    (LOAD, &[result(0)]),
                    (STORE, &[result(5), Operand::Global(1)]),
                ],
            )],
            &[],
        )
    }

    #[test]
    fn what_happens_on_some_ways_only_leaves_what_was_there() {
        let functions = diamond((STORE, &[result(1), result(0)]));
        let found = region(&functions, Some(1), Target::At(6)).unwrap();
        assert_eq!(found.steering, [7], "the parameter decides");
        assert_eq!(found.changes, [(5, vec![1, 8]), (8, vec![1, 8])]);
    }

    #[test]
    fn ways_on_which_something_is_recorded_do_not_count() {
        let functions = diamond((STORE, &[result(1), Operand::Global(1)]));
        let found = region(&functions, Some(1), Target::At(6)).unwrap();
        assert_eq!(found.changes, [(5, vec![8])]);
        assert_eq!(found.steering, [7], "it decides not to go there");
    }

    #[test]
    fn what_nobody_knows_makes_all_unknown() {
        let functions = diamond((45, &[Operand::Global(4)]));
        assert!(region(&functions, Some(1), Target::At(6)).unwrap().is_unknown);
        let functions = diamond((45, &[result(1), Operand::Global(5)]));
        let found = region(&functions, Some(1), Target::At(6)).unwrap();
        assert_eq!(found.steering, [1, 7], "what a function of a library is given decides");
    }

    #[test]
    fn a_function_that_is_jumped_back_to_is_unknown() {
        let functions = diamond((45, &[result(0), Operand::Global(6)]));
        let to_the_store = [Some(1), Some(5)].map(|from| region(&functions, from, Target::At(6)));
        assert!(to_the_store.into_iter().all(|region| region.is_some_and(|region| region.is_unknown)));
    }

    #[test]
    fn loops_are_gone_any_number_of_times() {
        // global = value; do { local = local + global's value } while (local); global = local
        let functions = functions(
            &[(
                3,
                0,
                &[3, 4, 2],
                &[
                    (26, &[Operand::Number(1)]),
                    (LOAD, &[Operand::Global(1)]),
                    (2, &[Operand::Block(1)]),
                    (LOAD, &[result(0)]),
                    (8, &[result(3), result(1)]),
                    (STORE, &[result(4), result(0)]),
                    (2, &[result(4), Operand::Block(1), Operand::Block(2)]),
                    (LOAD, &[result(0)]),
                    (STORE, &[result(7), Operand::Global(1)]),
                ],
            )],
            &[],
        );
        let found = region(&functions, Some(1), Target::At(8)).unwrap();
        assert!(found.steering.starts_with(&[1]) && found.steering.contains(&9), "{found:?}");
        let content = found.changes.iter().find(|(slot, _)| *slot == 9).unwrap();
        assert!(content.1.contains(&1) && content.1.contains(&9), "{found:?}");
    }

    /// `global = callee(first, second)`, and the callee.
    fn call(callee: &[(u8, &[Operand])], blocks: &[u32]) -> Functions {
        functions(
            &[
                (
                    3,
                    2,
                    &[2],
                    &[
                        (45, &[Operand::Parameter(0), Operand::Parameter(1), Operand::Global(2)]),
                        (STORE, &[result(0), Operand::Global(1)]),
                    ],
                ),
                (2, 2, blocks, callee),
            ],
            &[],
        )
    }

    #[test]
    fn calls_without_a_record_do_what_the_function_does() {
        let sum: &[(u8, &[Operand])] =
            &[(8, &[Operand::Parameter(1), Operand::Number(1)]), (1, &[result(0)])];
        let found = region(&call(sum, &[2]), None, Target::At(1)).unwrap();
        assert_eq!(found.changes, [(0, vec![3])], "made of the second parameter alone");
        assert!(found.steering.is_empty());
        let decides: &[(u8, &[Operand])] = &[
            (2, &[Operand::Parameter(0), Operand::Block(1), Operand::Block(2)]),
            (1, &[Operand::Number(1)]),
            (1, &[Operand::Parameter(1)]),
        ];
        let found = region(&call(decides, &[1, 1, 1]), None, Target::At(1)).unwrap();
        assert_eq!((&found.changes[..], &found.steering[..]), (&[(0, vec![3])][..], &[2][..]));
    }

    #[test]
    fn a_function_that_always_records_cannot_be_passed() {
        let tells: &[(u8, &[Operand])] = &[(LOAD, &[Operand::Global(1)]), (1, &[result(0)])];
        assert!(region(&call(tells, &[2]), None, Target::At(1)).is_none());
        let itself: &[(u8, &[Operand])] = &[(45, &[Operand::Global(2)]), (1, &[result(0)])];
        assert!(region(&call(itself, &[2]), None, Target::At(1)).is_none(), "it never comes back");
    }

    #[test]
    fn a_function_that_calls_itself_does_what_all_its_calls_do() {
        // if (first) return 0; return 1 + callee(second, first);
        let swaps: &[(u8, &[Operand])] = &[
            (2, &[Operand::Parameter(0), Operand::Block(1), Operand::Block(2)]),
            (1, &[Operand::Number(0)]),
            (45, &[Operand::Parameter(1), Operand::Parameter(0), Operand::Global(2)]),
            (8, &[result(2), Operand::Number(1)]),
            (1, &[result(3)]),
        ];
        let found = region(&call(swaps, &[1, 1, 3]), None, Target::At(1)).unwrap();
        assert_eq!(
            (&found.steering[..], found.is_unknown),
            (&[2, 3][..], false),
            "either is the first somewhere"
        );
        assert_eq!(found.changes, [(0, vec![])], "the result is made of neither");
        // if (0) return first; return callee(second, first);
        let hands_on: &[(u8, &[Operand])] = &[
            (2, &[Operand::Number(0), Operand::Block(1), Operand::Block(2)]),
            (1, &[Operand::Parameter(0)]),
            (45, &[Operand::Parameter(1), Operand::Parameter(0), Operand::Global(2)]),
            (1, &[result(2)]),
        ];
        let found = region(&call(hands_on, &[1, 1, 2]), None, Target::At(1)).unwrap();
        assert_eq!((&found.changes[..], &found.steering[..]), (&[(0, vec![2, 3])][..], &[][..]));
    }

    #[test]
    fn functions_that_call_each_other_are_looked_at_together() {
        // if (first) return second; return the other one of (first, second);
        let passes_on = |to: &'static [Operand]| -> [(u8, &'static [Operand]); 4] {
            [
                (2, &[Operand::Parameter(0), Operand::Block(1), Operand::Block(2)]),
                (1, &[Operand::Parameter(1)]),
                (45, to),
                (1, &[Operand::Instruction(2)]),
            ]
        };
        let even = passes_on(&[Operand::Parameter(0), Operand::Parameter(1), Operand::Global(4)]);
        let odd = passes_on(&[Operand::Parameter(0), Operand::Parameter(1), Operand::Global(2)]);
        let caller: &[(u8, &[Operand])] = &[
            (45, &[Operand::Parameter(0), Operand::Parameter(1), Operand::Global(2)]),
            (STORE, &[result(0), Operand::Global(1)]),
        ];
        let functions =
            functions(&[(3, 2, &[2], caller), (2, 2, &[1, 1, 2], &even), (4, 2, &[1, 1, 2], &odd)], &[]);
        let found = region(&functions, None, Target::At(1)).unwrap();
        assert_eq!((&found.changes[..], &found.steering[..]), (&[(0, vec![3])][..], &[2][..]));
    }

    #[test]
    fn the_end_of_a_function_tells_what_it_returns() {
        let functions = diamond((1, &[result(1)]));
        assert!(region(&functions, Some(6), Target::End).is_none(), "it goes on for ever");
        let found = region(&functions, Some(1), Target::End);
        assert!(found.is_some_and(|found| found.result == [1] && found.steering == [7]));
        let ahead = region(&functions, Some(1), Target::Anywhere).unwrap();
        assert_eq!(ahead.steering, [7]);
    }

    #[test]
    fn a_function_that_may_run_anew_unseen_is_not_taken_to_go_on() {
        // do global = 1; while (!parameter); library();
        let with = |library: u32| {
            functions(
                &[(
                    3,
                    1,
                    &[1, 2, 2],
                    &[
                        (2, &[Operand::Block(1)]),
                        (STORE, &[Operand::Number(1), Operand::Global(1)]),
                        (2, &[Operand::Parameter(0), Operand::Block(2), Operand::Block(1)]),
                        (45, &[Operand::Global(library)]),
                        (1, &[]),
                    ],
                )],
                &[],
            )
        };
        let again = |functions: &Functions| region(functions, Some(1), Target::At(1)).unwrap().is_unknown;
        assert!(again(&with(4)), "it may have been called by what it calls");
        assert!(!again(&with(5)));
    }
}
