//! What is looked for: `word`, or `kind:part` or `kind=whole` of a name.

use std::borrow::Cow;
use std::cell::RefCell;
use std::str::FromStr;

use foretell_report::words::words;
use foretell_trace::format::text::op_text;
use foretell_trace::symbol::SymbolContent;
use foretell_trace::{Event, Names, Op, Symbol, Value};

/// What of an event is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Field {
    /// The variable.
    Var,
    /// The lock.
    Lock,
    /// The location.
    Location,
    /// The thread that does it, or that it starts or joins.
    Thread,
    /// The function that is entered or left.
    Function,
    /// The value that is read or written.
    Value,
    /// The kind of operation, as the text format spells it.
    Op,
    /// All that is shown of the event.
    Any,
}

/// The names of fields in a query.
const FIELDS: [(&str, Field); 8] = [
    ("var", Field::Var),
    ("lock", Field::Lock),
    ("loc", Field::Location),
    ("thread", Field::Thread),
    ("fn", Field::Function),
    ("value", Field::Value),
    ("op", Field::Op),
    ("text", Field::Any),
];

/// A query. Names are compared once each, when the first event that has them is looked at.
#[derive(Debug)]
pub struct Query {
    text: String,
    field: Field,
    wanted: Wanted,
    vars: Known,
    locks: Known,
    threads: Known,
    labels: Known,
    symbols: Known,
}

/// The text that names are compared with.
#[derive(Debug)]
struct Wanted {
    text: String,
    whole: bool,
    /// Whether capital letters matter: only if there are any.
    exact: bool,
}

impl Wanted {
    fn fits(&self, name: &str) -> bool {
        let name = if self.exact { Cow::Borrowed(name) } else { Cow::Owned(name.to_lowercase()) };
        if self.whole { name == self.text } else { name.contains(&self.text) }
    }
}

/// What is known of the names of a table, by their index.
#[derive(Debug, Default)]
struct Known(RefCell<Vec<Option<bool>>>);

impl Known {
    fn ask(&self, index: usize, decide: impl FnOnce() -> bool) -> bool {
        let mut known = self.0.borrow_mut();
        if known.len() <= index {
            known.resize(index + 1, None);
        }
        *known[index].get_or_insert_with(decide)
    }
}

impl FromStr for Query {
    type Err = String;

    fn from_str(text: &str) -> Result<Query, String> {
        let (field, wanted, whole) = split(text);
        if wanted.is_empty() {
            return Err("nothing to search for".to_string());
        }
        let wanted =
            Wanted { text: wanted.to_string(), whole, exact: wanted.chars().any(char::is_uppercase) };
        Ok(Query {
            text: text.to_string(),
            field,
            wanted,
            vars: Known::default(),
            locks: Known::default(),
            threads: Known::default(),
            labels: Known::default(),
            symbols: Known::default(),
        })
    }
}

/// The field, the text, and whether it is a whole name. What begins with no known field is text, as it stands:
/// locations have colons, too.
fn split(text: &str) -> (Field, &str, bool) {
    for (name, field) in FIELDS {
        match text.strip_prefix(name).and_then(|rest| rest.split_at_checked(1)) {
            Some((":", part)) => return (field, part, false),
            Some(("=", whole)) => return (field, whole, true),
            _ => {}
        }
    }
    (Field::Any, text, false)
}

impl Query {
    /// As it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether this event is looked for.
    pub fn matches(&self, event: &Event, names: &Names) -> bool {
        match self.field {
            Field::Var => self.var(event.op, names),
            Field::Lock => self.lock(event.op, names),
            Field::Location => self.symbol(event.loc.0, names),
            Field::Thread => self.thread(event, names),
            Field::Function => self.label(event.op, names),
            Field::Value => self.value(event.op, names),
            Field::Op => {
                self.wanted.fits(op_text(event.op, names).split(['(', '.']).next().unwrap_or_default())
            }
            Field::Any => self.any(event, names),
        }
    }

