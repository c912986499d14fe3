//! Programs put together by hand, for tests: what the compiler does not produce can be tested, too.

use crate::program::{Cell, Function, Group, Instr, Position, Program, Scope, Shared};

/// Adds to a program. Functions get the positions `N:1`, `N:2`, …, where N is their number from 1.
impl Program {
    pub(crate) fn shared(self, name: &str, initial: i64) -> Program {
        self.memory(name, None, vec![initial], false)
    }

    pub(crate) fn atomic(self, name: &str) -> Program {
        self.memory(name, None, vec![0], true)
    }

    pub(crate) fn array(self, name: &str, initial: &[i64]) -> Program {
        self.memory(name, u32::try_from(initial.len()).ok(), initial.to_vec(), false)
    }

    fn memory(mut self, name: &str, length: Option<u32>, initial: Vec<i64>, atomic: bool) -> Program {
        let first = self.shared.iter().map(|shared| shared.initial.len()).sum::<usize>();
        let group = Group { name: name.to_owned(), first: u32::try_from(first).unwrap(), length };
        self.shared.push(Shared { group, initial, atomic });
        self
    }

    pub(crate) fn lock(mut self, name: &str, length: Option<u32>) -> Program {
        self.locks.push(next_group(name, length, self.locks.last()));
        self
    }

    pub(crate) fn semaphore(mut self, name: &str, length: Option<u32>, permits: u32) -> Program {
        let group = next_group(name, length, self.semaphores.last().map(|(group, _)| group));
        self.semaphores.push((group, permits));
        self
    }

    pub(crate) fn condition(mut self, name: &str, length: Option<u32>) -> Program {
        self.conditions.push(next_group(name, length, self.conditions.last()));
        self
    }

    pub(crate) fn cell(mut self, name: &str, fields: &[(&str, i64)]) -> Program {
        let fields = fields.iter().map(|&(name, initial)| (name.to_owned(), initial)).collect();
        self.cells.push(Cell { name: name.to_owned(), fields });
        self
    }

    pub(crate) fn scope(mut self, shared: &[usize], fields: &[&str], may_stop: bool) -> Program {
        let fields = fields.iter().map(|&field| field.to_owned()).collect();
        self.scopes.push(Scope { shared: shared.to_vec(), fields, may_stop });
        self
    }

    /// A function that gives 0 if it comes to its end.
    pub(crate) fn function(mut self, parameters: u16, code: &[Instr]) -> Program {
        let mut code = code.to_vec();
        code.extend([Instr::Constant(0), Instr::Return]);
        let line = u32::try_from(self.functions.len() + 1).unwrap();
        self.functions.push(Function {
            name: format!("f{line}"),
            parameters,
            locals: 8.max(parameters),
            loops: 2,
            positions: (1..=u32::try_from(code.len()).unwrap())
                .map(|column| Position { line, column })
                .collect(),
            code,
            doubtful: Vec::new(),
        });
        self
    }

    /// A thread that runs from the beginning.
    pub(crate) fn thread(mut self, name: &str, code: &[Instr]) -> Program {
        self.threads.push((name.to_owned(), self.functions.len()));
        self.function(0, code)
    }
}

fn next_group(name: &str, length: Option<u32>, last: Option<&Group>) -> Group {
    let first = last.map_or(0, |group| group.first + group.length.unwrap_or(1));
    Group { name: name.to_owned(), first, length }
}

/// `shared[variable] = shared[variable] + 1`, in two steps.
pub(crate) fn increment(variable: usize) -> Vec<Instr> {
    use foretell_depend::Binary;
    vec![Instr::Read(variable), Instr::Constant(1), Instr::Binary(Binary::Add), Instr::Write(variable)]
}
