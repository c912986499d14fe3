//! New code between the instructions of a method.
//!
//! What is inserted has no jumps, except at the beginning of the method, and leaves stack and local variables as it
//! finds them. So what the verifier knows stays true and only moves.

use std::collections::BTreeMap;

use crate::Error;
use crate::bytes::count;
use crate::class::{Attribute, Class, Member};
use crate::code::{Code, Handler};
use crate::frame::{self, Frame, Kind};
use crate::layout::{Layout, Pieces};
use crate::opcode;
use crate::pool::Pool;
use crate::table::moved;

/// What is inserted at one instruction.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Insertion {
    /// Before it. Jumps to the instruction come here.
    pub before: Vec<u8>,
    /// In its place, if it is no jump.
    pub instead: Option<Vec<u8>>,
    /// After it, where it does not jump.
    pub after: Vec<u8>,
}

/// Code around the whole method: it runs however the method ends, and one more local variable is for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Around {
    /// Puts an object into the new local variable. The stack is empty before and after.
    pub begin: Vec<u8>,
    /// Runs where an exception leaves the method, which lies on the stack before and after. Where the method
    /// returns, the same has to be inserted.
    pub end: Vec<u8>,
    /// The class of the object.
    pub class: Vec<u8>,
}

/// What is to be inserted into a method.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Edit {
    /// Before everything, without [`Edit::around`]. Places at which what is known is the same as at the beginning
    /// can be the targets of jumps within.
    pub first: Vec<u8>,
    /// These places. The end of [`Edit::first`] may be one of them.
    pub targets: Vec<usize>,
    /// Code around the method.
    pub around: Option<Around>,
    /// By the places of instructions.
    pub at: BTreeMap<usize, Insertion>,
    /// How many places the stack needs for it beyond what the method needs.
    pub stack: u16,
    /// How many local variables it uses for a moment, in places: those behind all others, see [`Edit::scratch`].
    pub locals: u16,
}

impl Edit {
    /// Whether nothing is to be inserted.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty() && self.around.is_none() && self.at.is_empty()
    }

    /// The first local variable that can be used for a moment, in a method that has so many.
    pub fn scratch(&self, max_locals: u16) -> u16 {
        max_locals.saturating_add(u16::from(self.around.is_some()))
    }

    /// The insertions at the instruction there.
    pub fn at(&mut self, place: usize) -> &mut Insertion {
        self.at.entry(place).or_default()
    }
}

/// What a method is, as far as its frames depend on it.
#[derive(Clone, Copy, Debug)]
struct Method<'a> {
    access: u16,
    this: u16,
    name: &'a [u8],
    descriptor: &'a [u8],
    has_frames: bool,
}

/// From this version on, code has frames; before, the verifier infers them.
const FRAMES_SINCE: u16 = 50;

/// Inserts the code into a method of the class. If that fails, the method is as it was.
pub fn apply(class: &mut Class, method: usize, edit: &Edit) -> Result<(), Error> {
    let member = class.methods.get(method).ok_or(Error::Malformed)?.clone();
    let index = code_of(&class.pool, &member).ok_or(Error::Malformed)?;
    let code = Code::read(&member.attributes[index].content)?;
    let (name, descriptor) =
        (class.pool.text(member.name).to_vec(), class.pool.text(member.descriptor).to_vec());
    let has_frames = class.major >= FRAMES_SINCE;
    let about =
        Method { access: member.access, this: class.this, name: &name, descriptor: &descriptor, has_frames };
    let new = edited(&code, edit, about, &mut class.pool)?.write()?;
    class.methods[method].attributes[index].content = new;
    Ok(())
}

/// Which attribute of a method is its code.
pub fn code_of(pool: &Pool, member: &Member) -> Option<usize> {
    member.attributes.iter().position(|attribute| pool.text(attribute.name) == b"Code")
}

