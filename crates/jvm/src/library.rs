//! What objects of Java's library do when their methods are called: `library.txt`, and its notation.
//!
//! Only objects whose class is the library's own have a model: what classes of the program inherit may be overridden.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

/// How threads may share a collection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sharing {
    /// Under a lock only.
    Plain,
    /// Its methods take its monitor.
    Guarded,
    /// Freely, and its methods never wait.
    Free,
    /// Freely, and its methods may wait for other threads.
    Blocking,
    /// It never changes.
    Constant,
}

/// What a method of a collection does with the content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Content {
    Reads,
    /// It reads, and writes if how much there is has changed; otherwise it has replaced parts, if anything.
    Writes,
    /// The same, but if how much there is has not changed, it has done nothing.
    Resizes,
    /// It reads, and what it returns is another view of the content.
    Views,
    /// It reads a part, and nothing else.
    Looks,
    /// It replaces a part.
    Replaces,
    /// It may do anything.
    Unknown,
}

/// What a method does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Act {
    /// Nothing that others notice.
    Nothing,
    /// Nothing by itself: what it does with other threads is recorded where that happens.
    Passes,
    /// It accesses the content of its object.
    Content(Content),
    /// It takes a lock, alone or together with others; it may come back without it.
    Lock {
        is_shared: bool,
        may_fail: bool,
    },
    Unlock {
        is_shared: bool,
    },
    /// What it returns is a part of its object.
    Part,
    /// What it returns is a condition of the lock.
    Condition,
    /// It waits for a condition; whether it was notified is what it returns, if it returns a boolean value.
    Await,
    /// The same, but whether it was notified cannot be known for sure.
    AwaitFor,
    Signal {
        is_all: bool,
    },
    /// Atomic variables.
    Load,
    Store,
    Update,
    /// It passes on what its thread has done.
    Send,
    /// It gets what others have passed on.
    Receive,
    /// Both, at once.
    Meet,
    /// It hands a task to a pool of threads.
    Submit,
    /// It waits for tasks, or asks for their ends.
    Complete,
    /// What it returns is a view of its first argument.
    Wraps,
    /// It changes the content of its first argument.
    Changes,
    /// Nothing is known of it.
    Fence,
}

/// A class that is known.
#[derive(Debug)]
pub(crate) enum Model {
    Collection {
        sharing: Sharing,
        /// What it holds is no objects: its text and its hash code are a matter of its own.
        is_simple: bool,
    },
    Acts(Names<Act>),
}

/// Names of methods with what they do; the first that fits counts.
#[derive(Clone, Debug)]
pub(crate) struct Names<T>(Vec<(Box<[u8]>, T)>);

impl<T> Default for Names<T> {
    fn default() -> Names<T> {
        Names(Vec::new())
    }
}

impl<T: Copy> Names<T> {
    fn find(&self, name: &[u8]) -> Option<T> {
        self.0.iter().find(|(pattern, _)| fits(pattern, name)).map(|&(_, what)| what)
    }
}

/// Whether a name is as the pattern says, which may begin or end with `*`.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.strip_prefix(b"*"), pattern.strip_suffix(b"*")) {
        (Some(end), _) if !end.is_empty() => name.ends_with(end),
        (_, Some(begin)) => name.starts_with(begin),
        _ => pattern == name,
    }
}

/// All that is known.
#[derive(Default)]
struct Library {
    classes: FxHashMap<Box<[u8]>, Model>,
    statics: FxHashMap<Box<[u8]>, Names<Act>>,
    content: Names<Content>,
}

fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| read(include_str!("library.txt")).expect("it is part of the program, and tested"))
}

/// The model of objects of this very class.
pub(crate) fn of_class(class: &[u8]) -> Option<&'static Model> {
    library().classes.get(class)
}

/// What a method of a collection does with the content.
pub(crate) fn of_content(name: &[u8]) -> Content {
    library().content.find(name).unwrap_or(Content::Unknown)
}

/// What a method without an object does.
pub(crate) fn of_static(class: &[u8], name: &[u8]) -> Option<Act> {
    library().statics.get(class)?.find(name)
}

/// Whether it matters what a call of this method returns.
pub(crate) fn is_answered(name: &[u8], descriptor: &[u8]) -> bool {
    const PARTS: &[&[u8]] =
        &[b"readLock", b"writeLock", b"newCondition", b"next", b"nextElement", b"previous"];
    const QUESTIONS: &[&[u8]] = &[b"try", b"await", b"is"];
    if descriptor.ends_with(b")Z") {
        return QUESTIONS.iter().any(|question| name.starts_with(question));
    }
    let wraps = || name.starts_with(b"synchronized") || name.starts_with(b"unmodifiable");
    descriptor.ends_with(b";")
        && (PARTS.contains(&name)
            || name.ends_with(b"Entry")
            || of_content(name) == Content::Views
            || wraps())
}

impl Model {
    /// What a method does.
    pub(crate) fn act(&self, name: &[u8]) -> Act {
        match self {
            Model::Collection { is_simple: true, .. } if matches!(name, b"toString" | b"hashCode") => {
                Act::Content(Content::Reads)
            }
            Model::Collection { .. } => Act::Content(of_content(name)),
            Model::Acts(names) => names.find(name).unwrap_or(Act::Fence),
        }
    }
}

