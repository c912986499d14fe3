//! Concrete evaluation: the result of an instruction by its operands.
//!
//! A result is known only if it is the same in every run of the program. Where LLVM leaves it open, it is unknown: a
//! shift by more bits than there are, a division by zero, a conversion out of range, the bits of what is not a number,
//! what may be computed less exactly.

use std::cmp::Ordering;

use foretell_wire::code::{opcode, predicate};

use crate::terms::Origins;
use crate::values::{Known, Scalar, Type, UNKNOWN};

/// An operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Given {
    /// Its type; none for literal numbers, whose type follows from their use.
    pub(crate) of: Option<Type>,
    pub(crate) known: Known,
    /// The origins of its value, if they are tracked.
    pub(crate) origins: Origins,
}

impl Given {
    pub(crate) fn scalar(self) -> Option<Scalar> {
        self.of?.scalar()
    }
}

/// What is known of the result of an instruction that depends on nothing but its operands. Its numbers are those of
/// the table, [`foretell_wire::code::Instruction::numbers`].
pub(crate) fn evaluate(opcode: u8, numbers: &[i64], result: Type, given: &[Given]) -> Known {
    match (opcode, given) {
        (opcode::EXTRACTVALUE, [from]) => [extract(numbers, from.known), None],
        (opcode::INSERTVALUE, [into, what]) => result.fit(insert(numbers, into.known, what.known)),
        (opcode::SELECT, [condition, then, otherwise]) if numbers.is_empty() => {
            result.fit(select(condition.known[0], then.known, otherwise.known))
        }
        (opcode::FREEZE, [one]) => result.fit(one.known),
        _ => [result.scalar().and_then(|result| word(opcode, numbers, result, given)), None],
    }
}

/// A result of one word.
fn word(opcode: u8, numbers: &[i64], result: Scalar, given: &[Given]) -> Option<u64> {
    match (opcode, given) {
        (opcode::GETELEMENTPTR, [pointer, indices @ ..]) => address(numbers, pointer.known[0]?, indices),
        (opcode::ICMP, &[one, other]) => {
            let of = one.scalar().or(other.scalar())?;
            let (one, other) = (of.fit(one.known[0]?), of.fit(other.known[0]?));
            compare_integers(*numbers.first()?, of, one, other).map(u64::from)
        }
        (opcode::FCMP, &[one, other]) => {
            let (&[predicate], of) = (numbers, one.scalar().or(other.scalar())?) else { return None };
            let (one, other) = (float(of, one.known[0]?)?, float(of, other.known[0]?)?);
            compare_floats(predicate, one.partial_cmp(&other)).map(u64::from)
        }
        (opcode::FNEG, &[one]) if numbers.is_empty() => Some(one.known[0]? ^ 1 << (result.bits() - 1)),
        (_, &[one]) if numbers.is_empty() => {
            Some(result.fit(cast(opcode, one.scalar()?, result, one.known[0]?)?))
        }
        (_, &[one, other]) if matches!(result, Scalar::Int(_)) => {
            let (one, other) = (result.fit(one.known[0]?), result.fit(other.known[0]?));
            Some(result.fit(compute(opcode, result, one, other)?))
        }
        (_, &[one, other]) if numbers.is_empty() => {
            compute_floats(opcode, result, one.known[0]?, other.known[0]?)
        }
        _ => None,
    }
}

fn extract(numbers: &[i64], from: Known) -> Option<u64> {
    let &[index] = numbers else { return None };
    *from.get(usize::try_from(index).ok()?)?
}

fn insert(numbers: &[i64], mut into: Known, what: Known) -> Known {
    let index = if let &[index] = numbers { usize::try_from(index).ok() } else { None };
    match index.and_then(|index| into.get_mut(index)) {
        Some(place) => {
            *place = what[0];
            into
        }
        None => UNKNOWN,
    }
}

