//! What names stand for.

use rustc_hash::FxHashMap;

use crate::diagnostic::Diagnostics;
use crate::program::Position;
use crate::syntax::tree::Name;

/// Names that are longer are not compared with others.
const LONGEST_COMPARED: usize = 40;

/// What a name stands for everywhere in the program: a number among all of the same sort.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Global {
    Shared(usize),
    Lock(usize),
    Semaphore(usize),
    Condition(usize),
    Cell(usize),
    Function(usize),
}

impl Global {
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Global::Shared(_) => "a shared variable",
            Global::Lock(_) => "a lock",
            Global::Semaphore(_) => "a semaphore",
            Global::Condition(_) => "a condition",
            Global::Cell(_) => "a kind of cell",
            Global::Function(_) => "a function",
        }
    }
}

/// All names that are declared before the threads.
#[derive(Default)]
pub(crate) struct Names<'s> {
    globals: FxHashMap<&'s str, (Global, Position)>,
    /// The fields of all kinds of cells.
    fields: FxHashMap<&'s str, Position>,
}

impl<'s> Names<'s> {
    pub(crate) fn declare(&mut self, name: Name<'s>, global: Global, diagnostics: &mut Diagnostics) {
        if let Some(first) = self.position(name.text) {
            report_twice(name, first, diagnostics);
        } else {
            self.globals.insert(name.text, (global, name.span.position));
        }
    }

    pub(crate) fn declare_field(&mut self, name: Name<'s>) {
        self.fields.entry(name.text).or_insert(name.span.position);
    }

    pub(crate) fn get(&self, name: &str) -> Option<Global> {
        self.globals.get(name).map(|(global, _)| *global)
    }

    /// Where the name is declared.
    pub(crate) fn position(&self, name: &str) -> Option<Position> {
        self.globals.get(name).map(|(_, position)| *position)
    }

    /// Reports a field that no kind of cell has.
    pub(crate) fn check_field(&self, name: Name<'s>, diagnostics: &mut Diagnostics) {
        if self.fields.contains_key(name.text) || diagnostics.is_full() {
            return;
        }
        let similar = similar(name.text, self.fields.keys().copied());
        diagnostics.report(name.span, format!("no kind of cell has a field `{}`{similar}", name.text));
    }

    /// Reports a name that stands for nothing. What would fit here: some globals, and some locals.
    pub(crate) fn report_unknown(
        &self,
        name: Name<'s>,
        fits: impl Fn(Global) -> bool,
        locals: impl Iterator<Item = &'s str>,
        diagnostics: &mut Diagnostics,
    ) {
        if diagnostics.is_full() {
            return;
        }
        let globals = self.globals.iter().filter(|(_, (global, _))| fits(*global)).map(|(name, _)| *name);
        let similar = similar(name.text, globals.chain(locals));
        diagnostics.report(name.span, format!("unknown name `{}`{similar}", name.text));
    }
}

/// Reports that a name is declared although it already stands for something.
pub(crate) fn report_twice(name: Name<'_>, first: Position, diagnostics: &mut Diagnostics) {
    diagnostics.report(name.span, format!("`{}` is declared twice, first at {first}", name.text));
}

/// A question whether the most similar name is meant, if there is one.
fn similar<'s>(name: &str, known: impl Iterator<Item = &'s str>) -> String {
    let close = known.filter(|other| name.len().max(other.len()) <= LONGEST_COMPARED);
    let distances = close.map(|other| (strsim::osa_distance(name, other), other));
    // A third of a name may be wrong; names of one or two letters are similar to those of the same length.
    let allowed = name.len().div_ceil(3);
    match distances.filter(|(distance, _)| *distance <= allowed).min() {
        Some((_, other)) => format!("; did you mean `{other}`?"),
        None => String::new(),
    }
}
