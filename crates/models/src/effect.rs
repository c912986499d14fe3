//! Effects of a call, and their notation.
//!
//! ```text
//! effect := "reads" place extent guard? | "writes" place extent guard?
//!         | "prints" argument ("list" argument)? | "scans" argument ("list" argument)?
//!         | "io" argument? | "clock" | "console" | "openmp" | "requires" place "zero" | "only" argument number+
//!         | "calls" ("from" channel)? | "flushes" | "allocates" size | "frees" place | sync
//! sync   := "locks" place "shared"? guard? | "unlocks" place
//!         | "waits" place "with" place guard? | "wakes" "all"? place
//!         | "posts" place | "takes" place guard?
//!         | "once" place number | "loads" place number guard? | "stores" place number guard?
//!         | "sends" (place | channel) | "receives" (place | channel) guard? | "orders" (place | channel)
//! place  := ("*"? argument | "result") ("+" number)?
//! extent := "text" ("within" size)? | size
//! size   := term ("*" term)? ("+" term)?            term := argument | "result" | number
//! guard  := "if result" | "unless result"
//! ```
//!
//! Arguments are `$0`, `$1`, …; channels are names.

use foretell_wire::act::Act;

/// What a call does to the program's memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It reads this memory, and the result may depend on it. If the extent depends on the result, the call writes
    /// nothing of this memory.
    Reads(MemoryRef, Extent),
    /// It has written this memory when it returns.
    Writes(MemoryRef, Extent, Guard),
    /// It formats as `printf` does: it reads the format and what `%s` refers to, and writes what `%n` refers to.
    Prints(Formatted),
    /// It parses as `scanf` does: it reads the format, and writes what the conversions refer to.
    Scans(Formatted),
    /// What it does depends on earlier calls in ways that are not in the program's memory: it keeps its order among
    /// all I/O, unless the stream in this argument is standard output or standard error.
    Io(Option<u32>),
    /// It asks for the time.
    Clock,
    /// The model holds only if the first argument is `std::cout`, `std::cerr` or `std::clog`; otherwise the call is a
    /// fence.
    Console,
    /// The model holds only if this word is zero, which the function reads; otherwise the call is a fence.
    Requires(MemoryRef),
    /// The model holds only where the argument is one of these constants; any other call is a fence.
    Only(u32, Vec<u64>),
    /// The model holds only if the library of OpenMP tells what its threads do; otherwise the call is a fence.
    OpenMp,
    /// It may call functions of the program before it returns, as may threads that it starts. If there is a channel,
    /// these functions receive from it when they begin, and send to it when they end.
    Calls(Option<Channel>),
    /// It is a memory fence, sequentially consistent.
    Flushes,
    /// It returns so much new memory.
    Allocates(Size),
    /// It gives this memory back.
    Frees(MemoryRef),
    /// It synchronises.
    Sync(Synchronisation),
}

/// Something by which calls pass on what threads have done, and that is no memory of the program: a number made of its
/// name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Channel(pub u32);

/// What a call synchronises by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Object {
    /// The place itself, not what is there.
    At(MemoryRef),
    /// A channel, to send and receive.
    Channel(Channel),
}

/// How a call synchronises.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Synchronisation {
    /// What it does.
    pub act: Act,
    /// The object that it does it with.
    pub object: Object,
    /// The lock that it gives up while it waits.
    pub lock: Option<MemoryRef>,
    /// How many bytes the word has that it accesses.
    pub bytes: u32,
    /// Whether it did it.
    pub guard: Guard,
}

/// The arguments of a function with a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Formatted {
    /// The number of the argument that is the format.
    pub format: u32,
    /// The number of the argument that is a `va_list`; without it, the arguments after the format.
    pub list: Option<u32>,
}

/// The memory that an effect is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryRef {
    /// The pointer to it.
    pub pointer: Pointer,
    /// The distance from there, in bytes.
    pub offset: u64,
}

/// A pointer that a call gets or returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pointer {
    /// An argument.
    Argument(u32),
    /// What an argument points to when the effect takes place.
    Behind(u32),
    /// The result.
    Result,
}

/// How much memory an effect is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// So many bytes.
    Bytes(Size),
    /// Up to and including the first zero byte, and at most so many bytes.
    Text(Option<Size>),
}

/// A product of one or two numbers, and a number that is added; if a factor is negative, the size is zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size(pub Term, pub Option<Term>, pub Term);

