//! Red-black trees and lists of libstdc++: the functions that are not compiled with the program are performed here, so
//! that each access to a node is recorded.
//!
//! A header node has the root as its parent, and the leftmost and the rightmost node as its children; it is red, and
//! the parent of the root.
//!
//! Safety of all of them: the program passes nodes of a container, which the library would access in the same way.

use crate::library::LibraryCall;

type Node = usize;

const NONE: Node = 0;
const RED: u32 = 0;
const BLACK: u32 = 1;

/// Where a node has the links to others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NodeLinks {
    Parent = 8,
    Left = 16,
    Right = 24,
}

impl NodeLinks {
    fn opposite(self) -> NodeLinks {
        if self == NodeLinks::Left { NodeLinks::Right } else { NodeLinks::Left }
    }
}

/// Accesses to nodes, recorded if the thread is.
struct Nodes(Option<LibraryCall>);

impl Nodes {
    fn begin(site: u64) -> Nodes {
        Nodes(LibraryCall::begin(site))
    }

    fn read<T: Copy>(&self, addr: usize) -> T {
        let at = addr as *const T;
        if let Some(call) = &self.0 {
            call.scanned(at.cast(), size_of::<T>());
        }
        // SAFETY: the library reads the same member of the node.
        unsafe { at.read() }
    }

    fn write<T>(&self, addr: usize, value: T) {
        let at = addr as *mut T;
        // SAFETY: the library writes the same member of the node.
        unsafe { at.write(value) };
        if let Some(call) = &self.0 {
            call.wrote(at.cast(), size_of::<T>());
        }
    }

    fn get(&self, node: Node, link: NodeLinks) -> Node {
        self.read(node + link as usize)
    }

    fn set(&self, node: Node, link: NodeLinks, to: Node) {
        self.write(node + link as usize, to);
    }

    fn color(&self, node: Node) -> u32 {
        self.read(node)
    }

    fn paint(&self, node: Node, color: u32) {
        self.write(node, color);
    }

    fn is_black(&self, node: Node) -> bool {
        node == NONE || self.color(node) == BLACK
    }

    /// The last node in this direction.
    fn last(&self, mut node: Node, link: NodeLinks) -> Node {
        loop {
            match self.get(node, link) {
                NONE => return node,
                next => node = next,
            }
        }
    }

    /// Puts another node in the place that a node has below its parent.
    fn replace_below_parent(&self, node: Node, by: Node, header: Node) {
        let parent = self.get(node, NodeLinks::Parent);
        if self.get(header, NodeLinks::Parent) == node {
            self.set(header, NodeLinks::Parent, by);
        } else if self.get(parent, NodeLinks::Left) == node {
            self.set(parent, NodeLinks::Left, by);
        } else {
            self.set(parent, NodeLinks::Right, by);
        }
    }

    /// Moves a node down in this direction; its child on the other side takes its place.
    fn rotate(&self, node: Node, down: NodeLinks, header: Node) {
        let up = self.get(node, down.opposite());
        let inner = self.get(up, down);
        self.set(node, down.opposite(), inner);
        if inner != NONE {
            self.set(inner, NodeLinks::Parent, node);
        }
        self.set(up, NodeLinks::Parent, self.get(node, NodeLinks::Parent));
        self.replace_below_parent(node, up, header);
        self.set(up, down, node);
        self.set(node, NodeLinks::Parent, up);
    }

    fn insert(&self, is_left: bool, node: Node, parent: Node, header: Node) {
        self.set(node, NodeLinks::Parent, parent);
        self.set(node, NodeLinks::Left, NONE);
        self.set(node, NodeLinks::Right, NONE);
        self.paint(node, RED);
        if is_left {
            self.set(parent, NodeLinks::Left, node);
            if parent == header {
                self.set(header, NodeLinks::Parent, node);
                self.set(header, NodeLinks::Right, node);
            } else if parent == self.get(header, NodeLinks::Left) {
                self.set(header, NodeLinks::Left, node);
            }
        } else {
            self.set(parent, NodeLinks::Right, node);
            if parent == self.get(header, NodeLinks::Right) {
                self.set(header, NodeLinks::Right, node);
            }
        }
        self.balance_after_insertion(node, header);
    }

    fn balance_after_insertion(&self, mut node: Node, header: Node) {
        while node != self.get(header, NodeLinks::Parent) {
            let parent = self.get(node, NodeLinks::Parent);
            if self.color(parent) == BLACK {
                break;
            }
            let above = self.get(parent, NodeLinks::Parent);
            let side =
                if parent == self.get(above, NodeLinks::Left) { NodeLinks::Left } else { NodeLinks::Right };
            let uncle = self.get(above, side.opposite());
            if !self.is_black(uncle) {
                self.paint(parent, BLACK);
                self.paint(uncle, BLACK);
                self.paint(above, RED);
                node = above;
                continue;
            }
            if node == self.get(parent, side.opposite()) {
                node = parent;
                self.rotate(node, side, header);
            }
            self.paint(self.get(node, NodeLinks::Parent), BLACK);
            self.paint(above, RED);
            self.rotate(above, side.opposite(), header);
        }
        self.paint(self.get(header, NodeLinks::Parent), BLACK);
    }

