//! A flow for people to read: the run in static single assignment form.
//!
//! ```text
//! %1 = #3                       what event 3 read
//! %2 = %1 + 1
//! #4 w(x,2) value %2 after #2   event 4 wrote it, which it did because branch #2 went as it did
//! ```

use std::fmt::Write as _;

use foretell_trace::format::text::op_text;
use foretell_trace::{Names, Trace};

use crate::flow::{Binary, Flow, Node, NodeId, Unary, Use};

/// Every event of the trace with what it depends on, each value defined before its first use.
pub fn listing(trace: &Trace, flow: &Flow) -> String {
    let mut listing = Listing { flow, names: trace.names(), defined: Vec::new(), text: String::new() };
    for (id, event) in trace.iter() {
        let used = flow.of(id);
        listing.define(used.value);
        listing.define(used.address);
        let thread = listing.names.threads.name(event.thread);
        let what = format!("#{} {thread} {}", id.number(), op_text(event.op, listing.names));
        listing.line(format_args!("{what}{}", listing.uses(used)));
    }
    listing.text
}

struct Listing<'a> {
    flow: &'a Flow,
    names: &'a Names,
    /// Whether a node has been written down, by its number; shorter than the last node's number.
    defined: Vec<bool>,
    text: String,
}

impl Listing<'_> {
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{text}");
    }

    fn is_defined(&self, id: NodeId) -> bool {
        self.defined.get(id.index()).copied().unwrap_or(false)
    }

    /// Lists how the value is computed, its operands first. Without recursion: a sum in a loop is deep.
    fn define(&mut self, value: Option<NodeId>) {
        let mut open: Vec<NodeId> = value.into_iter().collect();
        while let Some(&id) = open.last() {
            let node = self.flow.node(id);
            let missing: Vec<NodeId> = node.parts().filter(|&part| !self.is_defined(part)).collect();
            if !missing.is_empty() && !self.is_defined(id) {
                open.extend(missing);
                continue;
            }
            open.pop();
            if !self.is_defined(id) {
                if !matches!(node, Node::Constant(_)) {
                    let formula = self.formula(node);
                    self.line(format_args!("{} = {formula}", self.name(id)));
                }
                self.defined.resize(self.defined.len().max(id.index() + 1), false);
                self.defined[id.index()] = true;
            }
        }
    }

    fn name(&self, id: NodeId) -> String {
        match self.flow.node(id) {
            Node::Constant(number) => number.to_string(),
            _ => format!("%{}", id.index() + 1),
        }
    }

    fn formula(&self, node: Node) -> String {
        match node {
            Node::Constant(number) => number.to_string(),
            Node::Read(event) => format!("#{}", event.number()),
            Node::Unary(op, of) => format!("{}{}", unary(op), self.name(of)),
            Node::Binary(op, left, right) => {
                format!("{} {} {}", self.name(left), binary(op), self.name(right))
            }
            Node::Chosen { by, value } => format!("{} by {}", self.name(value), self.name(by)),
        }
    }

    fn uses(&self, used: Use) -> String {
        let mut text = String::new();
        let mut add = |word: &str, what: String| text.push_str(&format!(" {word} {what}"));
        if let Some(value) = used.value {
            add("value", self.name(value));
        }
        if let Some(address) = used.address {
            add("address", self.name(address));
        }
        if let Some(branch) = used.control {
            add("after", format!("#{}", branch.number()));
        }
        if let Some(scope) = used.scope.map(|scope| self.flow.scope(scope)) {
            let written = scope.writes.iter().map(|&var| self.names.vars.name(var));
            let ways: Vec<&str> = written.chain(scope.may_stop.then_some("stop")).collect();
            if !ways.is_empty() {
                add("decides", ways.join(","));
            }
        }
        text
    }
}

fn unary(op: Unary) -> &'static str {
    match op {
        Unary::Negate => "-",
        Unary::Not => "!",
    }
}

fn binary(op: Binary) -> &'static str {
    match op {
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
        Binary::Remainder => "%",
        Binary::Equal => "==",
        Binary::NotEqual => "!=",
        Binary::Less => "<",
        Binary::LessOrEqual => "<=",
        Binary::Greater => ">",
        Binary::GreaterOrEqual => ">=",
        Binary::And => "and",
        Binary::Or => "or",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_trace::EventId;
    use foretell_trace::format::text;

    #[test]
    fn values_are_defined_before_they_are_used() {
        let source = "t1|r(x,0)|1\nt1|branch|1\nt1|r(y,0)|2\nt1|w(z,2)|3\n";
        let trace = Trace::read(Box::new(text::TextReader::new(Box::new(source.as_bytes())))).unwrap();
        let ids: Vec<EventId> = trace.iter().map(|(id, _)| id).collect();
        let mut flow = Flow::default();
        let x = flow.add_node(Node::Read(ids[0])).unwrap();
        let y = flow.add_node(Node::Read(ids[2])).unwrap();
        let two = flow.add_node(Node::Constant(2)).unwrap();
        let sum = flow.add_node(Node::Binary(Binary::Add, y, two)).unwrap();
        let chosen = flow.add_node(Node::Chosen { by: x, value: sum }).unwrap();
        let scope = flow.add_scope(crate::Scope { writes: Vec::new(), may_stop: true });
        flow.add_use(Use::default());
        flow.add_use(Use { value: Some(x), scope, ..Use::default() });
        flow.add_use(Use::default());
        flow.add_use(Use { value: Some(chosen), control: Some(ids[1]), ..Use::default() });
        let expected = "\
#1 t1 r(x,0)
%1 = #1
#2 t1 branch value %1 decides stop
#3 t1 r(y,0)
%2 = #3
%4 = %2 + 2
%5 = %4 by %1
#4 t1 w(z,2) value %5 after #2
";
        assert_eq!(listing(&trace, &flow), expected);
    }
}
