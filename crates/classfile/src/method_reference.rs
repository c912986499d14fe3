//! References to methods, such as `counter::increment`. The virtual machine makes objects of them that call the method
//! without any code of the class. Here they get such code: a method that calls the other one, and is referred to
//! instead.

use std::collections::BTreeMap;

use crate::Error;
use crate::assemble::Assembler;
use crate::bytes::{Reader, put2};
use crate::class::{Attribute, Class, Member, access};
use crate::code::Code;
use crate::descriptor::{self, places};
use crate::opcode;
use crate::pool::Reference;

/// What the new methods are called, but for a number.
const NAME: &str = "lambda$foretell$";

/// The ways of calling a method, as handles have them.
const VIRTUAL: u8 = 5;
const STATIC: u8 = 6;
const NEW: u8 = 8;
const INTERFACE: u8 = 9;

/// No method has more parameters.
const MOST: usize = 255;

/// What makes a dynamic call: a handle, and what that gets.
struct Maker {
    handle: u16,
    arguments: Vec<u16>,
}

/// Unfolds the references to those methods that are wanted. The line in the source of a dynamic call is known by the
/// index of that.
pub fn unfold(
    class: &mut Class,
    is_wanted: impl Fn(Reference<'_>) -> bool,
    lines: &BTreeMap<u16, u16>,
) -> Result<(), Error> {
    let is_table = |one: &Attribute| class.pool.text(one.name) == b"BootstrapMethods";
    let Some(table) = class.attributes.iter().position(is_table) else { return Ok(()) };
    let mut makers = read(&class.attributes[table].content)?;
    for (index, maker) in makers.iter_mut().enumerate() {
        let Some(&method) = maker.arguments.get(1).filter(|_| makes_lambdas(class, maker)) else { continue };
        let Some((kind, target)) = class.pool.handle(method) else { continue };
        let is_known = class.pool.reference(target).is_some_and(&is_wanted);
        let calls: Vec<u16> = class
            .pool
            .dynamic_calls()
            .filter(|&(_, of)| usize::from(of) == index)
            .map(|(call, _)| call)
            .collect();
        if !is_known || !matches!(kind, VIRTUAL | STATIC | NEW | INTERFACE) {
            continue;
        }
        let Some(object) = object_of(class, kind, target, &calls) else { continue };
        let line = calls.iter().find_map(|call| lines.get(call)).copied();
        let name = format!("{NAME}{index}");
        maker.arguments[1] = add(class, &name, (kind, target), &object, line)?;
    }
    class.attributes[table].content = write(&makers)?;
    Ok(())
}

fn makes_lambdas(class: &Class, maker: &Maker) -> bool {
    let method = class.pool.handle(maker.handle).and_then(|(_, method)| class.pool.reference(method));
    method.is_some_and(|method| {
        method.class == b"java/lang/invoke/LambdaMetafactory" && method.name == b"metafactory"
    })
}

/// The type of the object whose method is called, as the first parameter of the new method; empty if there is none. It
/// has to be the one that all the calls have, if they have one.
fn object_of(class: &Class, kind: u8, target: u16, calls: &[u16]) -> Option<Vec<u8>> {
    if !matches!(kind, VIRTUAL | INTERFACE) {
        return Some(Vec::new());
    }
    let owner = class.pool.reference(target)?.class;
    let own = if owner.first() == Some(&b'[') { owner.to_vec() } else { [b"L", owner, b";"].concat() };
    let mut found: Option<Vec<u8>> = None;
    for &call in calls {
        let (_, descriptor) = class.pool.dynamic(call)?;
        let (parameters, _) = descriptor::method(descriptor).ok()?;
        let this = parameters.first().map_or_else(|| own.clone(), |first| first.to_vec());
        if found.as_ref().is_some_and(|found| *found != this) {
            return None;
        }
        found = Some(this);
    }
    found
}

/// Adds a method that calls another one; returns the index of a handle for it.
fn add(
    class: &mut Class,
    name: &str,
    (kind, target): (u8, u16),
    object: &[u8],
    line: Option<u16>,
) -> Result<u16, Error> {
    let reference = class.pool.reference(target).ok_or(Error::Malformed)?;
    let (owner, called) = (reference.class.to_vec(), reference.descriptor.to_vec());
    let (parameters, result) = descriptor::method(&called)?;
    if parameters.len() >= MOST {
        return Err(Error::Malformed);
    }
    let all: Vec<&[u8]> =
        (!object.is_empty()).then_some(object).into_iter().chain(parameters.iter().copied()).collect();
    let made = [b"L", owner.as_slice(), b";"].concat();
    let result = if kind == NEW { made.as_slice() } else { result };
    let descriptor = [&b"("[..], &all.concat(), b")", result].concat();
    let new = if kind == NEW { Some(class.pool.add_class(&owner)?) } else { None };
    let mut code = Assembler::new(&mut class.pool);
    if let Some(new) = new {
        code.put(opcode::NEW);
        put2(new, &mut code.bytes);
        code.put(opcode::DUP);
    }
    let locals = code.load_all(&all, 0);
    code.put(match kind {
        VIRTUAL => opcode::INVOKEVIRTUAL,
        STATIC => opcode::INVOKESTATIC,
        NEW => opcode::INVOKESPECIAL,
        _ => opcode::INVOKEINTERFACE,
    });
    put2(target, &mut code.bytes);
    if kind == INTERFACE {
        code.put(u8::try_from(locals).map_err(|_| Error::TooLarge("a list of parameters"))?);
        code.put(0);
    }
    code.give(result);
    let bytes = code.bytes;
    let mut attributes = Vec::new();
    if let Some(line) = line {
        let mut content = Vec::new();
        [1, 0, line].into_iter().for_each(|number| put2(number, &mut content));
        attributes.push(Attribute { name: class.pool.add_text(b"LineNumberTable")?, content });
    }
    let max_stack = locals + 2 + places(result);
    let content = Code { max_stack, max_locals: locals, bytes, attributes, ..Code::default() }.write()?;
    let code = Attribute { name: class.pool.add_text(b"Code")?, content };
    let flags = access::PRIVATE | access::STATIC | access::SYNTHETIC;
    let (new_name, new_type) = (class.pool.add_text(name.as_bytes())?, class.pool.add_text(&descriptor)?);
    class.methods.push(Member {
        access: flags,
        name: new_name,
        descriptor: new_type,
        attributes: vec![code],
    });
    let (this, of_interface) = (class.name().to_vec(), class.access & access::INTERFACE != 0);
    let method = Reference { class: &this, name: name.as_bytes(), descriptor: &descriptor };
    class.pool.add_static_handle(method, of_interface)
}

fn read(content: &[u8]) -> Result<Vec<Maker>, Error> {
    let mut from = Reader::new(content);
    (0..from.u2()?)
        .map(|_| {
            let handle = from.u2()?;
            let arguments = (0..from.u2()?).map(|_| from.u2()).collect::<Result<_, _>>()?;
            Ok(Maker { handle, arguments })
        })
        .collect()
}

fn write(makers: &[Maker]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    put2(crate::bytes::count(makers.len(), "the list of bootstrap methods")?, &mut out);
    for maker in makers {
        put2(maker.handle, &mut out);
        put2(crate::bytes::count(maker.arguments.len(), "the arguments of a bootstrap method")?, &mut out);
        maker.arguments.iter().for_each(|&argument| put2(argument, &mut out));
    }
    Ok(out)
}