fn edited(code: &Code, edit: &Edit, about: Method<'_>, pool: &mut Pool) -> Result<Code, Error> {
    let first = Frame::first(about.access, about.this, about.name, about.descriptor, pool)?;
    let find = |name: &[u8]| code.attributes.iter().find(|one| pool.text(one.name) == name);
    let known = match find(b"StackMapTable") {
        Some(table) => frame::read(&table.content, &first)?,
        None => Vec::new(),
    };
    let begin = edit.around.as_ref().map_or(&[][..], |around| &around.begin);
    let pieces = Pieces { code, edit, head: edit.first.len() + begin.len(), has_frames: about.has_frames };
    let layout = Layout::new(&pieces, &known)?;
    let mut bytes = [&edit.first, begin].concat();
    layout.write(&pieces, &mut bytes)?;
    let mut handlers = moved_handlers(code, edit, &layout)?;
    let catcher = bytes.len();
    if let Some(around) = &edit.around {
        handlers.push(around_all(&layout, catcher)?);
        bytes.extend_from_slice(&around.end);
        bytes.push(opcode::ATHROW);
    }
    let mut attributes = Vec::new();
    for attribute in code.attributes.iter().filter(|one| pool.text(one.name) != b"StackMapTable") {
        let content = moved(pool.text(attribute.name), &attribute.content, &layout)?;
        attributes.push(Attribute { name: attribute.name, content });
    }
    let frames = Frames { edit, known, layout: &layout, first: &first, catcher, max_locals: code.max_locals };
    if about.has_frames
        && let Some(content) = frames.table(pool)?
    {
        attributes.push(Attribute { name: pool.add_text(b"StackMapTable")?, content });
    }
    let extra = u16::from(edit.around.is_some()).saturating_add(edit.locals);
    let max_locals =
        code.max_locals.checked_add(extra).ok_or(Error::TooLarge("the local variables of a method"))?;
    let max_stack = code.max_stack.checked_add(edit.stack).ok_or(Error::TooLarge("the stack of a method"))?;
    Ok(Code { max_stack, max_locals, bytes, handlers, attributes })
}

/// Handlers where their code is now. Who begins after a `monitorenter` also covers what was inserted after that: a
/// monitor that is held is given up whatever happens.
fn moved_handlers(code: &Code, edit: &Edit, layout: &Layout) -> Result<Vec<Handler>, Error> {
    let place = |at: u16| count(layout.start(at.into())?, "the code of a method");
    let begin = |at: u16| {
        let inserted = match usize::from(at)
            .checked_sub(1)
            .filter(|&at| code.bytes.get(at) == Some(&opcode::MONITORENTER))
        {
            Some(before) => edit.at.get(&before).map_or(0, |insertion| insertion.after.len()),
            None => 0,
        };
        place(at)?.checked_sub(count(inserted, "the code of a method")?).ok_or(Error::Malformed)
    };
    code.handlers
        .iter()
        .map(|handler| {
            Ok(Handler {
                start: begin(handler.start)?,
                end: place(handler.end)?,
                at: place(handler.at)?,
                catches: handler.catches,
            })
        })
        .collect()
}

/// The handler of [`Edit::around`].
fn around_all(layout: &Layout, catcher: usize) -> Result<Handler, Error> {
    let what = "the code of a method";
    Ok(Handler {
        start: count(layout.start(0)?, what)?,
        end: count(catcher, what)?,
        at: count(catcher, what)?,
        catches: 0,
    })
}

/// The frames of the new code.
struct Frames<'a> {
    edit: &'a Edit,
    known: Vec<Frame>,
    layout: &'a Layout,
    first: &'a Frame,
    catcher: usize,
    max_locals: u16,
}

impl Frames<'_> {
    /// The table; none if there are no frames.
    fn table(self, pool: &mut Pool) -> Result<Option<Vec<u8>>, Error> {
        let held = match &self.edit.around {
            Some(around) => Some(Kind::Object(pool.add_class(&around.class)?)),
            None => None,
        };
        let mut frames: Vec<Frame> =
            self.edit.targets.iter().map(|&at| Frame { at, ..self.first.clone() }).collect();
        for frame in &self.known {
            frames.push(self.moved(frame, self.layout.start(frame.at)?, held)?);
        }
        for &(at, target) in self.layout.islands() {
            let frame = self.known.iter().find(|frame| frame.at == target).ok_or(Error::Malformed)?;
            frames.push(self.moved(frame, at, held)?);
        }
        if let Some(held) = held {
            let locals = Frame::default().with_local(self.max_locals, held)?.locals;
            let stack = vec![Kind::Object(pool.add_class(b"java/lang/Throwable")?)];
            frames.push(Frame { at: self.catcher, locals, stack });
        }
        frames.sort_by_key(|frame| frame.at);
        frames.dedup_by_key(|frame| frame.at);
        if frames.is_empty() { Ok(None) } else { frame::write(&frames, self.first).map(Some) }
    }

    fn moved(&self, frame: &Frame, at: usize, held: Option<Kind>) -> Result<Frame, Error> {
        let moved = |kind: &Kind| match *kind {
            Kind::Uninitialized(place) => self.layout.itself(place).map(Kind::Uninitialized),
            other => Ok(other),
        };
        let locals = frame.locals.iter().map(moved).collect::<Result<_, _>>()?;
        let stack = frame.stack.iter().map(moved).collect::<Result<_, _>>()?;
        let frame = Frame { at, locals, stack };
        held.map_or(Ok(frame.clone()), |held| frame.with_local(self.max_locals, held))
    }
}
