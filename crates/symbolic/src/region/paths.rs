//! The silent paths from one place of a function to another: those on which nothing is recorded.

use rustc_hash::{FxHashMap, FxHashSet};

use super::order::Order;
use super::sum::{Sum, add};
use super::{Effect, MOST_INSTRUCTIONS, Region, Regions, Target};
use crate::code::Functions;
use crate::shape::{End, Shape};

/// The silent paths from one position to a target.
pub(super) struct Paths<'a> {
    pub(super) functions: &'a Functions,
    pub(super) shape: &'a Shape,
    pub(super) from: Option<u32>,
    pub(super) to: Target,
}

/// The instructions on the paths, and their effects.
pub(super) type Effects = FxHashMap<u32, Effect>;

impl Paths<'_> {
    pub(super) fn sum_up(&self, regions: &mut Regions) -> Option<Region> {
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

    pub(super) fn starts(&self) -> Vec<u32> {
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

    /// Whether an apparent path may be another call of the function without a record.
    fn is_ambiguous(&self, reached: &Reached, regions: &mut Regions) -> bool {
        let Target::At(target) = self.to else { return false };
        let calls_back = |&index: &u32| self.shape.step(index).is_some_and(|step| step.calls_back);
        if !reached.effects.keys().chain(&self.from).any(calls_back) {
            return false;
        }
        let anew = Paths { from: None, to: Target::At(target), ..*self };
        anew.reachable(regions).is_there
    }

    /// A target that may have no record counts as passed only.
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

    pub(super) fn ends_at_once(&self) -> bool {
        self.from.is_some_and(|from| self.is_end(from))
    }

    /// How many edges lead from an instruction to the target.
    pub(super) fn arrivals(&self, index: u32) -> usize {
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
