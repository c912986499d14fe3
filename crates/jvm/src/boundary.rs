//! Where threads leave code with hooks and come back.
//!
//! Calls into the library that may communicate with other threads update one atomic variable before and after, and so
//! does the library's code whenever a thread comes from there: so they keep their order, and whatever one thread did
//! before happens before what others do after. That is more than the library promises, and never less.

use std::sync::atomic::{AtomicU64, Ordering};

use foretell_turns::turn::Turn;
use foretell_wire::hook::MemoryOrder;
use foretell_wire::record::Record;

use crate::acts::{self, Returned};
use crate::agent::tool;
use crate::channels;
use crate::content::{self, Collection};
use crate::jdk::{self, Effect};
use crate::jni::{Jni, Object};
use crate::library::{Act, Content, Sharing};
use crate::objects;
use crate::receivers::{self, Argument, Receiver};
use crate::registry::{self, Target};
use crate::sites::{self, Member, Site, What};
use crate::thread::{AsJava, Call, Deed, Java, Order};

/// What stands for all that the library knows, and how often that has changed.
const LIBRARY: u64 = objects::FIRST - 16;
static CHANGES: AtomicU64 = AtomicU64::new(0);

/// Keeps its order among all that the library does.
pub(crate) fn order(turn: &Turn) {
    let (site, read, order) =
        (turn.me.site.get(), CHANGES.fetch_add(1, Ordering::Relaxed), MemoryOrder::AcqRel);
    turn.log(&Record::Rmw { site, addr: LIBRARY, size: 8, read, written: read.wrapping_add(1), order });
    turn.log_branch(site, None);
}

/// What the call at this site leads to, by the name that the code has.
fn target_of(site: &'static Site) -> Target {
    match &site.what {
        What::Call(member, target) => *target.get_or_init(|| registry::target(member)),
        _ => Target::Hooked,
    }
}

/// A method of this object is about to be called.
pub(crate) fn receive(jni: Jni, turn: &Turn, site: &'static Site, object: Object) {
    turn.me.java().receiver.set(receivers::receiver(jni, turn, site, object));
}

/// This object is about to be passed in a call.
pub(crate) fn pass(jni: Jni, turn: &Turn, number: u32, object: Object) {
    let argument = receivers::argument(jni, turn, number, object);
    turn.me.java().arguments.borrow_mut().push(argument);
}

/// A call is about to be made.
pub(crate) fn call(turn: &Turn, number: u32, site: &'static Site) {
    let java = turn.me.java();
    turn.me.site.set(sites::address(number));
    let receiver = java.receiver.take();
    let arguments = std::mem::take(&mut *java.arguments.borrow_mut());
    let target = receiver.map_or_else(|| target_of(site), |receiver| receiver.target);
    let mut order = order_of(site, target, receiver, &arguments);
    let passes_task = java.passes_task.take();
    if order == Order::Library && (passes_task || may_hand_on_tasks(site)) {
        channels::open_pools();
    }
    if !matches!(order, Order::Known(_))
        && let Some(measured) = receiver.and_then(|receiver| receiver.measured)
    {
        measured.forget();
    }
    if order != Order::None {
        turn.meeting();
        keep_before(turn, &mut order);
    }
    java.is_expected.set(target == Target::Hooked);
    let before = turn.me.call(sites::address(number));
    java.calls.borrow_mut().push(Call { before, site: number, order });
}

/// What keeps the order of a call.
fn order_of(site: &Site, target: Target, receiver: Option<Receiver>, arguments: &[Argument]) -> Order {
    let What::Call(member, _) = &site.what else { return Order::None };
    let Target::Outside(effect) = target else { return Order::None };
    let nothing = Deed {
        act: Act::Nothing,
        object: receiver.map_or(0, |receiver| receiver.address),
        collection: receiver.and_then(|receiver| receiver.collection),
        argument: arguments.iter().find_map(|argument| match argument {
            Argument::Collection(collection) => Some(*collection),
            _ => None,
        }),
        measured: receiver.and_then(|receiver| receiver.measured),
        has_called_back: false,
        times: 0,
    };
    let are_harmless = arguments.iter().all(|argument| *argument == Argument::Harmless);
    // Objects with a model are out of sight in calls of which nothing is known.
    let changes = |collection: Collection| collection.sharing != Sharing::Constant;
    let hides =
        nothing.argument.is_some_and(changes) || receiver.is_some_and(|receiver| receiver.act.is_some());
    match (effect, receiver.and_then(|receiver| receiver.act)) {
        (Effect::Nothing, _) => Order::None,
        (Effect::Fence, _) | (_, Some(Act::Fence | Act::Content(Content::Unknown))) => Order::Everything,
        (Effect::Static(act), None) => known(act, nothing, &member.name),
        (_, Some(act)) if is_compared(act, &member.name) && !are_harmless => Order::Everything,
        (_, Some(act)) => known(act, nothing, &member.name),
        (Effect::Makes, None) if arguments.contains(&Argument::Other) => Order::Everything,
        (Effect::Makes | Effect::Asks, None) if are_harmless || effect == Effect::Makes => {
            Order::Known(nothing)
        }
        (Effect::Asks, None) => Order::Everything,
        _ if hides => Order::Everything,
        _ => Order::Library,
    }
}

