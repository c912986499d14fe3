//! The call stack of a thread: its position in each call, and the contents of its slots.

use std::rc::Rc;

use foretell_trace::Reads;

use super::Follower;
use super::explain::{Computed, unknown};
use super::given_up::Why;
use crate::code::FunctionId;
use crate::evaluate::Given;
use crate::machine as computed;
use crate::region::Region;
use crate::region::Target;
use crate::routine::Routine;
use crate::shape::{Call, Silently, Slot};
use crate::terms::Origins;
use crate::values::Known;

/// The most slots of all calls of a thread; further calls are not followed.
const MOST_REGISTERS: usize = 1 << 24;

/// How many callers are kept for an untaken path.
const MOST_CALLERS: usize = 4;

/// A call that waits for another one to end.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    pub(super) routine: Rc<Routine>,
    pub(super) frame: computed::Frame,
    pub(super) at: u32,
}

/// The calls that a thread is in.
#[derive(Debug)]
pub(super) struct Walk {
    /// The outermost first; there is always one.
    frames: Vec<Frame>,
    /// The slots of all calls, one range each. A slot is valid only if it has the number of the call.
    registers: Vec<(u32, Reads)>,
    /// How many calls there were.
    calls: u32,
}

/// A call of a function.
#[derive(Debug, Default)]
struct Frame {
    place: KnownCallee,
    /// The last instruction that was recorded; none in the beginning.
    at: Option<u32>,
    /// That instruction has no more records before the thread continues.
    is_done: bool,
    /// Which of all calls it is.
    number: u32,
    /// Where its slots begin, and how many there are.
    base: usize,
    slots: u32,
    /// Its frame, if values are computed.
    computed: Option<Computed>,
}

/// What is known about the callee.
#[derive(Debug)]
enum KnownCallee {
    /// It has no record yet. For a direct call, this is the number of the callee's name.
    Called {
        name: Option<u32>,
        arguments: Vec<Reads>,
        /// The same, with its frame.
        given: Vec<Given>,
    },
    /// This one.
    In(FunctionId),
    /// Nothing.
    Unknown,
}

impl Default for KnownCallee {
    fn default() -> KnownCallee {
        KnownCallee::Called { name: None, arguments: Vec::new(), given: Vec::new() }
    }
}

impl Default for Walk {
    fn default() -> Walk {
        Walk { frames: vec![Frame::default()], registers: Vec::new(), calls: 0 }
    }
}

impl Walk {
    fn top(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// The function that the thread is in, if that is known.
    pub(super) fn function(&mut self) -> Option<FunctionId> {
        match self.top().place {
            KnownCallee::In(function) => Some(function),
            KnownCallee::Called { .. } | KnownCallee::Unknown => None,
        }
    }

    /// The thread is at this instruction.
    pub(super) fn stand_at(&mut self, instruction: u32, is_done: bool) {
        let top = self.top();
        (top.at, top.is_done) = (Some(instruction), is_done);
    }

    /// The position in the innermost call is unknown.
    pub(super) fn be_nowhere(&mut self) {
        let top = self.top();
        (top.place, top.at, top.slots, top.computed) = (KnownCallee::Unknown, None, 0, None);
    }

    /// The innermost call is one of this function, which has so many slots, and holds nothing yet.
    fn seat(&mut self, function: FunctionId, slots: u32) {
        self.calls = self.calls.wrapping_add(1);
        let (number, top) = (self.calls, self.top());
        let (place, base) = (KnownCallee::In(function), top.base);
        *top = Frame { place, at: None, is_done: false, number, base, slots, computed: None };
        let end = top.base + slots as usize;
        if self.registers.len() < end {
            self.registers.resize(end, (0, Reads::NOTHING));
        }
    }

    /// The frame of the innermost call.
    pub(super) fn computed(&mut self) -> Option<&mut Computed> {
        self.top().computed.as_mut()
    }

    /// The callers of the innermost call, the last one first, as far as they have frames; each with its call
    /// instruction.
    pub(super) fn callers(&self) -> Vec<Caller> {
        let outer = self.frames.split_last().map_or(&[][..], |(_, outer)| outer);
        let caller = |frame: &Frame| {
            let (routine, computed) = frame.computed.as_ref()?;
            Some(Caller { routine: Rc::clone(routine), frame: computed.clone(), at: frame.at? })
        };
        outer.iter().rev().take(MOST_CALLERS).map_while(caller).collect()
    }

    /// The place of a slot, and the number that it has if it is valid.
    fn register(&mut self, slot: Slot) -> Option<(u32, &mut (u32, Reads))> {
        let top = self.top();
        let (number, place, slots) = (top.number, top.base + slot as usize, top.slots);
        let register = self.registers.get_mut(place).filter(|_| slot < slots)?;
        Some((number, register))
    }

    fn get(&mut self, slot: Slot) -> Reads {
        match self.register(slot) {
            Some((number, &mut (of, reads))) if of == number => reads,
            _ => Reads::NOTHING,
        }
    }

    fn set(&mut self, slot: Slot, reads: Reads) {
        if let Some((number, register)) = self.register(slot) {
            *register = (number, reads);
        }
    }

    fn push(&mut self, place: KnownCallee) {
        let top = self.top();
        let base = top.base + top.slots as usize;
        self.frames.push(Frame { place, base, ..Frame::default() });
    }
}

impl Follower {
    fn walk(&mut self) -> &mut Walk {
        &mut self.walks[self.current]
    }

