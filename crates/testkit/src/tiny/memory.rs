//! Accesses, plain and atomic, and memory that comes and goes.

use super::World;

/// The orders that each operation can have. Relaxed counts twice: it orders least, so much is to be seen.
const LOAD_ORDERS: &[&str] = &["", ".rlx", ".acq", ".rlx"];
const STORE_ORDERS: &[&str] = &["", ".rlx", ".rel", ".rlx", ".rlx11"];
const UPDATE_ORDERS: &[&str] = &["", ".rlx", ".acq", ".rel", ".acqrel", ".rlx"];
/// A relaxed fence does nothing.
const FENCE_ORDERS: &[&str] = &["", ".acq", ".rel", ".acqrel"];

/// The state of a variable.
#[derive(Clone, Copy, Default)]
pub(super) struct Variable {
    content: usize,
    freed: bool,
}

impl World {
    pub(super) fn access(&mut self, thread: usize) {
        let var = self.random.below(self.plain_vars());
        if self.memory[var].freed {
            return;
        }
        let shows = self.shows_value();
        let (name, writes) = (self.name(var), self.random.once_in(2));
        let value = if writes { self.written(var, shows) } else { self.seen(var, shows) };
        self.event(thread, format_args!("{}({name}{value})", if writes { 'w' } else { 'r' }));
    }

    /// On variables of their own, since programs seldom mix; but sometimes they do.
    pub(super) fn atomic(&mut self, thread: usize) {
        let mixed = self.random.once_in(3);
        let var = self.random.below(self.plain_vars()) + if mixed { 0 } else { self.plain_vars() };
        if self.memory[var].freed {
            return;
        }
        let shows = self.shows_value();
        let name = self.name(var);
        let (op, orders, values) = match self.random.below(3) {
            0 => ("aload", LOAD_ORDERS, self.seen(var, shows)),
            1 => ("astore", STORE_ORDERS, self.written(var, shows)),
            _ => ("rmw", UPDATE_ORDERS, self.seen(var, shows) + &self.written(var, shows)),
        };
        let order = self.random.pick(orders);
        self.event(thread, format_args!("{op}{order}({name}{values})"));
    }

    pub(super) fn fence(&mut self, thread: usize) {
        let order = self.random.pick(FENCE_ORDERS);
        self.event(thread, format_args!("fence{order}"));
    }

    /// An allocation makes a fresh variable of the name, whether the one before was freed or not.
    pub(super) fn heap(&mut self, thread: usize) {
        let var = self.random.below(self.memory.len());
        let freed = !self.memory[var].freed && self.random.once_in(2);
        self.memory[var].freed = freed;
        let name = self.name(var);
        self.event(thread, format_args!("{}({name})", if freed { "free" } else { "alloc" }));
    }

    fn plain_vars(&self) -> usize {
        self.memory.len() / 2
    }

    fn name(&self, var: usize) -> String {
        match var.checked_sub(self.plain_vars()) {
            Some(atomic) => format!("a{atomic}"),
            None => format!("x{var}"),
        }
    }

    fn shows_value(&mut self) -> bool {
        let features = self.shape.features;
        features.values || (features.unexplained && self.random.once_in(3))
    }

    fn seen(&mut self, var: usize, shows: bool) -> String {
        if shows && self.shape.features.unexplained && self.random.once_in(6) {
            // An external write.
            self.memory[var].content = self.random.below(4);
        }
        self.value(var, shows)
    }

    fn written(&mut self, var: usize, shows: bool) -> String {
        self.memory[var].content = self.random.below(3);
        self.value(var, shows)
    }

    fn value(&self, var: usize, shows: bool) -> String {
        if shows { format!(",{}", self.memory[var].content) } else { String::new() }
    }
}
