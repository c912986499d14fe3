//! Effects of a call, and their notation.
//!
//! ```text
//! effect := "reads" place extent guard? | "writes" place extent guard?
//!         | "prints" argument ("list" argument)? | "scans" argument ("list" argument)?
//!         | "io" argument? | "clock" | "console" | "requires" place "zero"
//! place  := ("*"? argument | "result") ("+" number)?
//! extent := "text" ("within" size)? | size
//! size   := term ("*" term)? ("+" number)?          term := argument | "result" | number
//! guard  := "if result" | "unless result"
//! ```
//!
//! Arguments are `$0`, `$1`, …

/// What a call does to the program's memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It reads this memory, and the result may depend on it. If the extent depends on the result, the call writes
    /// nothing of this memory.
    Reads(Place, Extent),
    /// It has written this memory when it returns.
    Writes(Place, Extent, Guard),
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
    Requires(Place),
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
pub struct Place {
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
pub struct Size(pub Term, pub Option<Term>, pub u64);

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
            ["requires", place, "zero"] => Ok(Effect::Requires(self::place(place)?)),
            ["prints", ref rest @ ..] => Ok(Effect::Prints(formatted(rest)?)),
            ["scans", ref rest @ ..] => Ok(Effect::Scans(formatted(rest)?)),
            ["reads", place, ref rest @ ..] => reads(place, rest),
            ["writes", place, ref rest @ ..] => {
                let (extent, guard) = split_guard(rest);
                Ok(Effect::Writes(self::place(place)?, self::extent(extent)?, guard))
            }
            _ => Err(format!("`{text}` is no effect")),
        }
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
            Effect::Requires(place) => of_pointer(place.pointer),
            Effect::Clock => None,
        }
    }
}

impl Extent {
    fn last_argument(self) -> Option<u32> {
        let (Extent::Bytes(size) | Extent::Text(Some(size))) = self else { return None };
        size.terms()
            .filter_map(|term| if let Term::Argument(number) = term { Some(number) } else { None })
            .max()
    }

    /// Whether it depends on the result.
    pub fn needs_result(self) -> bool {
        let (Extent::Bytes(size) | Extent::Text(Some(size))) = self else { return false };
        size.terms().any(|term| term == Term::Result)
    }
}

impl Size {
    fn terms(self) -> impl Iterator<Item = Term> {
        [Some(self.0), self.1].into_iter().flatten()
    }
}

fn reads(place: &str, rest: &[&str]) -> Result<Effect, String> {
    let place = self::place(place)?;
    if place.pointer == Pointer::Result {
        return Err("a read happens before there is a result".to_string());
    }
    Ok(Effect::Reads(place, extent(rest)?))
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

fn place(word: &str) -> Result<Place, String> {
    let (pointer, offset) = word.split_once('+').unwrap_or((word, "0"));
    let pointer = match pointer.strip_prefix('*') {
        Some(behind) => Pointer::Behind(argument(behind)?),
        None if pointer == "result" => Pointer::Result,
        None => Pointer::Argument(argument(pointer)?),
    };
    Ok(Place { pointer, offset: number(offset)? })
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
    Ok(Size(term(one)?, other, number(more)?))
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

    const fn at(number: u32) -> Place {
        Place { pointer: Pointer::Argument(number), offset: 0 }
    }

    #[test]
    fn effects_have_a_notation() {
        let product = Size(Term::Argument(1), Some(Term::Result), 1);
        let writes = Effect::Writes(at(0), Extent::Bytes(product), Guard::Always);
        assert_eq!(Effect::parse("writes $0 $1*result+1"), Ok(writes));
        let text = Extent::Text(Some(Size(Term::Argument(1), None, 0)));
        assert_eq!(Effect::parse("reads $0 text within $1"), Ok(Effect::Reads(at(0), text)));
        let behind = Place { pointer: Pointer::Behind(2), offset: 8 };
        let guarded = Effect::Writes(behind, Extent::Text(None), Guard::IfResult);
        assert_eq!(Effect::parse("writes *$2+8 text if result"), Ok(guarded));
        let list = Formatted { format: 2, list: Some(3) };
        assert_eq!(Effect::parse("prints $2 list $3"), Ok(Effect::Prints(list)));
    }

    #[test]
    fn wrong_effects_are_explained() {
        for (text, reason) in [
            ("touches $0 8", "is no effect"),
            ("reads $0", "is no extent"),
            ("reads result 8", "before there is a result"),
            ("reads 0 8", "is no argument"),
            ("writes $99 8", "is no argument"),
            ("writes $0 -8", "is no number"),
            ("prints $0 list", "expected `$N`"),
        ] {
            let error = Effect::parse(text).expect_err(text);
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
