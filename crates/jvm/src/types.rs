//! The classes of objects: their fields, and where these lie. Places in an object are those that the virtual machine
//! itself has for it, so that every way to a field leads to the same address.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::sync::{Mutex, OnceLock, PoisonError};

use foretell_turns::turn::Turn;
use foretell_wire::site::{Described, Site as WireSite, SiteTable, SourceLanguage};

use crate::agent::tool;
use crate::jdk;
use crate::jni::{Id, Jni, NULL, Object};
use crate::objects;
use crate::sites::{self, Site, What};

const STATIC: i32 = 0x0008;
const FINAL: i32 = 0x0010;
const VOLATILE: i32 = 0x0040;

/// A field of objects, or of a class.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) id: Id,
    /// Where it lies: from the beginning of the object; of a static field, its address.
    pub(crate) offset: u64,
    /// The class that declares it.
    pub(crate) owner: Box<[u8]>,
    /// The first letter of its type.
    pub(crate) kind: u8,
    pub(crate) is_volatile: bool,
}

// SAFETY: what the virtual machine knows a field by is good on all threads.
unsafe impl Send for Field {}
// SAFETY: as above.
unsafe impl Sync for Field {}

/// The elements of arrays of some type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements {
    /// The first letter of a type of that size: only of objects does the type matter.
    pub(crate) kind: u8,
    /// Where the first one is,
    pub(crate) begin: u64,
    /// and how long each.
    pub(crate) size: u64,
}

/// What is distinguished of arrays: bytes, two of them, four, eight, or objects.
const ARRAYS: [(&CStr, u8); 5] =
    [(c"[B", b'B'), (c"[S", b'S'), (c"[I", b'I'), (c"[J", b'J'), (c"[Ljava/lang/Object;", b'L')];
static ELEMENTS: OnceLock<[Elements; ARRAYS.len()]> = OnceLock::new();

/// The number of a type of arrays by its name, from 1 on.
fn number_of_array(name: &[u8]) -> Option<u64> {
    let kind = match name.strip_prefix(b"[")?.first()? {
        b'Z' | b'B' => b'B',
        b'C' | b'S' => b'S',
        b'I' | b'F' => b'I',
        b'J' | b'D' => b'J',
        _ => b'L',
    };
    (1..).zip(ARRAYS).find(|(_, (_, known))| *known == kind).map(|(number, _)| number)
}

/// The elements of arrays of the type with this number.
pub(crate) fn elements(number: u64) -> Option<Elements> {
    let index = usize::try_from(number.checked_sub(1)?).ok()?;
    ELEMENTS.get()?.get(index).copied()
}

/// The class of objects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Type {
    /// The site that tells the log of it.
    pub(crate) site: u32,
    /// The number of the type of arrays; 0 if it is none.
    pub(crate) array: u64,
}

/// What gives the places of fields.
struct Unsafe {
    object: Object,
    field_offset: Id,
    static_offset: Id,
}

// SAFETY: it is a global reference, and ids are good on all threads.
unsafe impl Send for Unsafe {}
// SAFETY: as above.
unsafe impl Sync for Unsafe {}

static UNSAFE: OnceLock<Unsafe> = OnceLock::new();
/// How long a reference is, as a power of two.
static REFERENCE: OnceLock<u32> = OnceLock::new();

/// Finds what gives the places of fields; says whether it is there.
pub(crate) fn prepare(jni: Jni) -> Option<()> {
    let class = jni.class(c"jdk/internal/misc/Unsafe");
    if class.is_null() {
        jni.forget_exception();
        return None;
    }
    let field = jni.static_field(class, c"theUnsafe".as_ptr(), c"Ljdk/internal/misc/Unsafe;".as_ptr());
    let object = if field.is_null() { NULL } else { jni.get_static_object(class, field) };
    let method = |name: &CStr, signature: &CStr| {
        let found = jni.method(class, name.as_ptr(), signature.as_ptr());
        jni.forget_exception();
        (!found.is_null()).then_some(found)
    };
    let of_field = c"(Ljava/lang/reflect/Field;)J";
    let found = Unsafe {
        object: jni.new_global(object),
        field_offset: method(c"objectFieldOffset", of_field)?,
        static_offset: method(c"staticFieldOffset", of_field)?,
    };
    let (base, scale) = (c"arrayBaseOffset", method(c"arrayIndexScale", c"(Ljava/lang/Class;)I")?);
    // Newer ones tell where elements begin as a long number.
    let (short, long) = (method(base, c"(Ljava/lang/Class;)I"), method(base, c"(Ljava/lang/Class;)J"));
    let all = ARRAYS.map(|(name, kind)| {
        let arguments = [jni.class(name) as u64];
        let begin = match (short, long) {
            (Some(short), _) => jni.call_int(found.object, short, arguments.as_ptr()).into(),
            (None, Some(long)) => jni.call_long(found.object, long, arguments.as_ptr()),
            (None, None) => -1,
        };
        let size = jni.call_int(found.object, scale, arguments.as_ptr());
        Elements { kind, begin: u64::try_from(begin).unwrap_or(0), size: u64::try_from(size).unwrap_or(0) }
    });
    if jni.forget_exception() || all.iter().any(|elements| elements.begin == 0 || elements.size == 0) {
        return None;
    }
    let _ = REFERENCE.set(all[ARRAYS.len() - 1].size.trailing_zeros());
    ELEMENTS.set(all).ok()?;
    UNSAFE.set(found).ok()
}

