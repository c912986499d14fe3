//! What the ways of decisions may do: the scopes of a program.
//!
//! The code between a decision and the point where its ways meet is in one piece, so what it may do is the union of
//! what its instructions may do. A call may do whatever the function may do; functions that call each other in a circle
//! are taken together.

mod graph;
mod sets;

use rustc_hash::FxHashMap;

use crate::compile::draft::{Draft, Ways};
use crate::effects::graph::Components;
use crate::effects::sets::{Bits, Effects};
use crate::program::{Function, Instr, Program, Scope};

/// Gives the functions to the program, and their decisions their scopes.
pub(crate) fn finish(program: &mut Program, drafts: Vec<Draft>, ways: &[Ways]) {
    let mut analysis = Analysis::new(program, &drafts);
    let scopes = analysis.scopes(&drafts, ways);
    program.scopes = analysis.interned;
    program.functions = drafts.into_iter().map(|draft| draft.function).collect();
    for (function, recursive) in program.functions.iter_mut().zip(analysis.recursive) {
        settle(function, recursive, &scopes);
    }
}

/// Decisions learn which scope they have. Those of a function that may call itself are sticky: it may do so forever.
fn settle(function: &mut Function, recursive: bool, scopes: &[usize]) {
    for instr in &mut function.code {
        if let Instr::Decide { scope, sticky, .. } = instr {
            *scope = scopes[*scope];
            *sticky |= recursive;
        }
    }
}

struct Analysis {
    atomic: Vec<bool>,
    /// The names of all fields, sorted.
    fields: Vec<String>,
    /// For each function, whether it may call itself.
    recursive: Vec<bool>,
    /// What each function may do.
    summaries: Vec<Effects>,
    /// The scopes, each once: there may be many decisions with the same.
    interned: Vec<Scope>,
    numbers: FxHashMap<Scope, usize>,
}

impl Analysis {
    fn new(program: &Program, drafts: &[Draft]) -> Analysis {
        let mut fields: Vec<String> =
            program.cells.iter().flat_map(|cell| cell.fields.iter().map(|(name, _)| name.clone())).collect();
        fields.sort_unstable();
        fields.dedup();
        let mut analysis = Analysis {
            atomic: program.shared.iter().map(|shared| shared.atomic).collect(),
            fields,
            recursive: called(drafts, |instr| matches!(instr, Instr::Call(_))).recursive(),
            summaries: Vec::new(),
            interned: Vec::new(),
            numbers: FxHashMap::default(),
        };
        analysis.summarise(drafts);
        analysis
    }

    /// What each function may do. Those that it calls come before it, or are in the same component.
    fn summarise(&mut self, drafts: &[Draft]) {
        self.summaries = vec![self.nothing(); drafts.len()];
        for component in &called(drafts, |_| true).in_order {
            let mut together = self.nothing();
            for &function in component {
                together.may_stop |= self.recursive[function];
                for (at, instr) in drafts[function].function.code.iter().enumerate() {
                    self.include(&mut together, instr, drafts[function].may_fail[at]);
                }
            }
            for &function in component {
                self.summaries[function] = together.clone();
            }
        }
    }

    fn nothing(&self) -> Effects {
        Effects { writes: Bits::new(self.atomic.len() + self.fields.len()), may_stop: false }
    }

