//! The places in the code where hooks stand. The virtual machine passes their numbers; the log has them as addresses,
//! above those of all objects.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use foretell_turns::turn::Turn;
use foretell_turns::{detect, scheduler};
use foretell_wire::log::module::Module;

use crate::registry::Target;
use crate::types::Field;

/// Where sites are in the log.
pub(crate) const BASE: u64 = 1 << 46;

/// So many pieces of so many sites there can be.
const PIECES: usize = 1 << 12;
const PIECE: usize = 1 << 10;

/// What a hook is for.
#[derive(Debug)]
pub(crate) enum What {
    /// A field, of an object or of a class.
    Field(Member),
    /// A call, and what it leads to, once that is known.
    Call(Member, OnceLock<Target>),
    /// A method.
    Method(MethodInfo),
    /// Something that needs no description.
    Place,
}

/// A method in which there are hooks.
#[derive(Debug)]
pub(crate) struct MethodInfo {
    /// The class.
    pub(crate) class: Box<[u8]>,
    /// Its name, and its type.
    pub(crate) name: Box<[u8]>,
    pub(crate) descriptor: Box<[u8]>,
    /// To come here is to have its class initialised.
    pub(crate) initialises: bool,
}

/// A field or method that code names.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) owner: Box<[u8]>,
    pub(crate) name: Box<[u8]>,
    pub(crate) descriptor: Box<[u8]>,
}

/// A place.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) what: What,
    /// What its thread has read before decides that it comes here, or which object it is about.
    pub(crate) decides: bool,
    /// The site of the method that it is in.
    pub(crate) method: u32,
    /// The field, once it was met; none if accesses to it do not matter.
    pub(crate) field: OnceLock<Option<&'static Field>>,
}

struct Pieces([AtomicPtr<Site>; PIECES]);

static ALL: Pieces = Pieces([const { AtomicPtr::new(std::ptr::null_mut()) }; PIECES]);
/// How many numbers are taken, and who may take some.
static COUNT: Mutex<usize> = Mutex::new(0);
/// What the log has to be told before it meets the newest sites.
static UNTOLD: Mutex<Vec<(u64, Vec<u8>)>> = Mutex::new(Vec::new());
static HAS_UNTOLD: AtomicBool = AtomicBool::new(false);
/// How many there are.
static LAST: AtomicUsize = AtomicUsize::new(0);

/// The address of a site in the log.
pub(crate) fn address(number: u32) -> u64 {
    BASE + u64::from(number)
}

/// Takes numbers for sites, one after the other, and returns what the log needs of them. None if there are too
/// many.
pub(crate) fn add(make: impl FnOnce(u32) -> (Vec<Site>, Vec<u8>)) -> Option<u32> {
    let mut count = COUNT.lock().unwrap_or_else(PoisonError::into_inner);
    let first = u32::try_from(*count).ok()?;
    let (sites, table) = make(first);
    if *count + sites.len() > PIECES * PIECE {
        return None;
    }
    let told = Module { address: address(first), table: &table, globals: Vec::new() };
    let told = told.encode();
    for site in sites {
        let (piece, place) = (*count / PIECE, *count % PIECE);
        let mut at = ALL.0[piece].load(Ordering::Relaxed);
        if at.is_null() {
            let room: Box<[std::mem::MaybeUninit<Site>]> = Box::new_uninit_slice(PIECE);
            at = Box::leak(room).as_mut_ptr().cast();
            ALL.0[piece].store(at, Ordering::Release);
        }
        // SAFETY: the piece has room for it, and nothing reads it before its number is known.
        unsafe { at.add(place).write(site) };
        *count += 1;
    }
    LAST.store(*count, Ordering::Release);
    UNTOLD.lock().unwrap_or_else(PoisonError::into_inner).push((address(first), told));
    HAS_UNTOLD.store(true, Ordering::Release);
    Some(first)
}

/// The site with this number.
pub(crate) fn get(number: i32) -> Option<&'static Site> {
    let number = usize::try_from(number).ok().filter(|&number| number < LAST.load(Ordering::Acquire))?;
    let piece = ALL.0.get(number / PIECE)?.load(Ordering::Acquire);
    // SAFETY: all sites below `LAST` were written, and stay.
    (!piece.is_null()).then(|| unsafe { &*piece.add(number % PIECE) })
}

/// Tells the log of the newest sites.
pub(crate) fn tell(turn: &Turn) {
    if !HAS_UNTOLD.load(Ordering::Acquire) {
        return;
    }
    let untold = std::mem::take(&mut *UNTOLD.lock().unwrap_or_else(PoisonError::into_inner));
    HAS_UNTOLD.store(false, Ordering::Release);
    for (address, content) in untold {
        turn.me.log().module(&content);
        if let Ok(module) = Module::decode(&content) {
            scheduler::note_module(&module);
            detect::module(address, module.table);
        }
    }
}
