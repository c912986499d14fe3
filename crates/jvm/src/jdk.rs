//! What is known of the classes of Java's own library, whose code has no hooks.
//!
//! What they do to the program's arrays is a fence. Whatever else they do, they may communicate with other threads by
//! objects of their own: so all calls into the library keep their order among each other, but for those that are known
//! to do no such thing, and those of objects whose class has a model, see `library`.

use foretell_classfile::descriptor::{class_of, is_reference, method};

use crate::library::{self, Act};

/// What a call into the library does, as far as other threads may notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Nothing, or what is recorded by other means.
    Nothing,
    /// It makes an object with a model, of what it is passed.
    Makes,
    /// It asks the objects that it is passed for their texts, or whether they are equal.
    Asks,
    /// What its model says.
    Static(Act),
    /// It keeps its order among all calls into the library, unless the class of its object has a model.
    Ordered,
    /// It may touch arrays of the program: nothing is reordered around it.
    Fence,
}

/// What the names of the library's classes begin with.
const PACKAGES: &[&[u8]] = &[
    b"java/",
    b"javax/",
    b"jdk/",
    b"sun/",
    b"com/sun/",
    b"netscape/javascript/",
    b"org/ietf/jgss/",
    b"org/w3c/dom/",
    b"org/xml/sax/",
    b"org/jcp/xml/",
];

/// Whether a class is of the library, by its name.
pub(crate) fn is_of_jdk(class: &[u8]) -> bool {
    class.first() == Some(&b'[') || PACKAGES.iter().any(|package| class.starts_with(package))
}

/// Whether a method is one of those that every object has.
pub(crate) fn is_of_object(name: &[u8]) -> bool {
    matches!(
        name,
        b"<init>"
            | b"getClass"
            | b"hashCode"
            | b"equals"
            | b"toString"
            | b"clone"
            | b"wait"
            | b"notify"
            | b"notifyAll"
            | b"finalize"
    )
}

/// Classes whose objects never change, or whose methods have none, and that call no other objects' methods.
const VALUES: &[&[u8]] = &[
    b"java/lang/String",
    b"java/lang/Integer",
    b"java/lang/Long",
    b"java/lang/Short",
    b"java/lang/Byte",
    b"java/lang/Character",
    b"java/lang/Boolean",
    b"java/lang/Double",
    b"java/lang/Float",
    b"java/lang/StrictMath",
    b"java/lang/Enum",
    b"java/lang/Record",
    b"java/lang/Comparable",
    b"java/lang/StackTraceElement",
    b"java/math/BigInteger",
    b"java/math/BigDecimal",
    b"java/time/Duration",
    b"java/time/Instant",
];

/// Exceptions and errors of the library are made, thrown and looked at by one thread.
pub(crate) fn is_exception(class: &[u8]) -> bool {
    class == b"java/lang/Throwable" || class.ends_with(b"Exception") || class.ends_with(b"Error")
}

/// What calls do.
pub(crate) fn effect(class: &[u8], name: &[u8], descriptor: &[u8]) -> Effect {
    if class.first() == Some(&b'[') {
        // Of its methods only `clone` reads elements.
        return if name == b"clone" { Effect::Fence } else { Effect::Nothing };
    }
    if !is_of_jdk(class) {
        // A class of the program without hooks.
        return Effect::Fence;
    }
    let takes_objects = descriptor.windows(OBJECT.len()).any(|part| part == OBJECT);
    if is_console(class, name) {
        return if takes_objects { Effect::Asks } else { Effect::Nothing };
    }
    let takes_arrays =
        descriptor.split(|&byte| byte == b')').next().is_some_and(|taken| taken.contains(&b'['));
    if let Some(act) = library::of_static(class, name).filter(|_| !takes_arrays) {
        return if act == Act::Nothing { Effect::Nothing } else { Effect::Static(act) };
    }
    match class {
        _ if asks(class, name, descriptor) => Effect::Asks,
        b"java/lang/Object" if matches!(name, b"toString" | b"equals" | b"hashCode") => Effect::Ordered,
        b"java/lang/Object" => Effect::Nothing,
        // Random numbers are different in every run.
        b"java/lang/Math" => Effect::Nothing,
        b"java/lang/Thread" if is_about_itself(name, descriptor) => Effect::Nothing,
        // Whether a thread has ended, or was interrupted, tells of what it or others did before.
        b"java/lang/Thread" => Effect::Fence,
        b"java/lang/System" => match name {
            b"nanoTime" | b"currentTimeMillis" | b"identityHashCode" | b"lineSeparator" | b"exit" | b"gc" => {
                Effect::Nothing
            }
            _ => Effect::Fence,
        },
        b"java/lang/Class" if !takes_arrays && !name.starts_with(b"new") => Effect::Nothing,
        _ if takes_arrays => Effect::Fence,
        _ if name == b"<init>" && library::of_class(class).is_some() => {
            if has_references(descriptor) {
                Effect::Makes
            } else {
                Effect::Nothing
            }
        }
        // These are compared with no others.
        _ if VALUES.contains(&class) && matches!(name, b"equals" | b"compareTo") => Effect::Nothing,
        _ if takes_objects => Effect::Ordered,
        _ if VALUES.contains(&class) || is_exception(class) => Effect::Nothing,
        _ => Effect::Ordered,
    }
}

