//! What a thread comes to in one state of the machine that must not be.

use foretell_trace::{Op, ThreadId, Trace};

use crate::machine::Machine;
use crate::violation::Violation;

/// All of them.
pub(super) fn violations(trace: &Trace, machine: &Machine<'_>) -> Vec<Violation> {
    trace.threads().filter_map(|thread| use_after_free(trace, machine, thread)).collect()
}

fn use_after_free(trace: &Trace, machine: &Machine<'_>, thread: ThreadId) -> Option<Violation> {
    let used = machine.next(thread).filter(|_| machine.could_use_freed(thread) == Ok(true))?;
    let var = trace.event(used).op.access()?.var;
    let mut frees = trace.iter().filter(|(_, event)| event.op == Op::Free(var));
    let (freed, free) = frees.find(|&(id, _)| id != used && machine.has_run(id))?;
    (free.thread != thread).then_some(Violation::UseAfterFree { used, freed })
}
