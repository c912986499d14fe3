//! From text to a tree: what is written, not yet what it means.
//!
//! * [`token`]: words, numbers and symbols
//! * [`tree`]: the syntax tree
//! * [`parse`], [`expression`]: the grammar

pub(crate) mod expression;
pub(crate) mod parse;
pub(crate) mod token;
pub(crate) mod tree;
