//! From the finder's pinning to the referee's model.

use foretell_predict::Pinning;
use foretell_witness::Model;

/// The model of the referee that a schedule of this pinning has to keep to.
pub fn model(pinning: Pinning) -> Model {
    match pinning {
        Pinning::SameWrite => Model::SameWrite,
        Pinning::SameValue => Model::SameValue,
        Pinning::ControlFlow => Model::ControlFlow,
        Pinning::Necessary => Model::Necessary,
        Pinning::Values => Model::Values,
    }
}
