//! What a read must see for its thread to go on as observed.

use foretell_trace::Trace;

/// How far a schedule may deviate from what was observed.
///
/// A read is *as observed* if it sees what it saw in the observed run; otherwise it *deviates*. The models differ in
/// what "what" means, and in what a thread can still do after a deviating read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Model {
    /// As observed means: the same write. A deviating read cannot run.
    SameWrite,
    /// As observed means: the same value (the same write where the trace shows no value). A thread stops for good after
    /// an deviating read.
    SameValue,
    /// As [`Model::SameValue`], but after a deviating read the thread runs on up to its next branch, and what it
    /// writes meanwhile equals nothing that was observed. In a trace that shows no branch at all it is unknown how far
    /// that is, so there this is [`Model::SameValue`].
    ControlFlow,
    /// As [`Model::SameValue`], but each read matters to nothing but what the trace's [`Dependence`] says: after an
    /// deviating one the thread runs on up to the first event that it steers, and what it writes meanwhile equals
    /// nothing that was observed only if its value depends on it. A read that steers itself cannot deviate. In a
    /// trace that does not tell any of this, this is [`Model::ControlFlow`].
    ///
    /// [`Dependence`]: foretell_trace::dependence::Dependence
    Necessary,
    /// Reads may see anything: the trace's [`Values`] say what is computed of it. An event can run if what it demands
    /// holds, and nothing else keeps a thread from going on. A read is as observed if it sees the same value (where the
    /// trace shows none: the same write, which stores the same). In a trace that does not tell how values are computed,
    /// this is [`Model::Necessary`].
    ///
    /// [`Values`]: foretell_trace::values::Values
    Values,
}

impl Model {
    /// The next stricter model if the trace lacks what this one is about.
    pub(crate) fn supported_by(self, trace: &Trace) -> Model {
        match self {
            Model::Values if trace.values().is_none() => Model::Necessary.supported_by(trace),
            Model::Necessary if trace.dependence().is_none() => Model::ControlFlow.supported_by(trace),
            Model::ControlFlow if !trace.has_branches() => Model::SameValue,
            model => model,
        }
    }
}
