#![no_main]

use foretell_classfile::class::Class;
use foretell_classfile::code::Code;
use foretell_classfile::edit::{Around, Edit, apply, code_of};

/// What is read is written as it was, and code that nothing says is wrong can be changed.
fn change(class: &mut Class) {
    for index in 0..class.methods.len() {
        let Some(attribute) = code_of(&class.pool, &class.methods[index]) else { continue };
        let Ok(code) = Code::read(&class.methods[index].attributes[attribute].content) else { continue };
        let around = Around { begin: vec![1, 0x4b], end: vec![0], class: b"java/lang/Object".to_vec() };
        let mut edit = Edit { around: Some(around), stack: 1, ..Edit::default() };
        code.instructions().unwrap_or_default().into_iter().for_each(|at| edit.at(at).before = vec![0; 99]);
        let _ = apply(class, index, &edit);
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(mut class) = Class::read(bytes) {
        assert!(class.write().unwrap() == bytes);
        change(&mut class);
        let _ = class.write();
    }
});
