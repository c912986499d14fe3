//! From text to a tree: what is written, not yet what it means.
//!
//! * [`token`]: words, numbers and symbols
//! * [`tree`]: the syntax tree
//! * [`parser`]: what all rules of the grammar share
//! * [`declaration`], [`statement`], [`expression`]: the grammar

mod declaration;
mod expression;
mod parser;
mod statement;
pub(crate) mod token;
pub(crate) mod tree;

pub(crate) use declaration::parse;
pub(crate) use expression::parse_expression;