/// A number that is known when an effect takes place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Term {
    /// A constant.
    Number(u64),
    /// An argument.
    Argument(u32),
    /// The result.
    Result,
}

/// When a write happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Guard {
    /// Always.
    #[default]
    Always,
    /// If the result is not zero.
    IfResult,
    /// If the result is zero.
    UnlessResult,
}

impl Effect {
    /// Parses an effect; the error says what was expected.
    pub(crate) fn parse(text: &str) -> Result<Effect, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match *words.as_slice() {
            ["io"] => Ok(Effect::Io(None)),
            ["io", stream] => Ok(Effect::Io(Some(argument(stream)?))),
            ["clock"] => Ok(Effect::Clock),
            ["console"] => Ok(Effect::Console),
            ["openmp"] => Ok(Effect::OpenMp),
            ["requires", place, "zero"] => Ok(Effect::Requires(self::place(place)?)),
            ["only", argument, first, ref more @ ..] => {
                let numbers = std::iter::once(&first).chain(more).map(|word| number(word));
                Ok(Effect::Only(self::argument(argument)?, numbers.collect::<Result<_, _>>()?))
            }
            ["calls"] => Ok(Effect::Calls(None)),
            ["calls", "from", name] => {
                let channel = channel(name).ok_or_else(|| format!("`{name}` is no channel"))?;
                Ok(Effect::Calls(Some(channel)))
            }
            ["flushes"] => Ok(Effect::Flushes),
            ["allocates", size] => Ok(Effect::Allocates(self::size(size)?)),
            ["frees", place] => Ok(Effect::Frees(self::place(place)?)),
            ["prints", ref rest @ ..] => Ok(Effect::Prints(formatted(rest)?)),
            ["scans", ref rest @ ..] => Ok(Effect::Scans(formatted(rest)?)),
            ["reads", place, ref rest @ ..] => reads(place, rest),
            ["writes", place, ref rest @ ..] => {
                let (extent, guard) = split_guard(rest);
                Ok(Effect::Writes(self::place(place)?, self::extent(extent)?, guard))
            }
            _ => synchronisation(&words)
                .map_err(|error| error.unwrap_or_else(|| format!("`{text}` is no effect")))
                .map(Effect::Sync),
        }
    }

    /// Whether the function may do more than access memory: other threads, or functions of the program, may run before
    /// it returns.
    pub fn lets_others_run(&self) -> bool {
        matches!(self, Effect::Calls(_) | Effect::Sync(_))
    }

    /// The highest number of an argument that the effect refers to.
    pub fn last_argument(&self) -> Option<u32> {
        let of_pointer = |pointer: Pointer| match pointer {
            Pointer::Argument(number) | Pointer::Behind(number) => Some(number),
            Pointer::Result => None,
        };
        match self {
            Effect::Reads(place, extent) | Effect::Writes(place, extent, _) => {
                of_pointer(place.pointer).max(extent.last_argument())
            }
            Effect::Prints(formatted) | Effect::Scans(formatted) => {
                Some(formatted.format).max(formatted.list)
            }
            Effect::Io(stream) => *stream,
            Effect::Console => Some(0),
            Effect::Only(argument, _) => Some(*argument),
            Effect::Requires(place) | Effect::Frees(place) => of_pointer(place.pointer),
            Effect::Allocates(size) => size.last_argument(),
            Effect::Sync(sync) => {
                let places = [sync.object.place(), sync.lock].into_iter().flatten();
                places.filter_map(|place| of_pointer(place.pointer)).max()
            }
            Effect::Clock | Effect::OpenMp | Effect::Calls(_) | Effect::Flushes => None,
        }
    }
}

impl Object {
    fn place(self) -> Option<MemoryRef> {
        match self {
            Object::At(place) => Some(place),
            Object::Channel(_) => None,
        }
    }
}

impl Extent {
    fn last_argument(self) -> Option<u32> {
        let (Extent::Bytes(size) | Extent::Text(Some(size))) = self else { return None };
        size.last_argument()
    }

    /// Whether it depends on the result.
    pub fn needs_result(self) -> bool {
        let (Extent::Bytes(size) | Extent::Text(Some(size))) = self else { return false };
        size.terms().any(|term| term == Term::Result)
    }
}

impl Size {
    fn last_argument(self) -> Option<u32> {
        let number = |term| if let Term::Argument(number) = term { Some(number) } else { None };
        self.terms().filter_map(number).max()
    }

