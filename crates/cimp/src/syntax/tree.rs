//! The syntax tree.

use std::collections::BTreeSet;

use foretell_depend::{Binary, Unary};

use crate::diagnostic::Span;

/// A whole program.
#[derive(Default)]
pub(crate) struct Tree<'s> {
    pub(crate) declarations: Vec<Declaration<'s>>,
    pub(crate) threads: Vec<Thread<'s>>,
}

/// A name, where it is written.
#[derive(Clone, Copy)]
pub(crate) struct Name<'s> {
    pub(crate) text: &'s str,
    pub(crate) span: Span,
}

/// A number, where it is written.
#[derive(Clone, Copy)]
pub(crate) struct Number {
    pub(crate) value: i64,
    pub(crate) span: Span,
}

/// Something that all threads know.
pub(crate) struct Declaration<'s> {
    pub(crate) name: Name<'s>,
    pub(crate) sort: Sort<'s>,
}

/// What is declared.
pub(crate) enum Sort<'s> {
    Shared { atomic: bool, length: Option<Number>, initial: Initial },
    Lock { length: Option<Number> },
    Semaphore { length: Option<Number>, permits: Option<Number> },
    Condition { length: Option<Number> },
    Cell { fields: Vec<(Name<'s>, i64)> },
    Function { parameters: Vec<Name<'s>>, body: Block<'s> },
}

/// What a shared variable holds at the beginning.
pub(crate) enum Initial {
    /// This, in each element.
    All(i64),
    /// One number for each element.
    Each(Vec<i64>, Span),
}

/// What runs from the beginning.
pub(crate) struct Thread<'s> {
    pub(crate) name: Option<Name<'s>>,
    pub(crate) body: Block<'s>,
}

/// Statements in braces.
pub(crate) struct Block<'s> {
    pub(crate) open: Span,
    pub(crate) statements: Vec<Statement<'s>>,
    pub(crate) close: Span,
}

/// A block that another thread runs.
pub(crate) struct Body<'s> {
    pub(crate) block: Block<'s>,
    /// Every name in it that may stand for a variable; those of the locals around it are copied into the thread.
    pub(crate) names: BTreeSet<&'s str>,
}

pub(crate) enum Statement<'s> {
    Skip,
    Block(Block<'s>),
    Parallel(Vec<Body<'s>>),
    Local(Vec<(Name<'s>, Option<Expression<'s>>)>),
    Assign {
        target: Target<'s>,
        value: Expression<'s>,
    },
    If {
        span: Span,
        condition: Expression<'s>,
        then: Box<Statement<'s>>,
        otherwise: Option<Box<Statement<'s>>>,
    },
    While {
        span: Span,
        condition: Expression<'s>,
        body: Box<Statement<'s>>,
    },
    Assert {
        span: Span,
        condition: Expression<'s>,
    },
    Operate {
        span: Span,
        operation: Operation,
        object: Object<'s>,
    },
    Sync {
        span: Span,
        lock: Object<'s>,
        body: Block<'s>,
    },
    Wait {
        span: Span,
        condition: Object<'s>,
        lock: Object<'s>,
    },
    Join {
        span: Span,
        handle: Expression<'s>,
    },
    Return {
        span: Span,
        value: Option<Expression<'s>>,
    },
    /// A call or a fork whose result is dropped.
    Evaluate(Expression<'s>),
}

/// What can be done with a lock, semaphore or condition.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Acquire,
    Release,
    Down,
    Up,
    Notify,
    NotifyAll,
}

/// Something that has a name, or an element of it.
pub(crate) struct Object<'s> {
    pub(crate) name: Name<'s>,
    pub(crate) index: Option<Box<Expression<'s>>>,
}

/// What is assigned to.
pub(crate) enum Target<'s> {
    Variable(Object<'s>),
    Field(Expression<'s>, Name<'s>),
}

pub(crate) struct Expression<'s> {
    pub(crate) kind: ExpressionKind<'s>,
    /// The word or symbol that stands for it: an operator, a name.
    pub(crate) span: Span,
}

pub(crate) enum ExpressionKind<'s> {
    Number(i64),
    Variable(Object<'s>),
    Field(Box<Expression<'s>>, Name<'s>),
    Call(Name<'s>, Vec<Expression<'s>>),
    New(Name<'s>),
    Fork(Name<'s>, Vec<Expression<'s>>),
    ForkBlock(Body<'s>),
    Unary(Unary, Box<Expression<'s>>),
    Binary(Binary, Box<Expression<'s>>, Box<Expression<'s>>),
    /// `&&` or `||`, whose right side is only computed if the left one does not decide the result.
    Logic(Logic, Box<Expression<'s>>, Box<Expression<'s>>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Logic {
    And,
    Or,
}
