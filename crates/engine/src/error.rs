//! Why an analysis has no result.

use foretell_trace::TraceError;

/// Why an analysis has no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A trace cannot be read, or no program could have produced it.
    #[error("{file}: {error}")]
    Trace {
        /// The trace.
        file: String,
        /// What is wrong with it.
        error: TraceError,
    },
    /// A trace is not the same any more when it is read again.
    #[error("{file} was changed while it was read")]
    Changed {
        /// The trace.
        file: String,
    },
    /// The input cannot be opened, or its untaken branches cannot be computed; the input says why.
    #[error(transparent)]
    Input(Box<dyn std::error::Error + Send + Sync>),
    /// The plan asks for something that does not fit together, or that there are no means for.
    #[error("{0}")]
    Plan(String),
}