    /// Takes a node out of the tree; returns it.
    fn erase(&self, node: Node, header: Node) -> Node {
        let [left, right] = [NodeLinks::Left, NodeLinks::Right].map(|link| self.get(node, link));
        let removed_color;
        let (child, parent);
        if left != NONE && right != NONE {
            let next = self.last(right, NodeLinks::Left);
            child = self.get(next, NodeLinks::Right);
            self.set(left, NodeLinks::Parent, next);
            self.set(next, NodeLinks::Left, left);
            if next == right {
                parent = next;
            } else {
                parent = self.get(next, NodeLinks::Parent);
                if child != NONE {
                    self.set(child, NodeLinks::Parent, parent);
                }
                self.set(parent, NodeLinks::Left, child);
                self.set(next, NodeLinks::Right, right);
                self.set(right, NodeLinks::Parent, next);
            }
            self.replace_below_parent(node, next, header);
            self.set(next, NodeLinks::Parent, self.get(node, NodeLinks::Parent));
            removed_color = self.color(next);
            self.paint(next, self.color(node));
            self.paint(node, removed_color);
        } else {
            child = if left == NONE { right } else { left };
            parent = self.get(node, NodeLinks::Parent);
            if child != NONE {
                self.set(child, NodeLinks::Parent, parent);
            }
            self.replace_below_parent(node, child, header);
            for (end, inner) in [(NodeLinks::Left, NodeLinks::Right), (NodeLinks::Right, NodeLinks::Left)] {
                if self.get(header, end) == node {
                    let other = self.get(node, inner);
                    let last = if other == NONE { parent } else { self.last(child, end) };
                    self.set(header, end, last);
                }
            }
            removed_color = self.color(node);
        }
        if removed_color == BLACK {
            self.balance_after_removal(child, parent, header);
        }
        node
    }

    fn balance_after_removal(&self, mut node: Node, mut parent: Node, header: Node) {
        while node != self.get(header, NodeLinks::Parent) && self.is_black(node) {
            let side =
                if node == self.get(parent, NodeLinks::Left) { NodeLinks::Left } else { NodeLinks::Right };
            let mut sibling = self.get(parent, side.opposite());
            if self.color(sibling) == RED {
                self.paint(sibling, BLACK);
                self.paint(parent, RED);
                self.rotate(parent, side, header);
                sibling = self.get(parent, side.opposite());
            }
            let [near, far] = [side, side.opposite()].map(|link| self.get(sibling, link));
            if self.is_black(near) && self.is_black(far) {
                self.paint(sibling, RED);
                node = parent;
                parent = self.get(node, NodeLinks::Parent);
                continue;
            }
            if self.is_black(far) {
                self.paint(near, BLACK);
                self.paint(sibling, RED);
                self.rotate(sibling, side.opposite(), header);
                sibling = self.get(parent, side.opposite());
            }
            self.paint(sibling, self.color(parent));
            self.paint(parent, BLACK);
            let far = self.get(sibling, side.opposite());
            if far != NONE {
                self.paint(far, BLACK);
            }
            self.rotate(parent, side, header);
            break;
        }
        if node != NONE {
            self.paint(node, BLACK);
        }
    }

    /// The next node in this direction; the header after the last one.
    fn neighbour(&self, node: Node, direction: NodeLinks) -> Node {
        let is_header = || self.color(node) == RED && self.is_grandparent_of_itself(node);
        if direction == NodeLinks::Left && is_header() {
            return self.get(node, NodeLinks::Right);
        }
        let child = self.get(node, direction);
        if child != NONE {
            return self.last(child, direction.opposite());
        }
        let (mut node, mut parent) = (node, self.get(node, NodeLinks::Parent));
        while node == self.get(parent, direction) {
            node = parent;
            parent = self.get(node, NodeLinks::Parent);
        }
        // A root without a child in this direction is the neighbour of the header on both sides.
        let is_past_root = direction == NodeLinks::Right && self.get(node, NodeLinks::Right) == parent;
        if is_past_root { node } else { parent }
    }

