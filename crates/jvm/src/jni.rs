//! The functions of the virtual machine, as far as they are used: those for native methods ([`Jni`]) and those for
//! tools ([`Tool`]). Both are tables of pointers, whose order the specifications fix.

use std::ffi::{CStr, c_char, c_void};

/// A reference to an object; null, or good until the native method returns.
pub(crate) type Object = *mut c_void;
/// What the virtual machine knows a field or a method by.
pub(crate) type Id = *mut c_void;

/// No object.
pub(crate) const NULL: Object = std::ptr::null_mut();

/// Functions for native methods, for the calling thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub(crate) struct Jni(*mut *const [*const c_void; 235]);

/// Functions for tools.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Tool(*mut *const [*const c_void; 156]);

// SAFETY: the functions for tools may be called on any thread.
unsafe impl Send for Tool {}
// SAFETY: as above.
unsafe impl Sync for Tool {}

/// A native method, to be registered.
#[repr(C)]
pub(crate) struct NativeMethod {
    pub(crate) name: *const c_char,
    pub(crate) signature: *const c_char,
    pub(crate) function: *const c_void,
}

/// A place in the stack of a thread.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Frame {
    pub(crate) method: Id,
    pub(crate) location: i64,
}

/// What is known of a thread.
#[repr(C)]
pub(crate) struct ThreadInfo {
    pub(crate) name: *mut c_char,
    pub(crate) priority: i32,
    pub(crate) is_daemon: u8,
    pub(crate) group: Object,
    pub(crate) loader: Object,
}

