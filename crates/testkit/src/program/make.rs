//! Statements at random.
//!
//! * [`names`]: what can be named at some point
//! * [`values`]: expressions and places
//! * [`threads`]: threads that start and await others
//! * [`locking`]: locks, semaphores, conditions

mod locking;
mod names;
mod threads;
mod values;

use super::shape::{Features, Shape};
use super::tree::{Block, Declaration, Expression, Function, Program, Statement};
use crate::random::Random;
use names::{Callee, Kind, Scope};

/// How deeply statements may be nested.
const DEPTH: usize = 3;
/// A loop runs so often at most.
const ITERATIONS: usize = 2;

/// A program in the making.
pub(super) struct Maker {
    random: Random,
    shape: Shape,
    /// What the next statement is drawn from.
    steps: Vec<StatementKind>,
    program: Program,
    scope: Scope,
    /// How many more steps the thread or function that is being made may take, about.
    left: isize,
    /// How many threads may still be started.
    threads_left: usize,
    /// Whether this place is run at most once, so that threads can be counted.
    runs_once: bool,
    /// The function that is being made, unless it is a thread.
    inside: Option<Callee>,
}

/// What a statement does.
#[derive(Clone, Copy, Debug)]
enum StatementKind {
    Write,
    Read,
    Update,
    Unused,
    Relay,
    If,
    Choose,
    Loop,
    Assert,
    Sync,
    Section,
    Semaphore,
    Wait,
    Notify,
    Call,
    Fork,
    Parallel,
    Refer,
    Return,
}

/// The steps to draw from; the more often a step is in it, the more often it is taken.
fn steps(features: Features) -> Vec<StatementKind> {
    let weights = [
        (true, StatementKind::Write, 8),
        (true, StatementKind::Read, 5),
        (true, StatementKind::Update, 2),
        (features.unused, StatementKind::Unused, 6),
        (features.relays, StatementKind::Relay, 6),
        (features.conditions, StatementKind::If, 6),
        (features.conditions, StatementKind::Choose, 2),
        (features.loops, StatementKind::Loop, 2),
        (features.asserts, StatementKind::Assert, 2),
        (features.locks, StatementKind::Sync, 5),
        (features.locks, StatementKind::Section, 2),
        (features.semaphores, StatementKind::Semaphore, 3),
        (features.locks && features.waiting, StatementKind::Wait, 2),
        (features.locks && features.waiting, StatementKind::Notify, 3),
        (features.functions, StatementKind::Call, 3),
        (features.forks, StatementKind::Fork, 3),
        (features.forks, StatementKind::Parallel, 2),
        (features.cells, StatementKind::Refer, 4),
        (features.functions, StatementKind::Return, 1),
    ];
    weights
        .into_iter()
        .filter(|(wanted, ..)| *wanted)
        .flat_map(|(_, step, weight)| std::iter::repeat_n(step, weight))
        .collect()
}

impl Maker {
    pub(super) fn new(seed: u64, shape: Shape) -> Maker {
        let mut maker = Maker {
            random: Random::new(seed),
            shape,
            steps: steps(shape.features),
            program: Program::default(),
            scope: Scope::default(),
            left: 0,
            threads_left: 0,
            runs_once: true,
            inside: None,
        };
        maker.declare();
        maker
    }

    pub(super) fn program(mut self) -> Program {
        if self.shape.features.functions {
            for number in 0..1 + self.random.below(2) {
                self.function(number);
            }
        }
        self.threads();
        self.program
    }

    fn declare(&mut self) {
        let features = self.shape.features;
        for number in 0..1 + self.random.below(self.shape.vars) {
            let name = format!("x{number}");
            self.memory(&name, false, 1);
            self.scope.numbers.push(name);
        }
        if features.atomics {
            self.memory("f", true, 1);
            self.scope.numbers.push("f".to_string());
        }
        if features.arrays {
            self.memory("a", false, 2);
        }
        if features.cells {
            let fields = vec![("value".to_string(), self.constant()), ("next".to_string(), 0)];
            self.program.declarations.push(Declaration::Cell("Node".to_string(), fields));
            let pointer = Declaration::Memory { name: "p".to_string(), atomic: false, initial: vec![0] };
            self.program.declarations.push(pointer);
        }
        self.declare_synchronisation();
    }

    fn memory(&mut self, name: &str, atomic: bool, length: usize) {
        let initial = (0..length).map(|_| if self.random.once_in(3) { self.constant() } else { 0 }).collect();
        self.program.declarations.push(Declaration::Memory { name: name.to_string(), atomic, initial });
    }

