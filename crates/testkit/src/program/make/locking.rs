//! Locks, semaphores and conditions.

use super::super::tree::{Block, Declaration, Expression, Statement};
use super::names::Kind;
use super::{ITERATIONS, Maker};

impl Maker {
    pub(super) fn declare_synchronisation(&mut self) {
        let features = self.shape.features;
        if features.locks {
            for number in 0..1 + self.random.below(self.shape.locks) {
                let name = format!("l{number}");
                self.program.declarations.push(Declaration::Lock(name.clone(), None));
                self.scope.locks.push(name);
            }
            if features.lock_arrays {
                self.program.declarations.push(Declaration::Lock("ls".to_string(), Some(2)));
            }
            if features.waiting {
                self.program.declarations.push(Declaration::Condition("c".to_string()));
            }
        }
        if features.semaphores {
            let permits = self.random.below(3);
            self.program.declarations.push(Declaration::Semaphore("s".to_string(), permits));
        }
    }

    /// A lock; which one may depend on what is read here.
    fn lock(&mut self) -> Expression {
        if self.shape.features.lock_arrays && self.random.once_in(2) {
            return Expression::Element("ls".to_string(), Box::new(self.index()));
        }
        let name: &String = self.random.pick(&self.scope.locks);
        Expression::name(name)
    }

    /// The lock that careful threads take before they access the variable. Atomic ones need none.
    pub(super) fn lock_of(&self, variable: &str) -> Option<Expression> {
        let number = self.scope.numbers.iter().position(|name| name == variable && name != "f")?;
        let locks = &self.scope.locks;
        locks.get(number % locks.len().max(1)).map(|lock| Expression::name(lock))
    }

    /// A lock that is the same one when it is named again.
    fn settled_lock(&mut self, block: &mut Block) -> Expression {
        match self.lock() {
            Expression::Element(name, index) => {
                let index = self.declare_local(Kind::Counter, *index, block);
                Expression::Element(name, Box::new(Expression::Name(index)))
            }
            lock => lock,
        }
    }

    pub(super) fn sync(&mut self, depth: usize, block: &mut Block) {
        self.left -= 1;
        let lock = self.lock();
        let body = self.block(depth + 1, 3);
        block.push(Statement::Sync(lock, body));
    }

    /// One lock, or two of which the first is given up first. Seldom one of the operations is left out.
    pub(super) fn section(&mut self, depth: usize, block: &mut Block) {
        self.left -= 1;
        let lock = self.settled_lock(block);
        let operation = |what: &str, lock: &Expression| Statement::Do(what.to_string(), vec![lock.clone()]);
        if !self.random.once_in(30) {
            block.push(operation("acquire", &lock));
        }
        self.step(depth + 1, block);
        if self.random.once_in(4) {
            let next = self.settled_lock(block);
            block.push(operation("acquire", &next));
            block.push(operation("release", &lock));
            self.step(depth + 1, block);
            block.push(operation("release", &next));
        } else if !self.random.once_in(15) {
            block.push(operation("release", &lock));
        }
    }

    /// A permit is taken, and mostly given back; or the one or the other alone.
    pub(super) fn semaphore(&mut self, depth: usize, block: &mut Block) {
        self.left -= 1;
        let operation = |what: &str| Statement::Do(what.to_string(), vec![Expression::name("s")]);
        match self.random.below(4) {
            0 => block.push(operation("V")),
            1 => block.push(operation("P")),
            _ => {
                block.push(operation("P"));
                self.step(depth + 1, block);
                block.push(operation("V"));
            }
        }
    }

    /// Waits, mostly only if it seems that there is something to wait for. The notification may never come.
    pub(super) fn wait(&mut self, block: &mut Block) {
        self.left -= 2;
        let lock = self.settled_lock(block);
        let wait = vec![Statement::Do("wait".to_string(), vec![Expression::name("c"), lock.clone()])];
        let mut body = match self.random.below(4) {
            0 => wait,
            1 => {
                let (counter, condition) = (self.scope.fresh("i"), Some(self.condition()));
                vec![Statement::Loop { counter, times: ITERATIONS, condition, body: wait }]
            }
            _ => vec![Statement::If(self.condition(), wait, Block::new())],
        };
        if self.random.once_in(2) {
            self.write(&mut body);
        }
        block.push(Statement::Sync(lock, body));
    }

    /// Notifies, mostly after a write and within a section.
    pub(super) fn notify(&mut self, block: &mut Block) {
        self.left -= 1;
        let what = if self.random.once_in(2) { "notify" } else { "notifyall" };
        let notify = Statement::Do(what.to_string(), vec![Expression::name("c")]);
        let mut body = Block::new();
        if self.random.once_in(2) {
            self.write(&mut body);
        }
        body.push(notify);
        if self.random.once_in(3) {
            block.extend(body);
        } else {
            let lock = self.lock();
            block.push(Statement::Sync(lock, body));
        }
    }
}
