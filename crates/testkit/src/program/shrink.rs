//! Smaller programs that are like a given one, and the smallest of them for which something still holds.

use super::tree::{Block, Declaration, Expression, Function, Program, Statement};

/// Makes the program smaller, step by step, as long as `holds` does. What comes out cannot be made smaller in one step.
/// `holds` is asked about programs that do not compile, too.
pub fn shrink(program: Program, mut holds: impl FnMut(&Program) -> bool) -> Program {
    let mut smallest = program;
    while let Some(smaller) = smaller(&smallest).into_iter().find(|program| holds(program)) {
        smallest = smaller;
    }
    smallest
}

/// Programs that are one step smaller: first without threads or statements, then with simpler ones.
fn smaller(program: &Program) -> Vec<Program> {
    let with_threads = |threads| Program { threads, ..program.clone() };
    let with_functions = |functions| Program { functions, ..program.clone() };
    let with_declarations = |declarations| Program { declarations, ..program.clone() };
    let mut found: Vec<Program> = Vec::new();
    if program.threads.len() > 1 {
        found.extend(removed(&program.threads).map(with_threads));
    }
    found.extend(removed(&program.functions).map(with_functions));
    found.extend(removed(&program.declarations).map(with_declarations));
    found.extend(replaced(&program.threads, smaller_blocks).map(with_threads));
    found.extend(replaced(&program.functions, smaller_functions).map(with_functions));
    found.extend(replaced(&program.declarations, smaller_declarations).map(with_declarations));
    found.extend(only_thread_unfolded(program));
    found
}

/// The program whose only thread does nothing but run others, as those others.
fn only_thread_unfolded(program: &Program) -> Option<Program> {
    match program.threads.as_slice() {
        [only] => match only.as_slice() {
            [Statement::Parallel(threads)] => Some(Program { threads: threads.clone(), ..program.clone() }),
            _ => None,
        },
        _ => None,
    }
}

/// The list without one of its elements, for each.
fn removed<T: Clone>(items: &[T]) -> impl Iterator<Item = Vec<T>> {
    (0..items.len()).map(|index| {
        let mut rest = items.to_vec();
        rest.remove(index);
        rest
    })
}

/// The list with one of its elements replaced, for each element and each of its replacements.
fn replaced<T: Clone>(items: &[T], smaller: impl Fn(&T) -> Vec<T>) -> impl Iterator<Item = Vec<T>> {
    items.iter().enumerate().flat_map(move |(index, item)| {
        smaller(item).into_iter().map(move |replacement| {
            let mut changed = items.to_vec();
            changed[index] = replacement;
            changed
        })
    })
}

fn smaller_declarations(declaration: &Declaration) -> Vec<Declaration> {
    match declaration {
        Declaration::Memory { name, atomic, initial } => {
            let memory = |atomic, initial| Declaration::Memory { name: name.clone(), atomic, initial };
            let mut found = Vec::new();
            if initial.iter().any(|value| *value != 0) {
                found.push(memory(*atomic, vec![0; initial.len()]));
            }
            if *atomic {
                found.push(memory(false, initial.clone()));
            }
            found
        }
        Declaration::Semaphore(name, permits) if *permits > 0 => {
            vec![Declaration::Semaphore(name.clone(), permits - 1)]
        }
        Declaration::Cell(name, fields) if fields.len() > 1 => {
            removed(fields).map(|fields| Declaration::Cell(name.clone(), fields)).collect()
        }
        _ => Vec::new(),
    }
}

fn smaller_functions(function: &Function) -> Vec<Function> {
    let bodies = smaller_blocks(&function.body);
    bodies.into_iter().map(|body| Function { body, ..function.clone() }).collect()
}

fn smaller_blocks(block: &Block) -> Vec<Block> {
    let mut found: Vec<Block> = removed(block).collect();
    for (index, statement) in block.iter().enumerate() {
        found.extend(instead_of(statement).into_iter().map(|instead| {
            let mut changed = block.clone();
            changed.splice(index..=index, instead);
            changed
        }));
    }
    found
}

/// What can stand in place of a statement: its parts, or a simpler statement.
fn instead_of(statement: &Statement) -> Vec<Block> {
    let mut found: Vec<Block> = match statement {
        Statement::If(_, body, otherwise) => vec![body.clone(), otherwise.clone()],
        Statement::Loop { body, .. } | Statement::Sync(_, body) => vec![body.clone()],
        Statement::Parallel(threads) => threads.clone(),
        Statement::Local(_, Expression::ForkBlock(body)) => vec![body.clone()],
        _ => Vec::new(),
    };
    found.extend(simpler(statement).into_iter().map(|simpler| vec![simpler]));
    found
}