    fn function(&mut self, number: usize) {
        let recursive = self.shape.features.recursion && self.random.once_in(2);
        let fuel = recursive.then(|| self.scope.fresh("n"));
        let parameters: Vec<String> = (0..self.random.below(3)).map(|_| self.scope.fresh("v")).collect();
        let mark = self.scope.mark();
        for parameter in &parameters {
            self.scope.add(parameter, Kind::Number);
        }
        let callee = Callee { name: format!("g{number}"), fuel, parameters: parameters.len(), cost: 0 };
        self.inside = Some(callee.clone());
        (self.left, self.runs_once) = (3, false);
        let mut body = self.block(0, 2);
        body.push(Statement::Return(self.number(1)));
        self.inside = None;
        self.scope.forget(mark);
        let depth = if recursive { ITERATIONS } else { 1 };
        let cost = (3 - self.left) * isize::try_from(depth).unwrap_or(1);
        let Callee { name, fuel, .. } = callee.clone();
        self.program.functions.push(Function { name, fuel, parameters, body });
        self.scope.functions.push(Callee { cost, ..callee });
    }

    /// A block of its own scope with a few statements, at least one.
    fn block(&mut self, depth: usize, most: usize) -> Block {
        let mark = self.scope.mark();
        let mut block = Block::new();
        for _ in 0..1 + self.random.below(most) {
            self.step(depth, &mut block);
        }
        self.scope.forget(mark);
        block
    }

    /// Statements until the thread is long enough.
    fn thread(&mut self) -> Block {
        let mark = self.scope.mark();
        let mut block = Block::new();
        while self.left > 0 {
            self.step(0, &mut block);
        }
        self.scope.forget(mark);
        block
    }

    /// Adds a statement, or a few that belong together. What is not possible here becomes an access.
    fn step(&mut self, depth: usize, block: &mut Block) {
        let nested = depth < DEPTH && self.left > 0;
        let starts = nested && self.runs_once && self.threads_left > 0;
        match *self.random.pick(&self.steps) {
            StatementKind::Read => self.read(block),
            StatementKind::Update => self.update(block),
            StatementKind::Unused => self.unused(block),
            StatementKind::Relay => self.relay(block),
            StatementKind::If if nested => self.condition_and_ways(depth, block),
            StatementKind::Choose => self.choose(block),
            StatementKind::Loop if nested => self.repeat(depth, block),
            StatementKind::Assert => block.push(Statement::Assert(self.condition())),
            StatementKind::Sync if nested => self.sync(depth, block),
            StatementKind::Section if nested => self.section(depth, block),
            StatementKind::Semaphore => self.semaphore(depth, block),
            StatementKind::Wait if nested => self.wait(block),
            StatementKind::Notify => self.notify(block),
            StatementKind::Call => self.call_statement(block),
            StatementKind::Fork if starts => self.fork(depth, block),
            StatementKind::Parallel if starts => self.parallel(depth, block),
            StatementKind::Refer => self.refer(depth, block),
            StatementKind::Return if self.inside.is_some() && depth > 0 => {
                block.push(Statement::Return(self.number(1)));
            }
            _ => self.write(block),
        }
    }

    fn write(&mut self, block: &mut Block) {
        let place = self.place();
        // Where several threads write the same, it does not matter who did.
        let value = if self.random.once_in(2) { Expression::Number(self.constant()) } else { self.number(1) };
        let write = Statement::Assign(place, value);
        let write = self.perhaps_guarded(write);
        block.push(write);
    }

    /// The access, mostly under the lock that all use for it.
    fn perhaps_guarded(&mut self, access: Statement) -> Statement {
        if !self.shape.careful || self.random.once_in(4) {
            return access;
        }
        let lock = match &access {
            Statement::Assign(Expression::Name(name), _) if self.lock_of(name).is_some() => {
                self.lock_of(name)
            }
            Statement::Assign(_, Expression::Name(name)) => self.lock_of(name),
            _ => self.lock_of("x0"),
        };
        match lock {
            Some(lock) => {
                self.left -= 1;
                Statement::Sync(lock, vec![access])
            }
            None => access,
        }
    }

    fn read(&mut self, block: &mut Block) {
        if self.shape.careful && self.random.once_in(2) {
            let local = self.declare_local(Kind::Number, Expression::Number(0), block);
            let value = self.place();
            let read = self.perhaps_guarded(Statement::Assign(Expression::Name(local), value));
            block.push(read);
            return;
        }
        let value = self.memory_read();
        self.declare_local(Kind::Number, value, block);
    }

    fn declare_local(&mut self, kind: Kind, value: Expression, block: &mut Block) -> String {
        let name = self.scope.fresh("v");
        block.push(Statement::Local(name.clone(), value));
        self.scope.add(&name, kind);
        name
    }

    /// Changes a local, or a variable by what it holds.
    fn update(&mut self, block: &mut Block) {
        match self.own_local(Kind::Number) {
            Some(local) if self.random.once_in(2) => {
                let value = self.number(1);
                block.push(Statement::Assign(local, value));
            }
            _ => {
                let place = self.variable();
                let one = Expression::Number(1);
                block.push(Statement::Assign(place.clone(), Expression::binary(place, "+", one)));
                self.left -= 1;
            }
        }
    }

