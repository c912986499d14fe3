//! Plain bodies: what functions do in a process that is not recorded.
//!
//! Each function with hooks has a copy without. Copies call each other, so that the optimiser treats them as it would
//! have treated the program. All other calls of such a function, from another module or by its address, come to the
//! body with hooks, which begins with a test: in a process that is not recorded it continues as its copy. That is
//! decided when the module is loaded, for good, and until then bodies have hooks: so nothing that a recorded process
//! does is left out.
//!
//! A body with hooks spends its time in them, and the optimiser can move little around calls. So with a plain body
//! beside it, it is not optimised: that costs recordings a twentieth of their time, and halves the time that copies add
//! to the build.

use std::collections::{HashMap, HashSet};

use foretell_wire::hook::PREFIX;

use crate::hooks::Hooks;
use crate::ir::{Module, Value};

/// The functions of a module that have a plain body.
pub(crate) struct Plain {
    copies: HashMap<Value, Value>,
    /// Those that others call, in the order of the module.
    entered: Vec<Value>,
}

impl Plain {
    /// Copies these functions of the module as they are now, as far as that is possible.
    pub(crate) fn of(module: Module, functions: &[Value]) -> Plain {
        let defined = module.defined_functions();
        let is_entered = |function: &Value| !function.is_local() || function.is_handed_on();
        let mut wanted: HashSet<Value> = functions.iter().copied().filter(is_entered).collect();
        let copies: HashMap<Value, Value> =
            functions.iter().filter_map(|&function| Some((function, function.copy()?))).collect();
        for copy in copies.values() {
            call_copies(*copy, &copies);
        }
        // Who has no copy calls the same functions in every process.
        let without = defined.into_iter().filter(|function| !copies.contains_key(function));
        wanted.extend(without.flat_map(callees));
        let is_entered = |function: &Value| copies.contains_key(function) && wanted.contains(function);
        let entered = functions.iter().copied().filter(is_entered).collect();
        Plain { copies, entered }
    }

    /// What this function calls in the module is done without hooks, too: it is recorded by other means.
    pub(crate) fn lend_to(&self, function: Value) {
        call_copies(function, &self.copies);
    }

    /// Whether this is a plain body.
    pub(crate) fn contains(&self, function: Value) -> bool {
        self.copies.values().any(|&copy| copy == function)
    }

    /// All hooks are in place: functions begin with the test from now on. Those that have no hooks need no copy.
    pub(crate) fn connect(self, module: Module, hooks: &Hooks) -> Option<Value> {
        let (needed, needless): (Vec<_>, Vec<_>) =
            self.copies.iter().map(|(&function, &copy)| (function, copy)).partition(|pair| has_hooks(pair.0));
        for (function, copy) in needless {
            copy.give_way_to(function);
        }
        if needed.is_empty() {
            return None;
        }
        let flag = module.private_flag(hooks.types.byte.constant(1));
        for &function in self.entered.iter().filter(|function| has_hooks(**function)) {
            if let Some(&copy) = self.copies.get(&function) {
                function.turn_into(copy, flag);
            }
        }
        needed.iter().for_each(|(function, _)| function.compile_quickly());
        Some(flag)
    }
}

/// What the function calls by name.
fn callees(function: Value) -> Vec<Value> {
    function.instructions().into_iter().filter(|it| it.is_call()).map(Value::callee).collect()
}

/// Calls of functions of the module become calls of their copies, unless they may lead elsewhere.
fn call_copies(copy: Value, copies: &HashMap<Value, Value>) {
    for call in copy.instructions().into_iter().filter(|instruction| instruction.is_call()) {
        let callee = call.callee();
        if let Some(&other) = copies.get(&callee)
            && call.calls_as_declared()
            && !callee.is_interposable()
        {
            call.set_callee(other);
        }
    }
}

/// Whether the function calls a hook, or a function that stands for one.
fn has_hooks(function: Value) -> bool {
    let is_hook = |call: &Value| call.is_call() && call.callee().name().starts_with(PREFIX);
    function.instructions().iter().any(is_hook)
}
