//! Where events are in the program: most locations are guessed from those before, alike by reader and writer.

use super::{STEPS, TARGETS, place};

/// What both sides remember of the locations so far.
pub(super) struct Places {
    /// The location of each thread's last event.
    pub(super) last: Vec<u32>,
    pub(super) guesses: Guesses,
}

/// Where the next event may be.
pub(super) struct Guesses {
    /// The difference that was last seen after a location, by the lowest bits of that location.
    pub(super) steps: Box<[u32; STEPS]>,
    /// The location that was last seen with a code and a first byte of operands.
    pub(super) targets: Box<[u32; TARGETS]>,
}

impl Places {
    pub(super) fn new() -> Places {
        let guesses = Guesses { steps: Box::new([1; STEPS]), targets: Box::new([0; TARGETS]) };
        Places { last: Vec::new(), guesses }
    }
}

impl Guesses {
    /// How the writer tells the reader of `place`.
    pub(super) fn width(&self, last: u32, target: usize, place: u32) -> u8 {
        let difference = place.wrapping_sub(last);
        if self.steps[last as usize % STEPS] == difference {
            place::LIKE_LAST_STEP
        } else if self.targets[target % TARGETS] == place {
            place::LIKE_LAST_TARGET
        } else if zigzag(difference) < 0x100 {
            place::BYTE
        } else {
            place::VARINT
        }
    }

    /// Takes note of an event at `place`, after one at `last` in the same thread.
    #[inline]
    pub(super) fn note(&mut self, last: u32, target: usize, place: u32) {
        self.steps[last as usize % STEPS] = place.wrapping_sub(last);
        self.targets[target % TARGETS] = place;
    }
}

/// What the second guess goes by.
#[inline]
pub(super) fn target(code: u8, first_operand: u8) -> usize {
    usize::from(code) << 8 | usize::from(first_operand)
}

pub(super) fn zigzag(difference: u32) -> u32 {
    (difference << 1) ^ if difference >> 31 == 1 { u32::MAX } else { 0 }
}

pub(super) fn unzigzag(number: u32) -> u32 {
    (number >> 1) ^ (number & 1).wrapping_neg()
}