/// What a call with this act does.
fn known(act: Act, deed: Deed, name: &[u8]) -> Order {
    match act {
        Act::Wraps | Act::Changes if deed.argument.is_none() => Order::Everything,
        Act::Content(_) if takes_all(name) && deed.argument.is_none() => Order::Everything,
        _ => Order::Known(Deed { act, ..deed }),
    }
}

/// Whether a method takes a collection, and reads it.
fn takes_all(name: &[u8]) -> bool {
    matches!(name, b"addAll" | b"putAll" | b"removeAll" | b"containsAll" | b"retainAll" | b"drainTo")
}

/// Whether what is passed to a method is compared with what a collection holds, or its text is taken.
fn is_compared(act: Act, name: &[u8]) -> bool {
    matches!(act, Act::Content(_))
        && matches!(
            name,
            b"contains"
                | b"containsKey"
                | b"containsValue"
                | b"indexOf"
                | b"lastIndexOf"
                | b"remove"
                | b"append"
                | b"insert"
        )
}

/// Whether a call may pass a task on to a pool of threads, by the types of its parameters.
fn may_hand_on_tasks(site: &Site) -> bool {
    const TASKS: &[&[u8]] = &[b"Runnable;", b"Callable;", b"Executor;", b"ExecutorService;"];
    let What::Call(Member { descriptor, .. }, _) = &site.what else { return false };
    TASKS.iter().any(|task| descriptor.windows(task.len()).any(|part| part == *task))
}

/// The call has returned.
pub(crate) fn back(turn: &Turn, returned: Returned) {
    let java = turn.me.java();
    java.is_expected.set(false);
    let Some(call) = java.calls.borrow_mut().pop() else { return };
    turn.me.go_back(call.before);
    after(turn, call, returned);
}

/// An object that a call has returned.
pub(crate) fn object(jni: Jni, turn: &Turn, object: Object) -> Returned {
    let is_known =
        |java: &Java| java.calls.borrow().last().is_some_and(|call| matches!(call.order, Order::Known(_)));
    if object.is_null() || !is_known(turn.me.java()) {
        return Returned::Something;
    }
    let address = objects::address(jni, turn, object);
    receivers::returned(jni, address, object)
}

fn after(turn: &Turn, call: Call, returned: Returned) {
    if call.order != Order::None {
        turn.me.site.set(sites::address(call.site));
        keep_after(turn, call.order, returned);
    }
}

/// Keeps an order before a call.
fn keep_before(turn: &Turn, among: &mut Order) {
    match among {
        Order::None => {}
        Order::Library => order(turn),
        Order::Everything => turn.fence(turn.me.site.get()),
        Order::Known(deed) => acts::begin(turn, deed),
    }
}

/// Keeps an order after a call.
fn keep_after(turn: &Turn, among: Order, returned: Returned) {
    match among {
        Order::None => {}
        Order::Library => order(turn),
        Order::Everything => turn.fence(turn.me.site.get()),
        Order::Known(deed) => acts::end(turn, deed, returned),
    }
}