fn sharing(word: &str) -> Option<Sharing> {
    Some(match word {
        "plain" => Sharing::Plain,
        "guarded" => Sharing::Guarded,
        "free" => Sharing::Free,
        "blocking" => Sharing::Blocking,
        "constant" => Sharing::Constant,
        _ => return None,
    })
}

fn content(word: &str) -> Option<Content> {
    Some(match word {
        "reads" => Content::Reads,
        "writes" => Content::Writes,
        "resizes" => Content::Resizes,
        "views" => Content::Views,
        "looks" => Content::Looks,
        "replaces" => Content::Replaces,
        _ => return None,
    })
}

fn act(word: &str) -> Option<Act> {
    Some(match word {
        "nothing" => Act::Nothing,
        "passes" => Act::Passes,
        "lock" => Act::Lock { is_shared: false, may_fail: false },
        "try" => Act::Lock { is_shared: false, may_fail: true },
        "share" => Act::Lock { is_shared: true, may_fail: false },
        "tryshare" => Act::Lock { is_shared: true, may_fail: true },
        "unlock" => Act::Unlock { is_shared: false },
        "unshare" => Act::Unlock { is_shared: true },
        "part" => Act::Part,
        "condition" => Act::Condition,
        "await" => Act::Await,
        "awaitfor" => Act::AwaitFor,
        "signal" => Act::Signal { is_all: false },
        "signalall" => Act::Signal { is_all: true },
        "load" => Act::Load,
        "store" => Act::Store,
        "update" => Act::Update,
        "send" => Act::Send,
        "receive" => Act::Receive,
        "meet" => Act::Meet,
        "submit" => Act::Submit,
        "complete" => Act::Complete,
        "wraps" => Act::Wraps,
        "changes" => Act::Changes,
        _ => return None,
    })
}

/// Reads the notation; none if a line is not understood.
fn read(text: &str) -> Option<Library> {
    let mut library = Library::default();
    // The classes that the next acts are about, whether these are acts without an object, and whether some were read.
    let (mut open, mut is_static, mut has_acts) = (Vec::<&str>::new(), false, false);
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let is_indented = line.starts_with(' ');
        let mut words = line.split_whitespace();
        let first = words.next()?;
        let names = words.map(|name| Box::<[u8]>::from(name.as_bytes()));
        if is_indented {
            has_acts = true;
            let act = act(first)?;
            let added: Vec<(Box<[u8]>, Act)> = names.map(|name| (name, act)).collect();
            for &class in &open {
                library.add(class.as_bytes(), is_static, &added);
            }
        } else if let Some(sharing) = sharing(first) {
            let model = |name| (name, Model::Collection { sharing, is_simple: false });
            library.classes.extend(names.map(model));
        } else if first == "simple" {
            for name in names {
                let Some(Model::Collection { is_simple, .. }) = library.classes.get_mut(&name) else {
                    return None;
                };
                *is_simple = true;
            }
        } else if let Some(content) = content(first) {
            library.content.0.extend(names.map(|name| (name, content)));
        } else {
            (first == "static" || first == "class").then_some(())?;
            is_static = first == "static";
            // Classes in several lines belong together as long as there are no acts.
            if std::mem::take(&mut has_acts) {
                open.clear();
            }
            open.extend(line.split_whitespace().skip(1));
        }
    }
    Some(library)
}

impl Library {
    fn add(&mut self, class: &[u8], is_static: bool, added: &[(Box<[u8]>, Act)]) {
        let names = if is_static {
            self.statics.entry(class.into()).or_default()
        } else {
            match self.classes.entry(class.into()).or_insert_with(|| Model::Acts(Names::default())) {
                Model::Acts(names) => names,
                Model::Collection { .. } => return,
            }
        };
        names.0.extend_from_slice(added);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_understood() {
        let library = read(include_str!("library.txt")).expect("no line is wrong");
        assert!(library.classes.len() > 50 && library.statics.len() > 5);
        let act =
            |class: &str, name: &str| of_class(class.as_bytes()).map(|model| model.act(name.as_bytes()));
        assert_eq!(act("java/util/ArrayList", "add"), Some(Act::Content(Content::Resizes)));
        assert_eq!(act("java/util/ArrayList", "spliterator"), Some(Act::Content(Content::Unknown)));
        let lock = "java/util/concurrent/locks/ReentrantLock";
        assert_eq!(act(lock, "tryLock"), Some(Act::Lock { is_shared: false, may_fail: true }));
        assert_eq!(act(lock, "getQueueLength"), Some(Act::Fence));
        assert_eq!(act("java/util/concurrent/atomic/AtomicLong", "addAndGet"), Some(Act::Update));
        assert_eq!(act("java/util/concurrent/atomic/AtomicReferenceArray", "getAndSet"), Some(Act::Update));
        assert_eq!(act("java/lang/Process", "waitFor"), None);
        assert_eq!(of_static(b"java/util/Collections", b"unmodifiableMap"), Some(Act::Wraps));
    }

    #[test]
    fn words_that_are_unknown_are_errors() {
        assert!(read("plain a/B").is_some() && read("class a/B\n  load get").is_some());
        assert!(read("class a/B\n  lod get").is_none() && read("plane a/B").is_none());
    }

    #[test]
    fn names_may_have_any_end_or_beginning() {
        assert!(fits(b"get*", b"getAll") && fits(b"*Get", b"addAndGet") && fits(b"*", b"any"));
        assert!(!fits(b"get", b"getAll") && !fits(b"*Get", b"getAnd"));
    }
}
