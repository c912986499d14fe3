//! Variables, locks, semaphores, conditions, kinds of cells; and the names of functions.

use rustc_hash::FxHashMap;

use crate::compile::Compiler;
use crate::compile::names::{Global, report_twice};
use crate::diagnostic::Diagnostics;
use crate::program::{Cell, Group, Shared};
use crate::syntax::tree::{Declaration, Initial, Name, Number, Sort};

/// So many elements all arrays of one sort may have together.
const MOST_ELEMENTS: u32 = 65_536;
/// So many names there may be: what a decision may do is a set of variables, and there may be many decisions.
const MOST_NAMES: usize = 4_096;

/// Enters all declarations; the code of functions is still to be generated.
pub(crate) fn declare<'s>(compiler: &mut Compiler<'s>, declarations: &[Declaration<'s>]) {
    let variables = |declaration: &&Declaration<'s>| !matches!(declaration.sort, Sort::Function { .. });
    if let Some(first_beyond) = declarations.iter().filter(variables).nth(MOST_NAMES) {
        let message = format!("there are too many declarations: more than {MOST_NAMES}");
        compiler.diagnostics.report(first_beyond.name.span, message);
        return;
    }
    let mut declarer = Declarer { compiler, shared: 0, locks: 0, semaphores: 0, conditions: 0 };
    for declaration in declarations {
        declarer.declare(declaration);
    }
}

/// Counts the elements of each sort.
struct Declarer<'c, 's> {
    compiler: &'c mut Compiler<'s>,
    shared: u32,
    locks: u32,
    semaphores: u32,
    conditions: u32,
}

impl<'s> Declarer<'_, 's> {
    fn declare(&mut self, declaration: &Declaration<'s>) {
        let Compiler { program, diagnostics, names, .. } = &mut *self.compiler;
        let name = declaration.name;
        let global = match &declaration.sort {
            Sort::Shared { atomic, length, initial } => {
                let group = group(name, *length, &mut self.shared, diagnostics);
                let initial = elements(&group, initial, name, diagnostics);
                program.shared.push(Shared { group, initial, atomic: *atomic });
                Global::Shared(program.shared.len() - 1)
            }
            Sort::Lock { length } => {
                program.locks.push(group(name, *length, &mut self.locks, diagnostics));
                Global::Lock(program.locks.len() - 1)
            }
            Sort::Semaphore { length, permits } => {
                let group = group(name, *length, &mut self.semaphores, diagnostics);
                program.semaphores.push((group, count_permits(*permits, diagnostics)));
                Global::Semaphore(program.semaphores.len() - 1)
            }
            Sort::Condition { length } => {
                program.conditions.push(group(name, *length, &mut self.conditions, diagnostics));
                Global::Condition(program.conditions.len() - 1)
            }
            Sort::Cell { fields } => {
                program.cells.push(cell(name, fields, diagnostics));
                fields.iter().for_each(|(field, _)| names.declare_field(*field));
                Global::Cell(program.cells.len() - 1)
            }
            Sort::Function { parameters, .. } => return self.function(name, parameters),
        };
        names.declare(name, global, diagnostics);
    }

    fn function(&mut self, name: Name<'s>, parameters: &[Name<'s>]) {
        let count = u16::try_from(parameters.len()).unwrap_or_else(|_| {
            let message = format!("`{}` has too many parameters: more than {}", name.text, u16::MAX);
            self.compiler.diagnostics.report(name.span, message);
            u16::MAX
        });
        let function = self.compiler.new_function(name.text.to_owned(), count);
        self.compiler.names.declare(name, Global::Function(function), &mut self.compiler.diagnostics);
    }
}

/// The next elements of a sort of which there are `count` so far.
fn group(name: Name<'_>, length: Option<Number>, count: &mut u32, diagnostics: &mut Diagnostics) -> Group {
    let length = length.map(|length| match u32::try_from(length.value) {
        Ok(0) | Err(_) if length.value <= 0 => {
            diagnostics.report(length.span, format!("`{}` needs at least one element", name.text));
            1
        }
        Ok(elements) if elements <= MOST_ELEMENTS => elements,
        _ => MOST_ELEMENTS + 1,
    });
    let first = *count;
    *count = first.saturating_add(length.unwrap_or(1));
    if *count > MOST_ELEMENTS {
        let message = format!("`{}` is too large: there may be {MOST_ELEMENTS} elements in all", name.text);
        diagnostics.report(name.span, message);
        *count = first;
    }
    Group { name: name.text.to_owned(), first, length }
}

/// What the elements of a variable hold at the beginning.
fn elements(group: &Group, initial: &Initial, name: Name<'_>, diagnostics: &mut Diagnostics) -> Vec<i64> {
    let length = group.length.unwrap_or(1) as usize;
    match initial {
        Initial::All(value) => vec![*value; length],
        Initial::Each(values, span) => {
            if group.length.is_none() {
                diagnostics.report(*span, format!("`{}` is not an array: it holds one number", name.text));
            } else if values.len() != length {
                let given = count(values.len(), "number is", "numbers are");
                let has = count(length, "element", "elements");
                diagnostics.report(*span, format!("`{}` has {has}, but {given} given", name.text));
            }
            values.clone()
        }
    }
}

/// A number of things, with the right word for them.
pub(crate) fn count(number: usize, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

fn count_permits(permits: Option<Number>, diagnostics: &mut Diagnostics) -> u32 {
    let Some(permits) = permits else { return 1 };
    u32::try_from(permits.value).unwrap_or_else(|_| {
        let message = format!("a semaphore cannot begin with {} permits", permits.value);
        diagnostics.report(permits.span, message);
        0
    })
}

fn cell(name: Name<'_>, fields: &[(Name<'_>, i64)], diagnostics: &mut Diagnostics) -> Cell {
    let mut seen = FxHashMap::default();
    for (field, _) in fields {
        if let Some(first) = seen.insert(field.text, field.span.position) {
            report_twice(*field, first, diagnostics);
        }
    }
    let fields = fields.iter().map(|(field, initial)| (field.text.to_owned(), *initial)).collect();
    Cell { name: name.text.to_owned(), fields }
}
