//! The hooks: native methods that the program calls. None of them throws anything, or calls code of the program while
//! it has its turn.

use std::ffi::{CString, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use foretell_turns::scheduler::note_external;
use foretell_turns::thread::me;
use foretell_turns::turn::Turn;

use crate::access::{self, Value};
use crate::acts::Returned;
use crate::boundary;
use crate::copy;
use crate::helper;
use crate::initialise;
use crate::jni::{Jni, NativeMethod, Object};
use crate::monitors;
use crate::natives;
use crate::sites::{self, Site, What};
use crate::thread::AsJava;

/// The turn of the calling thread at a site; none if it is not recorded.
fn enter(number: i32) -> Option<(Turn, u32, &'static Site)> {
    let Some(turn) = Turn::take() else {
        if me().is_none() {
            // What it does is not seen.
            note_external();
        }
        return None;
    };
    sites::tell(&turn);
    let site = sites::get(number)?;
    let number = u32::try_from(number).ok()?;
    if turn.me.java().meets.take() {
        turn.meeting();
    }
    if site.decides {
        turn.log_branch(sites::address(number), None);
    }
    Some((turn, number, site))
}

/// The same, where the place matters.
fn enter_at(number: i32) -> Option<Turn> {
    let (turn, number, _) = enter(number)?;
    turn.me.site.set(sites::address(number));
    Some(turn)
}

extern "system" fn read(jni: Jni, _: Object, object: Object, site: i32) {
    if let Some((turn, number, site)) = enter(site).filter(|_| !object.is_null()) {
        access::of_object(jni, &turn, number, site, object, None);
    }
}

fn write(jni: Jni, object: Object, value: Value, site: i32) {
    if let Some((turn, number, site)) = enter(site).filter(|_| !object.is_null()) {
        access::of_object(jni, &turn, number, site, object, Some(value));
    }
}

extern "system" fn read_static(jni: Jni, _: Object, class: Object, site: i32) {
    access::prepare(jni, class, site);
    if let Some((turn, number, site)) = enter(site) {
        access::of_class(jni, &turn, number, site, class, None);
    }
}

fn write_static(jni: Jni, value: Value, class: Object, site: i32) {
    access::prepare(jni, class, site);
    if let Some((turn, number, site)) = enter(site) {
        access::of_class(jni, &turn, number, site, class, Some(value));
    }
}

extern "system" fn read_element(jni: Jni, _: Object, array: Object, index: i32, site: i32) {
    if let Some((turn, number, _)) = enter(site).filter(|_| !array.is_null()) {
        access::of_array(jni, &turn, number, (array, index), None);
    }
}

fn write_element(jni: Jni, array: Object, index: i32, value: Value, site: i32) {
    if let Some((turn, number, _)) = enter(site).filter(|_| !array.is_null()) {
        access::of_array(jni, &turn, number, (array, index), Some(value));
    }
}

/// Hooks that get a value, one for each type.
macro_rules! typed {
    ($($type:ty, $value:expr => $write:ident $write_static:ident $write_element:ident;)*) => {$(
        extern "system" fn $write(jni: Jni, _: Object, object: Object, value: $type, site: i32) {
            let bits: fn($type) -> Value = $value;
            write(jni, object, bits(value), site);
        }

        extern "system" fn $write_static(jni: Jni, _: Object, value: $type, class: Object, site: i32) {
            let bits: fn($type) -> Value = $value;
            write_static(jni, bits(value), class, site);
        }

        extern "system" fn $write_element(jni: Jni, _: Object, array: Object, index: i32, value: $type, site: i32) {
            let bits: fn($type) -> Value = $value;
            write_element(jni, array, index, bits(value), site);
        }
    )*};
}

typed! {
    i32, |value| Value::Number(u64::from(value.cast_unsigned())) => write_int write_static_int write_element_int;
    i64, |value| Value::Number(value.cast_unsigned()) => write_long write_static_long write_element_long;
    f32, |value| Value::Number(value.to_bits().into()) => write_float write_static_float write_element_float;
    f64, |value| Value::Number(value.to_bits()) => write_double write_static_double write_element_double;
    Object, Value::Object => write_object write_static_object write_element_object;
}

extern "system" fn copy(
    jni: Jni,
    _: Object,
    from: Object,
    start: i32,
    to: Object,
    place: i32,
    length: i32,
    site: i32,
) {
    if let Some((turn, number, _)) = enter(site).filter(|_| !from.is_null() && !to.is_null()) {
        copy::tell(jni, &turn, number, (from, start), (to, place), length);
    }
    copy::make(jni, (from, start), (to, place), length);
}

extern "system" fn lock(jni: Jni, _: Object, object: Object, site: i32) {
    if let Some(turn) = enter_at(site).filter(|_| !object.is_null()) {
        monitors::lock(jni, &turn, object);
    }
}

extern "system" fn unlock(_: Jni, _: Object, object: Object, site: i32) {
    if let Some(turn) = enter_at(site) {
        monitors::unlock(&turn, object);
    }
}

extern "system" fn notified(_: Jni, _: Object, object: Object, site: i32) {
    if let Some(turn) = enter_at(site) {
        monitors::notify(&turn, object, false);
    }
}

extern "system" fn notified_all(_: Jni, _: Object, object: Object, site: i32) {
    if let Some(turn) = enter_at(site) {
        monitors::notify(&turn, object, true);
    }
}

extern "system" fn join(jni: Jni, _: Object, thread: Object, site: i32) {
    if let Some(turn) = enter_at(site) {
        natives::join(jni, &turn, thread, 0);
    }
}

extern "system" fn join_for(jni: Jni, _: Object, thread: Object, milliseconds: i64, site: i32) {
    if let Some(turn) = enter_at(site).filter(|_| milliseconds >= 0) {
        natives::join(jni, &turn, thread, milliseconds);
    }
}

extern "system" fn receiver(jni: Jni, _: Object, object: Object, site: i32) {
    if let Some((turn, _, site)) = enter(site).filter(|_| !object.is_null()) {
        boundary::receive(jni, &turn, site, object);
    }
}

extern "system" fn argument(jni: Jni, _: Object, object: Object, site: i32) {
    if let Some((turn, number, _)) = enter(site) {
        turn.me.site.set(sites::address(number));
        boundary::pass(jni, &turn, number, object);
    }
}

extern "system" fn call(_: Jni, _: Object, site: i32) {
    if let Some((turn, number, site)) = enter(site) {
        boundary::call(&turn, number, site);
    }
}

extern "system" fn back(_: Jni, _: Object) {
    if let Some(turn) = Turn::take() {
        boundary::back(&turn, Returned::Something);
    }
}

/// The call has returned a number,
extern "system" fn back_with(_: Jni, _: Object, number: i32) {
    if let Some(turn) = Turn::take() {
        boundary::back(&turn, Returned::Number(number));
    }
}

/// or an object.
extern "system" fn back_with_object(jni: Jni, _: Object, object: Object) {
    if let Some(turn) = Turn::take() {
        let returned = boundary::object(jni, &turn, object);
        boundary::back(&turn, returned);
    }
}

extern "system" fn caught(jni: Jni, _: Object, site: i32) {
    if let Some(turn) = enter_at(site) {
        boundary::caught(jni, &turn);
    }
}

extern "system" fn entered(jni: Jni, _: Object, site: i32) {
    let Some((turn, number, site)) = enter(site) else { return };
    boundary::entered(jni, &turn, number);
    if let What::Method(about) = &site.what
        && about.initialises
    {
        turn.me.site.set(sites::address(number));
        initialise::used_at(&turn, number, [&about.class, &about.class]);
    }
}

/// What the thread has read decides what happens after the end of a method.
extern "system" fn decided(_: Jni, _: Object, site: i32) {
    drop(enter(site));
}

/// The thread is about to do something with others.
extern "system" fn at(_: Jni, _: Object, site: i32) {
    drop(enter_at(site));
}

extern "system" fn begin_initialiser(_: Jni, _: Object, site: i32) {
    if let Some(turn) = enter_at(site) {
        initialise::begin(&turn);
    }
}

extern "system" fn end_initialiser(_: Jni, _: Object, site: i32) {
    if let Some((turn, number, site)) = enter(site)
        && let What::Method(about) = &site.what
    {
        turn.me.site.set(sites::address(number));
        initialise::end(&turn, &about.class);
    }
}

/// A hook: its name and type as code calls it, and what it does.
type Hook = (&'static str, &'static str, *const c_void);

fn all() -> Vec<Hook> {
    let hooks: [Hook; 28] = [
        ("read", "(Ljava/lang/Object;I)V", read as *const _),
        ("readStatic", "(Ljava/lang/Class;I)V", read_static as *const _),
        ("readElement", "(Ljava/lang/Object;II)V", read_element as *const _),
        ("write", "(Ljava/lang/Object;II)V", write_int as *const _),
        ("write", "(Ljava/lang/Object;JI)V", write_long as *const _),
        ("write", "(Ljava/lang/Object;FI)V", write_float as *const _),
        ("write", "(Ljava/lang/Object;DI)V", write_double as *const _),
        ("write", "(Ljava/lang/Object;Ljava/lang/Object;I)V", write_object as *const _),
        ("writeStatic", "(ILjava/lang/Class;I)V", write_static_int as *const _),
        ("writeStatic", "(JLjava/lang/Class;I)V", write_static_long as *const _),
        ("writeStatic", "(FLjava/lang/Class;I)V", write_static_float as *const _),
        ("writeStatic", "(DLjava/lang/Class;I)V", write_static_double as *const _),
        ("writeStatic", "(Ljava/lang/Object;Ljava/lang/Class;I)V", write_static_object as *const _),
        ("writeElement", "(Ljava/lang/Object;III)V", write_element_int as *const _),
        ("writeElement", "(Ljava/lang/Object;IJI)V", write_element_long as *const _),
        ("writeElement", "(Ljava/lang/Object;IFI)V", write_element_float as *const _),
        ("writeElement", "(Ljava/lang/Object;IDI)V", write_element_double as *const _),
        ("writeElement", "(Ljava/lang/Object;ILjava/lang/Object;I)V", write_element_object as *const _),
        ("copy", "(Ljava/lang/Object;ILjava/lang/Object;III)V", copy as *const _),
        ("lock", "(Ljava/lang/Object;I)V", lock as *const _),
        ("unlock", "(Ljava/lang/Object;I)V", unlock as *const _),
        ("notified", "(Ljava/lang/Object;I)V", notified as *const _),
        ("notifiedAll", "(Ljava/lang/Object;I)V", notified_all as *const _),
        ("join", "(Ljava/lang/Object;I)V", join as *const _),
        ("join", "(Ljava/lang/Object;JI)V", join_for as *const _),
        ("call", "(I)V", call as *const _),
        ("back", "()V", back as *const _),
        ("caught", "(I)V", caught as *const _),
    ];
    let frames: [Hook; 9] = [
        ("argument", "(Ljava/lang/Object;I)V", argument as *const _),
        ("back", "(I)V", back_with as *const _),
        ("back", "(Ljava/lang/Object;)V", back_with_object as *const _),
        ("receiver", "(Ljava/lang/Object;I)V", receiver as *const _),
        ("at", "(I)V", at as *const _),
        ("decided", "(I)V", decided as *const _),
        ("entered", "(I)V", entered as *const _),
        ("beginInitialiser", "(I)V", begin_initialiser as *const _),
        ("endInitialiser", "(I)V", end_initialiser as *const _),
    ];
    hooks.into_iter().chain(frames).collect()
}

/// Makes the class that the program calls. None if the virtual machine does not want it.
pub(crate) fn define(jni: Jni) -> Option<()> {
    let hooks = all();
    let methods = hooks.iter().map(|&(name, descriptor, _)| (name.as_bytes(), descriptor.as_bytes()));
    let bytes = helper::assemble(methods).ok()?;
    let name = CString::new(helper::NAME).ok()?;
    let length = i32::try_from(bytes.len()).ok()?;
    let class = jni.define_class(name.as_ptr(), std::ptr::null_mut(), bytes.as_ptr(), length);
    if class.is_null() || jni.forget_exception() {
        return None;
    }
    let begin = jni.static_method(class, c"begin".as_ptr(), c"()V".as_ptr());
    if begin.is_null() {
        jni.forget_exception();
        return None;
    }
    jni.call_static(class, begin, std::ptr::null());
    (!jni.forget_exception() && INSTALLED.load(Ordering::Relaxed)).then_some(())
}

/// All native methods are where they belong.
static INSTALLED: AtomicBool = AtomicBool::new(false);

/// The virtual machine finds this by its name.
#[unsafe(no_mangle)]
extern "system" fn Java_java_lang_Foretell_install(jni: Jni, class: Object) {
    let is_done = register(jni, class).is_some() && natives::replace(jni).is_some();
    INSTALLED.store(is_done, Ordering::Relaxed);
}

fn register(jni: Jni, class: Object) -> Option<()> {
    let hooks = all();
    let texts: Vec<(CString, CString)> = hooks
        .iter()
        .map(|&(name, descriptor, _)| Some((CString::new(name).ok()?, CString::new(descriptor).ok()?)))
        .collect::<Option<_>>()?;
    let table: Vec<NativeMethod> = texts
        .iter()
        .zip(&hooks)
        .map(|((name, signature), &(.., function))| NativeMethod {
            name: name.as_ptr(),
            signature: signature.as_ptr(),
            function,
        })
        .collect();
    let is_done = jni.register(class, table.as_ptr(), i32::try_from(table.len()).ok()?) == 0;
    (!jni.forget_exception() && is_done).then_some(())
}
