//! The call stacks of threads, as a tree: equal stacks share a node.
//!
//! So one number stands for the stack of an access, and the whole stack can be reported if the access races.

use rustc_hash::FxHashMap;

/// The most nodes of the tree. Beyond that, an access is reported with the outer part of its stack.
const MOST: usize = 1 << 22;
/// Of so many calls it is remembered at hand where they led.
const RECENT: usize = 4;

/// A place in the tree: the calls that lead there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Context(u32);

impl Context {
    /// The place with this number.
    pub(crate) fn of(number: u32) -> Context {
        Context(number)
    }

    /// The number of the place.
    #[inline(always)]
    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

#[derive(Clone, Copy, Debug)]
struct CallNode {
    /// Where the call is made.
    site: u64,
    parent: Context,
    /// Where the last calls from here were made, and led: mostly the next one is the same. Sites with the same
    /// remainder share a place.
    recent: [(u64, Context); RECENT],
}

impl CallNode {
    fn new(site: u64, parent: Context) -> CallNode {
        CallNode { site, parent, recent: [(0, Context::default()); RECENT] }
    }
}

/// All calls that were ever made.
#[derive(Debug)]
pub(crate) struct CallTree {
    nodes: Vec<CallNode>,
    children: FxHashMap<(Context, u64), Context>,
}

/// Where a thread is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StackPosition {
    pub(crate) context: Context,
    /// How many further calls it is in, without nodes.
    beyond: u32,
}

impl Default for CallTree {
    fn default() -> CallTree {
        CallTree { nodes: vec![CallNode::new(0, Context::default())], children: FxHashMap::default() }
    }
}

impl CallTree {
    /// The thread calls something at this site.
    #[inline(always)]
    pub(crate) fn enter(&mut self, position: &mut StackPosition, site: u64) {
        let from = position.context;
        if let Some(node) = self.nodes.get(from.0 as usize)
            && let (known, child) = node.recent[place_of(site)]
            && known == site
            && child != Context::default()
            && position.beyond == 0
        {
            position.context = child;
            return;
        }
        self.enter_anew(position, site);
    }

    #[inline(never)]
    fn enter_anew(&mut self, position: &mut StackPosition, site: u64) {
        let from = position.context;
        match self.child(from, site).filter(|_| position.beyond == 0) {
            Some(child) => position.context = child,
            None => position.beyond = position.beyond.saturating_add(1),
        }
    }

    /// So many calls of the thread have ended.
    #[inline(always)]
    pub(crate) fn exit(&self, position: &mut StackPosition, calls: u32) {
        let beyond = position.beyond.min(calls);
        position.beyond -= beyond;
        for _ in beyond..calls {
            if position.context == Context::default() {
                break;
            }
            position.context = self.parent(position.context);
        }
    }

    /// The sites of the calls that lead here, the outermost first.
    pub(crate) fn path(&self, mut context: Context) -> Vec<u64> {
        let mut sites = Vec::new();
        while context != Context::default() {
            sites.extend(self.nodes.get(context.0 as usize).map(|node| node.site));
            context = self.parent(context);
        }
        sites.reverse();
        sites
    }

    fn parent(&self, context: Context) -> Context {
        self.nodes.get(context.0 as usize).map(|node| node.parent).unwrap_or_default()
    }

    fn child(&mut self, parent: Context, site: u64) -> Option<Context> {
        let child = match self.children.get(&(parent, site)) {
            Some(&child) => child,
            None => self.add(parent, site)?,
        };
        if let Some(node) = self.nodes.get_mut(parent.0 as usize) {
            node.recent[place_of(site)] = (site, child);
        }
        Some(child)
    }

    #[cold]
    fn add(&mut self, parent: Context, site: u64) -> Option<Context> {
        let next = u32::try_from(self.nodes.len()).ok().filter(|_| self.nodes.len() < MOST)?;
        self.nodes.push(CallNode::new(site, parent));
        self.children.insert((parent, site), Context(next));
        Some(Context(next))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the remainder is what is wanted")]
fn place_of(site: u64) -> usize {
    site as usize % RECENT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_calls_are_the_same_place() {
        let (mut calls, mut one, mut other) =
            (CallTree::default(), StackPosition::default(), StackPosition::default());
        for site in [10, 20, 30] {
            calls.enter(&mut one, site);
        }
        assert_eq!(calls.path(one.context), [10, 20, 30]);
        for site in [10, 21] {
            calls.enter(&mut other, site);
        }
        calls.exit(&mut other, 1);
        calls.enter(&mut other, 20);
        calls.exit(&mut one, 1);
        assert_eq!(one.context, other.context);
        assert_eq!(calls.path(other.context), [10, 20]);
    }

    #[test]
    fn no_more_can_end_than_has_begun() {
        let (mut calls, mut position) = (CallTree::default(), StackPosition::default());
        calls.enter(&mut position, 10);
        calls.exit(&mut position, u32::MAX);
        assert_eq!(calls.path(position.context), []);
    }
}