macro_rules! functions {
    ($table:ident from $first:literal: $($index:literal $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        impl $table {$(
            pub(crate) fn $name(self, $($argument: $type),*) $(-> $result)? {
                type Function = unsafe extern "system" fn($table, $($type),*) $(-> $result)?;
                // SAFETY: the virtual machine has passed the table, and the function at this place has this type.
                let function = unsafe { std::mem::transmute::<*const c_void, Function>((&**self.0)[$index - $first]) };
                // SAFETY: the arguments are references that the virtual machine has passed, and room of ours.
                unsafe { function(self, $($argument),*) }
            }
        )*}
    };
}

functions! { Jni from 0:
    5 define_class(name: *const c_char, loader: Object, bytes: *const u8, length: i32) -> Object;
    6 find_class(name: *const c_char) -> Object;
    10 superclass(class: Object) -> Object;
    11 is_assignable(class: Object, to: Object) -> u8;
    12 to_reflected_field(class: Object, field: Id, is_static: u8) -> Object;
    14 throw_new(class: Object, message: *const c_char) -> i32;
    17 clear_exception();
    21 new_global(object: Object) -> Object;
    22 delete_global(object: Object);
    23 delete_local(object: Object);
    31 class_of(object: Object) -> Object;
    33 method(class: Object, name: *const c_char, signature: *const c_char) -> Id;
    51 call_int(object: Object, method: Id, arguments: *const u64) -> i32;
    54 call_long(object: Object, method: Id, arguments: *const u64) -> i64;
    94 field(class: Object, name: *const c_char, signature: *const c_char) -> Id;
    95 get_object(object: Object, field: Id) -> Object;
    96 get_boolean(object: Object, field: Id) -> u8;
    97 get_byte(object: Object, field: Id) -> u8;
    98 get_char(object: Object, field: Id) -> u16;
    99 get_short(object: Object, field: Id) -> u16;
    100 get_int(object: Object, field: Id) -> u32;
    101 get_long(object: Object, field: Id) -> u64;
    102 get_float(object: Object, field: Id) -> f32;
    103 get_double(object: Object, field: Id) -> f64;
    105 set_boolean(object: Object, field: Id, value: u8);
    113 static_method(class: Object, name: *const c_char, signature: *const c_char) -> Id;
    143 call_static(class: Object, method: Id, arguments: *const u64);
    144 static_field(class: Object, name: *const c_char, signature: *const c_char) -> Id;
    145 get_static_object(class: Object, field: Id) -> Object;
    146 get_static_boolean(class: Object, field: Id) -> u8;
    147 get_static_byte(class: Object, field: Id) -> u8;
    148 get_static_char(class: Object, field: Id) -> u16;
    149 get_static_short(class: Object, field: Id) -> u16;
    150 get_static_int(class: Object, field: Id) -> u32;
    151 get_static_long(class: Object, field: Id) -> u64;
    152 get_static_float(class: Object, field: Id) -> f32;
    153 get_static_double(class: Object, field: Id) -> f64;
    171 array_length(array: Object) -> i32;
    173 get_element(array: Object, index: i32) -> Object;
    200 get_bytes(array: Object, start: i32, length: i32, into: *mut u8);
    201 get_chars(array: Object, start: i32, length: i32, into: *mut u16);
    203 get_ints(array: Object, start: i32, length: i32, into: *mut u32);
    204 get_longs(array: Object, start: i32, length: i32, into: *mut u64);
    215 register(class: Object, methods: *const NativeMethod, count: i32) -> i32;
    217 enter_monitor(object: Object) -> i32;
    218 exit_monitor(object: Object) -> i32;
    228 has_exception() -> u8;
}

functions! { Tool from 1:
    2 set_event(mode: i32, event: i32, thread: Object) -> i32;
    9 thread_info(thread: Object, info: *mut ThreadInfo) -> i32;
    18 current_thread(thread: *mut Object) -> i32;
    17 thread_state(thread: Object, state: *mut i32) -> i32;
    16 count_frames(thread: Object, count: *mut i32) -> i32;
    46 allocate(bytes: i64, at: *mut *mut u8) -> i32;
    47 deallocate(at: *mut u8) -> i32;
    48 class_signature(class: Object, signature: *mut *mut c_char, generic: *mut *mut c_char) -> i32;
    53 class_fields(class: Object, count: *mut i32, fields: *mut *mut Id) -> i32;
    54 interfaces(class: Object, count: *mut i32, classes: *mut *mut Object) -> i32;
    60 field_name(class: Object, field: Id, name: *mut *mut c_char, signature: *mut *mut c_char, generic: *mut *mut c_char) -> i32;
    62 field_modifiers(class: Object, field: Id, modifiers: *mut i32) -> i32;
    64 method_name(method: Id, name: *mut *mut c_char, signature: *mut *mut c_char, generic: *mut *mut c_char) -> i32;
    65 method_class(method: Id, class: *mut Object) -> i32;
    104 stack(thread: Object, start: i32, most: i32, frames: *mut Frame, count: *mut i32) -> i32;
    106 tag(object: Object, tag: *mut i64) -> i32;
    107 set_tag(object: Object, tag: i64) -> i32;
    122 set_callbacks(callbacks: *const *const c_void, bytes: i32) -> i32;
    142 add_capabilities(capabilities: *const u32) -> i32;
    154 object_size(object: Object, bytes: *mut i64) -> i32;
}

impl Jni {
    /// A class of the virtual machine itself.
    pub(crate) fn class(self, name: &CStr) -> Object {
        self.find_class(name.as_ptr())
    }

    /// The exception that is on its way goes no further.
    pub(crate) fn forget_exception(self) -> bool {
        let has = self.has_exception() != 0;
        if has {
            self.clear_exception();
        }
        has
    }
}

impl Tool {
    /// A text that the virtual machine has made room for, which is given back.
    fn text(self, made: *mut c_char) -> Option<Vec<u8>> {
        if made.is_null() {
            return None;
        }
        // SAFETY: it is not null, and ends with a zero.
        let text = unsafe { CStr::from_ptr(made) }.to_bytes().to_vec();
        self.deallocate(made.cast());
        Some(text)
    }

    /// The name of a class as class files write it: `java/lang/Object`, `[I`.
    pub(crate) fn class_name(self, class: Object) -> Vec<u8> {
        let mut signature = std::ptr::null_mut();
        self.class_signature(class, &mut signature, std::ptr::null_mut());
        let text = self.text(signature).unwrap_or_default();
        let named = text.strip_prefix(b"L").and_then(|rest| rest.strip_suffix(b";"));
        named.map(<[u8]>::to_vec).unwrap_or(text)
    }

    /// Name and type of a field.
    pub(crate) fn field_names(self, class: Object, field: Id) -> Option<(Vec<u8>, Vec<u8>)> {
        let (mut name, mut signature) = (std::ptr::null_mut(), std::ptr::null_mut());
        self.field_name(class, field, &mut name, &mut signature, std::ptr::null_mut());
        Some((self.text(name)?, self.text(signature)?))
    }

    /// Class, name and type of a method.
    pub(crate) fn method_names(self, jni: Jni, method: Id) -> Option<(Vec<u8>, Vec<u8>, Vec<u8>)> {
        let (mut name, mut signature, mut class) = (std::ptr::null_mut(), std::ptr::null_mut(), NULL);
        self.method_name(method, &mut name, &mut signature, std::ptr::null_mut());
        self.method_class(method, &mut class);
        let of = self.class_name(class);
        jni.delete_local(class);
        Some((of, self.text(name)?, self.text(signature)?))
    }

    /// The fields that a class declares.
    pub(crate) fn fields(self, class: Object) -> Vec<Id> {
        let (mut count, mut fields) = (0, std::ptr::null_mut());
        self.class_fields(class, &mut count, &mut fields);
        self.list(count, fields)
    }

    /// The interfaces that a class names.
    pub(crate) fn interfaces_of(self, class: Object) -> Vec<Object> {
        let (mut count, mut classes) = (0, std::ptr::null_mut());
        self.interfaces(class, &mut count, &mut classes);
        self.list(count, classes)
    }

    fn list(self, count: i32, at: *mut *mut c_void) -> Vec<*mut c_void> {
        if at.is_null() {
            return Vec::new();
        }
        let count = usize::try_from(count).unwrap_or(0);
        // SAFETY: the virtual machine has written so many there.
        let list = unsafe { std::slice::from_raw_parts(at, count) }.to_vec();
        self.deallocate(at.cast());
        list
    }

    /// What the object is tagged with; 0 if it is not.
    #[inline]
    pub(crate) fn tag_of(self, object: Object) -> u64 {
        let mut tag = 0;
        self.tag(object, &mut tag);
        tag.cast_unsigned()
    }

    /// The methods that the calling thread is in, the innermost first.
    pub(crate) fn frames(self, start: i32, most: usize) -> Vec<Id> {
        let mut frames = vec![Frame { method: NULL, location: 0 }; most];
        let mut count = 0;
        self.stack(NULL, start, i32::try_from(most).unwrap_or(i32::MAX), frames.as_mut_ptr(), &mut count);
        frames.truncate(usize::try_from(count).unwrap_or(0));
        frames.iter().map(|frame| frame.method).collect()
    }

    /// How many methods the calling thread is in.
    pub(crate) fn frame_count(self) -> i32 {
        let mut count = 0;
        self.count_frames(NULL, &mut count);
        count
    }

    /// The name of a thread, and whether it is a daemon.
    pub(crate) fn about_thread(self, jni: Jni, thread: Object) -> (Vec<u8>, bool) {
        let mut info =
            ThreadInfo { name: std::ptr::null_mut(), priority: 0, is_daemon: 0, group: NULL, loader: NULL };
        self.thread_info(thread, &mut info);
        jni.delete_local(info.group);
        jni.delete_local(info.loader);
        (self.text(info.name).unwrap_or_default(), info.is_daemon != 0)
    }
}
