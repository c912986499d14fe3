//! From a trace to a [`Program`].
//!
//! * [`cells`]: which cell of a state is what
//! * [`contents`]: what variables can hold, and what reads ask of it
//! * [`sync`]: what the observed run says about semaphores, barriers and notifications
//! * [`thread`]: the steps of one thread

mod cells;
mod contents;
mod sync;
mod thread;

use foretell_trace::{LockId, Op, Trace, VarId, ops};
use rustc_hash::FxHashMap;

use self::cells::{Cells, FREED};
use self::contents::Memory;
use self::sync::Sync;
use self::thread::{Compiled, Compiler, Wall};
use crate::pack::{Layout, Reader};
use crate::program::{Contents, Lift, NONE, PROGRESS, Program};

/// Whether the operation does nothing to others by itself, so that it is no step.
pub(crate) fn is_silent(op: Op) -> bool {
    match op {
        Op::Fence { .. } | Op::Begin | Op::End | Op::Branch | ops!(reentries | labels) => true,
        Op::Alloc(_) | Op::Free(_) | Op::Fork(_) | Op::Join(_) => false,
        ops!(accesses | sections | attempts | semaphores | conditions | barriers) => false,
    }
}

/// The program of a trace whose states include the contents of the `watched` variables. `None` if there are too many
/// events or variables to be numbered.
pub(crate) fn compile(trace: &Trace, watched: &[VarId]) -> Option<Program> {
    let memory = Memory::new(trace);
    let sync = Sync::new(trace);
    let cells = Cells::new(trace, &sync)?;
    let mut compiler = Compiler::new(trace, &memory, &sync, &cells);
    for thread in trace.threads() {
        compiler.thread(thread)?;
    }
    let mut compiled = compiler.finish();
    let lifts = link(&mut compiled, &cells)?;
    let mut initial = cells.initial(&memory, &sync);
    for (thread, block) in compiled.blocks.iter().enumerate() {
        initial[cells.thread(thread) as usize] = block.begin;
    }
    let layout =
        Plan { trace, memory: &memory, sync: &sync, cells: &cells, compiled: &compiled }.layout(watched);
    Some(Program {
        lifts,
        initial,
        threads: trace.thread_count(),
        counts_progress: trace.events().iter().any(|event| event.unexplained),
        contents: contents(trace, &memory, &cells),
        layout,
        as_recorded: sync.as_recorded(),
        specials: compiled.specials,
        steps: compiled.steps,
        places: compiled.places,
    })
}

fn contents(trace: &Trace, memory: &Memory, cells: &Cells) -> Vec<Contents> {
    let vars = (0..trace.names().vars.len()).filter_map(VarId::from_index);
    vars.map(|var| Contents { cell: cells.var(var), values: memory.values()[var.index()].clone() }).collect()
}

/// Assigns to each step the walls that it lifts, next to each other.
fn link(compiled: &mut Compiled, cells: &Cells) -> Option<Vec<Lift>> {
    let mut lifted_by: FxHashMap<usize, Vec<Wall>> = FxHashMap::default();
    for wall in &compiled.walls {
        lifted_by.entry(wall.lifted_by).or_default().push(*wall);
    }
    let mut lifts = Vec::with_capacity(compiled.walls.len());
    for (step, place) in compiled.steps.iter_mut().zip(&compiled.places) {
        if place.event == NONE {
            continue;
        }
        let walls = lifted_by.remove(&(place.event as usize)).unwrap_or_default();
        step.lifts = u32::try_from(lifts.len()).ok()?;
        step.lift_count = u32::try_from(walls.len()).ok()?;
        lifts.extend(
            walls.iter().map(|wall| Lift { cell: cells.thread(wall.thread), position: wall.position }),
        );
    }
    Some(lifts)
}

/// All that is known when states are to be written down.
struct Plan<'a> {
    trace: &'a Trace,
    memory: &'a Memory,
    sync: &'a Sync,
    cells: &'a Cells,
    compiled: &'a Compiled,
}

impl Plan<'_> {
    /// What a key must contain. Cells that follow from the positions of the threads are part of it all the same: so a
    /// state can be entered from its key without looking at what has run.
    fn layout(&self, watched: &[VarId]) -> Layout {
        let mut layout = Layout::default();
        for (thread, block) in self.compiled.blocks.iter().enumerate() {
            layout.add(self.cells.thread(thread), block.begin, block.last);
        }
        self.add_contents(&mut layout, watched);
        self.add_objects(&mut layout);
        if self.trace.events().iter().any(|event| event.unexplained) {
            layout.add(PROGRESS, 0, u32::try_from(self.trace.events().len()).unwrap_or(u32::MAX));
        }
        layout
    }

    /// Contents matter as long as they may still be read.
    fn add_contents(&self, layout: &mut Layout, watched: &[VarId]) {
        let mut readers: Vec<FxHashMap<usize, u32>> = vec![FxHashMap::default(); self.memory.values().len()];
        for read in &self.compiled.last_reads {
            let last = readers[read.var].entry(read.thread).or_default();
            *last = (*last).max(read.position);
        }
        for (var, readers) in readers.iter().enumerate() {
            let Some(id) = VarId::from_index(var) else { continue };
            let (cell, most) = (self.cells.var(id), self.memory.foreign(var));
            if watched.contains(&id) {
                layout.add(cell, 0, most);
            } else if !readers.is_empty() {
                let reader = |(&thread, &last)| Reader { cell: self.cells.thread(thread), last };
                layout.add_mortal(cell, most, &readers.iter().map(reader).collect::<Vec<_>>());
            }
        }
    }

    fn add_objects(&self, layout: &mut Layout) {
        let names = self.trace.names();
        let threads = u32::try_from(self.trace.thread_count()).unwrap_or(u32::MAX);
        for lock in (0..names.locks.len()).filter_map(LockId::from_index) {
            let exclusive = self.cells.exclusive(lock);
            let most = if exclusive == 1 { 1 } else { exclusive.saturating_add(threads) };
            layout.add(self.cells.lock(lock), 0, most);
        }
        for sem in (0..names.sems.len()).filter_map(foretell_trace::SemId::from_index) {
            let begin = self.sync.permits[sem.index()].unwrap_or(self.sync.waits[sem.index()]);
            layout.add(
                self.cells.sem(sem),
                0,
                begin.saturating_add(self.sync.posts[sem.index()]).saturating_add(1),
            );
        }
        for barrier in (0..names.barriers.len()).filter_map(foretell_trace::BarrierId::from_index) {
            layout.add(self.cells.barrier(barrier), 0, self.sync.arrivals[barrier.index()]);
        }
        for (barrier, cell) in self.cells.meetings() {
            let size = self.sync.sizes[barrier.index()].unwrap_or(0);
            layout.add(cell, 0, self.sync.arrivals[barrier.index()].saturating_add(size));
        }
        for cond in (0..names.conds.len()).filter_map(foretell_trace::CondId::from_index) {
            let waiters = self.cells.waiters(cond, self.sync.signals[cond.index()]);
            for cell in waiters.first..waiters.first + waiters.count {
                layout.add(cell, 0, waiters.woken);
            }
        }
        for var in (0..names.vars.len()).filter_map(VarId::from_index) {
            if let Some(life) = self.cells.life(var) {
                layout.add(life, 0, FREED);
            }
        }
    }
}
