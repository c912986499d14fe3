//! What is known of the classes of Java's own library, whose code has no hooks.
//!
//! What they do to the program's arrays is a fence. Whatever else they do, they may communicate with other threads by
//! objects of their own: so all calls into the library keep their order among each other, but for those that are known
//! to do no such thing.

/// What a call into the library does, as far as other threads may notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Nothing, or what is recorded by other means.
    Nothing,
    /// It keeps its order among the calls of its object, if that is what it seems to be; otherwise it is
    /// [`Effect::Ordered`].
    Own,
    /// It keeps its order among all calls into the library.
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
fn is_exception(class: &[u8]) -> bool {
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
    // Whatever object is passed, its methods may be called, which may be of the library, too, and take a lock.
    let takes_objects = descriptor.windows(OBJECT.len()).any(|part| part == OBJECT);
    if is_console(class, name) {
        return if takes_objects { Effect::Fence } else { Effect::Nothing };
    }
    let takes_arrays = descriptor.contains(&b'[');
    match class {
        _ if passes_content(class, descriptor) => Effect::Fence,
        _ if may_be_own(class) && !takes_arrays && name != b"<init>" => Effect::Own,
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
        _ if takes_objects => Effect::Ordered,
        _ if VALUES.contains(&class) || is_exception(class) => Effect::Nothing,
        _ => Effect::Ordered,
    }
}

/// Classes whose objects keep what they know to themselves, and methods of theirs that do nothing else; a name ends
/// with `*` if it is the beginning of several.
const OWN: &[(&[u8], &[&[u8]])] = &[
    (b"java/lang/StringBuilder", BUILDER),
    (b"java/lang/StringBuffer", BUILDER),
    (b"java/util/Random", &[b"next*", b"setSeed"]),
    (b"java/util/concurrent/atomic/AtomicInteger", ATOMIC),
    (b"java/util/concurrent/atomic/AtomicLong", ATOMIC),
    (b"java/util/concurrent/atomic/AtomicBoolean", ATOMIC),
    (b"java/util/concurrent/atomic/AtomicReference", ATOMIC),
    (b"java/util/concurrent/CountDownLatch", &[b"await", b"countDown", b"getCount"]),
    (b"java/util/concurrent/Semaphore", &[b"acquire*", b"release", b"tryAcquire", b"availablePermits"]),
    (b"java/util/concurrent/locks/ReentrantLock", &[b"lock*", b"unlock", b"tryLock", b"is*", b"get*"]),
];
const BUILDER: &[&[u8]] = &[
    b"append",
    b"insert",
    b"length",
    b"charAt",
    b"setCharAt",
    b"setLength",
    b"delete*",
    b"reverse",
    b"toString",
    b"capacity",
    b"ensureCapacity",
    b"substring",
    b"indexOf",
    b"lastIndexOf",
    b"replace",
];
const ATOMIC: &[&[u8]] = &[
    b"get",
    b"set",
    b"lazySet",
    b"getAndSet",
    b"compareAndSet",
    b"compareAndExchange*",
    b"weakCompareAndSet*",
    b"getAndIncrement",
    b"getAndDecrement",
    b"getAndAdd",
    b"incrementAndGet",
    b"decrementAndGet",
    b"addAndGet",
    b"getPlain",
    b"setPlain",
    b"getOpaque",
    b"setOpaque",
    b"getAcquire",
    b"setRelease",
    b"intValue",
    b"longValue",
    b"toString",
];

/// Whether an object that code knows by this class may be one of those.
pub(crate) fn may_be_own(class: &[u8]) -> bool {
    OWN.iter().any(|(own, _)| *own == class)
        || matches!(class, b"java/util/concurrent/locks/Lock" | b"java/lang/Number")
}

/// Whether this method of an object of this very class does nothing but to its own object.
pub(crate) fn is_own(class: &[u8], name: &[u8]) -> bool {
    let fits =
        |known: &&[u8]| known.strip_suffix(b"*").map_or(*known == name, |begin| name.starts_with(begin));
    OWN.iter().any(|(own, names)| *own == class && names.iter().any(fits))
}

/// Whether a call is passed what such objects know, but not by way of their own methods.
fn passes_content(class: &[u8], descriptor: &[u8]) -> bool {
    const CONTENT: &[&[u8]] = &[
        b"Ljava/lang/CharSequence;",
        b"Ljava/lang/StringBuilder;",
        b"Ljava/lang/StringBuffer;",
        b"Ljava/util/Random;",
    ];
    let parameters = descriptor.split(|&byte| byte == b')').next().unwrap_or_default();
    let has = |what: &[u8]| parameters.windows(what.len()).any(|part| part == what);
    let is_text_of_any = class == b"java/lang/String" && has(OBJECT);
    matches!(class, b"java/lang/Appendable" | b"java/lang/CharSequence")
        || is_text_of_any
        || CONTENT.iter().any(|what| has(what))
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
        assert_eq!(effect("java/lang/Thread", "isAlive", "()Z"), Effect::Fence);
        assert_eq!(effect("java/lang/Thread", "join", "(JI)V"), Effect::Fence);
        assert_eq!(
            effect("java/lang/String", "valueOf", "(Ljava/lang/Object;)Ljava/lang/String;"),
            Effect::Fence
        );
        assert_eq!(effect("java/util/function/Supplier", "get", "()Ljava/lang/Object;"), Effect::Ordered);
        assert_eq!(effect("java/lang/Math", "random", "()D"), Effect::Nothing);
        assert_eq!(effect("java/util/concurrent/locks/Lock", "lock", "()V"), Effect::Own);
        assert!(is_own(b"java/util/Random", b"nextInt") && !is_own(b"java/util/Random", b"ints"));
        assert!(!is_own(b"java/util/concurrent/locks/ReentrantLock", b"newCondition"));
        assert_eq!(effect("[I", "clone", "()Ljava/lang/Object;"), Effect::Fence);
        assert!(is_of_jdk(b"java/util/List") && !is_of_jdk(b"javafoo/List") && is_of_jdk(b"[Lp/X;"));
    }
}
