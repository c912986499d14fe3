//! Values of a program as far as they are known: the bits of what fits into a word, or into two.

/// A type whose values fit into a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scalar {
    /// A number of so many bits, 1 to 64.
    Int(u32),
    Pointer,
    Float,
    Double,
}

/// What is known of a value, bit by bit from the lowest on, and zero beyond its width. The second word is that of the
/// second member of a structure; what has only one word has nothing there.
pub(crate) type Known = [Option<u64>; 2];

/// Nothing is known.
pub(crate) const UNKNOWN: Known = [None; 2];

/// A type, as far as its values can be known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    /// One word.
    One(Scalar),
    /// A structure of two words.
    Two([Scalar; 2]),
    /// Anything else.
    Other,
}

impl Type {
    /// The type that LLVM writes like this.
    pub(crate) fn parse(text: &str) -> Type {
        if let Some(scalar) = Scalar::parse(text) {
            return Type::One(scalar);
        }
        let members = text.strip_prefix("{ ").and_then(|text| text.strip_suffix(" }"));
        let two = members.and_then(|members| members.split_once(", "));
        let two = two.and_then(|(one, other)| Some([Scalar::parse(one)?, Scalar::parse(other)?]));
        two.map_or(Type::Other, Type::Two)
    }

    /// The type, if it is one word.
    pub(crate) fn scalar(self) -> Option<Scalar> {
        match self {
            Type::One(scalar) => Some(scalar),
            Type::Two(_) | Type::Other => None,
        }
    }

    /// What is known, cut to the widths of this type.
    pub(crate) fn fit(self, known: Known) -> Known {
        match self {
            Type::One(scalar) => [known[0].map(|value| scalar.fit(value)), None],
            Type::Two([one, other]) => {
                [known[0].map(|value| one.fit(value)), known[1].map(|value| other.fit(value))]
            }
            Type::Other => UNKNOWN,
        }
    }
}

impl Scalar {
    fn parse(text: &str) -> Option<Scalar> {
        match text {
            "ptr" => Some(Scalar::Pointer),
            "float" => Some(Scalar::Float),
            "double" => Some(Scalar::Double),
            _ => {
                let bits = text.strip_prefix('i')?.parse().ok()?;
                (1..=u64::BITS).contains(&bits).then_some(Scalar::Int(bits))
            }
        }
    }

    /// How many bits it has.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Scalar::Int(bits) => bits,
            Scalar::Float => 32,
            Scalar::Pointer | Scalar::Double => 64,
        }
    }

    /// A value without what is beyond the width.
    pub(crate) fn fit(self, value: u64) -> u64 {
        value & (u64::MAX >> (u64::BITS - self.bits()))
    }

    /// A value with its sign.
    pub(crate) fn signed(self, value: u64) -> i64 {
        let unused = u64::BITS - self.bits();
        (value << unused).cast_signed() >> unused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read() {
        assert_eq!(Type::parse("i32"), Type::One(Scalar::Int(32)));
        assert_eq!(Type::parse("ptr"), Type::One(Scalar::Pointer));
        assert_eq!(Type::parse("{ i64, i1 }"), Type::Two([Scalar::Int(64), Scalar::Int(1)]));
        assert_eq!(Type::parse("{ double, float }"), Type::Two([Scalar::Double, Scalar::Float]));
        let others =
            ["", "i0", "i65", "i128", "void", "x86_fp80", "<2 x i32>", "{ i8 }", "{ i8, i8, i8 }", "half"];
        assert!(others.iter().all(|other| Type::parse(other) == Type::Other));
    }

    #[test]
    fn values_keep_to_their_width() {
        assert_eq!(Scalar::Int(1).fit(3), 1);
        assert_eq!(Scalar::Int(64).fit(u64::MAX), u64::MAX);
        assert_eq!((Scalar::Int(8).signed(0x80), Scalar::Int(1).signed(1)), (-128, -1));
        let two = Type::Two([Scalar::Int(8), Scalar::Int(1)]);
        assert_eq!(two.fit([Some(0x1FF), Some(2)]), [Some(0xFF), Some(0)]);
        assert_eq!(Type::Other.fit([Some(1), None]), UNKNOWN);
    }
}
