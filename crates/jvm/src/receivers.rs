//! The objects that calls are about: what their classes have as a model, and whether the library may touch what they
//! hold when it is passed them.

use std::sync::{Mutex, PoisonError};

use foretell_turns::turn::Turn;
use rustc_hash::FxHashMap;

use crate::access;
use crate::acts::Returned;
use crate::agent::tool;
use crate::content::{self, Collection};
use crate::jdk::{self, Effect};
use crate::jni::{Id, Jni, Object};
use crate::library::{self, Act, Content, Model, Sharing};
use crate::locks;
use crate::objects;
use crate::registry::{self, Target};
use crate::sites::{Member, Site, What};
use crate::thread::AsJava;

/// The class of an object, as far as calls go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Class {
    name: &'static [u8],
    /// What the library's own class does.
    model: Option<&'static Model>,
    /// The library's class that it is, or that it extends first.
    of_jdk: &'static [u8],
    /// What tells how much there is in an object, if it is a collection.
    size: Option<Size>,
    /// It may be a task for a pool of threads, or a pool.
    is_task: bool,
}

/// The method that tells how much there is in an object.
#[derive(Clone, Copy, Debug)]
struct Size(Id);

// SAFETY: ids are good on all threads.
unsafe impl Send for Size {}

/// How much there was in a collection before a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Measured {
    /// For the thread that makes the call.
    jni: Jni,
    object: Object,
    method: Id,
    before: i32,
}

impl Measured {
    fn new(jni: Jni, object: Object, Size(method): Size) -> Measured {
        Measured { jni, object: jni.new_global(object), method, before: 0 }
    }

    /// The call begins, and has the monitor that it needs.
    pub(crate) fn begin(&mut self) {
        self.before = self.jni.call_int(self.object, self.method, std::ptr::null());
    }

    /// Whether there is more or less now. To be asked once.
    pub(crate) fn has_changed(self) -> bool {
        let now = self.jni.call_int(self.object, self.method, std::ptr::null());
        self.jni.delete_global(self.object);
        now != self.before
    }

    /// Nothing is asked any more.
    pub(crate) fn forget(self) {
        self.jni.delete_global(self.object);
    }
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
    let is_of_jdk = name == of_jdk;
    let names = [c"size", c"length"].into_iter().filter(|_| is_of_jdk);
    let size = names.into_iter().find_map(|name| {
        let method = jni.method(class, name.as_ptr(), c"()I".as_ptr());
        (!jni.forget_exception() && !method.is_null()).then_some(Size(method))
    });
    let tasks = [c"java/lang/Runnable", c"java/util/concurrent/Callable", c"java/util/concurrent/Executor"];
    let is_task = tasks.into_iter().any(|task| {
        let task = jni.class(task);
        let is_task = !task.is_null() && jni.is_assignable(class, task) != 0;
        jni.delete_local(task);
        is_task
    });
    Class { name, model: model.filter(|_| is_of_jdk), of_jdk, size, is_task }
}

/// What is known of the object whose method is called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receiver {
    pub(crate) address: u64,
    /// What the call does, if there is a model.
    pub(crate) act: Option<Act>,
    /// The collection that the object is, or is a view of.
    pub(crate) collection: Option<Collection>,
    /// How much there is in it, if the call may change that.
    pub(crate) measured: Option<Measured>,
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
    // Wrappers hand out the iterators of what they wrap.
    let is_bare =
        |of: &Collection| of.monitor != of.content && matches!(&*member.name, b"iterator" | b"listIterator");
    let collection = match collection {
        Some(of) if of.sharing == Sharing::Guarded && is_bare(&of) => {
            Some(Collection { sharing: Sharing::Plain, monitor: 0, ..of })
        }
        other => other,
    };
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
    let may_change = matches!(act, Some(Act::Content(Content::Writes | Content::Resizes)))
        && collection.is_some_and(|of| matches!(of.sharing, Sharing::Plain | Sharing::Guarded));
    let measured = class.size.filter(|_| may_change).map(|size| Measured::new(jni, object, size));
    Some(Receiver { address, act, collection, measured, target })
}

fn is_part_of_lock(class: &[u8]) -> bool {
    class.starts_with(b"java/util/concurrent/locks/ReentrantReadWriteLock$")
}

/// What matters of an object that a call has returned.
pub(crate) fn returned(jni: Jni, address: u64, object: Object) -> Returned {
    let class = class_of(jni, object);
    let is_inner = class.model.is_none() && class.is_of_jdk() && class.name.contains(&b'$');
    let ends = |ends: &[&[u8]]| is_inner && ends.iter().any(|end| class.name.ends_with(end));
    Returned::Object {
        address,
        is_part: ends(&[b"Itr", b"Iterator", b"Node", b"Entry"]),
        is_guarded: matches!(class.model, Some(Model::Collection { sharing: Sharing::Guarded, .. })),
    }
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
    if class.is_task {
        turn.me.java().passes_task.set(true);
    }
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
