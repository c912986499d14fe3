//! Axioms of memory that is given back.

use foretell_trace::Op;

use super::facts::TraceFacts;
use super::literal::{Clause, Literal, before, runs};

/// Memory is not accessed after it was freed.
///
/// Condition: the second event frees the variable that the first one accesses.
pub(super) fn free(facts: &TraceFacts<'_>, access: u32, free: u32) -> Result<Vec<Literal>, String> {
    let var = facts.op(access).access().map(|access| access.var);
    if access == free || !matches!(facts.op(free), Op::Free(freed) if Some(freed) == var) {
        return Err("the second event does not free what the first one accesses".to_string());
    }
    Clause::new(facts).or(!runs(access)).or(!runs(free)).or(before(access, free)).into_literals()
}
