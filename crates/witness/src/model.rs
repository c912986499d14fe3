//! Which model a trace has enough information for.

use foretell_trace::{Model, Trace};

/// The next stricter model if the trace lacks the information that this one needs.
pub(crate) fn supported(model: Model, trace: &Trace) -> Model {
    match model {
        Model::Values if trace.values().is_none() => supported(Model::Necessary, trace),
        Model::Necessary if trace.dependence().is_none() => supported(Model::ControlFlow, trace),
        Model::ControlFlow if !trace.has_branches() => Model::SameValue,
        model => model,
    }
}