    /// What is in a slot of the innermost call; nothing if there is none.
    pub(super) fn of(&mut self, slot: Option<Slot>) -> Reads {
        slot.map_or(Reads::NOTHING, |slot| self.walk().get(slot))
    }

    /// Sets what a slot of the innermost call depends on, if there is one,
    pub(super) fn set(&mut self, slot: Option<Slot>, reads: Reads) {
        if let Some(slot) = slot {
            self.walk().set(slot, reads);
            self.blur(slot, reads);
        }
    }

    /// or adds to that.
    pub(super) fn add_content(&mut self, slot: Option<Slot>, reads: Reads) {
        let before = self.of(slot);
        let reads = self.tracker.unite(self.current, before, reads);
        self.set(slot, reads);
    }

    pub(super) fn steer_by(&mut self, slot: Option<Slot>) {
        if slot.is_some_and(|slot| self.hold_slot(slot)) {
            return;
        }
        let reads = self.of(slot);
        self.tracker.steer(self.current, reads);
    }

    /// Moves the thread to an instruction of its innermost call, along all silent paths. Returns whether the effect is
    /// known.
    pub(super) fn go_to(&mut self, stop: usize, is_single: bool) -> bool {
        let spot = self.stops[stop].spot;
        if !self.is_in(spot.function) {
            self.give_up(Why::Nowhere);
            self.seat(spot.function, &[]);
        } else {
            let (at, is_done) = (self.walk().top().at, self.walk().top().is_done);
            let may_stay = at == Some(spot.instruction) && !is_done;
            match self.way(stop, at) {
                Some(region) => {
                    let is_clear = !may_stay && !region.is_unknown;
                    let is_explained = is_clear && self.explain_way(at, spot.instruction);
                    self.pass(&region, may_stay, is_explained);
                }
                None if may_stay => {}
                None => {
                    self.give_up(Why::NoWay);
                    self.begin_anew();
                }
            }
        }
        self.walk().stand_at(spot.instruction, is_single);
        self.walk().function() == Some(spot.function)
    }

    /// The region before a stop; mostly threads come from the same position.
    fn way(&mut self, stop: usize, from: Option<u32>) -> Option<Rc<Region>> {
        let about = &mut self.stops[stop];
        if let Some((last, region)) = &about.last
            && *last == from
        {
            return region.clone();
        }
        let (spot, to) = (about.spot, Target::At(about.spot.instruction));
        let region = self.regions.between(&self.functions, spot.function, from, to);
        about.last = Some((from, region.clone()));
        region
    }

