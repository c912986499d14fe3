//! What must hold for any program, tried on random ones.

mod dependence;
mod detours;
mod executions;
mod flow;
mod recording;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use foretell_cimp::program::Program;
use foretell_cimp::record::{self, Run};
use foretell_cimp::scheduler::{Pct, Random, Scheduler, Serial};
use foretell_testkit::program::{self, Shape};

/// Calls `check` with the programs of `count` seeds, each of the shape that `shape` has for its seed, and their texts.
/// If the check fails, seed and program are printed.
fn for_each(count: u64, shape: impl Fn(u64) -> Shape, mut check: impl FnMut(u64, &str, &Program)) {
    for seed in 0..count {
        let text = program::program(seed, shape(seed)).to_string();
        let program = foretell_cimp::compile(&text).expect("every random program is one");
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(seed, &text, &program))) {
            eprintln!("seed {seed}:\n{text}");
            resume_unwind(panic);
        }
    }
}

/// Some execution of the program.
fn run(program: &Program, seed: u64) -> Run {
    let mut scheduler: Box<dyn Scheduler> = match seed % 4 {
        0 => Box::new(Serial::new()),
        1 => Box::new(Pct::new(seed, 3, 30)),
        _ => Box::new(Random::new(seed)),
    };
    record::run(program, &mut *scheduler, &record::Limits::default()).expect("every execution is a trace")
}
