//! What debug information tells of types: which field lies where.
//!
//! A layout is a text, so that the table of a module has each of them once. Numbers are decimal and end with `;`,
//! names have their length before them:
//!
//! ```text
//! layout = 's' size                                             a number, a pointer, or what is not distinguished
//!        | 'S' size name library fields { offset name layout }  a structure; library: 1 if it is of a standard library
//!        | 'A' elements layout                                  an array
//! ```

use std::fmt::Write as _;

/// A type, as far as its fields go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TypeLayout {
    /// A number, a pointer, or what is not distinguished.
    Scalar {
        /// Its size in bytes.
        size: u64,
    },
    /// A structure.
    Structure {
        /// Its size in bytes.
        size: u64,
        /// What it is called.
        name: String,
        /// Whether it is of a standard library.
        is_of_library: bool,
        /// Offset, name and type of each field; what is inherited, and fields without names, have an empty one.
        fields: Vec<(u64, String, TypeLayout)>,
    },
    /// Elements of the same type.
    Array {
        /// How many.
        elements: u64,
        /// Their type.
        of: Box<TypeLayout>,
    },
}

/// Deeper types are not distinguished.
const DEEPEST: u32 = 16;

impl TypeLayout {
    /// The layout behind a text, if it is one.
    pub fn parse(text: &str) -> Option<TypeLayout> {
        let mut rest = text;
        let layout = TypeLayout::take(&mut rest, 0)?;
        rest.is_empty().then_some(layout)
    }

    fn take(rest: &mut &str, depth: u32) -> Option<TypeLayout> {
        if depth > DEEPEST {
            return None;
        }
        let kind = rest.chars().next()?;
        *rest = rest.get(1..)?;
        match kind {
            's' => Some(TypeLayout::Scalar { size: number(rest)? }),
            'A' => Some(TypeLayout::Array {
                elements: number(rest)?,
                of: Box::new(TypeLayout::take(rest, depth + 1)?),
            }),
            'S' => {
                let (size, name) = (number(rest)?, name(rest)?);
                let is_of_library = number(rest)? != 0;
                let mut fields = Vec::new();
                for _ in 0..number(rest)? {
                    let (offset, name) = (number(rest)?, self::name(rest)?);
                    fields.push((offset, name, TypeLayout::take(rest, depth + 1)?));
                }
                Some(TypeLayout::Structure { size, name, is_of_library, fields })
            }
            _ => None,
        }
    }

    /// Its size in bytes.
    pub fn size(&self) -> u64 {
        match self {
            TypeLayout::Scalar { size } | TypeLayout::Structure { size, .. } => *size,
            TypeLayout::Array { elements, of } => elements.saturating_mul(of.size()),
        }
    }

    /// What so many bytes at an offset are called within it: `.stats.hits`, `[3].next`, or empty if they are all of it.
    /// None if no single field has them. No bytes mean an object that begins there.
    pub fn path(&self, offset: u64, bytes: u64) -> Option<String> {
        let mut path = String::new();
        self.walk(offset, bytes, &mut path).then_some(path)
    }

    fn walk(&self, offset: u64, bytes: u64, path: &mut String) -> bool {
        match self {
            TypeLayout::Scalar { size } => offset == 0 && bytes <= *size,
            // What wraps one thing, in a library, is that thing; and an object of a library is not looked into.
            TypeLayout::Structure { size, is_of_library: true, .. }
                if offset == 0 && (bytes == *size || bytes == 0) =>
            {
                true
            }
            TypeLayout::Structure { fields, .. } => {
                let has = |(at, _, of): &&(u64, String, TypeLayout)| {
                    *at <= offset && offset.saturating_add(bytes.max(1)) <= at.saturating_add(of.size())
                };
                let mut having = fields.iter().filter(has);
                let (Some((at, name, of)), None) = (having.next(), having.next()) else { return false };
                if !name.is_empty() && !self.is_wrapper() {
                    // Writing into a text cannot fail.
                    let _ = write!(path, ".{name}");
                }
                // A scalar is what its name says only if all of it is meant.
                let is_whole = !matches!(of, TypeLayout::Scalar { size } if offset != *at || bytes > *size);
                (is_whole && !(name.is_empty() && matches!(of, TypeLayout::Scalar { .. })))
                    && of.walk(offset - at, bytes, path)
            }
            TypeLayout::Array { elements, of } => {
                let size = of.size();
                if size == 0 || offset / size >= *elements || offset % size + bytes.max(1) > size {
                    return false;
                }
                let _ = write!(path, "[{}]", offset / size);
                of.walk(offset % size, bytes, path)
            }
        }
    }

    /// Whether this is a structure of a library with nothing but one field, as a cell: what it holds is meant.
    fn is_wrapper(&self) -> bool {
        let TypeLayout::Structure { size, is_of_library: true, fields, .. } = self else { return false };
        let mut with_bytes = fields.iter().filter(|(.., of)| of.size() > 0);
        matches!((with_bytes.next(), with_bytes.next()), (Some((0, _, of)), None) if of.size() == *size)
    }