    /// Whether the innermost call is one of this function. A call of which nothing was known yet may turn out to be
    /// one.
    fn is_in(&mut self, function: FunctionId) -> bool {
        let its_name = self.functions.get(function).map(|function| function.name);
        let (arguments, given) = match &mut self.walk().top().place {
            KnownCallee::In(known) => return *known == function,
            KnownCallee::Unknown => return false,
            KnownCallee::Called { name: Some(name), .. } if its_name != Some(*name) => return false,
            KnownCallee::Called { arguments, given, .. } => {
                (std::mem::take(arguments), std::mem::take(given))
            }
        };
        self.seat(function, &given);
        self.bind(function, &arguments, given.is_empty());
        true
    }

    fn seat(&mut self, function: FunctionId, given: &[Given]) {
        let slots = self.regions.shape(&self.functions, function).map(|shape| shape.slots);
        let base = self.walk().top().base;
        match slots.filter(|&slots| base.saturating_add(slots as usize) <= MOST_REGISTERS) {
            Some(slots) => {
                self.walk().seat(function, slots);
                self.walk().top().computed = self.computed(function, given);
            }
            None => self.be_nowhere(),
        }
    }

    /// Passes the arguments to the parameters. Variadic arguments are not parameters.
    fn bind(&mut self, function: FunctionId, arguments: &[Reads], is_vague: bool) {
        let Some(shape) = self.regions.shape(&self.functions, function) else { return };
        for (index, &reads) in (0..).zip(arguments) {
            if index < shape.parameters {
                self.walk().set(shape.parameter(index), reads);
                if is_vague {
                    self.blur(shape.parameter(index), reads);
                }
            } else {
                self.tracker.steer(self.current, reads);
            }
        }
    }

    /// Applies the effect of a region. If it may not have been executed, all slots also keep what they depend on.
    fn pass(&mut self, region: &Region, keeps: bool, is_explained: bool) {
        if !is_explained {
            self.pass_steering(region);
        }
        let mut changes = std::mem::take(&mut self.changes);
        for (slot, from) in &region.changes {
            let mut reads = if keeps { self.walk().get(*slot) } else { Reads::NOTHING };
            for &part in from {
                let part = self.of(Some(part));
                reads = self.tracker.unite(self.current, reads, part);
            }
            changes.push((*slot, reads));
        }
        for (slot, reads) in changes.drain(..) {
            self.walk().set(slot, reads);
            if !is_explained {
                self.blur(slot, reads);
            }
        }
        self.changes = changes;
        if region.is_unknown {
            self.begin_anew();
        }
    }

    /// A function is called.
    pub(super) fn enter(&mut self, site: u64) {
        let Some(stop) = self.stop(site).filter(|&stop| self.go_to(stop, false)) else {
            self.be_nowhere();
            return self.walk().push(KnownCallee::Unknown);
        };
        let spot = self.stops[stop].spot;
        let shape = self.regions.shape(&self.functions, spot.function);
        let place = shape.as_ref().and_then(|shape| {
            let step = shape.step(spot.instruction)?;
            self.call_place(step.call.as_deref()?, step.calls_back)
        });
        if place.is_none() {
            self.give_up(Why::Unknown);
        }
        self.walk().push(place.unwrap_or(KnownCallee::Unknown));
    }

    /// What is known about a call before its first record. None if it cannot be followed.
    fn call_place(&mut self, call: &Call, calls_back: bool) -> Option<KnownCallee> {
        let mut given = self.walk().top().at.map_or_else(Vec::new, |at| self.passed(at));
        if calls_back || (call.is_direct && call.name.is_none()) {
            return None;
        }
        self.steer_by(call.callee);
        let mut arguments: Vec<Reads> = Vec::new();
        for (index, &slot) in call.arguments.iter().enumerate() {
            let reads = self.of(slot);
            if reads != Reads::NOTHING {
                arguments.resize(index, Reads::NOTHING);
                arguments.push(reads);
            }
        }
        if !call.is_direct && self.functions.replaces {
            // The callee may have made a tail call with other arguments.
            for reads in arguments.drain(..) {
                self.tracker.steer(self.current, reads);
            }
            for argument in given.drain(..) {
                self.hold(&[argument]);
            }
        }
        Some(KnownCallee::Called { name: call.name, arguments, given })
    }