    /// Reads something that is not used afterwards.
    fn unused(&mut self, block: &mut Block) {
        let (name, value) = (self.scope.fresh("v"), self.place());
        block.push(Statement::Local(name, value));
    }

    /// A value goes on to another variable, perhaps in another form.
    fn relay(&mut self, block: &mut Block) {
        let (to, from) = (self.place(), self.place());
        let one = Expression::Number(1);
        let value = if self.random.once_in(2) { from } else { Expression::binary(from, "+", one) };
        block.push(Statement::Assign(to, value));
    }

    fn condition_and_ways(&mut self, depth: usize, block: &mut Block) {
        let condition = self.condition();
        let body = self.block(depth + 1, 2);
        let otherwise = if self.random.once_in(3) { self.block(depth + 1, 2) } else { Block::new() };
        block.push(Statement::If(condition, body, otherwise));
    }

    /// A local that tells of a decision without having been computed from what it was decided on.
    fn choose(&mut self, block: &mut Block) {
        let (usual, other) = (self.random.below(2), self.random.below(3));
        let number = |number: usize| Expression::Number(i64::try_from(number).unwrap_or(0));
        let chosen = self.declare_local(Kind::Number, number(usual), block);
        let condition = self.condition();
        let assign = |value| vec![Statement::Assign(Expression::name(&chosen), value)];
        let otherwise =
            if self.random.once_in(4) { assign(number(self.random.below(3))) } else { Block::new() };
        block.push(Statement::If(condition, assign(number(other)), otherwise));
        if self.random.once_in(2) {
            let place = self.place();
            block.push(Statement::Assign(place, Expression::name(&chosen)));
        }
    }

    fn repeat(&mut self, depth: usize, block: &mut Block) {
        let before = self.left;
        let condition = self.random.once_in(2).then(|| self.condition());
        let counter = self.scope.fresh("i");
        let mark = self.scope.mark();
        self.scope.add(&counter, Kind::Counter);
        let outside = std::mem::replace(&mut self.runs_once, false);
        let body = self.block(depth + 1, 2);
        self.runs_once = outside;
        self.scope.forget(mark);
        self.left -= before - self.left;
        block.push(Statement::Loop { counter, times: ITERATIONS, condition, body });
    }

    /// Something with references: a new cell for all to see, or a look at the one that is there.
    fn refer(&mut self, depth: usize, block: &mut Block) {
        match self.random.below(4) {
            0 => {
                self.left -= 1;
                block.push(Statement::Assign(Expression::name("p"), Expression::New("Node".to_string())));
            }
            1 => {
                let reference = self.reference();
                self.declare_local(Kind::Reference, reference, block);
            }
            2 => {
                let (place, value) = (self.reference_place(), self.reference());
                block.push(Statement::Assign(place, value));
            }
            _ => {
                let reference = self.reference();
                let local = Expression::Name(self.declare_local(Kind::Reference, reference, block));
                let value = Expression::Field(Box::new(local.clone()), "value".to_string());
                self.left -= 1;
                let access = if self.random.once_in(2) {
                    Statement::Assign(value, self.number(1))
                } else {
                    Statement::Assign(self.place(), value)
                };
                if depth < DEPTH && !self.random.once_in(4) {
                    let exists = Expression::binary(local, "!=", Expression::Null);
                    block.push(Statement::If(exists, vec![access], Block::new()));
                } else {
                    block.push(access);
                }
            }
        }
    }

    fn call_statement(&mut self, block: &mut Block) {
        match self.call() {
            Some(Expression::Call(function, arguments)) => block.push(Statement::Do(function, arguments)),
            Some(again) => {
                self.declare_local(Kind::Number, again, block);
            }
            None => self.write(block),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Shape, program};

    fn all() -> String {
        (0..3000).map(|seed| program(seed, Shape::any(seed)).to_string()).collect()
    }

    #[test]
    fn everything_comes_up() {
        let all = all();
        for part in "if else while assert sync acquire release P( V( wait notify notifyall atomic fork join \
                     return new null && and || or ! -  / % * < == != .value .next a[ a[x ls[ g0( g1( } || {"
            .split(' ')
        {
            assert!(all.contains(part), "{part} never comes up");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_program() {
        assert_eq!(program(7, Shape::any(7)), program(7, Shape::any(7)));
        assert_ne!(program(7, Shape::any(7)), program(8, Shape::any(7)));
    }

    #[test]
    fn programs_stay_small() {
        for seed in 0..3000 {
            let text = program(seed, Shape::any(seed)).to_string();
            assert!(text.lines().count() < 150, "seed {seed}:\n{text}");
        }
    }
}
