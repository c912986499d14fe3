//! Symbolic evaluation: the term of an instruction's result.
//!
//! [`evaluate`](crate::evaluate::evaluate) gives the concrete value, this the symbolic one. Where there is no term, as
//! for floating-point operations, the result depends on the reads of its operands in an unknown way.

use foretell_trace::Reads;
use foretell_trace::values::{Binary, Obstacle, TermId, Unary};
use foretell_wire::code::{opcode, predicate};
use foretell_wire::hook::Update;

use crate::evaluate::Given;
use crate::shadow::Done;
use crate::terms::{CONSTANT, Origin, Origins, Sets, Source, Terms};
use crate::values::{Scalar, Type};

/// Makes terms for one thread.
pub(crate) struct Symbolic<'a> {
    pub(crate) terms: &'a mut Terms,
    pub(crate) sets: Sets<'a>,
}

impl Symbolic<'_> {
    /// The reads that all of these depend on.
    pub(crate) fn reads(&mut self, given: &[Given]) -> Reads {
        let origins = given.iter().flat_map(|given| given.origins);
        origins.fold(Reads::NOTHING, |all, origin| {
            let reads = self.terms.reads_of(origin);
            self.sets.unite(all, reads)
        })
    }

    /// The origin of a value that depends on all of these in an unknown way, and the obstacle.
    pub(crate) fn mix(&mut self, given: &[Given], why: Obstacle) -> Origin {
        let reads = self.reads(given);
        self.terms.obstacles.add(why, u64::from(reads != Reads::NOTHING));
        Origin::Made(reads)
    }

    /// The origins of an instruction's result.
    pub(crate) fn result(&mut self, done: &Done<'_>) -> Origins {
        if done.given.iter().all(|given| given.origins == CONSTANT) {
            return CONSTANT;
        }
        let given = done.given;
        match (done.opcode, given, done.of) {
            (opcode::RET | opcode::BR | opcode::SWITCH | opcode::INDIRECTBR, ..) => CONSTANT,
            (opcode::EXTRACTVALUE, &[Given { of: Some(Type::Two(_)), origins, .. }], _)
                if matches!(done.numbers, [0 | 1]) =>
            {
                [origins[usize::from(done.numbers == [1])], Origin::NOTHING]
            }
            (opcode::INSERTVALUE, [into, what], Type::Two(_)) if matches!(done.numbers, [0 | 1]) => {
                let mut origins = into.origins;
                origins[usize::from(done.numbers == [1])] = what.origins[0];
                origins
            }
            (opcode::FREEZE, [one], _) => one.origins,
            (opcode::SELECT, [condition, then, otherwise], _) if done.numbers.is_empty() => {
                [0, 1].map(|word| {
                    let chosen = self.select(*condition, [*then, *otherwise], word, done.of);
                    chosen.unwrap_or_else(|| self.mix(given, obstacle(done)))
                })
            }
            (_, _, Type::Two([of, _])) => {
                let two = done.name.and_then(|name| self.checked(name, of, given));
                [0, 1].map(|word| self.settle(two.map(|two| two[word]), done, word))
            }
            (_, _, Type::One(of)) => {
                let term = match done.name {
                    Some(name) => self.intrinsic(name, of, given),
                    None => self.word(done, of),
                };
                [self.settle(term, done, 0), Origin::NOTHING]
            }
            (_, _, Type::Other) => [self.mix(given, obstacle(done)); 2],
        }
    }

    /// The term, if its value is the recorded result; otherwise the reads of the operands.
    fn settle(&mut self, term: Option<TermId>, done: &Done<'_>, word: usize) -> Origin {
        match term.filter(|&term| Some(self.terms.observed(term)) == done.known[word]) {
            Some(term) => Origin::Term(term),
            None => self.mix(done.given, obstacle(done)),
        }
    }

    /// The term of a word of this type; none if it is not known what it was.
    pub(crate) fn term(&mut self, given: &Given, word: usize, of: Scalar) -> Option<TermId> {
        let known = of.fit(given.known[word]?);
        match given.origins[word] {
            Origin::Term(term) => Some(term),
            Origin::Made(reads) => self.terms.frozen(known, reads),
        }
    }

    fn select(&mut self, condition: Given, arms: [Given; 2], word: usize, result: Type) -> Option<Origin> {
        let chosen = arms[usize::from(condition.known[0]? == 0)];
        if condition.origins == CONSTANT {
            return Some(chosen.origins[word]);
        }
        let of = match (result, word) {
            (Type::One(of), 0) => of,
            (Type::Two(of), word) => of[word],
            _ => return Some(Origin::NOTHING),
        };
        let condition = self.term(&condition, 0, Scalar::Int(1))?;
        let arms = [self.term(&arms[0], word, of)?, self.term(&arms[1], word, of)?];
        self.terms.choice(&mut self.sets, condition, arms).map(Origin::Term)
    }

    pub(crate) fn binary(&mut self, op: Binary, of: Scalar, operands: [TermId; 2]) -> Option<TermId> {
        self.terms.binary(&mut self.sets, op, of.bits(), operands)
    }

    pub(crate) fn not(&mut self, term: TermId) -> Option<TermId> {
        self.terms.unary(Unary::IsZero, u64::BITS, term)
    }

    fn word(&mut self, done: &Done<'_>, of: Scalar) -> Option<TermId> {
        match (done.opcode, done.given) {
            (opcode::GETELEMENTPTR, [pointer, indices @ ..]) => self.address(done.numbers, pointer, indices),
            (opcode::ICMP, [one, other]) => {
                let of = one.scalar().or(other.scalar())?;
                let operands = [self.term(one, 0, of)?, self.term(other, 0, of)?];
                self.compare(*done.numbers.first()?, of, operands)
            }
            (cast, [one]) if done.numbers.is_empty() => {
                let from = one.scalar()?;
                let term = self.term(one, 0, from)?;
                self.cast(cast, from, of, term)
            }
            (opcode, [one, other]) if matches!(of, Scalar::Int(_)) => {
                let op = operation(opcode)?;
                let operands = [self.term(one, 0, of)?, self.term(other, 0, of)?];
                self.binary(op, of, operands)
            }
            _ => None,
        }
    }

    fn cast(&mut self, cast: u8, from: Scalar, to: Scalar, term: TermId) -> Option<TermId> {
        match cast {
            opcode::TRUNC | opcode::PTRTOINT | opcode::INTTOPTR | opcode::PTRTOADDR
                if to.bits() < from.bits() =>
            {
                self.terms.unary(Unary::Truncate, to.bits(), term)
            }
            opcode::ZEXT | opcode::PTRTOINT | opcode::INTTOPTR | opcode::PTRTOADDR => Some(term),
            opcode::BITCAST if from.bits() == to.bits() => Some(term),
            opcode::SEXT => {
                let wide = self.terms.unary(Unary::ExtendSign, from.bits(), term)?;
                self.terms.unary(Unary::Truncate, to.bits(), wide)
            }
            _ => None,
        }
    }

    fn compare(&mut self, predicate: i64, of: Scalar, [one, other]: [TermId; 2]) -> Option<TermId> {
        let (op, operands, is_opposite) = match predicate {
            predicate::ICMP_EQ => (Binary::Equal, [one, other], false),
            predicate::ICMP_NE => (Binary::Equal, [one, other], true),
            predicate::ICMP_ULT => (Binary::LessUnsigned, [one, other], false),
            predicate::ICMP_UGE => (Binary::LessUnsigned, [one, other], true),
            predicate::ICMP_UGT => (Binary::LessUnsigned, [other, one], false),
            predicate::ICMP_ULE => (Binary::LessUnsigned, [other, one], true),
            predicate::ICMP_SLT => (Binary::LessSigned, [one, other], false),
            predicate::ICMP_SGE => (Binary::LessSigned, [one, other], true),
            predicate::ICMP_SGT => (Binary::LessSigned, [other, one], false),
            predicate::ICMP_SLE => (Binary::LessSigned, [other, one], true),
            _ => return None,
        };
        let term = self.binary(op, of, operands)?;
        if is_opposite { self.not(term) } else { Some(term) }
    }

    /// Numbers among the indices are counted already, see [`crate::evaluate`].
    fn address(&mut self, numbers: &[i64], pointer: &Given, indices: &[Given]) -> Option<TermId> {
        let (&bytes, steps) = numbers.split_first()?;
        let mut address = self.term(pointer, 0, Scalar::Pointer)?;
        if bytes != 0 {
            let bytes = self.terms.number(bytes.cast_unsigned())?;
            address = self.binary(Binary::Add, Scalar::Pointer, [address, bytes])?;
        }
        for (index, step) in indices.iter().filter(|index| index.of.is_some()).zip(steps) {
            let of = index.scalar()?;
            let index = self.term(index, 0, of)?;
            let index = self.terms.unary(Unary::ExtendSign, of.bits(), index)?;
            let step = self.terms.number(step.cast_unsigned())?;
            let distance = self.binary(Binary::Multiply, Scalar::Pointer, [index, step])?;
            address = self.binary(Binary::Add, Scalar::Pointer, [address, distance])?;
        }
        Some(address)
    }

    /// An intrinsic with a result of one word.
    fn intrinsic(&mut self, name: &str, of: Scalar, given: &[Given]) -> Option<TermId> {
        let (operation, _) = name.strip_prefix("llvm.")?.rsplit_once('.')?;
        let (one, rest) = given.split_first()?;
        let one = self.term(one, 0, of)?;
        if operation == "expect" {
            return Some(one);
        }
        let update = match operation {
            "umax" => Update::UMax,
            "umin" => Update::UMin,
            "smax" => Update::Max,
            "smin" => Update::Min,
            _ => return None,
        };
        let other = self.term(rest.first()?, 0, of)?;
        self.update(update, of, [one, other])
    }

    /// The new value of an atomic update.
    pub(crate) fn update(&mut self, update: Update, of: Scalar, [one, other]: [TermId; 2]) -> Option<TermId> {
        let less = match update {
            Update::Xchg => return Some(other),
            Update::Add => return self.binary(Binary::Add, of, [one, other]),
            Update::Sub => return self.binary(Binary::Subtract, of, [one, other]),
            Update::And => return self.binary(Binary::And, of, [one, other]),
            Update::Or => return self.binary(Binary::Or, of, [one, other]),
            Update::Xor => return self.binary(Binary::Xor, of, [one, other]),
            Update::Nand => {
                let and = self.binary(Binary::And, of, [one, other])?;
                let ones = self.terms.number(of.fit(u64::MAX))?;
                return self.binary(Binary::Xor, of, [and, ones]);
            }
            Update::Max | Update::Min => self.binary(Binary::LessSigned, of, [one, other])?,
            Update::UMax | Update::UMin => self.binary(Binary::LessUnsigned, of, [one, other])?,
            _ => return None,
        };
        let (small, large) = ([one, other], [other, one]);
        let arms = if matches!(update, Update::Min | Update::UMin) { small } else { large };
        self.terms.choice(&mut self.sets, less, arms)
    }

    /// Arithmetic with an overflow flag: result and flag.
    fn checked(&mut self, name: &str, of: Scalar, given: &[Given]) -> Option<[TermId; 2]> {
        let (operation, _) = name.strip_prefix("llvm.")?.rsplit_once('.')?;
        let &[one, other] = given else { return None };
        let (one, other) = (self.term(&one, 0, of)?, self.term(&other, 0, of)?);
        let zero = self.terms.number(0)?;
        let signs = |this: &mut Self, first: [TermId; 2], second: [TermId; 2]| {
            let (first, second) =
                (this.binary(Binary::Xor, of, first)?, this.binary(Binary::Xor, of, second)?);
            let both = this.binary(Binary::And, of, [first, second])?;
            this.binary(Binary::LessSigned, of, [both, zero])
        };
        let (result, overflow) = match operation.strip_suffix(".with.overflow")? {
            "uadd" => {
                let sum = self.binary(Binary::Add, of, [one, other])?;
                (sum, self.binary(Binary::LessUnsigned, of, [sum, one])?)
            }
            "usub" => {
                let rest = self.binary(Binary::Subtract, of, [one, other])?;
                (rest, self.binary(Binary::LessUnsigned, of, [one, other])?)
            }
            "sadd" => {
                let sum = self.binary(Binary::Add, of, [one, other])?;
                (sum, signs(self, [one, sum], [other, sum])?)
            }
            "ssub" => {
                let rest = self.binary(Binary::Subtract, of, [one, other])?;
                (rest, signs(self, [one, other], [one, rest])?)
            }
            _ => return None,
        };
        Some([result, overflow])
    }

    /// The term of a number that consists of these bytes, the lowest first, with its value in the run; none if no byte
    /// has a term.
    pub(crate) fn assembled(&mut self, sources: &[Option<Source>], observed: u64) -> Option<TermId> {
        if sources.len() > 8 || !sources.iter().flatten().any(|(origin, _)| matches!(origin, Origin::Term(_)))
        {
            return None;
        }
        let (mut sum, mut at) = (None, 0);
        while at < sources.len() {
            let (origin, first) = sources[at]?;
            let goes_on = |&(byte, source): &(u32, &Option<Source>)| {
                let place = if matches!(origin, Origin::Term(_)) { first + byte } else { 0 };
                *source == Some((origin, place))
            };
            let length = (0..).zip(&sources[at..]).take_while(goes_on).count();
            let (shift, bits) = (u32::try_from(8 * at).ok()?, u32::try_from(8 * length).ok()?);
            let piece = match origin {
                Origin::Term(term) => self.terms.extract(&mut self.sets, term, 8 * first, bits)?,
                Origin::Made(reads) => self.terms.frozen(Scalar::Int(bits).fit(observed >> shift), reads)?,
            };
            sum = Some(match sum {
                None => piece,
                Some(sum) => {
                    let shift = self.terms.number(shift.into())?;
                    let piece = self.binary(Binary::ShiftLeft, Scalar::Int(64), [piece, shift])?;
                    self.binary(Binary::Or, Scalar::Int(64), [sum, piece])?
                }
            });
            at += length;
        }
        sum.filter(|&sum| self.terms.observed(sum) == observed)
    }
}