    /// So many calls have ended.
    pub(super) fn leave_calls(&mut self, calls: u32) {
        for _ in 0..calls {
            if self.walk().frames.len() < 2 {
                // There must have been calls that were not recorded.
                self.give_up(Why::Nowhere);
                return self.walk().be_nowhere();
            }
            let (result, value) = self.leave_function();
            self.left += 1;
            self.walk().frames.pop();
            let call = self.walk().top().at;
            self.set(call, result);
            self.set_returned(call, value);
            self.walk().top().is_done = true;
        }
    }

    /// Ends the innermost call; returns what its result depends on.
    fn leave_function(&mut self) -> (Reads, (Known, Origins)) {
        let Some(function) = self.walk().function() else { return self.leave_unseen() };
        let at = self.walk().top().at;
        let Some(region) = self.regions.between(&self.functions, function, at, Target::End) else {
            self.give_up(Why::NoWay);
            return (Reads::NOTHING, unknown(Reads::NOTHING));
        };
        let value = if region.is_unknown { None } else { self.explain_end(at) };
        if value.is_none() {
            self.pass_steering(&region);
        }
        let mut result = Reads::NOTHING;
        for &slot in &region.result {
            let part = self.of(Some(slot));
            result = self.tracker.unite(self.current, result, part);
        }
        (result, value.unwrap_or_else(|| unknown(result)))
    }

    /// What the branches of a region depend on.
    fn pass_steering(&mut self, region: &Region) {
        if region.is_unknown {
            self.give_up(Why::Unknown);
        }
        for &slot in &region.steering {
            self.steer_by(Some(slot));
        }
    }

    /// A call without records has ended: it may have branched on its arguments.
    fn leave_unseen(&mut self) -> (Reads, (Known, Origins)) {
        let nothing = (Reads::NOTHING, unknown(Reads::NOTHING));
        let KnownCallee::Called { arguments, given, .. } = &mut self.walk().top().place else {
            return nothing;
        };
        let (arguments, given) = (std::mem::take(arguments), std::mem::take(given));
        if let Some(function) = self.silent_callee() {
            self.seat(function, &given);
            self.bind(function, &arguments, given.is_empty());
            return self.leave_function();
        }
        self.count_unknown_call(&arguments);
        if given.is_empty() || !self.hold(&given) {
            for reads in arguments {
                self.tracker.steer(self.current, reads);
            }
        }
        nothing
    }

    /// The function that the innermost call must have called.
    fn silent_callee(&mut self) -> Option<FunctionId> {
        let frames = &self.walk().frames;
        let caller = frames.get(frames.len().checked_sub(2)?)?;
        let (KnownCallee::In(function), Some(at)) = (&caller.place, caller.at) else { return None };
        let (function, at) = (*function, at);
        let shape = self.regions.shape(&self.functions, function)?;
        match shape.step(at)?.call.as_deref()?.silently {
            Silently::As(callee) => Some(callee),
            Silently::ByArguments => None,
        }
    }

    /// An event without an instruction: whatever may have decided branches since the last record steers it.
    pub(super) fn look_ahead(&mut self) {
        let (function, at) = (self.walk().function(), self.walk().top().at);
        let region = function
            .and_then(|function| self.regions.between(&self.functions, function, at, Target::Anywhere));
        match region {
            Some(region) => self.pass_steering(&region),
            None => self.give_up(Why::NoWay),
        }
    }

    /// The thread has ended. The result of its first function goes to the thread that joins it.
    pub(super) fn end(&mut self) {
        loop {
            let (result, (known, origins)) = self.leave_function();
            if !self.hold(&[Given { of: None, known, origins }]) {
                self.tracker.steer(self.current, result);
            }
            if self.walk().frames.len() < 2 {
                break;
            }
            self.left += 1;
            self.walk().frames.pop();
        }
        self.walks[self.current] = Walk::default();
    }
}