    /// The parts are compared before the texts are put together, since nearly all searches are for a name.
    fn any(&self, event: &Event, names: &Names) -> bool {
        let shown =
            || self.wanted.fits(&words(event.op, names)) || self.wanted.fits(&op_text(event.op, names));
        self.symbol(event.loc.0, names)
            || self.thread(event, names)
            || self.var(event.op, names)
            || self.lock(event.op, names)
            || self.label(event.op, names)
            || shown()
    }

    fn var(&self, op: Op, names: &Names) -> bool {
        let var = match op {
            Op::Alloc(var) => Some(var),
            _ => op.access().map(|access| access.var),
        };
        var.is_some_and(|var| self.vars.ask(var.index(), || self.wanted.fits(names.vars.name(var))))
    }

    fn lock(&self, op: Op, names: &Names) -> bool {
        let lock = match op {
            Op::AcquireAgain(lock)
            | Op::ReleaseAgain(lock)
            | Op::AcquireSharedAgain(lock)
            | Op::ReleaseSharedAgain(lock)
            | Op::TryAcquireFailed(lock)
            | Op::TryAcquireSharedFailed(lock) => Some(lock),
            _ => op.section_begin().or(op.section_end()).map(|(lock, _)| lock),
        };
        lock.is_some_and(|lock| self.locks.ask(lock.index(), || self.wanted.fits(names.locks.name(lock))))
    }

    fn thread(&self, event: &Event, names: &Names) -> bool {
        let fits = |thread: foretell_trace::ThreadId| {
            self.threads.ask(thread.index(), || self.wanted.fits(names.threads.name(thread)))
        };
        match event.op {
            Op::Fork(child) | Op::Join(child) => fits(event.thread) || fits(child),
            _ => fits(event.thread),
        }
    }

    fn label(&self, op: Op, names: &Names) -> bool {
        let (Op::Enter(label) | Op::Exit(label) | Op::Dummy(label)) = op else { return false };
        self.labels.ask(label.index(), || self.wanted.fits(names.labels.name(label)))
    }

    fn value(&self, op: Op, names: &Names) -> bool {
        let fits = |value: Option<Value>| value.is_some_and(|value| self.symbol(value.0, names));
        fits(op.value_read()) || fits(op.value_written())
    }

    fn symbol(&self, symbol: Symbol, names: &Names) -> bool {
        let decide = || self.wanted.fits(&names.symbol_text(symbol));
        match symbol.content() {
            SymbolContent::Number(_) => {
                self.wanted.text.bytes().all(|byte| byte.is_ascii_digit()) && decide()
            }
            SymbolContent::Named(index) => self.symbols.ask(index, decide),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "main|fork(Worker)|a.c:1\nWorker|acq(lock)|b.c:2\nWorker|w(count,7)|b.c:3\n\
                         Worker|rel(lock)|b.c:4\nmain|r(counter,17)|5\nmain|enter(count_up)|6\nmain|astore.rel(f,1)|7\n";

    fn found(query: &str) -> Vec<u32> {
        let trace = foretell_testkit::trace(TRACE);
        let query: Query = query.parse().unwrap();
        let matches = trace.iter().filter(|(_, event)| query.matches(event, trace.names()));
        matches.map(|(id, _)| id.number()).collect()
    }

    #[test]
    fn queries_find_by_name_and_by_text() {
        for (query, expected) in [
            ("var:count", &[3, 5][..]),
            ("var=count", &[3]),
            ("lock:l", &[2, 4]),
            ("loc:b.c", &[2, 3, 4]),
            ("loc=5", &[5]),
            ("thread=main", &[1, 5, 6, 7]),
            ("thread:worker", &[1, 2, 3, 4]),
            ("thread:WORKER", &[]),
            ("fn:count", &[6]),
            ("value=7", &[3]),
            ("value:7", &[3, 5]),
            ("op=w", &[3]),
            ("op:store", &[7]),
            ("count", &[3, 5, 6]),
            ("b.c:3", &[3]),
            ("writes count = 7", &[3]),
            ("acq(", &[2]),
        ] {
            assert_eq!(found(query), expected, "{query}");
        }
        assert!("".parse::<Query>().is_err() && "var:".parse::<Query>().is_err());
    }
}