    fn terms(self) -> impl Iterator<Item = Term> {
        [Some(self.0), self.1, Some(self.2)].into_iter().flatten()
    }
}

fn reads(place: &str, rest: &[&str]) -> Result<Effect, String> {
    let place = self::place(place)?;
    if place.pointer == Pointer::Result {
        return Err("a read happens before there is a result".to_string());
    }
    Ok(Effect::Reads(place, extent(rest)?))
}

/// The error is empty if the words are no synchronisation at all.
fn synchronisation(words: &[&str]) -> Result<Synchronisation, Option<String>> {
    let (words, guard) = split_guard(words);
    let (mut lock, mut bytes) = (None, 0);
    let mut word = |act, size: &str, object| {
        bytes = size.parse().ok().filter(|size| matches!(size, 1 | 2 | 4 | 8))?;
        Some((act, object))
    };
    let (act, object) = match *words {
        ["locks", object] => (Act::Lock, object),
        ["locks", object, "shared"] => (Act::LockShared, object),
        ["unlocks", object] => (Act::Unlock, object),
        ["waits", object, "with", place] => {
            lock = Some(self::place(place)?);
            (Act::Wait, object)
        }
        ["wakes", "all", object] => (Act::WakeAll, object),
        ["wakes", object] => (Act::Wake, object),
        ["posts", object] => (Act::Post, object),
        ["takes", object] => (Act::Take, object),
        ["once" | "loads" | "stores", object, size] => {
            let act = match words[0] {
                "once" => Act::Once,
                "loads" => Act::Load,
                _ => Act::Store,
            };
            word(act, size, object).ok_or_else(|| Some(format!("`{size}` is not 1, 2, 4 or 8")))?
        }
        ["sends", object] => (Act::Send, object),
        ["receives", object] => (Act::Receive, object),
        ["orders", object] => (Act::Order, object),
        _ => return Err(None),
    };
    let is_message = matches!(act, Act::Send | Act::Receive | Act::Order);
    let object = match channel(object).filter(|_| is_message) {
        Some(channel) => Object::Channel(channel),
        None => Object::At(place(object)?),
    };
    let is_result = object.place().is_some_and(|place| place.pointer == Pointer::Result);
    let needs_result = is_result || guard != Guard::Always;
    if needs_result && act.is_early() {
        return Err(Some("this happens before there is a result".to_string()));
    }
    Ok(Synchronisation { act, object, lock, bytes, guard })
}

/// A channel is a name that is nothing else. Its number is a hash of that (FNV-1a).
fn channel(name: &str) -> Option<Channel> {
    let is_name = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let hash = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    (is_name && name != "result").then(|| Channel(name.bytes().fold(0x811C_9DC5, hash) | 1))
}

fn split_guard<'a, 'b>(words: &'a [&'b str]) -> (&'a [&'b str], Guard) {
    match words {
        [extent @ .., "if", "result"] => (extent, Guard::IfResult),
        [extent @ .., "unless", "result"] => (extent, Guard::UnlessResult),
        extent => (extent, Guard::Always),
    }
}

fn formatted(words: &[&str]) -> Result<Formatted, String> {
    match *words {
        [format] => Ok(Formatted { format: argument(format)?, list: None }),
        [format, "list", list] => Ok(Formatted { format: argument(format)?, list: Some(argument(list)?) }),
        _ => Err("expected `$N` or `$N list $M`".to_string()),
    }
}

fn place(word: &str) -> Result<MemoryRef, String> {
    let (pointer, offset) = word.split_once('+').unwrap_or((word, "0"));
    let pointer = match pointer.strip_prefix('*') {
        Some(behind) => Pointer::Behind(argument(behind)?),
        None if pointer == "result" => Pointer::Result,
        None => Pointer::Argument(argument(pointer)?),
    };
    Ok(MemoryRef { pointer, offset: number(offset)? })
}

fn extent(words: &[&str]) -> Result<Extent, String> {
    match *words {
        ["text"] => Ok(Extent::Text(None)),
        ["text", "within", limit] => Ok(Extent::Text(Some(size(limit)?))),
        [bytes] => Ok(Extent::Bytes(size(bytes)?)),
        _ => {
            Err(format!("`{}` is no extent: expected `text`, `text within SIZE` or a size", words.join(" ")))
        }
    }
}