/// A method with hooks begins; says whether the thread comes from code without.
pub(crate) fn entered(jni: Jni, turn: &Turn, number: u32) {
    let java = turn.me.java();
    if java.is_expected.replace(false) {
        return;
    }
    if java.is_fresh.replace(false) && is_run_by_its_thread(jni) {
        return;
    }
    turn.me.site.set(sites::address(number));
    end_tasks(turn, true);
    let last = java.calls.borrow().last().map(|call| call.order);
    let may_be_task = match last {
        None => true,
        Some(Order::Known(deed)) => matches!(deed.act, Act::Submit | Act::Complete),
        Some(_) => false,
    };
    if may_be_task && channels::are_closed() && channels::begin(jni, turn) {
        return;
    }
    match last {
        Some(Order::Known(deed)) => acts::call_back(turn, deed),
        None => {
            java.is_pooled.set(true);
            order(turn);
        }
        Some(_) => order(turn),
    }
}

/// Ends tasks of pools that are over. Calls that they were in were left by exceptions.
fn end_tasks(turn: &Turn, is_beginning: bool) {
    while let Some(task) = channels::end(turn, is_beginning) {
        leave(turn, task.calls);
    }
}

/// The thread ends: calls that it is in were left by exceptions.
pub(crate) fn end(turn: &Turn) {
    end_tasks(turn, false);
    leave(turn, 0);
}

/// The thread is in so many calls only.
fn leave(turn: &Turn, kept: usize) {
    let calls = &turn.me.java().calls;
    if calls.borrow().len() <= kept {
        return;
    }
    let mut ended = calls.borrow_mut().split_off(kept);
    if let Some(first) = ended.first() {
        turn.me.go_back(first.before);
    }
    while let Some(call) = ended.pop() {
        after(turn, call, Returned::Exception);
    }
}

/// Whether the method is what its thread was started for.
fn is_run_by_its_thread(jni: Jni) -> bool {
    // The first two are the hook and the method.
    let frames = tool().frames(2, 4);
    let is_known = |&method: &_| {
        tool().method_names(jni, method).is_some_and(|(class, name, _)| {
            class == b"java/lang/Thread" && name.starts_with(b"run") || jdk::is_lambda(&class)
        })
    };
    frames.iter().all(is_known)
}

/// The thread does something to be seen by others, maybe out of the library.
pub(crate) fn order_if_in_library(turn: &Turn) {
    let java = turn.me.java();
    end_tasks(turn, false);
    let last = java.calls.borrow().last().map(|call| call.order);
    match last {
        // The library's own code may call further.
        Some(Order::Library | Order::Everything) => order(turn),
        // What was done by a method that the library has called is passed on by what the library does next.
        Some(Order::Known(deed)) if deed.has_called_back && deed.act == Act::Meet => {
            content::update(turn, deed.object, MemoryOrder::AcqRel);
        }
        Some(_) => {}
        None if java.is_pooled.get() => order(turn),
        None => {}
    }
}

/// Whether what the thread does with others is a matter of the library alone, and recorded as what that does.
pub(crate) fn is_within_library(java: &Java) -> bool {
    match java.calls.borrow().last().map(|call| call.order) {
        Some(Order::Known(deed)) => deed.act != Act::Passes,
        Some(_) => false,
        None => !java.is_pooled.get(),
    }
}

/// An exception was caught: the thread is back in the calls that it was in before.
pub(crate) fn caught(jni: Jni, turn: &Turn) {
    let java = turn.me.java();
    java.is_expected.set(false);
    if java.calls.borrow().is_empty() {
        return;
    }
    let kept = calls_below(jni, java);
    leave(turn, kept);
}

/// How many of the calls lead to the method that the site is in: those that are found, in their order, in the stack of
/// the virtual machine.
fn calls_below(jni: Jni, java: &Java) -> usize {
    const MOST: usize = 4096;
    // The first is the hook, the second the method itself.
    let frames = tool().frames(2, MOST);
    let calls = java.calls.borrow();
    let mut found = 0;
    for &frame in frames.iter().rev() {
        let Some(call) = calls.get(found) else { break };
        if is_in(jni, frame, call.site) {
            found += 1;
        }
    }
    found
}

/// Whether this method is the one that the site is in.
fn is_in(jni: Jni, frame: crate::jni::Id, site: u32) -> bool {
    let method = i32::try_from(site).ok().and_then(sites::get);
    let method = method.and_then(|site| i32::try_from(site.method).ok()).and_then(sites::get);
    let Some(What::Method(about)) = method.map(|method| &method.what) else { return false };
    tool().method_names(jni, frame).is_some_and(|(class, name, descriptor)| {
        *about.class == class && *about.name == name && *about.descriptor == descriptor
    })
}
