//! What a read must see so that its thread runs as observed.
//!
//! A technique pins reads by one of these models, and the referee replays its schedule by the same one.

/// How far a schedule may deviate from the observed run.
///
/// A read is *as observed* if it sees what it saw in the observed run; otherwise it *deviates*. The models differ in
/// what "what" means, and in what a thread can still do after a deviating read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Model {
    /// As observed means: the same write. A deviating read cannot run.
    SameWrite,
    /// As observed means: the same value (the same write where the trace shows no value). A deviating read is the last
    /// event of its thread.
    SameValue,
    /// As [`Model::SameValue`], but after a deviating read the thread continues up to its next branch, and what it
    /// writes until then equals nothing that was observed. In a trace that shows no branch at all it is unknown how far
    /// that is, so there this is [`Model::SameValue`].
    ControlFlow,
    /// As [`Model::SameValue`], but a read matters only to those events that the trace's [`Dependence`] names: after a
    /// deviating one the thread continues up to the first event that the read steers, and a value that it writes until
    /// then is unknown only if it depends on the read. A read that steers itself cannot deviate. In a trace without
    /// dependence information this is [`Model::ControlFlow`].
    ///
    /// [`Dependence`]: crate::dependence::Dependence
    Necessary,
    /// Reads may see anything: values that depend on them are recomputed by the trace's [`Values`]. An event can run if
    /// its path constraint holds. A read is as observed if it sees the same value (where the trace shows none: the same
    /// write, which stores the same). In a trace without symbolic values this is [`Model::Necessary`].
    ///
    /// [`Values`]: crate::values::Values
    Values,
}

impl Model {
    /// All models, the strictest first.
    pub const ALL: [Model; 5] =
        [Model::SameWrite, Model::SameValue, Model::ControlFlow, Model::Necessary, Model::Values];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Model::SameWrite => "same-write",
            Model::SameValue => "same-value",
            Model::ControlFlow => "control-flow",
            Model::Necessary => "necessary",
            Model::Values => "values",
        }
    }

    /// The model with this name.
    pub fn from_name(name: &str) -> Option<Model> {
        Model::ALL.into_iter().find(|model| model.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_found_by_their_names() {
        for model in Model::ALL {
            assert_eq!(Model::from_name(model.name()), Some(model));
        }
        assert_eq!(Model::from_name("any"), None);
    }
}
