//! Where threads leave code with hooks and come back.
//!
//! Calls into the library that may communicate with other threads update one atomic variable before and after, and so
//! does the library's code whenever a thread comes from there: so they keep their order, and whatever one thread did
//! before happens before what others do after. That is more than the library promises, and never less.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use foretell_turns::turn::Turn;
use foretell_wire::hook::MemoryOrder;
use foretell_wire::record::Record;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::agent::tool;
use crate::jdk::{self, Effect};
use crate::jni::{Jni, Object};
use crate::objects;
use crate::registry::{self, Target};
use crate::sites::{self, What};
use crate::thread::{AsJava, Call, Java, Order};

/// What stands for all that the library knows, and how often that has changed.
const LIBRARY: u64 = objects::FIRST - 16;
static CHANGES: AtomicU64 = AtomicU64::new(0);

/// Keeps its order among all that the library does.
pub(crate) fn order(turn: &Turn) {
    update(turn, LIBRARY, CHANGES.fetch_add(1, Ordering::Relaxed));
}

/// How often the methods of objects were called that keep what they know to themselves.
static CALLS: Mutex<Option<FxHashMap<u64, u64>>> = Mutex::new(None);

/// Keeps its order among the calls of an object, whose first bytes are no field.
fn order_at(turn: &Turn, object: u64) {
    let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
    let calls = calls.get_or_insert_default().entry(object).or_default();
    update(turn, object, *calls);
    *calls += 1;
}

fn update(turn: &Turn, addr: u64, read: u64) {
    let (site, written, order) = (turn.me.site.get(), read.wrapping_add(1), MemoryOrder::AcqRel);
    turn.log(&Record::Rmw { site, addr, size: 8, read, written, order });
    turn.log_branch(site, None);
}

/// What the call at this site leads to.
fn target_of(site: &'static sites::Site) -> Target {
    match &site.what {
        What::Call(member, target) => *target.get_or_init(|| registry::target(member)),
        _ => Target::Hooked,
    }
}

/// A call is about to be made.
pub(crate) fn call(turn: &Turn, number: u32, site: &'static sites::Site) {
    let java = turn.me.java();
    let target = target_of(site);
    turn.me.site.set(sites::address(number));
    let (receiver, is_own) = java.receiver.take();
    let order = match target {
        Target::Hooked | Target::Outside(Effect::Nothing) => Order::None,
        Target::Outside(Effect::Own) if is_own => Order::Own(receiver),
        Target::Outside(Effect::Own | Effect::Ordered) => Order::Library(receiver),
        Target::Outside(Effect::Fence) => Order::Everything,
    };
    if order != Order::None {
        turn.meeting();
        keep(turn, order);
    }
    java.is_expected.set(target == Target::Hooked);
    let before = turn.me.call(sites::address(number));
    java.calls.borrow_mut().push(Call { before, site: number, order });
}

/// The call has returned.
pub(crate) fn back(turn: &Turn) {
    let java = turn.me.java();
    java.is_expected.set(false);
    let Some(call) = java.calls.borrow_mut().pop() else { return };
    turn.me.go_back(call.before);
    after(turn, call);
}

fn after(turn: &Turn, call: Call) {
    if call.order != Order::None {
        turn.me.site.set(sites::address(call.site));
        keep(turn, call.order);
    }
}

/// Keeps an order.
fn keep(turn: &Turn, among: Order) {
    match among {
        Order::None => {}
        Order::Own(object) => order_at(turn, object),
        Order::Library(object) => {
            if object != 0 {
                order_at(turn, object);
            }
            order(turn);
        }
        Order::Everything => turn.fence(turn.me.site.get()),
    }
}

/// Objects that have done more than to keep what they know to themselves.
static COMMON: Mutex<Option<FxHashSet<u64>>> = Mutex::new(None);

/// A method of this object is about to be called. Once it was another one than those that only touch the object itself,
/// others may share what it knows.
pub(crate) fn receive(jni: Jni, turn: &Turn, site: &sites::Site, object: Object) {
    let What::Call(member, _) = &site.what else { return };
    let class = jni.class_of(object);
    let name = tool().class_name(class);
    jni.delete_local(class);
    let address = objects::address(jni, turn, object);
    let mut common = COMMON.lock().unwrap_or_else(PoisonError::into_inner);
    let common = common.get_or_insert_default();
    if !jdk::is_own(&name, &member.name) {
        common.insert(address);
    }
    turn.me.java().receiver.set((address, !common.contains(&address)));
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
    if java.calls.borrow().is_empty() {
        java.is_pooled.set(true);
    }
    turn.me.site.set(sites::address(number));
    order(turn);
}

/// Whether the method is what its thread was started for.
fn is_run_by_its_thread(jni: Jni) -> bool {
    // The first two are the hook and the method.
    let frames = tool().frames(2, 4);
    let is_known = |&method: &_| {
        tool().method_names(jni, method).is_some_and(|(class, name, _)| {
            class == b"java/lang/Thread" && name.starts_with(b"run")
                || class.windows(8).any(|part| part == b"$$Lambda")
        })
    };
    frames.iter().all(is_known)
}

/// The thread does something to be seen by others, maybe out of the library.
pub(crate) fn order_if_in_library(turn: &Turn) {
    let java = turn.me.java();
    let is_in_library = match java.calls.borrow().last() {
        // The library's own code may call further.
        Some(call) => matches!(call.order, Order::Library(_) | Order::Everything),
        None => java.is_pooled.get(),
    };
    if is_in_library {
        order(turn);
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
    let mut ended = java.calls.borrow_mut().split_off(kept);
    if let Some(first) = ended.first() {
        turn.me.go_back(first.before);
    }
    while let Some(call) = ended.pop() {
        after(turn, call);
    }
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
