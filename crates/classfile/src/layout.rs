//! Where the instructions of a method are once others stand between them.
//!
//! Jumps whose targets are too far away then become wide ones. A conditional jump has no wide form: it leads to an
//! island, a wide jump to its target that stands where no other code runs into it.

use std::collections::{BTreeMap, HashMap};

use crate::Error;
use crate::bytes::{i4_at, put2, put4};
use crate::code::{Code, LONGEST};
use crate::edit::{Edit, Insertion};
use crate::frame::Frame;
use crate::opcode::{self, GOTO, GOTO_W, JSR, Switch};

/// What is put together.
pub(crate) struct Pieces<'a> {
    pub(crate) code: &'a Code,
    pub(crate) edit: &'a Edit,
    /// How much stands before the first instruction.
    pub(crate) head: usize,
    /// Whether islands need frames.
    pub(crate) has_frames: bool,
}

/// How long an island is.
const ISLAND: usize = 5;
/// A jump over so many bytes has to be wide.
const FAR: i64 = 32_767;

static NOTHING: Insertion = Insertion { before: Vec::new(), instead: None, after: Vec::new() };

impl Pieces<'_> {
    fn insertion(&self, at: usize) -> &Insertion {
        self.edit.at.get(&at).unwrap_or(&NOTHING)
    }
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Where it was.
    old: usize,
    /// Where what is inserted before it begins.
    start: usize,
    /// Where it is itself.
    itself: usize,
    /// Its jump is too far for two bytes.
    is_far: bool,
    /// Behind which instruction the island of its jump is.
    island: Option<usize>,
}

/// Where everything is.
pub(crate) struct Layout {
    places: Vec<Place>,
    /// From old places to instructions.
    index: HashMap<usize, usize>,
    /// Where the last instruction ends, old and new.
    ends: (usize, usize),
    /// The new places of islands, and the old ones of their targets.
    islands: Vec<(usize, usize)>,
}

impl Layout {
    pub(crate) fn new(pieces: &Pieces<'_>, known: &[Frame]) -> Result<Layout, Error> {
        let old = pieces.code.instructions()?;
        let index: HashMap<usize, usize> = old.iter().copied().zip(0..).collect();
        let place = |&old| Place { old, start: 0, itself: 0, is_far: false, island: None };
        let places = old.iter().map(place).collect();
        let mut layout = Layout { places, index, ends: (pieces.code.bytes.len(), 0), islands: Vec::new() };
        layout.place_all(pieces)?;
        while layout.find_far(pieces, known)? {
            layout.place_all(pieces)?;
        }
        if layout.ends.1 > LONGEST {
            return Err(Error::TooLarge("the code of a method"));
        }
        Ok(layout)
    }