fn simpler(statement: &Statement) -> Vec<Statement> {
    match statement {
        Statement::Local(name, value) => {
            each(expressions(value), |value| Statement::Local(name.clone(), value))
        }
        Statement::Assign(place, value) => {
            let mut found = each(expressions(value), |value| Statement::Assign(place.clone(), value));
            found.extend(each(places(place), |place| Statement::Assign(place, value.clone())));
            found
        }
        Statement::If(condition, body, otherwise) => {
            let mut found = Vec::new();
            if !otherwise.is_empty() {
                found.push(Statement::If(condition.clone(), body.clone(), Vec::new()));
            }
            let with = |condition, body, otherwise| Statement::If(condition, body, otherwise);
            found.extend(each(expressions(condition), |it| with(it, body.clone(), otherwise.clone())));
            found.extend(each(smaller_blocks(body), |it| with(condition.clone(), it, otherwise.clone())));
            found.extend(each(smaller_blocks(otherwise), |it| with(condition.clone(), body.clone(), it)));
            found
        }
        Statement::Loop { counter, times, condition, body } => {
            let with =
                |times, condition, body| Statement::Loop { counter: counter.clone(), times, condition, body };
            let mut found = Vec::new();
            if *times > 1 {
                found.push(with(times - 1, condition.clone(), body.clone()));
            }
            if let Some(condition) = condition {
                found.push(with(*times, None, body.clone()));
                found.extend(each(expressions(condition), |it| with(*times, Some(it), body.clone())));
            }
            found.extend(each(smaller_blocks(body), |it| with(*times, condition.clone(), it)));
            found
        }
        Statement::Assert(condition) => each(expressions(condition), Statement::Assert),
        Statement::Sync(lock, body) => {
            let mut found = each(places(lock), |lock| Statement::Sync(lock, body.clone()));
            found.extend(each(smaller_blocks(body), |body| Statement::Sync(lock.clone(), body)));
            found
        }
        Statement::Do(what, arguments) => {
            replaced(arguments, places).map(|arguments| Statement::Do(what.clone(), arguments)).collect()
        }
        Statement::Parallel(threads) => {
            let fewer = removed(threads).filter(|threads| !threads.is_empty());
            fewer.chain(replaced(threads, smaller_blocks)).map(Statement::Parallel).collect()
        }
        Statement::Return(value) => each(expressions(value), Statement::Return),
        Statement::Join(_) => Vec::new(),
    }
}

fn each<T, U>(items: Vec<T>, make: impl FnMut(T) -> U) -> Vec<U> {
    items.into_iter().map(make).collect()
}

/// Simpler ways to compute some value: constants, then parts of the expression, then parts made simpler.
fn expressions(value: &Expression) -> Vec<Expression> {
    let mut found: Vec<Expression> = match value {
        Expression::Number(0) => return Vec::new(),
        Expression::Number(1) | Expression::Null => vec![Expression::Number(0)],
        _ => vec![Expression::Number(0), Expression::Number(1)],
    };
    match value {
        Expression::Element(_, index) => found.push((**index).clone()),
        Expression::Field(reference, _) => found.push((**reference).clone()),
        Expression::Unary(_, of) => found.push((**of).clone()),
        Expression::Binary(left, _, right) => found.extend([(**left).clone(), (**right).clone()]),
        Expression::Call(_, arguments)
        | Expression::Fork(_, arguments)
        | Expression::Again { arguments, .. } => found.extend(arguments.clone()),
        _ => {}
    }
    found.extend(with_simpler_parts(value));
    found
}

/// What can be assigned to, or be the object of an operation, is simplified within only.
fn places(place: &Expression) -> Vec<Expression> {
    match place {
        Expression::Name(_) => Vec::new(),
        _ => with_simpler_parts(place),
    }
}

fn with_simpler_parts(value: &Expression) -> Vec<Expression> {
    match value {
        Expression::Element(name, index) => {
            each(expressions(index), |index| Expression::Element(name.clone(), Box::new(index)))
        }
        Expression::Field(reference, field) => {
            each(expressions(reference), |it| Expression::Field(Box::new(it), field.clone()))
        }
        Expression::Unary(operator, of) => {
            each(expressions(of), |of| Expression::Unary(operator, Box::new(of)))
        }
        Expression::Binary(left, operator, right) => {
            let with = |left, right| Expression::binary(left, operator, right);
            let mut found = each(expressions(left), |left| with(left, (**right).clone()));
            found.extend(each(expressions(right), |right| with((**left).clone(), right)));
            found
        }
        Expression::Call(name, arguments) => replaced(arguments, expressions)
            .map(|arguments| Expression::Call(name.clone(), arguments))
            .collect(),
        Expression::Again { function, fuel, arguments } => replaced(arguments, expressions)
            .map(|arguments| Expression::Again { function: function.clone(), fuel: fuel.clone(), arguments })
            .collect(),
        Expression::Fork(name, arguments) => replaced(arguments, expressions)
            .map(|arguments| Expression::Fork(name.clone(), arguments))
            .collect(),
        Expression::ForkBlock(body) => each(smaller_blocks(body), Expression::ForkBlock),
        Expression::Number(_) | Expression::Null | Expression::Name(_) | Expression::New(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Shape, program};
    use super::*;

    /// Whatever a program is about, it shrinks to just that.
    #[test]
    fn programs_shrink_to_what_matters() {
        let (mut fitting, mut smallest) = (0, usize::MAX);
        for seed in 0..300 {
            let large = program(seed, Shape::any(seed));
            let reads_under_lock = |program: &Program| {
                let text = program.to_string();
                text.contains("sync(l0) {") && text.contains("x1")
            };
            if !reads_under_lock(&large) {
                continue;
            }
            fitting += 1;
            let small = shrink(large, reads_under_lock);
            assert!(reads_under_lock(&small), "{small}");
            assert!(!reads_under_lock(&Program::default()));
            smallest = smallest.min(small.to_string().len());
            assert!(small.to_string().lines().count() <= 12, "{small}");
        }
        assert!(fitting > 20 && smallest < 60, "{fitting} {smallest}");
    }

    #[test]
    fn nothing_to_cut_is_left_when_anything_will_do() {
        for seed in 0..100 {
            let nothing = shrink(program(seed, Shape::any(seed)), |_| true);
            assert_eq!(nothing.to_string(), "{\n}\n");
        }
    }
}