/// Why there is no term for a result.
fn obstacle(done: &Done<'_>) -> Obstacle {
    let is_float = |of: Type| matches!(of.scalar(), Some(Scalar::Float | Scalar::Double));
    let types = || done.given.iter().filter_map(|given| given.of).chain([done.of]);
    if types().any(is_float) {
        Obstacle::FloatingPoint
    } else if types().any(|of| of == Type::Other) {
        Obstacle::Wide
    } else {
        Obstacle::Operation
    }
}

/// The operation of an instruction on two numbers.
fn operation(code: u8) -> Option<Binary> {
    Some(match code {
        opcode::ADD => Binary::Add,
        opcode::SUB => Binary::Subtract,
        opcode::MUL => Binary::Multiply,
        opcode::UDIV => Binary::DivideUnsigned,
        opcode::SDIV => Binary::DivideSigned,
        opcode::UREM => Binary::RemainderUnsigned,
        opcode::SREM => Binary::RemainderSigned,
        opcode::SHL => Binary::ShiftLeft,
        opcode::LSHR => Binary::ShiftRight,
        opcode::ASHR => Binary::ShiftRightSigned,
        opcode::AND => Binary::And,
        opcode::OR => Binary::Or,
        opcode::XOR => Binary::Xor,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use foretell_depend::Tracker;
    use foretell_testkit::computed;
    use foretell_trace::EventId;
    use proptest::prelude::*;

    use super::*;
    use crate::evaluate::evaluate;
    use crate::intrinsic;
    use crate::values::Known;

    /// An operation: an instruction with its numbers, or an intrinsic; the type of the operands, and that of the
    /// result.
    type What = (u8, Vec<i64>, Option<&'static str>, Type, Type);

    fn concrete((code, numbers, name, of, result): &What, values: &[u64; 3]) -> (Vec<Given>, Known) {
        let of_operand = |position: usize| match *code {
            opcode::SELECT if position == 0 => Type::One(Scalar::Int(1)),
            opcode::GETELEMENTPTR if position == 0 => Type::One(Scalar::Pointer),
            _ => *of,
        };
        let count = match *code {
            opcode::SELECT => 3,
            opcode::TRUNC | opcode::ZEXT | opcode::SEXT => 1,
            _ => 2,
        };
        let given = |(position, &value): (usize, &u64)| {
            let of = of_operand(position);
            Given { of: Some(of), known: of.fit([Some(value), None]), origins: CONSTANT }
        };
        let given: Vec<Given> = values.iter().enumerate().take(count).map(given).collect();
        let known = match name {
            Some(name) => intrinsic::evaluate(name, *result, &given),
            None => evaluate(*code, numbers, *result, &given),
        };
        (given, known)
    }

    /// The terms that are made where operands are reads that see the first values are what is computed of the others.
    fn agrees(what: &What, first: [u64; 3], others: &[[u64; 3]]) -> Result<bool, TestCaseError> {
        let (mut terms, mut tracker) = (Terms::default(), Tracker::default());
        let ids: Vec<EventId> = (1..=3).filter_map(EventId::from_number).collect();
        let (mut given, known) = concrete(what, &first);
        for (given, &id) in given.iter_mut().zip(&ids) {
            tracker.event(0);
            tracker.read(0, id);
            let width = given.scalar().expect("one word").bits();
            let read = terms.read(id, width, given.known[0].expect("it is known")).expect("there is room");
            given.origins[0] = Origin::Term(read);
        }
        let mut symbolic = Symbolic { terms: &mut terms, sets: Sets { tracker: &mut tracker, thread: 0 } };
        let (opcode, numbers, name, _, of) = what;
        let done = Done { opcode: *opcode, numbers, name: *name, of: *of, known, given: &given };
        let origins = symbolic.result(&done);
        for other in others {
            let (given, known) = concrete(what, other);
            let place = |read: EventId| ids.iter().position(|&id| id == read);
            let read = |read: EventId| given.get(place(read)?)?.known[0];
            let found = computed::evaluate(terms.all(), read, |_| false);
            for (origin, known) in origins.into_iter().zip(known) {
                // What LLVM leaves open may be anything.
                if let (Origin::Term(term), Some(known)) = (origin, known) {
                    prop_assert_eq!(found[term.index()], Some(known), "{:?} of {:?}", what, other);
                }
            }
        }
        Ok(matches!(origins[0], Origin::Term(_)))
    }

    fn all(bits: u32) -> Vec<What> {
        let (of, bit) = (Type::One(Scalar::Int(bits)), Type::One(Scalar::Int(1)));
        let two = [
            opcode::ADD,
            opcode::SUB,
            opcode::MUL,
            opcode::UDIV,
            opcode::SDIV,
            opcode::UREM,
            opcode::SREM,
            opcode::SHL,
            opcode::LSHR,
            opcode::ASHR,
            opcode::AND,
            opcode::OR,
            opcode::XOR,
        ];
        let two = two.map(|opcode| (opcode, Vec::new(), None, of, of));
        let compared = (32..=41).map(|predicate| (opcode::ICMP, vec![predicate], None, of, bit));
        let wide = Type::One(Scalar::Int(64));
        let casts = [(opcode::TRUNC, wide, of), (opcode::ZEXT, of, wide), (opcode::SEXT, of, wide)];
        let casts = casts.into_iter().filter(|(_, from, to)| from != to);
        let casts = casts.map(|(opcode, from, to)| (opcode, Vec::new(), None, from, to));
        let pointer = Type::One(Scalar::Pointer);
        let others = [
            (opcode::SELECT, Vec::new(), None, of, of),
            (opcode::GETELEMENTPTR, vec![-8, 12], None, of, pointer),
        ];
        let names = ["llvm.umax.i", "llvm.umin.i", "llvm.smax.i", "llvm.smin.i"];
        let called = names.map(|name| (opcode::CALL, Vec::new(), Some(name), of, of));
        let checked = Type::Two([Scalar::Int(bits), Scalar::Int(1)]);
        let names = [
            "llvm.uadd.with.overflow.i",
            "llvm.usub.with.overflow.i",
            "llvm.sadd.with.overflow.i",
            "llvm.ssub.with.overflow.i",
        ];
        let checked = names.map(|name| (opcode::CALL, Vec::new(), Some(name), of, checked));
        two.into_iter().chain(compared).chain(casts).chain(others).chain(called).chain(checked).collect()
    }

    /// Numbers of which many are small, or nearly the largest.
    fn numbers() -> impl Strategy<Value = u64> {
        prop_oneof![any::<u64>(), 0_u64..9, (0_u64..3).prop_map(|below| u64::MAX - below)]
    }

    proptest! {
        #[test]
        fn terms_are_what_is_computed_of_other_values(
            bits in prop_oneof![Just(1_u32), Just(8), Just(32), Just(37), Just(64)],
            first in (numbers(), 1_u64..4, numbers()),
            others in proptest::collection::vec([numbers(), numbers(), numbers()], 4),
        ) {
            for what in all(bits) {
                let has_term = agrees(&what, first.into(), &others)?;
                // A shift by too much is open, and numbers of one bit have few shifts and divisors.
                prop_assert!(has_term || bits < 8, "{what:?} of {first:?} has no term");
            }
        }
    }
}
