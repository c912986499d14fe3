//! What each variable holds, and who put it there.

use foretell_trace::{Event, Op, VarId};

/// The events that bring a variable into its present state.
#[derive(Clone, Copy, Debug, Default)]
struct Variable {
    /// Its allocation.
    allocated: Option<(u32, Event)>,
    /// What last changed it: a write, or a read that no recorded write explains.
    written: Option<(u32, Event)>,
    /// The first read that showed what it holds, if the last change did not.
    shown: Option<(u32, Event)>,
    /// When it was last touched.
    touched: Option<u32>,
}

/// All variables.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    vars: Vec<Variable>,
}

impl Memory {
    /// The event is about to touch its variable, if it has one. Says by which events the variable comes into its
    /// present state, to each of the shards that begin at `begins` and in which the variable has not been touched yet.
    pub(crate) fn enter(
        &mut self,
        event: &Event,
        begins: [Option<u32>; 2],
        mut tell: impl FnMut(usize, (u32, Event)),
    ) {
        let Some(var) = touched(event.op) else { return };
        let variable = *self.at(var);
        let Some(last) = variable.touched else { return };
        for (shard, begin) in begins.into_iter().enumerate() {
            if begin.is_some_and(|begin| last < begin) {
                let state = [variable.allocated, variable.written, variable.shown];
                state.into_iter().flatten().for_each(|event| tell(shard, event));
            }
        }
    }

    /// The event has taken place.
    pub(crate) fn leave(&mut self, index: u32, event: &Event) {
        let Some(var) = touched(event.op) else { return };
        let variable = self.at(var);
        variable.touched = Some(index);
        if matches!(event.op, Op::Alloc(_)) {
            variable.allocated = Some((index, *event));
        }
        let Some(access) = event.op.access() else { return };
        if matches!(event.op, Op::Free(_)) {
            // Nothing can touch it any more.
            *variable = Variable::default();
        } else if access.kind.writes() || event.unexplained {
            (variable.written, variable.shown) = (Some((index, *event)), None);
        } else if variable.shown.is_none() && event.op.value_read().is_some() && !shows(variable.written) {
            variable.shown = Some((index, *event));
        }
    }

    fn at(&mut self, var: VarId) -> &mut Variable {
        if var.index() >= self.vars.len() {
            self.vars.resize_with(var.index() + 1, Variable::default);
        }
        &mut self.vars[var.index()]
    }
}

/// Whether the change shows what the variable holds since.
fn shows(change: Option<(u32, Event)>) -> bool {
    change.is_some_and(|(_, event)| match event.op.access() {
        Some(access) if !access.kind.writes() => event.op.value_read().is_some(),
        _ => event.op.value_written().is_some(),
    })
}

/// The variable that the operation touches or allocates.
fn touched(op: Op) -> Option<VarId> {
    match op {
        Op::Alloc(var) => Some(var),
        op => op.access().map(|access| access.var),
    }
}
