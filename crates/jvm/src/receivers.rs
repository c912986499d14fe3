//! The objects that calls are about: what their classes have as a model, and whether the library may touch what they
//! hold when it is passed them.

use std::sync::{Mutex, PoisonError};

use foretell_turns::turn::Turn;
use rustc_hash::FxHashMap;

use crate::access;
use crate::agent::tool;
use crate::content::{self, Collection};
use crate::jdk::{self, Effect};
use crate::jni::{Jni, Object};
use crate::library::{self, Act, Model, Sharing};
use crate::locks;
use crate::objects;
use crate::registry::{self, Target};
use crate::sites::{Member, Site, What};

/// The class of an object, as far as calls go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Class {
    name: &'static [u8],
    /// What the library's own class does.
    model: Option<&'static Model>,
    /// The library's class that it is, or that it extends first.
    of_jdk: &'static [u8],
}

impl Class {
    fn is_of_jdk(&self) -> bool {
        self.name == self.of_jdk
    }
}

static CLASSES: Mutex<Option<FxHashMap<u64, Class>>> = Mutex::new(None);

fn class_of(jni: Jni, object: Object) -> Class {
    let class = jni.class_of(object);
    let key = objects::class_key(class);
    let known =
        CLASSES.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().get(&key).copied();
    let found = known.unwrap_or_else(|| {
        let made = look(jni, class);
        CLASSES.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().insert(key, made);
        made
    });
    jni.delete_local(class);
    found
}

fn look(jni: Jni, class: Object) -> Class {
    let name: &'static [u8] = tool().class_name(class).leak();
    let (mut of_jdk, mut model, mut at) = (None, None, class);
    while !at.is_null() {
        let this = tool().class_name(at);
        if jdk::is_of_jdk(&this) {
            model = model.or_else(|| library::of_class(&this));
            of_jdk.get_or_insert_with(|| &*this.leak());
        }
        at = jni.superclass(at);
    }
    let of_jdk = of_jdk.unwrap_or(b"java/lang/Object");
    // A class of the program may override what it inherits.
    Class { name, model: model.filter(|_| name == of_jdk), of_jdk }
}

/// What is known of the object whose method is called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receiver {
    pub(crate) address: u64,
    /// What the call does, if there is a model.
    pub(crate) act: Option<Act>,
    /// The collection that the object is, or is a view of.
    pub(crate) collection: Option<Collection>,
    /// What the call leads to, by the class of the object.
    pub(crate) target: Target,
}

/// What is known of an object that is passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Argument {
    /// To pass it tells the library nothing, and its text, its hash code and comparisons with it either.
    Harmless,
    Collection(Collection),
    /// The library may do something with what it holds.
    Other,
}

/// The collection that an object is, by its class.
fn collection(class: &Class, address: u64) -> Option<Collection> {
    content::viewed(address).or_else(|| match class.model {
        Some(Model::Collection { sharing, .. }) => {
            let monitor = if *sharing == Sharing::Guarded { address } else { 0 };
            Some(Collection { content: address, sharing: *sharing, monitor })
        }
        _ => None,
    })
}

/// A method of this object is about to be called.
pub(crate) fn receiver(jni: Jni, turn: &Turn, site: &Site, object: Object) -> Option<Receiver> {
    let What::Call(member, _) = &site.what else { return None };
    let class = class_of(jni, object);
    let address = objects::address(jni, turn, object);
    let collection = collection(&class, address);
    let act = match (class.model, collection) {
        // A part of a lock that is not known is no lock.
        (Some(_), _) if is_part_of_lock(class.name) && !locks::is_part(address) => Some(Act::Fence),
        // The lock of the condition has no model.
        (Some(_), _) if class.name.ends_with(b"ConditionObject") && locks::lock_of(address).is_none() => None,
        (Some(model), _) => Some(model.act(&member.name)),
        // A view: an iterator, say.
        (None, Some(_)) => Some(Act::Content(library::of_content(&member.name))),
        (None, None) => None,
    };
    let target = if jdk::is_lambda(class.name) && !class.is_of_jdk() {
        // It calls a method of the program, which has hooks.
        Target::Hooked
    } else if class.is_of_jdk() {
        Target::Outside(jdk::effect(class.name, &member.name, &member.descriptor))
    } else {
        let (name, descriptor) = (member.name.clone(), member.descriptor.clone());
        registry::target(&Member { owner: class.name.into(), name, descriptor })
    };
    // Nothing is better known by the name that the code has than by the class of the object.
    let target = match target {
        Target::Outside(Effect::Nothing) if !is_value(&class) => Target::Outside(Effect::Ordered),
        other => other,
    };
    Some(Receiver { address, act, collection, target })
}

fn is_part_of_lock(class: &[u8]) -> bool {
    class.starts_with(b"java/util/concurrent/locks/ReentrantReadWriteLock$")
}

/// Whether an object may be a part of a collection that calls return: an entry, an iterator, or a view.
pub(crate) fn is_part(jni: Jni, object: Object) -> bool {
    let class = class_of(jni, object);
    let ends = [&b"Node"[..], b"Entry", b"TreeNode", b"Itr", b"Iterator"];
    class.model.is_none()
        && class.name.contains(&b'$')
        && ends.iter().any(|end| class.name.ends_with(end))
        && class.is_of_jdk()
}

/// Whether methods of an object take its monitor.
pub(crate) fn is_guarded(jni: Jni, object: Object) -> bool {
    matches!(class_of(jni, object).model, Some(Model::Collection { sharing: Sharing::Guarded, .. }))
}

/// Objects that never change, and whose methods call no others.
fn is_value(class: &Class) -> bool {
    class.is_of_jdk() && jdk::is_value(class.name)
}

/// This object is about to be passed.
pub(crate) fn argument(jni: Jni, turn: &Turn, number: u32, object: Object) -> Argument {
    if object.is_null() {
        return Argument::Harmless;
    }
    let class = class_of(jni, object);
    if class.name.first() == Some(&b'[') {
        return elements(jni, turn, number, object, class.name);
    }
    if is_value(&class) || class.name == b"java/lang/Class" {
        return Argument::Harmless;
    }
    if !class.is_of_jdk() {
        let text = Member {
            owner: class.name.into(),
            name: b"toString"[..].into(),
            descriptor: b"()Ljava/lang/String;"[..].into(),
        };
        let is_simple = matches!(class.of_jdk, b"java/lang/Object" | b"java/lang/Enum")
            || jdk::is_exception(class.of_jdk);
        return if is_simple || registry::target(&text) == Target::Hooked {
            Argument::Harmless
        } else {
            Argument::Other
        };
    }
    match collection(&class, objects::address(jni, turn, object)) {
        Some(known) => Argument::Collection(known),
        None => Argument::Other,
    }
}

/// An array is passed, whose elements are read.
fn elements(jni: Jni, turn: &Turn, number: u32, array: Object, class: &[u8]) -> Argument {
    const MOST: i32 = 64;
    let length = jni.array_length(array);
    if length > MOST || !class.starts_with(b"[L") {
        return Argument::Other;
    }
    let mut all = Argument::Harmless;
    for index in 0..length {
        access::of_array(jni, turn, number, (array, index), None);
        let element = jni.get_element(array, index);
        let is_nested = !element.is_null() && class_of(jni, element).name.first() == Some(&b'[');
        if is_nested || argument(jni, turn, number, element) != Argument::Harmless {
            all = Argument::Other;
        }
        jni.delete_local(element);
    }
    all
}
