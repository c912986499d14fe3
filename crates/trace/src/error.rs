//! What can be wrong with a trace, and where.

use std::fmt;
use std::io;

use crate::check::Violation;
use crate::dependence::Misfit;
use crate::id::EventId;
use crate::name::NameError;
use crate::values::Mismatch;

/// A place in the input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Position {
    /// A line, and where known a column, both counted from 1.
    Text {
        /// Which line.
        line: u32,
        /// Which character of the line; 0 stands for the line as a whole.
        column: u32,
    },
    /// A byte of a binary input, counted from 0.
    Byte(u64),
    /// An event of a trace whose positions are not known any more.
    Event(EventId),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Position::Text { line, column: 0 } => write!(f, "{line}"),
            Position::Text { line, column } => write!(f, "{line}:{column}"),
            Position::Byte(byte) => write!(f, "byte {byte}"),
            Position::Event(event) => write!(f, "event {event}"),
        }
    }
}

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The input could not be read at all, or not to its end.
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
    /// The input is not in the format that it claims to be in.
    #[error("expected {expected}, found {found}")]
    Syntax {
        /// Where.
        at: Position,
        /// What would have been right.
        expected: String,
        /// What is there instead.
        found: String,
        /// The line, where there is one, shortened if it is long.
        line: Option<String>,
    },
    /// Every line is right, but no run of a program could have produced them in this order.
    #[error("{violation}")]
    Malformed {
        /// Where.
        at: Position,
        /// What is wrong.
        violation: Box<Violation>,
    },
    /// A name cannot be taken up.
    #[error("{error}")]
    Name {
        /// Where.
        at: Position,
        /// What is wrong.
        error: NameError,
    },
    /// A line is longer than any sensible event.
    #[error("the line is longer than {limit} bytes; is this a trace?")]
    LineTooLong {
        /// Where.
        at: Position,
        /// The longest line that is read.
        limit: usize,
    },
    /// More events than [`EventId`] can count.
    #[error("the trace has more than {} events, the most that foretell can number", u32::MAX)]
    TooManyEvents,
    /// What the trace tells of dependence does not fit its events.
    #[error("{misfit}")]
    Dependence {
        /// Where the input says so, if that is known.
        at: Option<Position>,
        /// What does not fit.
        misfit: Misfit,
    },
    /// What it says about how values are computed does not fit its events.
    #[error("{mismatch}")]
    Values {
        /// Where the input says so, if that is known.
        at: Option<Position>,
        /// What does not fit.
        mismatch: Mismatch,
    },
    /// No event at all.
    #[error("the trace is empty: expected at least one event")]
    Empty,
    /// A recording that was cut short before anything of it was complete.
    #[error("the recording was cut short before its first complete block: no event can be read")]
    CutToNothing,
    /// The format cannot say what the trace says.
    #[error("event {event}: the {format} format cannot express {what}")]
    NotExpressible {
        /// The first event that does not fit.
        event: EventId,
        /// The name of the format.
        format: &'static str,
        /// What it lacks.
        what: String,
    },
}

impl From<Misfit> for TraceError {
    fn from(misfit: Misfit) -> TraceError {
        TraceError::Dependence { at: None, misfit }
    }
}

impl From<Mismatch> for TraceError {
    fn from(mismatch: Mismatch) -> TraceError {
        TraceError::Values { at: None, mismatch }
    }
}

impl TraceError {
    /// The event after `written` others cannot be written in `format`.
    #[cold]
    pub(crate) fn not_expressible(written: u64, format: &'static str, what: String) -> TraceError {
        match usize::try_from(written).ok().and_then(EventId::from_index) {
            Some(event) => TraceError::NotExpressible { event, format, what },
            None => TraceError::TooManyEvents,
        }
    }

    /// Where the error is, if it is at one place.
    pub fn position(&self) -> Option<Position> {
        match self {
            TraceError::Syntax { at, .. }
            | TraceError::Malformed { at, .. }
            | TraceError::Name { at, .. }
            | TraceError::LineTooLong { at, .. } => Some(*at),
            TraceError::Dependence { at, misfit } => at.or(misfit.event().map(Position::Event)),
            TraceError::Values { at, .. } => *at,
            TraceError::Io(_)
            | TraceError::TooManyEvents
            | TraceError::Empty
            | TraceError::CutToNothing
            | TraceError::NotExpressible { .. } => None,
        }
    }

    /// The offending line, if the input consists of lines.
    pub fn line(&self) -> Option<&str> {
        match self {
            TraceError::Syntax { line, .. } => line.as_deref(),
            _ => None,
        }
    }
}