    /// What a block of memory holds beside reference counts, and where, if it is one of `Arc` or `Rc`.
    pub fn counted(&self) -> Option<(u64, &TypeLayout)> {
        let TypeLayout::Structure { name, is_of_library: true, fields, .. } = self else { return None };
        let held = match name.split('<').next() {
            Some("ArcInner") => "data",
            Some("RcInner" | "RcBox") => "value",
            _ => return None,
        };
        fields.iter().find(|(_, name, _)| name == held).map(|(at, _, of)| (*at, of))
    }

    /// Whether this type lies at an offset of the other: as a field, an element, or as the other itself.
    pub fn is_within(&self, other: &TypeLayout, offset: u64) -> bool {
        if offset == 0 && self == other {
            return true;
        }
        match other {
            TypeLayout::Scalar { .. } => false,
            TypeLayout::Structure { fields, .. } => fields
                .iter()
                .any(|(at, _, of)| offset.checked_sub(*at).is_some_and(|rest| self.is_within(of, rest))),
            TypeLayout::Array { of, .. } => of.size() > 0 && self.is_within(of, offset % of.size()),
        }
    }
}

fn number(rest: &mut &str) -> Option<u64> {
    let (digits, after) = rest.split_once(';')?;
    *rest = after;
    digits.parse().ok()
}

fn name(rest: &mut &str) -> Option<String> {
    let length = usize::try_from(number(rest)?).ok()?;
    let name = rest.get(..length)?;
    *rest = rest.get(length..)?;
    Some(name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATS: &str = "S16;5;stats0;2;0;4;hitss8;8;6;missess8;";

    fn connection() -> TypeLayout {
        let text =
            format!("S72;10;connection0;4;0;2;fds4;4;4;peerA20;s1;24;5;stats{STATS}40;4;lastA2;{STATS}");
        TypeLayout::parse(&text).unwrap()
    }

    #[test]
    fn bytes_are_called_by_their_fields() {
        let path = |offset, bytes| connection().path(offset, bytes);
        assert_eq!(path(0, 4).as_deref(), Some(".fd"));
        assert_eq!(path(7, 1).as_deref(), Some(".peer[3]"));
        assert_eq!(path(24, 8).as_deref(), Some(".stats.hits"));
        assert_eq!(path(64, 8).as_deref(), Some(".last[1].misses"));
        assert_eq!(path(0, 8), None, "two fields");
        assert_eq!(path(25, 4), None, "a part of a field");
        assert_eq!(path(72, 1), None, "beyond it");
        assert_eq!(path(28, 8), None, "the ends of two fields");
    }

    #[test]
    fn wrappers_of_libraries_are_what_they_wrap() {
        let atomic = TypeLayout::parse("S4;11;atomic<int>1;1;0;4;_M_is4;").unwrap();
        assert_eq!(atomic.path(0, 4).as_deref(), Some(""));
        assert_eq!(TypeLayout::parse("s4;").unwrap().path(0, 4).as_deref(), Some(""));
        let cell = format!("S16;17;UnsafeCell<stats>1;1;0;5;value{STATS}");
        let of_library = TypeLayout::parse(&cell).unwrap();
        assert_eq!(of_library.path(8, 8).as_deref(), Some(".misses"));
        let of_program = TypeLayout::parse(&cell.replacen("1;1;", "0;1;", 1)).unwrap();
        assert_eq!(of_program.path(8, 8).as_deref(), Some(".value.misses"));
    }

    #[test]
    fn reference_counts_are_told_from_what_is_counted() {
        let text = format!("S32;15;ArcInner<stats>1;3;0;6;strongs8;8;4;weaks8;16;4;data{STATS}");
        let counted = TypeLayout::parse(&text).unwrap();
        assert_eq!(counted.counted(), Some((16, &TypeLayout::parse(STATS).unwrap())));
        assert_eq!(connection().counted(), None);
        let of_program = TypeLayout::parse(&text.replacen("1;3;", "0;3;", 1)).unwrap();
        assert_eq!(of_program.counted(), None, "a type of the program that is called so");
    }

    #[test]
    fn a_type_is_found_within_another() {
        let stats = TypeLayout::parse(STATS).unwrap();
        assert!(stats.is_within(&connection(), 24) && stats.is_within(&connection(), 56));
        assert!(!stats.is_within(&connection(), 25) && !connection().is_within(&stats, 0));
    }

    #[test]
    fn what_is_no_layout_is_refused() {
        for text in ["", "s", "s4", "x4;", "S4;1;", "S4;9;ab0;0;", "A3;", "s4;s4;"] {
            assert_eq!(TypeLayout::parse(text), None, "{text}");
        }
        assert_eq!(TypeLayout::parse(&("A1;".repeat(99) + "s1;")), None);
    }
}