    fn is_grandparent_of_itself(&self, node: Node) -> bool {
        self.get(self.get(node, NodeLinks::Parent), NodeLinks::Parent) == node
    }
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_on__ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(
    site: u64,
    is_left: bool,
    node: Node,
    parent: Node,
    header: Node,
) {
    Nodes::begin(site).insert(is_left, node, parent, header);
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_on__ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_(
    site: u64,
    node: Node,
    header: Node,
) -> Node {
    Nodes::begin(site).erase(node, header)
}

macro_rules! neighbours {
    ($($hook:ident $direction:ident;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $hook(site: u64, node: Node) -> Node {
            Nodes::begin(site).neighbour(node, NodeLinks::$direction)
        }
    )*};
}

neighbours! {
    __foretell_on__ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base Right;
    __foretell_on__ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base Right;
    __foretell_on__ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base Left;
    __foretell_on__ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base Left;
}

/// Where a node of a list has its neighbours.
const NEXT: usize = 0;
const BEFORE: usize = 8;

/// Puts a node in front of another.
#[unsafe(no_mangle)]
extern "C" fn __foretell_on__ZNSt8__detail15_List_node_base7_M_hookEPS0_(site: u64, node: Node, next: Node) {
    let nodes = Nodes::begin(site);
    nodes.write(node + NEXT, next);
    let before: Node = nodes.read(next + BEFORE);
    nodes.write(node + BEFORE, before);
    nodes.write(before + NEXT, node);
    nodes.write(next + BEFORE, node);
}

#[unsafe(no_mangle)]
extern "C" fn __foretell_on__ZNSt8__detail15_List_node_base9_M_unhookEv(site: u64, node: Node) {
    let nodes = Nodes::begin(site);
    let (next, before): (Node, Node) = (nodes.read(node + NEXT), nodes.read(node + BEFORE));
    nodes.write(before + NEXT, next);
    nodes.write(next + BEFORE, before);
}

/// Puts the nodes from the first up to the end in front of another.
#[unsafe(no_mangle)]
extern "C" fn __foretell_on__ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_(
    site: u64,
    node: Node,
    first: Node,
    end: Node,
) {
    if node == end {
        return;
    }
    let nodes = Nodes::begin(site);
    let [last, before, before_first]: [Node; 3] = [end, node, first].map(|node| nodes.read(node + BEFORE));
    nodes.write(last + NEXT, node);
    nodes.write(before_first + NEXT, end);
    nodes.write(before + NEXT, first);
    nodes.write(node + BEFORE, last);
    nodes.write(end + BEFORE, before_first);
    nodes.write(first + BEFORE, before);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes in memory of the test: the first is the header.
    struct Memory {
        nodes: Box<[[usize; 5]]>,
    }

    impl Memory {
        fn new(count: usize) -> Memory {
            let memory = Memory { nodes: vec![[0; 5]; count + 1].into_boxed_slice() };
            let header = memory.node(0);
            let nodes = Nodes(None);
            nodes.paint(header, RED);
            nodes.set(header, NodeLinks::Parent, NONE);
            nodes.set(header, NodeLinks::Left, header);
            nodes.set(header, NodeLinks::Right, header);
            memory
        }

        fn node(&self, index: usize) -> Node {
            self.nodes[index].as_ptr() as usize
        }

        /// The key is where the node is, so that order can be seen.
        fn add(&self, index: usize) {
            let (nodes, header, node) = (Nodes(None), self.node(0), self.node(index));
            let (mut parent, mut is_left) = (header, true);
            let mut at = nodes.get(header, NodeLinks::Parent);
            while at != NONE {
                parent = at;
                is_left = node < at;
                at = nodes.get(at, if is_left { NodeLinks::Left } else { NodeLinks::Right });
            }
            nodes.insert(is_left, node, parent, header);
        }

        /// How many black nodes every path has; asserts what a tree promises.
        fn height(&self, node: Node) -> usize {
            let nodes = Nodes(None);
            if node == NONE {
                return 1;
            }
            let children = [NodeLinks::Left, NodeLinks::Right].map(|link| nodes.get(node, link));
            for child in children.into_iter().filter(|&child| child != NONE) {
                assert_eq!(nodes.get(child, NodeLinks::Parent), node);
                assert!(nodes.color(node) == BLACK || nodes.color(child) == BLACK, "two red nodes in a row");
            }
            let [left, right] = children.map(|child| self.height(child));
            assert_eq!(left, right, "paths with different numbers of black nodes");
            left + usize::from(nodes.color(node) == BLACK)
        }

        fn check(&self, mut expected: Vec<usize>) {
            expected.sort_unstable();
            let (nodes, header) = (Nodes(None), self.node(0));
            self.height(nodes.get(header, NodeLinks::Parent));
            let sorted: Vec<Node> = expected.iter().map(|&index| self.node(index)).collect();
            let mut forward = Vec::new();
            let mut at = nodes.get(header, NodeLinks::Left);
            while at != header {
                forward.push(at);
                at = nodes.neighbour(at, NodeLinks::Right);
            }
            assert_eq!(forward, sorted);
            let mut backward = Vec::new();
            let mut at = header;
            while backward.len() < sorted.len() {
                at = nodes.neighbour(at, NodeLinks::Left);
                backward.push(at);
            }
            backward.reverse();
            assert_eq!(backward, sorted);
        }
    }

    #[test]
    fn trees_stay_sorted_and_balanced() {
        const COUNT: usize = 200;
        let memory = Memory::new(COUNT);
        let mut inside = Vec::new();
        // Steps that visit all numbers in a scattered order.
        for step in 0..COUNT {
            let index = step * 77 % COUNT + 1;
            memory.add(index);
            inside.push(index);
            memory.check(inside.clone());
        }
        for step in 0..COUNT {
            let index = step * 31 % COUNT + 1;
            Nodes(None).erase(memory.node(index), memory.node(0));
            inside.retain(|&other| other != index);
            memory.check(inside.clone());
        }
    }
}