fn select(condition: Option<u64>, then: Known, otherwise: Known) -> Known {
    match condition {
        Some(0) => otherwise,
        Some(_) => then,
        None if then == otherwise => then,
        None => UNKNOWN,
    }
}

/// Numbers among the indices are counted already.
fn address(numbers: &[i64], pointer: u64, indices: &[Given]) -> Option<u64> {
    let (&bytes, steps) = numbers.split_first()?;
    let mut address = pointer.wrapping_add_signed(bytes);
    let variable = indices.iter().filter(|index| index.of.is_some());
    for (index, step) in variable.zip(steps) {
        let index = index.scalar()?.signed(index.known[0]?);
        address = address.wrapping_add_signed(index.wrapping_mul(*step));
    }
    Some(address)
}

fn compute(opcode: u8, of: Scalar, one: u64, other: u64) -> Option<u64> {
    let (signed_one, signed_other) = (of.signed(one), of.signed(other));
    let shift = u32::try_from(other).ok().filter(|&bits| bits < of.bits());
    // The smallest number has no counterpart.
    let overflows = signed_other == -1 && signed_one == i64::MIN >> (u64::BITS - of.bits());
    Some(match opcode {
        opcode::ADD => one.wrapping_add(other),
        opcode::SUB => one.wrapping_sub(other),
        opcode::MUL => one.wrapping_mul(other),
        opcode::UDIV => one.checked_div(other)?,
        opcode::UREM => one.checked_rem(other)?,
        opcode::SDIV | opcode::SREM if overflows => return None,
        opcode::SDIV => signed_one.checked_div(signed_other)?.cast_unsigned(),
        opcode::SREM => signed_one.checked_rem(signed_other)?.cast_unsigned(),
        opcode::SHL => one << shift?,
        opcode::LSHR => one >> shift?,
        opcode::ASHR => (signed_one >> shift?).cast_unsigned(),
        opcode::AND => one & other,
        opcode::OR => one | other,
        opcode::XOR => one ^ other,
        _ => return None,
    })
}

fn compare_integers(predicate: i64, of: Scalar, one: u64, other: u64) -> Option<bool> {
    let (unsigned, signed) = (one.cmp(&other), of.signed(one).cmp(&of.signed(other)));
    Some(match predicate {
        predicate::ICMP_EQ => unsigned.is_eq(),
        predicate::ICMP_NE => unsigned.is_ne(),
        predicate::ICMP_UGT => unsigned.is_gt(),
        predicate::ICMP_UGE => unsigned.is_ge(),
        predicate::ICMP_ULT => unsigned.is_lt(),
        predicate::ICMP_ULE => unsigned.is_le(),
        predicate::ICMP_SGT => signed.is_gt(),
        predicate::ICMP_SGE => signed.is_ge(),
        predicate::ICMP_SLT => signed.is_lt(),
        predicate::ICMP_SLE => signed.is_le(),
        _ => return None,
    })
}

/// How two floating-point numbers compare; with a NaN they are unordered. The predicate is a set of outcomes: equal,
/// greater, less, without order.
fn compare_floats(predicate: i64, outcome: Option<Ordering>) -> Option<bool> {
    let bit = match outcome {
        Some(Ordering::Equal) => predicate::FCMP_OEQ,
        Some(Ordering::Greater) => predicate::FCMP_OGT,
        Some(Ordering::Less) => predicate::FCMP_OLT,
        None => predicate::FCMP_UNO,
    };
    (predicate::FCMP_FALSE..=predicate::FCMP_TRUE).contains(&predicate).then_some(predicate & bit != 0)
}

/// The number behind the bits; every `float` is a `double`, too.
fn float(of: Scalar, bits: u64) -> Option<f64> {
    match of {
        Scalar::Float => u32::try_from(bits).ok().map(|bits| f64::from(f32::from_bits(bits))),
        Scalar::Double => Some(f64::from_bits(bits)),
        Scalar::Int(_) | Scalar::Pointer => None,
    }
}

