//! From the tree to a program that can run: names are resolved, everything is checked, code is generated.
//!
//! * [`names`]: what each name stands for, and messages about those that stand for nothing
//! * [`declare`]: variables, locks and the like
//! * [`references`]: which values may be no numbers
//! * [`draft`]: the code of a function while it is written
//! * [`statement`], [`expression`]: the code of each construct
//!
//! What the ways of decisions may do is found out afterwards, in [`crate::effects`].

mod declare;
pub(crate) mod draft;
mod expression;
mod names;
mod references;
mod statement;

use crate::compile::declare::declare;
use crate::compile::draft::{Draft, Ways};
use crate::compile::names::Names;
use crate::compile::references::{References, ValueHolder};
use crate::compile::statement::{Runner, Writer};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::effects;
use crate::program::{Position, Program};
use crate::syntax::parse;
use crate::syntax::token::tokens;
use crate::syntax::tree::{Sort, Thread, Tree};

/// Longer programs are refused, so that no number in here can overflow.
const LONGEST: usize = 1 << 20;

/// Makes a program of its text, or says everything that is wrong with it.
pub fn compile(source: &str) -> Result<Program, Vec<Diagnostic>> {
    let mut diagnostics = Diagnostics::default();
    if source.len() > LONGEST {
        let start = Span { position: Position { line: 1, column: 1 }, length: 1 };
        diagnostics.report(start, "this program is longer than 1 MiB");
        return Err(diagnostics.into_sorted());
    }
    // What follows from a mistake is not worth a message; so each stage needs a sound result of the one before.
    let tokens = tokens(source, &mut diagnostics);
    if !diagnostics.is_empty() {
        return Err(diagnostics.into_sorted());
    }
    let tree = parse(&tokens, &mut diagnostics);
    if !diagnostics.is_empty() {
        return Err(diagnostics.into_sorted());
    }
    let mut compiler = Compiler { diagnostics, ..Compiler::default() };
    compiler.tree(&tree);
    if compiler.diagnostics.is_empty() {
        Ok(compiler.finish())
    } else {
        Err(compiler.diagnostics.into_sorted())
    }
}

/// What all functions need to know while code is generated.
#[derive(Default)]
struct Compiler<'s> {
    /// Everything but the functions.
    program: Program,
    names: Names<'s>,
    diagnostics: Diagnostics,
    /// The functions: first those that are declared, in the order of their numbers.
    drafts: Vec<Draft>,
    /// How many parameters each function has.
    parameters: Vec<u16>,
    references: References<'s>,
    /// Instructions, by function and place in it, that fail if what they get from there is a reference.
    doubts: Vec<(usize, usize, ValueHolder<'s>)>,
    /// What is between each decision and the point where its ways meet, by the number that stands for its scope.
    ways: Vec<Ways>,
}

impl<'s> Compiler<'s> {
    fn tree(&mut self, tree: &Tree<'s>) {
        declare(self, &tree.declarations);
        let mut function = 0;
        for declaration in &tree.declarations {
            if let Sort::Function { parameters, body } = &declaration.sort {
                Writer::new(self, function, Runner::Function).function(parameters, body);
                function += 1;
            }
        }
        for (number, thread) in tree.threads.iter().enumerate() {
            self.thread(thread, number + 1, tree.threads.len());
        }
    }

    fn thread(&mut self, thread: &Thread<'s>, number: usize, of: usize) {
        let name = match thread.name {
            Some(name) => name.text.to_owned(),
            None if of == 1 => "main".to_owned(),
            None => format!("t{number}"),
        };
        if self.program.threads.iter().any(|(other, _)| *other == name) {
            let span = thread.name.map_or(thread.body.open, |name| name.span);
            self.diagnostics.report(span, format!("there are two threads called `{name}`"));
        }
        let function = self.new_function(name.clone(), 0);
        self.program.threads.push((name, function));
        Writer::new(self, function, Runner::Thread).function(&[], &thread.body);
    }

    /// The number of one more function. Its code is still to be written.
    fn new_function(&mut self, name: String, parameters: u16) -> usize {
        self.parameters.push(parameters);
        self.drafts.push(Draft::new(name, parameters));
        self.drafts.len() - 1
    }

    fn finish(self) -> Program {
        let Compiler { mut program, mut drafts, ways, .. } = self;
        let references = self.references.places();
        for (function, at, place) in self.doubts {
            if references.contains(&place) {
                drafts[function].may_fail[at] = true;
                drafts[function].function.doubtful.push(at);
            }
        }
        for draft in &mut drafts {
            draft.function.doubtful.sort_unstable();
        }
        effects::finish(&mut program, drafts, &ways);
        program
    }
}