    /// Puts one after the other.
    fn place_all(&mut self, pieces: &Pieces<'_>) -> Result<(), Error> {
        let mut behind: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, place) in self.places.iter().enumerate() {
            place.island.into_iter().for_each(|spot| behind.entry(spot).or_default().push(index));
        }
        self.islands.clear();
        let mut at = pieces.head;
        for index in 0..self.places.len() {
            let place = &mut self.places[index];
            let insertion = pieces.insertion(place.old);
            place.start = at;
            place.itself = at + insertion.before.len();
            let (old, itself, is_far) = (place.old, place.itself, place.is_far);
            at = itself + length(pieces, old, itself, is_far)? + insertion.after.len();
            for from in behind.get(&index).into_iter().flatten() {
                let target =
                    opcode::target(&pieces.code.bytes, self.places[*from].old)?.ok_or(Error::Malformed)?;
                self.islands.push((at, target));
                at += ISLAND;
            }
        }
        self.ends.1 = at;
        Ok(())
    }

    /// Marks the jumps that are too far away; says whether there were new ones.
    fn find_far(&mut self, pieces: &Pieces<'_>, known: &[Frame]) -> Result<bool, Error> {
        let bytes = &pieces.code.bytes;
        let mut found = false;
        for index in 0..self.places.len() {
            let place = self.places[index];
            let opcode = bytes[place.old];
            if !opcode::is_short_jump(opcode) || place.is_far {
                continue;
            }
            let target = opcode::target(bytes, place.old)?.ok_or(Error::Malformed)?;
            if distance(place.itself, self.start(target)?).abs() <= FAR {
                continue;
            }
            found = true;
            self.places[index].is_far = true;
            if !matches!(opcode, GOTO | JSR) {
                if pieces.has_frames && !known.iter().any(|frame| frame.at == target) {
                    return Err(Error::Malformed);
                }
                self.places[index].island = Some(self.nearest_spot(bytes, place.itself)?);
            }
        }
        Ok(found)
    }

    /// The instruction nearest to a place that does not lead on to the next one. There is room for what islands
    /// move.
    fn nearest_spot(&self, bytes: &[u8], from: usize) -> Result<usize, Error> {
        const NEAR: i64 = 24_000;
        let is_spot = |&(_, place): &(usize, &Place)| opcode::ends_flow(bytes[place.old]);
        let spots = self.places.iter().enumerate().filter(is_spot);
        let nearest = spots.map(|(index, place)| (distance(from, place.itself).abs(), index)).min();
        let near = nearest.filter(|&(distance, _)| distance < NEAR);
        near.map(|(_, index)| index).ok_or(Error::TooLarge("the code of a method"))
    }

    fn place(&self, old: usize) -> Result<&Place, Error> {
        self.index.get(&old).and_then(|&index| self.places.get(index)).ok_or(Error::Malformed)
    }

    /// Where jumps to an instruction lead now.
    pub(crate) fn start(&self, old: usize) -> Result<usize, Error> {
        if old == self.ends.0 { Ok(self.ends.1) } else { self.place(old).map(|place| place.start) }
    }

    /// Where an instruction itself is now.
    pub(crate) fn itself(&self, old: usize) -> Result<usize, Error> {
        self.place(old).map(|place| place.itself)
    }

    /// Where islands are, and the old places of their targets.
    pub(crate) fn islands(&self) -> &[(usize, usize)] {
        &self.islands
    }

    /// Writes all instructions behind what stands before them.
    pub(crate) fn write(&self, pieces: &Pieces<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let mut islands = self.islands.iter().peekable();
        for place in &self.places {
            let insertion = pieces.insertion(place.old);
            out.extend_from_slice(&insertion.before);
            match &insertion.instead {
                Some(instead) => out.extend_from_slice(instead),
                None => self.write_one(pieces, place, out)?,
            }
            out.extend_from_slice(&insertion.after);
            while let Some((at, target)) = islands.next_if(|(at, _)| *at == out.len()) {
                out.push(GOTO_W);
                put4(offset(*at, self.start(*target)?)?, out);
            }
        }
        Ok(())
    }

    fn write_one(&self, pieces: &Pieces<'_>, place: &Place, out: &mut Vec<u8>) -> Result<(), Error> {
        let (bytes, old) = (&pieces.code.bytes, place.old);
        let opcode = bytes[old];
        if let Some(target) = opcode::target(bytes, old)? {
            let target = self.start(target)?;
            if opcode::is_long_jump(opcode) || place.is_far && matches!(opcode, GOTO | JSR) {
                // The wide forms follow each other as the short ones do.
                out.push(if opcode::is_long_jump(opcode) { opcode } else { opcode - GOTO + GOTO_W });
                put4(offset(place.itself, target)?, out);
                return Ok(());
            }
            out.push(opcode);
            let target = if place.is_far { self.island_of(bytes, place)? } else { target };
            let distance = i16::try_from(distance(place.itself, target));
            put2(distance.map_err(|_| Error::TooLarge("the code of a method"))?.cast_unsigned(), out);
            return Ok(());
        }
        if matches!(opcode, opcode::TABLESWITCH | opcode::LOOKUPSWITCH) {
            return self.write_switch(bytes, place, out);
        }
        out.extend_from_slice(&bytes[old..old + opcode::length(bytes, old)?]);
        Ok(())
    }

    /// The island that a far jump leads to: any one with its target is as good.
    fn island_of(&self, bytes: &[u8], place: &Place) -> Result<usize, Error> {
        let target = opcode::target(bytes, place.old)?.ok_or(Error::Malformed)?;
        let of_target = self.islands.iter().filter(|(_, to)| *to == target);
        let nearest = of_target.map(|&(at, _)| at).min_by_key(|&at| distance(place.itself, at).abs());
        nearest.ok_or(Error::Malformed)
    }

    fn write_switch(&self, bytes: &[u8], place: &Place, out: &mut Vec<u8>) -> Result<(), Error> {
        let switch = Switch::read(bytes, place.old)?;
        out.push(bytes[place.old]);
        while !out.len().is_multiple_of(4) {
            out.push(0);
        }
        let mut copied = switch.default;
        for at in switch.offsets() {
            out.extend_from_slice(bytes.get(copied..at).ok_or(Error::Malformed)?);
            let target = opcode::within(place.old, i4_at(bytes, at)?.into())?;
            put4(offset(place.itself, self.start(target)?)?, out);
            copied = at + 4;
        }
        out.extend_from_slice(bytes.get(copied..switch.end).ok_or(Error::Malformed)?);
        Ok(())
    }
}

fn distance(from: usize, to: usize) -> i64 {
    let wide = |place: usize| i64::try_from(place).unwrap_or(i64::MAX);
    wide(to) - wide(from)
}

fn offset(from: usize, to: usize) -> Result<u32, Error> {
    i32::try_from(distance(from, to)).map(i32::cast_unsigned).map_err(|_| Error::Malformed)
}

/// How long an instruction is at its new place.
fn length(pieces: &Pieces<'_>, old: usize, new: usize, is_far: bool) -> Result<usize, Error> {
    let bytes = &pieces.code.bytes;
    if let Some(instead) = &pieces.insertion(old).instead {
        return Ok(instead.len());
    }
    let padding = |at: usize| 3 - at % 4;
    match bytes[old] {
        opcode::TABLESWITCH | opcode::LOOKUPSWITCH => {
            Ok(opcode::length(bytes, old)? - padding(old) + padding(new))
        }
        GOTO | JSR if is_far => Ok(ISLAND),
        _ => opcode::length(bytes, old),
    }
}