fn has_references(descriptor: &[u8]) -> bool {
    method(descriptor).map_or(true, |(parameters, _)| parameters.iter().any(|one| is_reference(one)))
}

/// Whether a class is one that the virtual machine makes of a lambda expression, or of the name of a method.
pub(crate) fn is_lambda(class: &[u8]) -> bool {
    class.windows(8).any(|part| part == b"$$Lambda")
}

/// Whether objects of a class never change, and call no others' methods.
pub(crate) fn is_value(class: &[u8]) -> bool {
    VALUES.contains(&class) || is_exception(class)
}

/// Whether all that matters of a call is what the methods of the objects do that it is passed.
fn asks(class: &[u8], name: &[u8], descriptor: &[u8]) -> bool {
    let parameters = descriptor.split(|&byte| byte == b')').next().unwrap_or_default();
    let has = |what: &[u8]| parameters.windows(what.len()).any(|part| part == what);
    match class {
        b"java/lang/String" => {
            matches!(name, b"format" | b"formatted")
                || has(OBJECT) && name == b"valueOf"
                || has(b"Ljava/lang/CharSequence;")
        }
        b"java/util/Objects" => matches!(name, b"equals" | b"hash" | b"hashCode" | b"toString"),
        _ => false,
    }
}

/// Whether a parameter is worth a look, by its type: what it refers to may have a model.
pub(crate) fn is_looked_at(parameter: &[u8]) -> bool {
    let class = class_of(parameter);
    let is_array_of_objects = || parameter.starts_with(b"[L");
    is_reference(parameter)
        && (is_array_of_objects() || is_of_jdk(class) && parameter.first() == Some(&b'L'))
        && !VALUES.contains(&class)
        && !class.starts_with(b"java/util/function/")
        && !matches!(
            class,
            b"java/lang/Class"
                | b"java/lang/Runnable"
                | b"java/util/concurrent/Callable"
                | b"java/util/concurrent/TimeUnit"
                | b"java/util/Comparator"
        )
}

/// How a descriptor names any object.
const OBJECT: &[u8] = b"Ljava/lang/Object;";

/// Whether a call throws nothing, whatever was read before.
pub(crate) fn never_throws(class: &[u8], name: &[u8]) -> bool {
    match class {
        b"java/lang/Object" => name == b"<init>",
        b"java/lang/Math" => !name.ends_with(b"Exact") && !name.starts_with(b"floor"),
        b"java/lang/System" => matches!(name, b"nanoTime" | b"currentTimeMillis"),
        b"java/lang/Thread" => matches!(name, b"currentThread" | b"yield" | b"onSpinWait"),
        _ => is_console(class, name),
    }
}

/// What is printed does not come back.
fn is_console(class: &[u8], name: &[u8]) -> bool {
    class == b"java/io/PrintStream" && (name.starts_with(b"print") || matches!(name, b"format" | b"flush"))
}

/// Methods of threads that tell nothing of what other threads do, or are recorded by other means.
fn is_about_itself(name: &[u8], descriptor: &[u8]) -> bool {
    match name {
        b"join" => matches!(descriptor, b"()V" | b"(J)V"),
        b"<init>" | b"currentThread" | b"start" | b"sleep" | b"yield" | b"onSpinWait" | b"dumpStack" => true,
        b"getName" | b"setName" | b"getId" | b"threadId" => true,
        b"setDaemon" | b"isDaemon" | b"setPriority" | b"getPriority" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_keeps_its_order_or_is_a_fence() {
        let effect = |class: &str, name: &str, descriptor: &str| {
            super::effect(class.as_bytes(), name.as_bytes(), descriptor.as_bytes())
        };
        assert_eq!(effect("java/lang/String", "length", "()I"), Effect::Nothing);
        assert_eq!(effect("java/lang/String", "<init>", "([C)V"), Effect::Fence);
        assert_eq!(effect("java/util/Arrays", "sort", "([I)V"), Effect::Fence);
        assert_eq!(effect("java/util/ArrayList", "add", "(Ljava/lang/Object;)Z"), Effect::Ordered);
        assert_eq!(effect("java/util/ArrayList", "<init>", "(I)V"), Effect::Nothing);
        assert_eq!(effect("java/util/ArrayList", "<init>", "(Ljava/util/Collection;)V"), Effect::Makes);
        assert_eq!(effect("java/lang/Thread", "isAlive", "()Z"), Effect::Fence);
        assert_eq!(effect("java/lang/Thread", "join", "(JI)V"), Effect::Fence);
        assert_eq!(
            effect("java/lang/String", "valueOf", "(Ljava/lang/Object;)Ljava/lang/String;"),
            Effect::Asks
        );
        assert_eq!(effect("java/lang/String", "equals", "(Ljava/lang/Object;)Z"), Effect::Nothing);
        assert_eq!(effect("java/util/function/Supplier", "get", "()Ljava/lang/Object;"), Effect::Ordered);
        assert_eq!(effect("java/lang/Math", "random", "()D"), Effect::Nothing);
        let park = effect("java/util/concurrent/locks/LockSupport", "park", "()V");
        assert_eq!(park, Effect::Static(Act::Passes));
        assert_eq!(effect("[I", "clone", "()Ljava/lang/Object;"), Effect::Fence);
        assert!(is_of_jdk(b"java/util/List") && !is_of_jdk(b"javafoo/List") && is_of_jdk(b"[Lp/X;"));
    }
}
