//! Decisions that need no hook, because the accesses around them tell of them.
//!
//! A decision touches nothing, so it does not matter where it stands between two things that its thread records. If
//! it always follows an access, or always comes before one, the site of that access says so, and the log reader puts
//! it there. Where the next access is decided on some ways only, the hook moves to the others.

use std::collections::{HashMap, HashSet};

use foretell_wire::hook;

use crate::hooks::Hooks;
use crate::ir::{Block, Opcode, Value};
use crate::sites::Sites;

/// Takes the hooks out again that tell nothing new. Those which [`crate::needless`] removes are gone already.
pub(crate) fn remove(function: Value, hooks: &Hooks, sites: &mut Sites) {
    let blocks = function.blocks();
    let ways = BlockGraph::of(&blocks);
    let deciding = attach_to_accesses(&blocks, hooks, sites);
    let decided = decided(&blocks, &ways, &deciding);
    for &access in &decided {
        sites.set_decided(site(access, hooks));
    }
    let expected = expected(&blocks, &decided);
    for &block in &blocks {
        sink(block, &expected, &ways, hooks);
    }
    let expected = self::expected(&blocks, &decided);
    for &block in &blocks {
        let mut is_expected = after_block(block, &expected);
        for instruction in block.instructions().into_iter().rev() {
            if step(instruction) == InstructionClass::Decision && is_expected {
                instruction.erase();
            } else {
                is_expected = before(instruction, is_expected, &decided);
            }
        }
    }
}

/// What an instruction is to this file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InstructionClass {
    /// The hook of a decision.
    Decision,
    /// The hook of a plain access.
    Access,
    /// Anything else that may be recorded, here or in what is called.
    Other,
    /// Nothing that is recorded.
    Silent,
}

fn step(instruction: Value) -> InstructionClass {
    match instruction.opcode() {
        Some(Opcode::LLVMInvoke | Opcode::LLVMCallBr) => InstructionClass::Other,
        Some(Opcode::LLVMCall) if instruction.callee().is_intrinsic() => InstructionClass::Silent,
        Some(Opcode::LLVMCall) if instruction.callee().is_function() => {
            let name = instruction.callee().name();
            if name == hook::BRANCH || name == hook::BRANCH_BY {
                InstructionClass::Decision
            } else if name.starts_with(hook::LOAD) || name.starts_with(hook::STORE) {
                InstructionClass::Access
            } else {
                InstructionClass::Other
            }
        }
        Some(Opcode::LLVMCall) => InstructionClass::Other,
        // There may be a handler of the signal.
        _ if instruction.may_divide_in_vain() => InstructionClass::Other,
        _ => InstructionClass::Silent,
    }
}

/// How blocks lead to each other.
struct BlockGraph(HashMap<Block, Vec<Block>>);

impl BlockGraph {
    fn of(blocks: &[Block]) -> BlockGraph {
        let mut before: HashMap<Block, Vec<Block>> = HashMap::new();
        for &block in blocks {
            for next in block.terminator().successors() {
                before.entry(next).or_default().push(block);
            }
        }
        BlockGraph(before)
    }

    /// The blocks that lead to this one, as often as they do.
    fn to(&self, block: Block) -> &[Block] {
        self.0.get(&block).map_or(&[], Vec::as_slice)
    }
}

/// A decision that follows an access in the same block becomes part of that. Returns these accesses.
fn attach_to_accesses(blocks: &[Block], hooks: &Hooks, sites: &mut Sites) -> HashSet<Value> {
    let mut deciding = HashSet::new();
    for block in blocks {
        let mut access = None;
        for instruction in block.instructions() {
            match (step(instruction), access) {
                (InstructionClass::Decision, Some(before)) => {
                    sites.set_decides(site(before, hooks), site(instruction, hooks));
                    deciding.insert(before);
                    instruction.erase();
                    access = None;
                }
                (InstructionClass::Access, _) => access = Some(instruction),
                (InstructionClass::Other, _) => access = None,
                _ => {}
            }
        }
    }
    deciding
}

fn site(call: Value, hooks: &Hooks) -> u64 {
    hooks.site_number(call.operand(0))
}

/// The accesses before which there is a decision, on all ways, since whatever was recorded last. Begins with the hope
/// that this holds everywhere but in the beginning, and gives up what does not hold.
fn decided(blocks: &[Block], ways: &BlockGraph, deciding: &HashSet<Value>) -> HashSet<Value> {
    let mut undecided_ends = HashSet::new();
    loop {
        let (mut found, ends_before) = (HashSet::new(), undecided_ends.len());
        for &block in blocks {
            let before = ways.to(block);
            let mut is_decided = !before.is_empty() && before.iter().all(|end| !undecided_ends.contains(end));
            for instruction in block.instructions() {
                match step(instruction) {
                    InstructionClass::Decision => is_decided = true,
                    InstructionClass::Access => {
                        if is_decided {
                            found.insert(instruction);
                        }
                        is_decided = deciding.contains(&instruction);
                    }
                    InstructionClass::Other => is_decided = false,
                    InstructionClass::Silent => {}
                }
            }
            if !is_decided {
                undecided_ends.insert(block);
            }
        }
        if undecided_ends.len() == ends_before {
            return found;
        }
    }
}

/// The blocks from whose beginning every way comes to a decision, or to an access that is decided, before anything
/// else is recorded. A way that never comes to anything has nothing to decide.
fn expected(blocks: &[Block], decided: &HashSet<Value>) -> HashSet<Block> {
    let mut expected: HashSet<Block> = blocks.iter().copied().collect();
    let mut is_settled = false;
    while !is_settled {
        is_settled = true;
        for &block in blocks.iter().rev() {
            let end = after_block(block, &expected);
            let backwards = block.instructions().into_iter().rev();
            let begin = backwards.fold(end, |after, instruction| before(instruction, after, decided));
            if !begin && expected.remove(&block) {
                is_settled = false;
            }
        }
    }
    expected
}

/// Whether all ways out of a block are expected to decide.
fn after_block(block: Block, expected: &HashSet<Block>) -> bool {
    let next = block.terminator().successors();
    !next.is_empty() && next.iter().all(|next| expected.contains(next))
}

/// Whether a decision is expected before an instruction, if that is known of what follows.
fn before(instruction: Value, after: bool, decided: &HashSet<Value>) -> bool {
    match step(instruction) {
        InstructionClass::Decision => true,
        InstructionClass::Access => decided.contains(&instruction),
        InstructionClass::Other => false,
        InstructionClass::Silent => after,
    }
}

/// A decision at the end of a block, after which another one is expected on some ways, moves to the other ways.
fn sink(block: Block, expected: &HashSet<Block>, ways: &BlockGraph, hooks: &Hooks) {
    let told = |&instruction: &Value| step(instruction) != InstructionClass::Silent;
    let Some(last) = block.instructions().into_iter().rfind(told) else { return };
    let next = block.terminator().successors();
    let others: Vec<Block> = next.iter().copied().filter(|next| !expected.contains(next)).collect();
    let can_move = others.len() < next.len() && others.iter().all(|&other| ways.to(other).len() == 1);
    if step(last) != InstructionClass::Decision || !can_move {
        return;
    }
    let (name, arguments) = (last.callee().name(), last.arguments());
    for other in others {
        hooks.build.before_as(other.first_ordinary(), last);
        hooks.tell(&name, &arguments);
    }
    last.erase();
}
