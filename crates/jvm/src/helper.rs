//! The class whose methods the program calls at its hooks. All of them are native, so it is put together from nothing.
//!
//! Native methods of the library may be replaced by code of the library only, or the virtual machine warns: so there
//! is one method more, which calls a native method that does that.

use foretell_classfile::Error;
use foretell_classfile::assemble::{Assembler, add_method, class};
use foretell_classfile::class::access;
use foretell_classfile::opcode;

/// Its name. It is in a package that all classes see.
pub(crate) const NAME: &[u8] = b"java/lang/Foretell";

/// The class with these methods, by their names and types.
pub(crate) fn assemble<'a>(methods: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Result<Vec<u8>, Error> {
    let mut made = class(NAME, b"java/lang/Object", access::PUBLIC | access::FINAL | access::SYNTHETIC)?;
    for method in methods {
        add_method(&mut made, access::PUBLIC | access::STATIC, method, None)?;
    }
    let mut code = Assembler::new(&mut made.pool);
    code.call(opcode::INVOKESTATIC, NAME, b"install", b"()V")?;
    code.put(opcode::RETURN);
    let bytes = code.bytes;
    add_method(&mut made, access::PUBLIC | access::STATIC, (b"install", b"()V"), None)?;
    add_method(&mut made, access::PUBLIC | access::STATIC, (b"begin", b"()V"), Some((bytes, 0, 0)))?;
    made.write()
}

#[cfg(test)]
mod tests {
    use foretell_classfile::class::Class;

    use super::*;

    #[test]
    fn the_class_can_be_read() {
        let bytes = assemble([(&b"call"[..], &b"(I)V"[..])].into_iter()).unwrap();
        let read = Class::read(&bytes).unwrap();
        assert_eq!((read.name(), read.methods.len()), (NAME, 3));
    }
}
