//! The classes whose code has hooks, by their names, as far as it matters where a call leads.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use foretell_classfile::class::Class;
use rustc_hash::FxHashSet;

use crate::jdk::{self, Effect};
use crate::sites::Member;

/// What a call leads to, as far as that is known before it is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// Code with hooks.
    Hooked,
    /// Code without hooks.
    Outside(Effect),
}

struct Known {
    parent: Box<[u8]>,
    interfaces: Vec<Box<[u8]>>,
    /// Names and types of its methods, one after the other.
    methods: FxHashSet<Box<[u8]>>,
    /// Those of them that have no hooks.
    without: FxHashSet<Box<[u8]>>,
    /// Its static initialiser has code.
    initialises: bool,
}

static CLASSES: Mutex<Option<HashMap<Box<[u8]>, Known>>> = Mutex::new(None);

fn with<R>(act: impl FnOnce(&mut HashMap<Box<[u8]>, Known>) -> R) -> R {
    act(CLASSES.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// This class has hooks. If there is another one with the same name, calls are looked for in the last one only.
pub(crate) fn add(class: &Class, without: &[Box<[u8]>]) {
    let text = |index| Box::<[u8]>::from(class.pool.text(index));
    let name_of = |index| Box::<[u8]>::from(class.pool.class_name(index));
    let methods = class.methods.iter();
    let known = Known {
        parent: class.parent_name().into(),
        interfaces: class.interfaces.iter().map(|&index| name_of(index)).collect(),
        methods: methods
            .map(|method| [&*text(method.name), &*text(method.descriptor)].concat().into())
            .collect(),
        without: without.iter().cloned().collect(),
        initialises: class.methods.iter().any(|method| class.pool.text(method.name) == b"<clinit>"),
    };
    with(|classes| classes.insert(class.name().into(), known));
}

/// What a call of this method leads to.
pub(crate) fn target(member: &Member) -> Target {
    let method = [&*member.name, &*member.descriptor].concat();
    with(|classes| {
        let mut owner = &*member.owner;
        let mut interfaces: Vec<&[u8]> = Vec::new();
        while let Some(known) = classes.get(owner) {
            if known.without.contains(&*method) {
                return Target::Outside(Effect::Fence);
            }
            if known.methods.contains(&*method) {
                return Target::Hooked;
            }
            interfaces.extend(known.interfaces.iter().map(|name| &**name));
            owner = &known.parent;
        }
        let outside = jdk::effect(owner, &member.name, &member.descriptor);
        let mut seen = FxHashSet::default();
        while let Some(interface) = interfaces.pop().filter(|name| seen.insert(*name)) {
            let Some(known) = classes.get(interface) else {
                if owner == b"java/lang/Object" && !jdk::is_of_object(&member.name) {
                    return Target::Outside(jdk::effect(interface, &member.name, &member.descriptor));
                }
                continue;
            };
            if known.methods.contains(&*method) {
                return Target::Hooked;
            }
            interfaces.extend(known.interfaces.iter().map(|name| &**name));
        }
        Target::Outside(outside)
    })
}

/// This class and those that it extends, as far as their static initialisers have code with hooks.
pub(crate) fn initialised_with(class: &[u8]) -> Vec<Box<[u8]>> {
    with(|classes| {
        let (mut found, mut name) = (Vec::new(), class);
        while let Some(known) = classes.get(name) {
            if known.initialises {
                found.push(name.into());
            }
            name = &known.parent;
        }
        found
    })
}

/// Whether to use this class may run a static initialiser with hooks, as far as its own file tells.
pub(crate) fn may_initialise(class: &Class) -> bool {
    !jdk::is_of_jdk(class.parent_name())
        || class.methods.iter().any(|method| class.pool.text(method.name) == b"<clinit>")
}
