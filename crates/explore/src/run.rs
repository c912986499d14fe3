//! A run of a [`Program`]: takes steps, and takes them back.

use crate::program::{FIRST_THREAD, NONE, PROGRESS, Program, Transition};
use crate::system::{System, Undo};

/// Some state of a program.
#[derive(Clone, Debug)]
pub(crate) struct Run<'p> {
    program: &'p Program,
    steps: &'p [Transition],
    cells: Vec<u32>,
    /// What special steps have overwritten.
    saved: Vec<u32>,
}

impl<'p> Run<'p> {
    /// Nothing has run.
    pub(crate) fn new(program: &'p Program) -> Run<'p> {
        Run { program, steps: &program.steps, cells: program.initial.clone(), saved: Vec::new() }
    }

    pub(crate) fn program(&self) -> &'p Program {
        self.program
    }

    pub(crate) fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// Where the thread is.
    #[inline]
    pub(crate) fn position(&self, thread: usize) -> u32 {
        self.cells[FIRST_THREAD as usize + thread]
    }

    /// What the thread does next.
    #[inline]
    pub(crate) fn next(&self, thread: usize) -> &'p Transition {
        &self.steps[self.position(thread) as usize]
    }

    /// The step that was taken at this position.
    #[inline]
    pub(crate) fn step_at(&self, position: u32) -> &'p Transition {
        &self.steps[position as usize]
    }

    /// Whether the thread's next step is an access that could take place now, whatever it would see.
    #[inline]
    pub(crate) fn could_race(&self, thread: usize) -> bool {
        let step = self.next(thread);
        step.access.is_access() && step.guard.holds(&self.cells)
    }

    #[cold]
    fn is_special_enabled(&self, step: &Transition) -> bool {
        self.program.specials[step.special as usize].is_enabled(&self.cells)
    }

    #[cold]
    fn act(&mut self, step: &Transition) {
        self.program.specials[step.special as usize].act(&mut self.cells, &mut self.saved);
    }

    #[cold]
    fn take_back(&mut self, step: &Transition) {
        self.program.specials[step.special as usize].undo(&mut self.cells, &mut self.saved);
    }

    #[cold]
    fn lift(&mut self, step: &Transition) {
        for lift in &self.program.lifts[step.lifts as usize..][..step.lift_count as usize] {
            let position = &mut self.cells[lift.cell as usize];
            *position += u32::from(*position == lift.position);
        }
    }

    /// Only this step lifts these walls, so who stands just behind one has been lifted by it.
    #[cold]
    fn lower(&mut self, step: &Transition) {
        for lift in &self.program.lifts[step.lifts as usize..][..step.lift_count as usize] {
            let position = &mut self.cells[lift.cell as usize];
            *position -= u32::from(*position == lift.position + 1);
        }
    }
}

impl System for Run<'_> {
    #[inline]
    fn threads(&self) -> usize {
        self.program.threads
    }

    #[inline]
    fn is_enabled(&self, thread: usize) -> bool {
        let step = self.next(thread);
        step.guard.holds(&self.cells) && (step.special == NONE || self.is_special_enabled(step))
    }

    #[inline]
    fn step(&mut self, thread: usize) -> Undo {
        let position = self.position(thread);
        let step = &self.steps[position as usize];
        if step.special != NONE {
            self.act(step);
        }
        let content = self.cells[step.put as usize];
        let as_observed = step.look.holds(&self.cells);
        let (next, new) = if as_observed {
            (position + 1, (content & step.keep).wrapping_add(step.add))
        } else {
            (step.deviation, step.deviation_put)
        };
        self.cells[step.put as usize] = new;
        self.cells[FIRST_THREAD as usize + thread] = next;
        if self.program.counts_progress {
            self.cells[PROGRESS as usize] += u32::from(as_observed);
        }
        if step.lift_count > 0 {
            self.lift(step);
        }
        Undo { position, content }
    }

    #[inline]
    fn undo(&mut self, thread: usize, undo: Undo) {
        let step = &self.steps[undo.position as usize];
        if step.lift_count > 0 {
            self.lower(step);
        }
        if self.program.counts_progress {
            self.cells[PROGRESS as usize] -= u32::from(self.position(thread) == undo.position + 1);
        }
        self.cells[FIRST_THREAD as usize + thread] = undo.position;
        self.cells[step.put as usize] = undo.content;
        if step.special != NONE {
            self.take_back(step);
        }
    }

    fn key_words(&self) -> usize {
        self.program.layout.words()
    }

    fn pack(&self, key: &mut [u64]) {
        self.program.layout.pack(&self.cells, key);
    }

    fn unpack(&mut self, key: &[u64]) {
        self.program.layout.unpack(key, &mut self.cells);
    }
}
