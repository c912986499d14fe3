//! What calls into the library do of which we know what they do: before, after, and where they call the program back.

use foretell_turns::turn::Turn;
use foretell_wire::hook::MemoryOrder;

use crate::channels;
use crate::content::{self, Collection, Ended};
use crate::library::{Act, Content, Sharing};
use crate::locks;
use crate::thread::{AsJava, Deed, Order};

/// What a call has returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Returned {
    /// It has returned, with what does not matter.
    Something,
    Number(i32),
    /// The object at this address, and whether it may be a part of a collection: an entry, or an iterator.
    Object {
        address: u64,
        is_part: bool,
        is_guarded: bool,
    },
    /// It has thrown an exception.
    Exception,
}

/// A method of a collection ends that has only read.
const UNCHANGED: Ended = Ended { has_called_back: false, has_changed: false };

/// A call begins.
pub(crate) fn begin(turn: &Turn, deed: &mut Deed) {
    if let Some(read) = deed.argument.filter(|_| !matches!(deed.act, Act::Wraps | Act::Changes)) {
        content::begin(turn, read, Content::Reads);
        content::end(turn, read, Content::Reads, UNCHANGED);
    }
    let object = deed.object;
    match deed.act {
        Act::Content(content) => {
            if let Some(collection) = deed.collection {
                content::begin(turn, collection, content);
            }
            if let Some(measured) = &mut deed.measured {
                measured.begin();
            }
        }
        Act::Changes => {
            if let Some(collection) = deed.argument {
                content::begin(turn, collection, Content::Writes);
            }
        }
        Act::Lock { is_shared, .. } => locks::try_to_lock(turn, lock_of(deed), is_shared),
        Act::Unlock { is_shared } => locks::unlock(turn, lock_of(deed), is_shared),
        Act::Await | Act::AwaitFor => {
            if let Some(lock) = locks::lock_of(object) {
                deed.times = locks::wait(turn, object, lock);
            } else {
                turn.fence(turn.me.site.get());
            }
        }
        Act::Signal { is_all } => match locks::lock_of(object) {
            Some(lock) => locks::signal(turn, object, lock, is_all),
            None => turn.fence(turn.me.site.get()),
        },
        Act::Load => content::load(turn, object),
        Act::Store => content::store(turn, object),
        Act::Update | Act::Meet => content::update(turn, object, MemoryOrder::AcqRel),
        Act::Send => channels::send(turn, object),
        Act::Submit => channels::submit(turn),
        Act::Nothing | Act::Passes | Act::Part | Act::Condition | Act::Wraps => {}
        Act::Receive | Act::Complete | Act::Fence => {}
    }
}

/// The lock that a call is about: an object, or that of which it is a part.
fn lock_of(deed: &Deed) -> locks::Lock {
    locks::lock(deed.object)
}

/// A call ends. What it has done is told before another thread has the turn: that would see it.
pub(crate) fn end(turn: &Turn, deed: Deed, returned: Returned) {
    let java = turn.me.java();
    java.keep_turn();
    finish(turn, deed, returned);
    java.may_lose_turn();
    if deed.has_called_back && holds_monitors(&deed) {
        java.may_lose_turn();
    }
}

fn finish(turn: &Turn, deed: Deed, returned: Returned) {
    let has_changed = match deed.measured {
        Some(measured) if returned == Returned::Exception => {
            measured.forget();
            false
        }
        Some(measured) => measured.has_changed(),
        None => returned != Returned::Exception,
    };
    match (deed.act, returned) {
        (Act::Content(content), returned) => {
            let Some(collection) = deed.collection else { return };
            content::end(
                turn,
                collection,
                content,
                Ended { has_called_back: deed.has_called_back, has_changed },
            );
            if let Returned::Object { address, is_part, .. } = returned
                && (content == Content::Views || is_part)
                && address != deed.object
            {
                content::add_view(address, collection);
            }
        }
        (Act::Changes, _) => {
            if let Some(collection) = deed.argument {
                content::end(
                    turn,
                    collection,
                    Content::Writes,
                    Ended { has_called_back: deed.has_called_back, ..UNCHANGED },
                );
            }
        }
        (Act::Wraps, Returned::Object { address, is_guarded, .. }) => wrap(address, is_guarded, deed),
        (Act::Part, Returned::Object { address, .. }) => locks::add_part(address, deed.object),
        (Act::Condition, Returned::Object { address, .. }) => locks::add_condition(address, lock_of(&deed)),
        (Act::Lock { is_shared, .. }, Returned::Exception | Returned::Number(0)) => {
            locks::could_not(turn, lock_of(&deed), is_shared);
            if returned == Returned::Exception {
                turn.fence(turn.me.site.get());
            }
        }
        (Act::Lock { is_shared, may_fail }, _) => {
            locks::has_locked(turn, lock_of(&deed), is_shared, may_fail);
        }
        (Act::Await | Act::AwaitFor, _) => {
            let Some(lock) = locks::lock_of(deed.object) else { return turn.fence(turn.me.site.get()) };
            let was_notified =
                deed.act == Act::Await && !matches!(returned, Returned::Number(0) | Returned::Exception);
            locks::has_waited(turn, (deed.object, lock), deed.times, was_notified);
            if deed.act == Act::AwaitFor || returned == Returned::Exception {
                turn.fence(turn.me.site.get());
            }
        }
        (Act::Meet, _) => content::update(turn, deed.object, MemoryOrder::AcqRel),
        (Act::Receive | Act::Complete, _) => {
            match deed.act {
                Act::Receive => channels::receive(turn, deed.object),
                _ => channels::complete(turn),
            }
            // That something has not happened yet depends on those who have not sent.
            if matches!(returned, Returned::Number(_) | Returned::Exception)
                && returned != Returned::Number(1)
            {
                turn.fence(turn.me.site.get());
            }
        }
        _ => {}
    }
}

/// An object is a view of the collection that was passed, maybe with a monitor of its own.
fn wrap(address: u64, is_guarded: bool, deed: Deed) {
    let Some(wrapped) = deed.argument else { return };
    // Those that have a monitor are known by their class; others have the methods of what they wrap.
    let of = if is_guarded {
        Collection { sharing: Sharing::Guarded, monitor: address, ..wrapped }
    } else {
        wrapped
    };
    content::add_view(address, of);
}

/// Whether the library may hold a monitor of its own while it calls the program back: other threads would wait for it
/// in the virtual machine, with their turn. So the thread keeps its turn.
fn holds_monitors(deed: &Deed) -> bool {
    deed.collection.is_some_and(|of| matches!(of.sharing, Sharing::Free | Sharing::Blocking))
}

/// A call of which we know what it does calls the program back.
pub(crate) fn call_back(turn: &Turn, deed: Deed) {
    if !deed.has_called_back && holds_monitors(&deed) {
        turn.me.java().keep_turn();
    }
    if let Some(call) = turn.me.java().calls.borrow_mut().last_mut() {
        call.order = Order::Known(Deed { has_called_back: true, ..deed });
    }
    match (deed.act, deed.collection, deed.argument) {
        (Act::Content(_), Some(of), _) | (Act::Changes, _, Some(of)) => content::call_back(turn, of),
        (Act::Meet, ..) => content::update(turn, deed.object, MemoryOrder::AcqRel),
        _ => {}
    }
}