fn size(word: &str) -> Result<Size, String> {
    let (product, more) = word.split_once('+').unwrap_or((word, "0"));
    let (one, other) = match product.split_once('*') {
        Some((one, other)) => (one, Some(term(other)?)),
        None => (product, None),
    };
    Ok(Size(term(one)?, other, term(more)?))
}

fn term(word: &str) -> Result<Term, String> {
    match word {
        "result" => Ok(Term::Result),
        _ if word.starts_with('$') => Ok(Term::Argument(argument(word)?)),
        _ => Ok(Term::Number(number(word)?)),
    }
}

fn argument(word: &str) -> Result<u32, String> {
    let number = word.strip_prefix('$').and_then(|number| number.parse().ok());
    number.filter(|&number| number < 32).ok_or_else(|| format!("`{word}` is no argument (`$0` to `$31`)"))
}

fn number(word: &str) -> Result<u64, String> {
    let number = word.parse().ok().filter(|&number: &u64| number <= u32::MAX.into());
    number.ok_or_else(|| format!("`{word}` is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(number: u32) -> MemoryRef {
        MemoryRef { pointer: Pointer::Argument(number), offset: 0 }
    }

    #[test]
    fn effects_have_a_notation() {
        let product = Size(Term::Argument(1), Some(Term::Result), Term::Number(1));
        let writes = Effect::Writes(at(0), Extent::Bytes(product), Guard::Always);
        assert_eq!(Effect::parse("writes $0 $1*result+1"), Ok(writes));
        let text = Extent::Text(Some(Size(Term::Argument(1), None, Term::Number(0))));
        assert_eq!(Effect::parse("reads $0 text within $1"), Ok(Effect::Reads(at(0), text)));
        let behind = MemoryRef { pointer: Pointer::Behind(2), offset: 8 };
        let guarded = Effect::Writes(behind, Extent::Text(None), Guard::IfResult);
        assert_eq!(Effect::parse("writes *$2+8 text if result"), Ok(guarded));
        assert_eq!(Effect::parse("only $1 0 4"), Ok(Effect::Only(1, vec![0, 4])));
        let list = Formatted { format: 2, list: Some(3) };
        assert_eq!(Effect::parse("prints $2 list $3"), Ok(Effect::Prints(list)));
    }

    #[test]
    fn synchronisation_has_a_notation() {
        let sync = |act, object, lock, guard| {
            Ok(Effect::Sync(Synchronisation { act, object: Object::At(object), lock, bytes: 0, guard }))
        };
        let wanted = sync(Act::LockShared, at(0), None, Guard::IfResult);
        assert_eq!(Effect::parse("locks $0 shared if result"), wanted);
        let wanted = sync(Act::Wait, at(0), Some(at(1)), Guard::UnlessResult);
        assert_eq!(Effect::parse("waits $0 with $1 unless result"), wanted);
        let new = MemoryRef { pointer: Pointer::Result, offset: 0 };
        assert_eq!(Effect::parse("receives result"), sync(Act::Receive, new, None, Guard::Always));
        let object = Object::Channel(channel("pool").expect("a name"));
        let sends = Synchronisation { act: Act::Send, object, lock: None, bytes: 0, guard: Guard::Always };
        assert_eq!(Effect::parse("sends pool"), Ok(Effect::Sync(sends)));
        assert_eq!(Effect::parse("calls from pool"), Ok(Effect::Calls(channel("pool"))));
        assert!(channel("pool") != channel("loop"));
        let both = Size(Term::Argument(3), None, Term::Argument(4));
        assert_eq!(Effect::parse("allocates $3+$4"), Ok(Effect::Allocates(both)));
    }

    #[test]
    fn wrong_effects_are_explained() {
        for (text, reason) in [
            ("touches $0 8", "is no effect"),
            ("reads $0", "is no extent"),
            ("only $0", "is no effect"),
            ("only $0 x", "is no number"),
            ("reads result 8", "before there is a result"),
            ("reads 0 8", "is no argument"),
            ("writes $99 8", "is no argument"),
            ("writes $0 -8", "is no number"),
            ("prints $0 list", "expected `$N`"),
            ("locks", "is no effect"),
            ("locks 7", "is no argument"),
            ("unlocks $0 if result", "before there is a result"),
            ("sends result", "before there is a result"),
            ("waits $0", "is no effect"),
            ("frees 7", "is no argument"),
            ("locks pool", "is no argument"),
            ("loads $0 3", "is not 1, 2, 4 or 8"),
            ("calls from $0", "is no channel"),
        ] {
            let error = Effect::parse(text).expect_err(text);
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