/// The bits of a number.
#[expect(clippy::cast_possible_truncation, reason = "this is how numbers are rounded")]
fn bits_of(of: Scalar, number: f64) -> Option<u64> {
    match of {
        _ if number.is_nan() => None,
        Scalar::Float => Some(u64::from((number as f32).to_bits())),
        Scalar::Double => Some(number.to_bits()),
        Scalar::Int(_) | Scalar::Pointer => None,
    }
}

/// A result of two floats that is rounded to a `double` first is the same as if it had been rounded at once: there
/// are more than twice as many digits, which is enough for one of these operations.
fn compute_floats(opcode: u8, of: Scalar, one: u64, other: u64) -> Option<u64> {
    let (one, other) = (float(of, one)?, float(of, other)?);
    let number = match opcode {
        opcode::FADD => one + other,
        opcode::FSUB => one - other,
        opcode::FMUL => one * other,
        opcode::FDIV => one / other,
        opcode::FREM => one % other,
        _ => return None,
    };
    bits_of(of, number)
}

fn cast(opcode: u8, from: Scalar, to: Scalar, value: u64) -> Option<u64> {
    match opcode {
        opcode::TRUNC | opcode::ZEXT | opcode::PTRTOINT | opcode::INTTOPTR | opcode::PTRTOADDR => Some(value),
        opcode::BITCAST if from.bits() == to.bits() => Some(value),
        opcode::SEXT => Some(from.signed(value).cast_unsigned()),
        opcode::FPTRUNC | opcode::FPEXT => bits_of(to, float(from, value)?),
        opcode::UITOFP => from_integer(to, i128::from(value)),
        opcode::SITOFP => from_integer(to, i128::from(from.signed(value))),
        opcode::FPTOUI => to_integer(float(from, value)?, 0, to.fit(u64::MAX).into()),
        opcode::FPTOSI => {
            let most = i64::MAX >> (u64::BITS - to.bits());
            to_integer(float(from, value)?, (!most).into(), most.into())
        }
        _ => None,
    }
}

/// An integer is rounded only once, so not by way of a `double`.
#[expect(clippy::cast_precision_loss, reason = "this is how numbers are rounded")]
fn from_integer(to: Scalar, number: i128) -> Option<u64> {
    match to {
        Scalar::Float => Some(u64::from((number as f32).to_bits())),
        Scalar::Double => Some((number as f64).to_bits()),
        Scalar::Int(_) | Scalar::Pointer => None,
    }
}

