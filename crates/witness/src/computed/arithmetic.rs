//! What operations make of values: [`foretell_trace::values`] says it, this does it.

use foretell_trace::values::{Binary, Demanded, Unary};

/// A value that is known: a number, or a name.
pub(crate) type Known = Demanded;

/// What the operation makes of a value, if anything.
pub(super) fn unary(op: Unary, width: u8, of: Known) -> Option<Known> {
    let number = match (op, of) {
        (Unary::IsZero, Known::Name(_)) => 0,
        (_, Known::Name(_)) => return None,
        (Unary::Truncate, Known::Number(number)) => low(width, number)?,
        (Unary::ExtendSign, Known::Number(number)) => signed(width, number)?.cast_unsigned(),
        (Unary::IsZero, Known::Number(number)) => u64::from(low(width, number)? == 0),
    };
    Some(Known::Number(number))
}

/// What the operation makes of two values, if anything.
pub(super) fn binary(op: Binary, width: u8, left: Known, right: Known) -> Option<Known> {
    let number = match (left, right) {
        (Known::Number(left), Known::Number(right)) => of_numbers(op, width, left, right)?,
        (left, right) if op == Binary::Equal => u64::from(left == right),
        _ => return None,
    };
    Some(Known::Number(number))
}

fn of_numbers(op: Binary, width: u8, left: u64, right: u64) -> Option<u64> {
    let (a, b) = (low(width, left)?, low(width, right)?);
    let (signed_a, signed_b) = (signed(width, left)?, signed(width, right)?);
    let shift = || u32::try_from(b).ok().filter(|&bits| bits < u32::from(width));
    let whole = match op {
        Binary::Add => a.wrapping_add(b),
        Binary::Subtract => a.wrapping_sub(b),
        Binary::Multiply => a.wrapping_mul(b),
        Binary::DivideUnsigned => a.checked_div(b)?,
        Binary::RemainderUnsigned => a.checked_rem(b)?,
        Binary::DivideSigned if b != 0 => signed_a.wrapping_div(signed_b).cast_unsigned(),
        Binary::RemainderSigned if b != 0 => signed_a.wrapping_rem(signed_b).cast_unsigned(),
        Binary::DivideSigned | Binary::RemainderSigned => return None,
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::ShiftLeft => a << shift()?,
        Binary::ShiftRight => a >> shift()?,
        Binary::ShiftRightSigned => (signed_a >> shift()?).cast_unsigned(),
        Binary::Equal => u64::from(a == b),
        Binary::LessUnsigned => u64::from(a < b),
        Binary::LessSigned => u64::from(signed_a < signed_b),
    };
    low(width, whole)
}

/// The lowest bits of a number. There are between 1 and 64 of them.
fn low(width: u8, number: u64) -> Option<u64> {
    let above = 64u32.checked_sub(width.into())?;
    Some(number.checked_shl(above)? >> above)
}

/// The same with their sign.
fn signed(width: u8, number: u64) -> Option<i64> {
    let above = 64u32.checked_sub(width.into())?;
    Some(number.checked_shl(above)?.cast_signed() >> above)
}

#[cfg(test)]
mod tests {
    use foretell_trace::Value;

    use super::*;

    fn of_one(op: Unary, width: u8, number: u64) -> Option<u64> {
        number_of(unary(op, width, Known::Number(number)))
    }

    fn of_two(op: Binary, width: u8, left: i64, right: i64) -> Option<u64> {
        let number = |number: i64| Known::Number(number.cast_unsigned());
        number_of(binary(op, width, number(left), number(right)))
    }

    fn number_of(known: Option<Known>) -> Option<u64> {
        match known? {
            Known::Number(number) => Some(number),
            Known::Name(_) => panic!("no operation makes names"),
        }
    }

