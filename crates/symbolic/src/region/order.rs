//! The order in which instructions on silent paths are passed: Tarjan's strongly connected components, and which of
//! them no path avoids.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Target;
use super::paths::{Effects, Paths};

/// The instructions of the paths in topological order; loops are groups.
pub(super) struct Order {
    pub(super) groups: Vec<Vec<u32>>,
    /// Those that lead to themselves.
    loops: FxHashSet<u32>,
    /// Those that are on every path.
    pub(super) always: FxHashSet<u32>,
}

impl Order {
    pub(super) fn of(ways: &Paths<'_>, effects: &Effects) -> Order {
        let next =
            |index: u32| ways.shape.next(index).iter().copied().filter(|next| effects.contains_key(next));
        let groups = Groups::find(effects, next);
        let loops = effects.keys().copied().filter(|&index| next(index).any(|next| next == index)).collect();
        let mut order = Order { groups, loops, always: FxHashSet::default() };
        order.always = order.find_always(ways, effects);
        order
    }

    pub(super) fn is_cyclic(&self, index: u32) -> bool {
        self.loops.contains(&index)
    }

    /// A group is on every path if all open edges lead to it.
    fn find_always(&self, ways: &Paths<'_>, effects: &Effects) -> FxHashSet<u32> {
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

/// Tarjan's strongly connected components, without recursion.
#[derive(Default)]
struct Groups {
    /// The index and low link of each instruction.
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
        // Successors were found first.
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
