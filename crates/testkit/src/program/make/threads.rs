//! Threads that start and await others.

use super::super::tree::{Block, Expression, Statement};
use super::Maker;

impl Maker {
    /// The threads of the program: all there from the beginning, or one that starts the others, or something between.
    pub(super) fn threads(&mut self) {
        let most = self.shape.threads.max(2);
        let count = 2 + self.random.below(most - 1);
        let first = if self.shape.features.forks { 1 + self.random.below(count) } else { count };
        (self.threads_left, self.runs_once) = (count - first, true);
        let share = isize::try_from(self.shape.steps / count).unwrap_or(0).max(2);
        for _ in 0..first {
            self.left = share;
            let mut thread = Block::new();
            if self.shape.features.cells && self.program.threads.is_empty() && !self.random.once_in(4) {
                self.left -= 1;
                thread.push(Statement::Assign(Expression::name("p"), Expression::New("Node".to_string())));
            }
            if first == 1 {
                self.first_of_all(share, &mut thread);
            }
            thread.extend(self.thread());
            self.program.threads.push(thread);
        }
    }

    /// The only thread begins with something, and soon starts another one.
    fn first_of_all(&mut self, share: isize, block: &mut Block) {
        let mark = self.scope.mark();
        if self.random.once_in(2) {
            self.write(block);
        }
        if self.random.once_in(2) {
            self.fork(0, block);
        } else {
            self.parallel(0, block);
        }
        self.left = self.left.max(share / 2);
        // What follows is a block of its own to us, though not to the program.
        self.scope.forget(mark);
    }

    /// Starts a thread, goes on for a while, and mostly awaits it.
    pub(super) fn fork(&mut self, depth: usize, block: &mut Block) {
        let handle = self.scope.fresh("h");
        let child = self.child(depth);
        block.push(Statement::Local(handle.clone(), child));
        for _ in 0..self.random.below(3) {
            self.step(depth + 1, block);
        }
        if !self.random.once_in(3) {
            block.push(Statement::Join(Expression::name(&handle)));
        }
    }

    /// A function or a block of its own.
    fn child(&mut self, depth: usize) -> Expression {
        self.threads_left = self.threads_left.saturating_sub(1);
        let left = self.left;
        let function = if self.random.once_in(2) { self.callee_and_arguments() } else { None };
        self.left = left;
        match function {
            Some((name, arguments)) => Expression::Fork(name, arguments),
            None => Expression::ForkBlock(self.elsewhere(depth)),
        }
    }

    /// Runs two blocks at the same time.
    pub(super) fn parallel(&mut self, depth: usize, block: &mut Block) {
        let count = if self.threads_left > 1 { 2 } else { 1 };
        self.threads_left = self.threads_left.saturating_sub(count);
        let threads = (0..2).map(|_| self.elsewhere(depth)).collect();
        block.push(Statement::Parallel(threads));
    }

    /// What another thread does, with steps of its own to take.
    fn elsewhere(&mut self, depth: usize) -> Block {
        let share = isize::try_from(self.shape.steps / self.shape.threads.max(2)).unwrap_or(0).max(2);
        let left = std::mem::replace(&mut self.left, share);
        let outside = self.scope.enter_thread();
        let body = self.block(depth + 1, 3);
        self.scope.leave_thread(outside);
        self.left = left;
        body
    }
}
