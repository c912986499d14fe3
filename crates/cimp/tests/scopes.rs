//! Whatever happens between a decision and the point where its ways meet is in its scope.

use std::fs;
use std::path::Path;

use foretell_cimp::compile;
use foretell_cimp::machine::{Action, At, Bounds, Done, Machine, MemoryLocation, Shadow, Slot};
use foretell_cimp::program::{Program, Scope};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};

/// Programs that return from the midst of things, which the examples rarely do.
const RETURNING: [&str; 4] = [
    "shared x, y, z; fn f(n) { if (x == n) return 1; y := n; if (z == 0) { z := x; return 2; } x := n; return 3; }
     { local i = f(0); x := f(i); } || { y := f(1); if (z > 0) return; y := f(2); }",
    "shared x, y, z; lock l; fn f(n) { while (n > 0) { y := x; if (z == n) { x := 0; return; } n := n - 1; } z := 7; }
     { f(2); x := 1; } || { z := 1; if (x == 1) f(1); else { sync (l) { y := 3; } } }",
    "shared x, a[3]; fn g() { a[x % 3] := 1; } fn f() { if (a[0] == 0) g(); return a[1] && a[2]; }
     { x := 1; if (f() || x > 0) a[2] := 5; } || { if (x == 0) { x := 2; g(); } }",
    "shared x; cell C { f } { local p = new C; { if (p.f == 0) { if (x) p.f := 2; x := 1; } } || { p.f := x; if (p.f) x := 3; } }",
];

/// Checks every step against the decisions that are open.
struct Watch<'p> {
    program: &'p Program,
    /// How many steps were checked against some decision.
    checked: usize,
}

/// The decisions of a thread whose ways have not met yet. Those that are never forgotten are not looked at: their
/// scopes end where their loops do, which the machine does not tell.
#[derive(Clone, Debug, Default)]
struct Open {
    scopes: Vec<usize>,
    marks: Vec<usize>,
    calls: Vec<usize>,
}

impl Watch<'_> {
    fn allows(&self, scope: &Scope, action: Action, fields: &dyn Fn(MemoryLocation) -> Vec<String>) -> bool {
        match action {
            Action::Read(_) => true,
            Action::Write(MemoryLocation::Shared { variable, .. }) => {
                scope.shared.contains(&(variable as usize))
            }
            Action::Write(place) => fields(place).iter().any(|field| scope.fields.contains(field)),
            _ => scope.may_stop,
        }
    }
}

impl Shadow for Watch<'_> {
    type Tag = ();
    type Control = Open;

    fn mark(&mut self, control: &mut Open) {
        control.marks.push(control.scopes.len());
    }

    fn decide(&mut self, _: At, control: &mut Open, on: Slot<()>, scope: usize, sticky: bool) -> bool {
        if !sticky {
            control.scopes.push(scope);
        }
        on.value.is_true()
    }

    fn meet(&mut self, control: &mut Open) -> Vec<()> {
        control.scopes.truncate(control.marks.pop().unwrap());
        Vec::new()
    }

    fn unmark(&mut self, control: &mut Open) {
        control.marks.pop().unwrap();
    }

    fn call(&mut self, control: &mut Open) {
        control.calls.push(control.marks.len());
        self.mark(control);
    }

    fn leave(&mut self, control: &mut Open) -> Vec<()> {
        control.marks.truncate(control.calls.pop().unwrap() + 1);
        self.meet(control)
    }

    fn done(&mut self, at: At, control: &Open, done: Done<()>) {
        // Which kind of cell it is does not matter: in these programs no two kinds have fields of different names at
        // the same place.
        let fields = |place: MemoryLocation| match place {
            MemoryLocation::Field { field, .. } => {
                let cells = self.program.cells.iter();
                cells.filter_map(|cell| Some(cell.fields.get(field as usize)?.0.clone())).collect()
            }
            MemoryLocation::Shared { .. } => Vec::new(),
        };
        for scope in &control.scopes {
            let scope = &self.program.scopes[*scope];
            assert!(
                self.allows(scope, done.action, &fields),
                "{:?} at {}: {scope:?}",
                done.action,
                at.position
            );
        }
        self.checked += usize::from(!control.scopes.is_empty());
    }
}

/// Runs the program at random, and says how many steps were checked.
fn watch(program: &Program, seed: u64) -> usize {
    let mut seeds = [0; 32];
    seeds[..8].copy_from_slice(&seed.to_le_bytes());
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &seeds);
    let mut watch = Watch { program, checked: 0 };
    let mut machine = Machine::start(program, Bounds::default(), &mut watch);
    let mut turns = Vec::new();
    for _ in 0..1_000 {
        machine.turns(&mut turns);
        if turns.is_empty() {
            break;
        }
        let turn = turns[random.random_range(0..turns.len())];
        machine.step_with(turn, &mut watch).unwrap();
    }
    watch.checked
}

#[test]
fn steps_are_in_the_scopes_of_open_decisions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let programs = paths.filter(|path| path.extension().is_some_and(|extension| extension == "cimp"));
    let sources = programs.map(|path| fs::read_to_string(path).unwrap());
    let mut checked = 0;
    for source in sources.chain(RETURNING.map(str::to_owned)) {
        let program = compile(&source).unwrap();
        checked += (0..100).map(|seed| watch(&program, seed)).sum::<usize>();
    }
    assert!(checked > 5_000, "{checked}");
}