/// How long a value is whose type begins with this letter, as a power of two.
pub(crate) fn size(kind: u8) -> u32 {
    match kind {
        b'Z' | b'B' => 0,
        b'C' | b'S' => 1,
        b'I' | b'F' => 2,
        b'J' | b'D' => 3,
        _ => REFERENCE.get().copied().unwrap_or(3),
    }
}

/// The value of a reference, as the log has it: it has the place of one.
pub(crate) fn reference(base: u64) -> u64 {
    if size(b'L') == 3 { base } else { base >> 3 & u64::from(u32::MAX) }
}

/// Fields of classes, and the types of objects, by what the classes are tagged with.
#[derive(Default)]
struct Types {
    objects: HashMap<u64, Type>,
}

static TYPES: Mutex<Option<Types>> = Mutex::new(None);

fn with<R>(act: impl FnOnce(&mut Types) -> R) -> R {
    act(TYPES.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// Where a field lies.
fn offset(jni: Jni, class: Object, field: Id, is_static: bool) -> Option<u64> {
    let tools = UNSAFE.get()?;
    let reflected = jni.to_reflected_field(class, field, u8::from(is_static));
    let method = if is_static { tools.static_offset } else { tools.field_offset };
    let offset = if reflected.is_null() {
        -1
    } else {
        jni.call_long(tools.object, method, [reflected as u64].as_ptr())
    };
    jni.delete_local(reflected);
    if jni.forget_exception() { None } else { u64::try_from(offset).ok() }
}

/// The field of this name that a class declares. Of final fields nothing is recorded: the memory model orders what is
/// read there.
fn declared(
    jni: Jni,
    turn: &Turn,
    class: Object,
    (name, descriptor): (&[u8], &[u8]),
    is_static: bool,
) -> Option<Option<&'static Field>> {
    let found = tool().fields(class).into_iter().find(|&field| {
        tool().field_names(class, field).is_some_and(|(found, of)| found == name && of == descriptor)
    })?;
    let mut modifiers = 0;
    tool().field_modifiers(class, found, &mut modifiers);
    if modifiers & FINAL != 0 || (modifiers & STATIC != 0) != is_static {
        return Some(None);
    }
    let owner: Box<[u8]> = tool().class_name(class).into();
    let Some(within) = offset(jni, class, found, is_static).filter(|_| !jdk::is_of_jdk(&owner)) else {
        return Some(None);
    };
    let base = if is_static { objects::address(jni, turn, class) } else { 0 };
    let (offset, kind) = (base + within, descriptor.first().copied().unwrap_or(b'I'));
    let field = Field { id: found, offset, owner, kind, is_volatile: modifiers & VOLATILE != 0 };
    Some(Some(Box::leak(Box::new(field))))
}

/// The field that code means by this name in a class; none if nothing is to be recorded of it.
pub(crate) fn field(
    jni: Jni,
    turn: &Turn,
    class: Object,
    name: (&[u8], &[u8]),
    is_static: bool,
) -> Option<&'static Field> {
    let mut open = vec![class];
    while let Some(class) = open.pop() {
        if let Some(found) = declared(jni, turn, class, name, is_static) {
            return found;
        }
        let parent = jni.superclass(class);
        if !parent.is_null() {
            open.push(parent);
        }
        if is_static {
            open.extend(tool().interfaces_of(class));
        }
    }
    None
}

/// The class with this name that a class is, or extends.
pub(crate) fn ancestor(jni: Jni, class: Object, name: &[u8]) -> Option<Object> {
    let mut class = class;
    while !class.is_null() {
        if tool().class_name(class) == name {
            return Some(class);
        }
        class = jni.superclass(class);
    }
    None
}

