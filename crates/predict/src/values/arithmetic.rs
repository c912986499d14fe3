//! What operations make of values, see [`foretell_trace::values`].

use foretell_trace::Value;
use foretell_trace::values::{Binary, Demanded, Unary};

/// A value: a number, or a name that equals nothing but itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Datum {
    Number(u64),
    Name(Value),
}

impl Datum {
    pub(crate) fn is_zero(self) -> bool {
        self == Datum::Number(0)
    }

    fn number(self) -> Option<u64> {
        match self {
            Datum::Number(number) => Some(number),
            Datum::Name(_) => None,
        }
    }
}

impl From<Demanded> for Datum {
    fn from(demanded: Demanded) -> Datum {
        match demanded {
            Demanded::Number(number) => Datum::Number(number),
            Demanded::Name(name) => Datum::Name(name),
        }
    }
}

/// The lowest bits of a number.
fn low(number: u64, width: u8) -> u64 {
    if width >= 64 { number } else { number & ((1 << width) - 1) }
}

/// The lowest bits of a number, the highest of which is the sign.
fn signed(number: u64, width: u8) -> i64 {
    let spare = 64 - u32::from(width.clamp(1, 64));
    (number << spare).cast_signed() >> spare
}

/// The result of an operation on one value, if it has any.
pub(crate) fn unary(op: Unary, width: u8, of: Datum) -> Option<Datum> {
    Some(Datum::Number(match op {
        Unary::Truncate => low(of.number()?, width),
        Unary::ExtendSign => signed(of.number()?, width).cast_unsigned(),
        Unary::IsZero => match of {
            Datum::Number(number) => u64::from(low(number, width) == 0),
            Datum::Name(_) => 0,
        },
    }))
}

/// The result of an operation on two values, if it has any.
pub(crate) fn binary(op: Binary, width: u8, left: Datum, right: Datum) -> Option<Datum> {
    if op == Binary::Equal && (left.number().is_none() || right.number().is_none()) {
        return Some(Datum::Number(u64::from(left == right)));
    }
    let (left, right) = (low(left.number()?, width), low(right.number()?, width));
    let (left_signed, right_signed) = (signed(left, width), signed(right, width));
    let shift = u32::try_from(right).ok().filter(|&bits| bits < u32::from(width));
    let number = match op {
        Binary::Add => left.wrapping_add(right),
        Binary::Subtract => left.wrapping_sub(right),
        Binary::Multiply => left.wrapping_mul(right),
        Binary::DivideUnsigned => left.checked_div(right)?,
        Binary::RemainderUnsigned => left.checked_rem(right)?,
        Binary::DivideSigned | Binary::RemainderSigned if right == 0 => return None,
        Binary::DivideSigned => left_signed.wrapping_div(right_signed).cast_unsigned(),
        Binary::RemainderSigned => left_signed.wrapping_rem(right_signed).cast_unsigned(),
        Binary::And => left & right,
        Binary::Or => left | right,
        Binary::Xor => left ^ right,
        Binary::ShiftLeft => left << shift?,
        Binary::ShiftRight => left >> shift?,
        Binary::ShiftRightSigned => (left_signed >> shift?).cast_unsigned(),
        Binary::Equal => u64::from(left == right),
        Binary::LessUnsigned => u64::from(left < right),
        Binary::LessSigned => u64::from(left_signed < right_signed),
    };
    Some(Datum::Number(low(number, width)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(op: Binary, width: u8, left: u64, right: u64) -> Option<u64> {
        binary(op, width, Datum::Number(left), Datum::Number(right)).and_then(Datum::number)
    }

    #[test]
    fn numbers_wrap_around_at_their_width() {
        assert_eq!(of(Binary::Add, 8, 255, 1), Some(0));
        assert_eq!(of(Binary::Add, 64, u64::MAX, 1), Some(0));
        assert_eq!(of(Binary::Subtract, 32, 0, 1), Some(0xffff_ffff));
        assert_eq!(of(Binary::Multiply, 1, 1, 1), Some(1));
        assert_eq!(of(Binary::DivideSigned, 8, 0x80, 0xff), Some(0x80), "the least number by -1");
        assert_eq!(of(Binary::DivideSigned, 64, 1 << 63, u64::MAX), Some(1 << 63));
        assert_eq!(of(Binary::RemainderSigned, 32, 0xffff_fff9, 3), Some(0xffff_ffff), "-7 by 3 leaves -1");
    }

    #[test]
    fn what_is_not_defined_has_no_value() {
        for op in
            [Binary::DivideSigned, Binary::DivideUnsigned, Binary::RemainderSigned, Binary::RemainderUnsigned]
        {
            assert_eq!(of(op, 32, 7, 1 << 32), None, "only 32 bits of the divisor count: {op:?}");
        }
        assert_eq!(of(Binary::ShiftLeft, 32, 1, 32), None);
        assert_eq!(of(Binary::ShiftLeft, 32, 1, 31), Some(1 << 31));
        assert_eq!(of(Binary::ShiftRightSigned, 8, 0x80, 7), Some(0xff));
    }

    #[test]
    fn names_equal_nothing_but_themselves() {
        let (name, zero) = (Datum::Name(Value::ZERO), Datum::Number(0));
        assert_eq!(binary(Binary::Equal, 64, name, name), Some(Datum::Number(1)));
        assert_eq!(binary(Binary::Equal, 64, name, zero), Some(zero));
        assert_eq!(binary(Binary::Add, 64, name, zero), None);
        assert_eq!(unary(Unary::IsZero, 64, name), Some(zero));
        assert_eq!(unary(Unary::Truncate, 64, name), None);
    }

    #[test]
    fn signs_are_those_of_the_width() {
        assert_eq!(of(Binary::LessSigned, 8, 0xff, 0), Some(1));
        assert_eq!(of(Binary::LessUnsigned, 8, 0xff, 0), Some(0));
        assert_eq!(unary(Unary::ExtendSign, 8, Datum::Number(0x1ff)), Some(Datum::Number(u64::MAX)));
        assert_eq!(unary(Unary::Truncate, 8, Datum::Number(0x1ff)), Some(Datum::Number(0xff)));
    }
}
