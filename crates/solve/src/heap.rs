//! Which variable to decide next: the one that took part in most recent conflicts.

use crate::literal::{Var, narrow};

/// How much the activity that later conflicts give outweighs that of earlier ones.
const DECAY: f64 = 1.0 / 0.95;
/// Activities are scaled down when they come near the end of what numbers can hold.
const LARGE: f64 = 1e100;

/// A heap of variables with the most active one at its top.
#[derive(Debug)]
pub(crate) struct Heap {
    heap: Vec<Var>,
    /// For each variable, where in the heap it is.
    places: Vec<Option<u32>>,
    activity: Vec<f64>,
    /// What a variable gains by a conflict.
    gain: f64,
}

impl Heap {
    pub(crate) fn new() -> Heap {
        Heap { heap: Vec::new(), places: Vec::new(), activity: Vec::new(), gain: 1.0 }
    }

    pub(crate) fn add_variable(&mut self) {
        self.places.push(None);
        self.activity.push(0.0);
    }

    /// Puts the variable into the heap, if it has ever taken part in a conflict.
    pub(crate) fn insert(&mut self, var: Var) {
        if self.activity[var as usize] > 0.0 && self.places[var as usize].is_none() {
            self.heap.push(var);
            self.lift(self.heap.len() - 1);
        }
    }

    pub(crate) fn peek(&self) -> Option<Var> {
        self.heap.first().copied()
    }

    pub(crate) fn pop(&mut self) -> Option<Var> {
        let top = *self.heap.first()?;
        let last = self.heap.pop()?;
        self.places[top as usize] = None;
        if last != top {
            self.heap[0] = last;
            self.sink(0);
        }
        Some(top)
    }

    /// Whether a is to be decided before b.
    pub(crate) fn is_first(&self, a: Var, b: Var) -> bool {
        let (of_a, of_b) = (self.activity[a as usize], self.activity[b as usize]);
        of_a > of_b || (of_a == of_b && a < b)
    }

    /// The variable took part in the present conflict.
    pub(crate) fn bump(&mut self, var: Var) {
        self.activity[var as usize] += self.gain;
        if self.activity[var as usize] > LARGE {
            self.activity.iter_mut().for_each(|activity| *activity /= LARGE);
            self.gain /= LARGE;
        }
        if let Some(place) = self.places[var as usize] {
            self.lift(place as usize);
        }
    }

    /// The present conflict is over.
    pub(crate) fn decay(&mut self) {
        self.gain *= DECAY;
    }

    /// Moves the variable at `place` up to where it belongs.
    fn lift(&mut self, mut place: usize) {
        let var = self.heap[place];
        while place > 0 {
            let above = (place - 1) / 2;
            if !self.is_first(var, self.heap[above]) {
                break;
            }
            self.put(place, self.heap[above]);
            place = above;
        }
        self.put(place, var);
    }

    /// Moves the variable at `place` down to where it belongs.
    fn sink(&mut self, mut place: usize) {
        let var = self.heap[place];
        loop {
            let (left, right) = (2 * place + 1, 2 * place + 2);
            if left >= self.heap.len() {
                break;
            }
            let right_is_first = right < self.heap.len() && self.is_first(self.heap[right], self.heap[left]);
            let below = if right_is_first { right } else { left };
            if !self.is_first(self.heap[below], var) {
                break;
            }
            self.put(place, self.heap[below]);
            place = below;
        }
        self.put(place, var);
    }

    fn put(&mut self, place: usize, var: Var) {
        self.heap[place] = var;
        self.places[var as usize] = Some(narrow(place));
    }
}