/// What people call a class: without its package, as it stands in the source.
pub(crate) fn shown(class: &[u8]) -> String {
    let dimensions = class.iter().take_while(|&&byte| byte == b'[').count();
    let element = &class[dimensions..];
    let name = match element {
        _ if dimensions == 0 => element,
        b"I" => b"int",
        b"J" => b"long",
        b"Z" => b"boolean",
        b"B" => b"byte",
        b"C" => b"char",
        b"S" => b"short",
        b"F" => b"float",
        b"D" => b"double",
        _ => element.strip_prefix(b"L").and_then(|rest| rest.strip_suffix(b";")).unwrap_or(element),
    };
    let name = String::from_utf8_lossy(name).into_owned();
    let short = name.rsplit('/').next().unwrap_or(&name).replace('$', ".");
    // Elements are called by their array, so one pair of brackets less.
    format!("{short}{}", "[]".repeat(dimensions.saturating_sub(1)))
}

/// The type of the objects of a class, or of the class itself as the object that has its static fields.
pub(crate) fn of(jni: Jni, turn: &Turn, class: Object, key: u64, is_class: bool) -> Option<Type> {
    let key = key << 1 | u64::from(is_class);
    if let Some(known) = with(|types| types.objects.get(&key).copied()) {
        return Some(known);
    }
    let name = tool().class_name(class);
    let array = number_of_array(&name).filter(|_| !is_class).unwrap_or(0);
    let (layout, local) = match elements(array) {
        Some(elements) => (array_layout(elements.begin, elements.size), Some(shown(&name))),
        None if jdk::is_of_jdk(&name) && !is_class => (library_layout(&shown(&name)), None),
        None => (object_layout(jni, class, &shown(&name), is_class), is_class.then(|| shown(&name))),
    };
    let place = Site { what: What::Place, decides: false, method: 0, field: OnceLock::new() };
    let site = sites::add(|_| (vec![place], table(layout, local)))?;
    sites::tell(turn);
    let made = Type { site, array };
    with(|types| types.objects.insert(key, made));
    Some(made)
}

/// An array as long as any.
fn array_layout(base: u64, scale: u64) -> String {
    // The elements do not begin where the array does, which a layout says by a field without a name.
    format!("S{};0;1;1;{base};0;A{};s{scale};", u64::from(u32::MAX) * 8, u32::MAX)
}

/// An object of the library: what it holds is one variable, which is called like the object, and so is the lock that it
/// may be.
fn library_layout(name: &str) -> String {
    let part = |offset: u64| format!("{offset};0;S8;0;1;0;");
    format!("S16;{};{name}1;2;{}{}", name.len(), part(0), part(8))
}

fn object_layout(jni: Jni, class: Object, name: &str, is_class: bool) -> String {
    let (mut fields, mut end) = (Vec::new(), 16);
    if is_class {
        // What is locked is the class, which is called so.
        fields.push((0, "class".to_string(), 8));
    }
    let mut of = class;
    while !of.is_null() {
        for field in tool().fields(of) {
            let mut modifiers = 0;
            tool().field_modifiers(of, field, &mut modifiers);
            let Some((name, descriptor)) = tool().field_names(of, field) else { continue };
            if (modifiers & STATIC != 0) != is_class {
                continue;
            }
            if let Some(offset) = offset(jni, of, field, is_class) {
                let size = 1 << size(descriptor.first().copied().unwrap_or(b'I'));
                end = end.max(offset + size);
                fields.push((offset, String::from_utf8_lossy(&name).into_owned(), size));
            }
        }
        of = if is_class { NULL } else { jni.superclass(of) };
    }
    fields.sort();
    let text = |(offset, name, size): &(u64, String, u64)| format!("{offset};{};{name}s{size};", name.len());
    let texts: String = fields.iter().map(text).collect();
    // An object itself has no field at its beginning: that is what types of libraries can say.
    format!("S{end};{};{name}{};{};{texts}", name.len(), u8::from(!is_class), fields.len())
}

/// A table with one site, at which something with this layout is accessed.
fn table(layout: String, local: Option<String>) -> Vec<u8> {
    let described =
        Described { index: 0, is_global: false, layout: 0, offset: 0, local: local.as_ref().map(|_| 1) };
    let mut texts = vec![layout];
    texts.extend(local);
    let sites = vec![WireSite::default()];
    SiteTable {
        language: SourceLanguage::Java,
        texts,
        sites,
        globals: Vec::new(),
        described: vec![described],
    }
    .encode()
}

/// Initialises the class that declares a static field. If that fails, the program will learn of it.
pub(crate) fn initialise(jni: Jni, class: Object, name: &[u8], descriptor: &[u8]) {
    if let (Ok(name), Ok(descriptor)) = (CString::new(name), CString::new(descriptor)) {
        jni.static_field(class, name.as_ptr(), descriptor.as_ptr());
        jni.forget_exception();
    }
}

/// Whether an object is an array.
pub(crate) fn is_array(jni: Jni, object: Object) -> bool {
    let class = jni.class_of(object);
    let name = tool().class_name(class);
    jni.delete_local(class);
    name.first() == Some(&b'[')
}