    /// One line for each operation: operands, and what it makes of them with 1, 8, 32 and 64 bits.
    #[test]
    fn each_operation_at_each_width() {
        use Binary::*;
        let most = u64::MAX;
        let table: &[(Binary, i64, i64, [Option<u64>; 4])] = &[
            (Add, 255, 1, [Some(0), Some(0), Some(256), Some(256)]),
            (Add, -1, 1, [Some(0); 4]),
            (Subtract, 0, 1, [Some(1), Some(255), Some(0xFFFF_FFFF), Some(most)]),
            (Multiply, 16, 17, [Some(0), Some(16), Some(272), Some(272)]),
            (Multiply, i64::MAX, 2, [Some(0), Some(254), Some(0xFFFF_FFFE), Some(most - 1)]),
            (DivideUnsigned, -1, 3, [Some(1), Some(85), Some(0x5555_5555), Some(most / 3)]),
            (DivideSigned, -7, 3, [Some(1), Some(254), Some(0xFFFF_FFFE), Some(most - 1)]),
            (RemainderUnsigned, -1, 7, [Some(0), Some(3), Some(3), Some(1)]),
            (RemainderSigned, -7, 3, [Some(0), Some(255), Some(0xFFFF_FFFF), Some(most)]),
            (And, 0x1FF, 0x10F, [Some(1), Some(15), Some(0x10F), Some(0x10F)]),
            (Or, 0x100, 2, [Some(0), Some(2), Some(0x102), Some(0x102)]),
            (Xor, 0x1FF, 1, [Some(0), Some(254), Some(0x1FE), Some(0x1FE)]),
            (ShiftLeft, 3, 7, [None, Some(128), Some(384), Some(384)]),
            (ShiftLeft, 1, 31, [None, None, Some(1 << 31), Some(1 << 31)]),
            (ShiftRight, -2, 1, [None, Some(127), Some(0x7FFF_FFFF), Some(most >> 1)]),
            (ShiftRightSigned, -2, 1, [None, Some(255), Some(0xFFFF_FFFF), Some(most)]),
            (ShiftRightSigned, 64, 3, [None, Some(8), Some(8), Some(8)]),
            (Equal, 257, 1, [Some(1), Some(1), Some(0), Some(0)]),
            (LessUnsigned, 1, -1, [Some(0), Some(1), Some(1), Some(1)]),
            (LessSigned, 1, -1, [Some(0); 4]),
            (LessSigned, -1, 0, [Some(1); 4]),
            (LessSigned, 200, 100, [Some(0), Some(1), Some(0), Some(0)]),
        ];
        for &(op, left, right, expected) in table {
            let found = [1, 8, 32, 64].map(|width| of_two(op, width, left, right));
            assert_eq!(found, expected, "{op:?} {left} {right}");
        }
    }

    #[test]
    fn shortening_and_stretching() {
        for (width, low, stretched) in [
            (1, 1, u64::MAX),
            (8, 0x81, 0xFFFF_FFFF_FFFF_FF81),
            (32, 0xF000_0181, 0xFFFF_FFFF_F000_0181),
            (64, 0x7000_0000_F000_0181, 0x7000_0000_F000_0181),
        ] {
            assert_eq!(of_one(Unary::Truncate, width, 0x7000_0000_F000_0181), Some(low));
            assert_eq!(of_one(Unary::ExtendSign, width, 0x7000_0000_F000_0181), Some(stretched));
            assert_eq!(of_one(Unary::IsZero, width, 1 << (width - 1)), Some(0));
            assert_eq!(of_one(Unary::IsZero, width, 0), Some(1));
        }
        assert_eq!(of_one(Unary::IsZero, 8, 256), Some(1), "only so many bits count");
    }

    #[test]
    fn the_least_number_divided_by_minus_one_wraps_around() {
        for (width, least) in [(1, 1), (8, 128), (32, 1 << 31), (64, 1 << 63)] {
            let least = u64::cast_signed(least);
            assert_eq!(of_two(Binary::DivideSigned, width, least, -1), Some(least.cast_unsigned()));
            assert_eq!(of_two(Binary::RemainderSigned, width, least, -1), Some(0));
        }
    }

    #[test]
    fn what_has_no_value() {
        use Binary::{DivideSigned, DivideUnsigned, RemainderSigned, RemainderUnsigned};
        for width in [1, 8, 32, 64] {
            for op in [DivideSigned, DivideUnsigned, RemainderSigned, RemainderUnsigned] {
                assert_eq!(of_two(op, width, 5, 0), None);
            }
            for op in [Binary::ShiftLeft, Binary::ShiftRight, Binary::ShiftRightSigned] {
                assert_eq!(of_two(op, width, 1, width.into()), None);
                assert_eq!(of_two(op, width, 0, i64::from(width) - 1), Some(0));
            }
        }
        assert_eq!(of_two(DivideUnsigned, 8, 5, 256), None, "of which eight bits are 0");
        for width in [0, 65] {
            assert_eq!(of_two(Binary::Add, width, 1, 1), None);
            assert_eq!(of_one(Unary::IsZero, width, 1), None);
        }
    }

    #[test]
    fn names_equal_themselves_and_are_not_0() {
        let mut names = foretell_trace::Names::default();
        let mut name = |text: &str| Known::Name(Value(names.symbol(text.as_bytes()).unwrap()));
        let (one, other, zero) = (name("one"), name("other"), Known::Number(0));
        let equal = |left, right| number_of(binary(Binary::Equal, 64, left, right));
        assert_eq!((equal(one, one), equal(one, other), equal(one, zero)), (Some(1), Some(0), Some(0)));
        assert_eq!(unary(Unary::IsZero, 64, one), Some(zero));
        assert_eq!(unary(Unary::Truncate, 64, one), None);
        assert_eq!(binary(Binary::Add, 64, one, zero), None);
        assert_eq!(binary(Binary::LessSigned, 64, zero, one), None);
    }
}