/// The integral part, if it is within the bounds.
#[expect(
    clippy::cast_possible_truncation,
    reason = "what does not fit is the nearest that does, and out of bounds"
)]
fn to_integer(number: f64, least: i128, most: i128) -> Option<u64> {
    let whole = number.trunc() as i128;
    let is_within = !number.is_nan() && (least..=most).contains(&whole);
    #[expect(clippy::cast_sign_loss, reason = "the lowest bits are what is wanted")]
    is_within.then_some(whole as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::terms::CONSTANT;

    const INT: fn(u32) -> Option<Type> = |bits| Some(Type::One(Scalar::Int(bits)));

    fn given(of: Option<Type>, value: u64) -> Given {
        Given { of, known: [Some(value), None], origins: CONSTANT }
    }

    /// The result of an instruction on two numbers of the same type.
    fn two(opcode: u8, numbers: &[i64], result: Scalar, of: Scalar, one: u64, other: u64) -> Option<u64> {
        let given = [one, other].map(|value| given(Some(Type::One(of)), value));
        evaluate(opcode, numbers, Type::One(result), &given)[0]
    }

    fn one(opcode: u8, from: Scalar, to: Scalar, value: u64) -> Option<u64> {
        evaluate(opcode, &[], Type::One(to), &[given(Some(Type::One(from)), value)])[0]
    }

    const PREDICATES: [i64; 10] = [32, 33, 34, 35, 36, 37, 38, 39, 40, 41];

    /// Compares with what Rust makes of numbers of this width.
    macro_rules! agrees {
        ($bits:literal $unsigned:ty, $signed:ty, $one:expr, $other:expr) => {{
            let of = Scalar::Int($bits);
            let (a, b) = ($one as $unsigned, $other as $unsigned);
            let (x, y) = (a.cast_signed(), b.cast_signed());
            let result = |opcode| two(opcode, &[], of, of, a.into(), b.into());
            let unsigned = |value: Option<$unsigned>| value.map(u64::from);
            let signed = |value: Option<$signed>| value.map(|value| u64::from(value.cast_unsigned()));
            prop_assert_eq!(result(opcode::ADD), unsigned(Some(a.wrapping_add(b))));
            prop_assert_eq!(result(opcode::SUB), unsigned(Some(a.wrapping_sub(b))));
            prop_assert_eq!(result(opcode::MUL), unsigned(Some(a.wrapping_mul(b))));
            prop_assert_eq!(result(opcode::UDIV), unsigned(a.checked_div(b)));
            prop_assert_eq!(result(opcode::UREM), unsigned(a.checked_rem(b)));
            prop_assert_eq!(result(opcode::SDIV), signed(x.checked_div(y)));
            prop_assert_eq!(result(opcode::SREM), signed(x.checked_rem(y)));
            let shift = u32::try_from(b).unwrap_or(u32::MAX);
            prop_assert_eq!(result(opcode::SHL), unsigned(a.checked_shl(shift)));
            prop_assert_eq!(result(opcode::LSHR), unsigned(a.checked_shr(shift)));
            prop_assert_eq!(result(opcode::ASHR), signed(x.checked_shr(shift)));
            let orders = [a == b, a != b, a > b, a >= b, a < b, a <= b, x > y, x >= y, x < y, x <= y];
            for (predicate, order) in PREDICATES.into_iter().zip(orders) {
                let found = two(opcode::ICMP, &[predicate], Scalar::Int(1), of, a.into(), b.into());
                prop_assert_eq!(found, Some(u64::from(order)));
            }
            let word = Scalar::Int(64);
            prop_assert_eq!(one(opcode::SEXT, of, word, a.into()), Some(i64::from(x).cast_unsigned()));
            prop_assert_eq!(one(opcode::ZEXT, of, word, a.into()), Some(u64::from(a)));
            prop_assert_eq!(one(opcode::TRUNC, word, of, $one), Some(u64::from(a)));
            prop_assert_eq!(one(opcode::SITOFP, of, Scalar::Double, a.into()), Some((x as f64).to_bits()));
            let single = one(opcode::UITOFP, of, Scalar::Float, a.into());
            prop_assert_eq!(single, Some(u64::from((a as f32).to_bits())));
        }};
    }

    /// Numbers of which many are small, or nearly the largest.
    fn numbers() -> impl Strategy<Value = u64> {
        prop_oneof![
            any::<u64>(),
            0_u64..70,
            (0_u64..3).prop_map(|below| u64::MAX - below),
            (0_u32..64).prop_map(|bit| 1 << bit)
        ]
    }

    /// A number of this width in two's complement, in arithmetic that never overflows.
    fn wide(of: Scalar, value: u64) -> i128 {
        i128::from(of.signed(value))
    }

    proptest! {
        #[test]
        #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "numbers of all widths are made of others")]
        fn integers_are_those_of_rust(a in numbers(), b in numbers()) {
            agrees!(8 u8, i8, a, b);
            agrees!(16 u16, i16, a, b);
            agrees!(32 u32, i32, a, b);
            agrees!(64 u64, i64, a, b);
        }

        #[test]
        fn any_width_wraps_around(bits in 1_u32..=64, a in numbers(), b in numbers()) {
            let of = Scalar::Int(bits);
            let (a, b) = (of.fit(a), of.fit(b));
            let modulus = 1_i128 << bits;
            let wrapped = |number: i128| Some(u64::try_from(number.rem_euclid(modulus)).expect("below"));
            prop_assert_eq!(two(opcode::ADD, &[], of, of, a, b), wrapped(wide(of, a) + wide(of, b)));
            prop_assert_eq!(two(opcode::SUB, &[], of, of, a, b), wrapped(wide(of, a) - wide(of, b)));
            let product = wide(of, a).wrapping_mul(wide(of, b));
            prop_assert_eq!(two(opcode::MUL, &[], of, of, a, b), wrapped(product));
            let fits = |number: i128| number < modulus / 2;
            let quotient = wide(of, a).checked_div(wide(of, b)).filter(|&number| fits(number));
            prop_assert_eq!(two(opcode::SDIV, &[], of, of, a, b), quotient.and_then(wrapped));
            let shifted = (b < bits.into()).then(|| wide(of, a) >> b);
            prop_assert_eq!(two(opcode::ASHR, &[], of, of, a, b), shifted.and_then(wrapped));
            prop_assert_eq!(one(opcode::SEXT, of, Scalar::Int(64), a), Some(of.signed(a).cast_unsigned()));
        }

        #[test]
        fn doubles_are_those_of_rust(a in any::<f64>(), b in any::<f64>()) {
            let of = Scalar::Double;
            let bits = |number: f64| (!number.is_nan()).then_some(number.to_bits());
            let result = |opcode| two(opcode, &[], of, of, a.to_bits(), b.to_bits());
            prop_assert_eq!(result(opcode::FADD), bits(a + b));
            prop_assert_eq!(result(opcode::FSUB), bits(a - b));
            prop_assert_eq!(result(opcode::FMUL), bits(a * b));
            prop_assert_eq!(result(opcode::FDIV), bits(a / b));
            prop_assert_eq!(result(opcode::FREM), bits(a % b));
            prop_assert_eq!(one(opcode::FNEG, of, of, a.to_bits()), Some((-a).to_bits()));
        }

        #[test]
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "this is what is compared")]
        fn floats_are_those_of_rust(a in any::<f32>(), b in any::<f32>()) {
            let of = Scalar::Float;
            let bits = |number: f32| (!number.is_nan()).then_some(u64::from(number.to_bits()));
            let (x, y) = (u64::from(a.to_bits()), u64::from(b.to_bits()));
            prop_assert_eq!(two(opcode::FADD, &[], of, of, x, y), bits(a + b));
            prop_assert_eq!(two(opcode::FSUB, &[], of, of, x, y), bits(a - b));
            prop_assert_eq!(two(opcode::FMUL, &[], of, of, x, y), bits(a * b));
            prop_assert_eq!(two(opcode::FDIV, &[], of, of, x, y), bits(a / b));
            #[expect(clippy::double_comparisons, reason = "what is no number is neither less nor more, nor equal")]
            let ordered = [a == b, a > b, a >= b, a < b, a <= b, a < b || a > b];
            for (predicate, expected) in (1..).zip(ordered) {
                let order = Scalar::Int(1);
                prop_assert_eq!(two(opcode::FCMP, &[predicate], order, of, x, y), Some(u64::from(expected)));
                let opposite = 15 - predicate;
                prop_assert_eq!(two(opcode::FCMP, &[opposite], order, of, x, y), Some(u64::from(!expected)));
            }
            // Beyond the range Rust gives the nearest number, and LLVM says nothing.
            let within = |fits: bool, number: u64| fits.then_some(number);
            let fits = (-2_147_483_648.0..2_147_483_648.0).contains(&a);
            let signed = u64::from((a as i32).cast_unsigned());
            prop_assert_eq!(one(opcode::FPTOSI, of, Scalar::Int(32), x), within(fits, signed));
            let fits = a > -1.0 && a < 256.0;
            prop_assert_eq!(one(opcode::FPTOUI, of, Scalar::Int(8), x), within(fits, u64::from(a as u8)));
        }
    }

    #[test]
    fn addresses_go_in_steps() {
        let pointer = given(Some(Type::One(Scalar::Pointer)), 0x1000);
        let (zero, minus_two) = (given(None, 0), given(INT(32), 0xFFFF_FFFE));
        let result = |numbers: &[i64], given: &[Given]| {
            evaluate(opcode::GETELEMENTPTR, numbers, Type::One(Scalar::Pointer), given)[0]
        };
        assert_eq!(result(&[8, 4], &[pointer, zero, minus_two]), Some(0x1000));
        assert_eq!(result(&[-8], &[pointer, zero]), Some(0xFF8));
        assert_eq!(result(&[], &[pointer, zero]), None, "vectors");
        let unknown = Given { known: UNKNOWN, ..minus_two };
        assert_eq!(result(&[0, 4], &[pointer, unknown]), None);
        let wide = Given { of: Some(Type::Other), ..minus_two };
        assert_eq!(result(&[0, 4, 1], &[pointer, wide, minus_two]), None);
    }

    #[test]
    fn structures_of_two_are_taken_apart() {
        let of = Type::parse("{ i8, i1 }");
        let nothing = Given { of: Some(Type::Other), known: UNKNOWN, origins: CONSTANT };
        let half = evaluate(opcode::INSERTVALUE, &[1], of, &[nothing, given(None, u64::MAX)]);
        assert_eq!(half, [None, Some(1)]);
        let half = Given { of: Some(of), known: half, origins: CONSTANT };
        let whole = evaluate(opcode::INSERTVALUE, &[0], of, &[half, given(INT(8), 7)]);
        assert_eq!(whole, [Some(7), Some(1)]);
        let bit = Type::parse("i1");
        assert_eq!(evaluate(opcode::EXTRACTVALUE, &[1], bit, &[half]), [Some(1), None]);
        assert_eq!(evaluate(opcode::EXTRACTVALUE, &[0], bit, &[half]), UNKNOWN);
        assert_eq!(evaluate(opcode::EXTRACTVALUE, &[0, 1], bit, &[half]), UNKNOWN);
        assert_eq!(evaluate(opcode::INSERTVALUE, &[2], of, &[half, half]), UNKNOWN);
    }

    #[test]
    fn choices_are_made_by_their_condition() {
        let byte = Type::parse("i8");
        let select = |condition: Option<u64>, then: u64| {
            let condition = Given { of: INT(1), known: [condition, None], origins: CONSTANT };
            evaluate(opcode::SELECT, &[], byte, &[condition, given(None, then), given(INT(8), 2)])[0]
        };
        assert_eq!(select(Some(1), u64::MAX), Some(0xFF));
        assert_eq!((select(Some(0), 1), select(None, 1), select(None, 2)), (Some(2), None, Some(2)));
    }

    #[test]
    fn what_may_be_computed_less_exactly_is_not_known() {
        let (of, one) = (Scalar::Double, 1.0_f64.to_bits());
        assert_eq!(two(opcode::FADD, &[127], of, of, one, one), None);
        assert_eq!(two(opcode::FCMP, &[1, 127], Scalar::Int(1), of, one, one), None);
        assert_eq!(two(opcode::CALL, &[], of, of, one, one), None);
        assert_eq!(one_of_each_kind(), [None; 3]);
    }

    /// Conversions that make no sense.
    fn one_of_each_kind() -> [Option<u64>; 3] {
        let (int, double) = (Scalar::Int(32), Scalar::Double);
        [
            one(opcode::BITCAST, int, double, 0),
            one(opcode::FPEXT, int, double, 0),
            one(opcode::LOAD, int, int, 0),
        ]
    }
}
