//! The instructions of the virtual machine.

use crate::Error;
use crate::bytes::{i4_at, u2_at};

macro_rules! opcodes {
    ($($name:ident = $code:literal,)*) => {$(
        #[expect(missing_docs, reason = "the names of the specification")]
        pub const $name: u8 = $code;
    )*};
}

opcodes! {
    ICONST_0 = 0x03, SIPUSH = 0x11, LDC_W = 0x13,
    ILOAD = 0x15, LLOAD = 0x16, FLOAD = 0x17, DLOAD = 0x18, ALOAD = 0x19, ALOAD_0 = 0x2a,
    IALOAD = 0x2e, LALOAD = 0x2f, FALOAD = 0x30, DALOAD = 0x31, AALOAD = 0x32, BALOAD = 0x33, CALOAD = 0x34, SALOAD = 0x35,
    ISTORE = 0x36, LSTORE = 0x37, FSTORE = 0x38, DSTORE = 0x39, ASTORE = 0x3a, ASTORE_0 = 0x4b,
    IASTORE = 0x4f, LASTORE = 0x50, FASTORE = 0x51, DASTORE = 0x52, AASTORE = 0x53, BASTORE = 0x54, CASTORE = 0x55, SASTORE = 0x56,
    POP = 0x57, POP2 = 0x58, DUP = 0x59, DUP_X1 = 0x5a, DUP_X2 = 0x5b, DUP2 = 0x5c, DUP2_X1 = 0x5d, DUP2_X2 = 0x5e, SWAP = 0x5f,
    IINC = 0x84, IFEQ = 0x99, IFNE = 0x9a, GOTO = 0xa7, JSR = 0xa8, RET = 0xa9, TABLESWITCH = 0xaa, LOOKUPSWITCH = 0xab,
    IRETURN = 0xac, LRETURN = 0xad, FRETURN = 0xae, DRETURN = 0xaf, ARETURN = 0xb0, RETURN = 0xb1,
    GETSTATIC = 0xb2, PUTSTATIC = 0xb3, GETFIELD = 0xb4, PUTFIELD = 0xb5,
    INVOKEVIRTUAL = 0xb6, INVOKESPECIAL = 0xb7, INVOKESTATIC = 0xb8, INVOKEINTERFACE = 0xb9, INVOKEDYNAMIC = 0xba,
    NEW = 0xbb, ATHROW = 0xbf, MONITORENTER = 0xc2, MONITOREXIT = 0xc3, WIDE = 0xc4, IFNULL = 0xc6, IFNONNULL = 0xc7,
    GOTO_W = 0xc8, JSR_W = 0xc9,
}

/// How long the instruction at a place of the code is.
pub fn length(code: &[u8], at: usize) -> Result<usize, Error> {
    let &opcode = code.get(at).ok_or(Error::Malformed)?;
    let length = match opcode {
        0x10 | 0x12 | 0x15..=0x19 | 0x36..=0x3a | 0xa9 | 0xbc => 2,
        0x11 | 0x13 | 0x14 | 0x84 | 0x99..=0xa8 | 0xb2..=0xb8 | 0xbb | 0xbd | 0xc0 | 0xc1 | 0xc6 | 0xc7 => 3,
        0xc5 => 4,
        0xb9 | 0xba | 0xc8 | 0xc9 => 5,
        WIDE => {
            if code.get(at + 1) == Some(&IINC) {
                6
            } else {
                4
            }
        }
        TABLESWITCH | LOOKUPSWITCH => Switch::read(code, at)?.end - at,
        0xcb.. => return Err(Error::Malformed),
        _ => 1,
    };
    if at + length > code.len() { Err(Error::Malformed) } else { Ok(length) }
}

/// Whether it is a jump whose offset has two bytes.
pub fn is_short_jump(opcode: u8) -> bool {
    matches!(opcode, IFEQ..=JSR | IFNULL | IFNONNULL)
}

/// Whether it is a jump whose offset has four bytes.
pub fn is_long_jump(opcode: u8) -> bool {
    matches!(opcode, GOTO_W | JSR_W)
}

/// Whether the next instruction is never reached from this one.
pub fn ends_flow(opcode: u8) -> bool {
    matches!(opcode, GOTO | RET..=RETURN | ATHROW | GOTO_W)
}

/// A switch: where its numbers are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Switch {
    /// Where the default offset is.
    pub(crate) default: usize,
    /// Where the first of the other offsets is.
    pub(crate) first: usize,
    /// How far it is from one to the next.
    pub(crate) step: usize,
    /// Where the instruction ends.
    pub(crate) end: usize,
}

impl Switch {
    pub(crate) fn read(code: &[u8], at: usize) -> Result<Switch, Error> {
        let default = (at + 4) & !3;
        let is_table = code.get(at) == Some(&TABLESWITCH);
        let (first, step, number) = if is_table {
            let (low, high) = (i4_at(code, default + 4)?, i4_at(code, default + 8)?);
            (default + 12, 4, i64::from(high) - i64::from(low) + 1)
        } else {
            (default + 12, 8, i64::from(i4_at(code, default + 4)?))
        };
        let number = usize::try_from(number).map_err(|_| Error::Malformed)?;
        let start = if is_table { first } else { first - 4 };
        let end =
            number.checked_mul(step).and_then(|length| start.checked_add(length)).ok_or(Error::Malformed)?;
        if end > code.len() { Err(Error::Malformed) } else { Ok(Switch { default, first, step, end }) }
    }

    /// Where its offsets are.
    pub(crate) fn offsets(self) -> impl Iterator<Item = usize> {
        std::iter::once(self.default).chain((self.first..self.end).step_by(self.step))
    }
}

/// Where a jump leads, given where it is; none for other instructions.
pub fn target(code: &[u8], at: usize) -> Result<Option<usize>, Error> {
    let offset = match *code.get(at).ok_or(Error::Malformed)? {
        opcode if is_short_jump(opcode) => i64::from(u2_at(code, at + 1)?.cast_signed()),
        opcode if is_long_jump(opcode) => i64::from(i4_at(code, at + 1)?),
        _ => return Ok(None),
    };
    within(at, offset).map(Some)
}

/// All places that the instruction there may jump to.
pub fn targets(code: &[u8], at: usize) -> Result<Vec<usize>, Error> {
    if !matches!(code.get(at), Some(&(TABLESWITCH | LOOKUPSWITCH))) {
        return Ok(target(code, at)?.into_iter().collect());
    }
    Switch::read(code, at)?.offsets().map(|offset| within(at, i4_at(code, offset)?.into())).collect()
}

/// A place so many bytes further on.
pub(crate) fn within(at: usize, offset: i64) -> Result<usize, Error> {
    i64::try_from(at).ok().and_then(|at| usize::try_from(at + offset).ok()).ok_or(Error::Malformed)
}