    /// What one instruction may do.
    fn include(&self, effects: &mut Effects, instr: &Instr, may_fail: bool) {
        effects.may_stop |= may_fail;
        match instr {
            Instr::Write(variable) => {
                effects.writes.insert(*variable);
                effects.may_stop |= self.atomic[*variable];
            }
            Instr::Read(variable) => effects.may_stop |= self.atomic[*variable],
            Instr::WriteField(name) => {
                if let Ok(field) = self.fields.binary_search(name) {
                    effects.writes.insert(self.atomic.len() + field);
                }
            }
            Instr::Call(function) => effects.union(&self.summaries[*function]),
            Instr::Fork(function) => {
                effects.union(&self.summaries[*function]);
                effects.may_stop = true;
            }
            Instr::New(_)
            | Instr::Assert
            | Instr::EnterLoop(_)
            | Instr::Iterate(_)
            | Instr::Acquire(_)
            | Instr::Release(_)
            | Instr::SemWait(_)
            | Instr::SemPost(_)
            | Instr::Wait { .. }
            | Instr::Notify(_)
            | Instr::NotifyAll(_)
            | Instr::Join => effects.may_stop = true,
            Instr::Constant(_)
            | Instr::Local(_)
            | Instr::SetLocal(_)
            | Instr::Unary(_)
            | Instr::Binary(_)
            | Instr::Pop
            | Instr::ReadField(_)
            | Instr::Jump(_)
            | Instr::Mark
            | Instr::Decide { .. }
            | Instr::Meet { .. }
            | Instr::Unmark
            | Instr::Return => {}
        }
    }

    /// The number of the scope of each decision.
    fn scopes(&mut self, drafts: &[Draft], ways: &[Ways]) -> Vec<usize> {
        let mut numbers = vec![0; ways.len()];
        let mut of_function = vec![Vec::new(); drafts.len()];
        for (decision, ways) in ways.iter().enumerate() {
            of_function[ways.function].push(decision);
        }
        for (draft, mut decisions) in drafts.iter().zip(of_function) {
            // Outer ones first: the code of two decisions is disjoint, or one is within the other.
            let key = |&decision: &usize| (ways[decision].code.start, usize::MAX - ways[decision].code.end);
            decisions.sort_by_key(key);
            self.sweep(draft, &decisions, ways, &mut numbers);
        }
        numbers
    }

    /// Goes through the code once. What a decision's code may do is added to that of the next one around when it ends.
    fn sweep(&mut self, draft: &Draft, decisions: &[usize], ways: &[Ways], numbers: &mut [usize]) {
        let mut open: Vec<(usize, Effects)> = Vec::new();
        let mut next = decisions.iter().copied().peekable();
        for (at, instr) in draft.function.code.iter().enumerate() {
            while open.last().is_some_and(|(decision, _)| ways[*decision].code.end <= at) {
                self.close(&mut open, numbers);
            }
            while let Some(decision) = next.next_if(|&decision| ways[decision].code.start <= at) {
                open.push((decision, self.nothing()));
            }
            if let Some((_, effects)) = open.last_mut() {
                self.include(effects, instr, draft.may_fail[at]);
            }
        }
        while !open.is_empty() {
            self.close(&mut open, numbers);
        }
    }

    fn close(&mut self, open: &mut Vec<(usize, Effects)>, numbers: &mut [usize]) {
        let Some((decision, effects)) = open.pop() else { return };
        numbers[decision] = self.intern(&effects);
        if let Some((_, around)) = open.last_mut() {
            around.union(&effects);
        }
    }

    fn intern(&mut self, effects: &Effects) -> usize {
        let scope = self.scope(effects);
        if let Some(&number) = self.numbers.get(&scope) {
            return number;
        }
        self.interned.push(scope.clone());
        self.numbers.insert(scope, self.interned.len() - 1);
        self.interned.len() - 1
    }

    fn scope(&self, effects: &Effects) -> Scope {
        let variables = self.atomic.len();
        let (shared, fields): (Vec<usize>, Vec<usize>) =
            effects.writes.iter().partition(|&bit| bit < variables);
        let fields = fields.into_iter().map(|bit| self.fields[bit - variables].clone()).collect();
        Scope { shared, fields, may_stop: effects.may_stop }
    }
}

/// The call graph, or which function starts which; by instructions of this kind.
fn called(drafts: &[Draft], counts: impl Fn(&Instr) -> bool) -> Components {
    let callees = |draft: &Draft| {
        let callee = |instr: &Instr| match instr {
            Instr::Call(function) | Instr::Fork(function) if counts(instr) => Some(*function),
            _ => None,
        };
        draft.function.code.iter().filter_map(callee).collect()
    };
    Components::new(drafts.iter().map(callees).collect())
}
