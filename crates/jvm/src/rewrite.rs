//! Hooks in the code of a class.
//!
//! What is inserted pushes what the hook needs, the number of its site last, and calls it. It leaves the stack as it
//! was; only monitors of methods are taken and given up in code of our own.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use foretell_classfile::Error;
use foretell_classfile::class::{Class, access};
use foretell_classfile::code::{Code, LONGEST};
use foretell_classfile::descriptor::{self, places};
use foretell_classfile::edit::{Around, Edit, apply, code_of};
use foretell_classfile::method_reference::unfold;
use foretell_classfile::opcode::{
    self, ALOAD, ALOAD_0, ASTORE, DUP, DUP_X2, DUP2, DUP2_X1, IRETURN, LDC_W, MONITORENTER, MONITOREXIT, POP,
    POP2, RETURN,
};
use foretell_classfile::pool::{Pool, Reference};
use foretell_wire::site::{Site as WireSite, SiteTable, SourceLanguage};
use rustc_hash::FxHashSet;

use crate::decisions::{self, Fields, flow, is_unhooked, reference, targets};
use crate::helper;
use crate::jdk::{self, Effect};
use crate::library;
use crate::lines::Lines;
use crate::receiver::{is_known, place_of_object};
use crate::registry;
use crate::sites::{self, Member, MethodInfo, Site, What};
use crate::types::shown;

/// Older classes cannot name classes in their code.
const OLDEST: u16 = 49;
/// Room on the stack for what hooks get.
const STACK: u16 = 8;

/// The class with hooks; none if there is nothing to tell of it.
pub(crate) fn rewrite(bytes: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let mut class = Class::read(bytes)?;
    if class.access & access::MODULE != 0 {
        return Ok(None);
    }
    let initialises = registry::may_initialise(&class);
    if class.major < OLDEST {
        return Ok(None);
    }
    unfold_references(&mut class)?;
    let mut result = Ok(Vec::new());
    // Numbers are given once: what is put into the code is known by the number of the first site.
    let first = sites::add(|first| {
        let mut writer = Writer {
            first,
            sites: Vec::new(),
            places: Vec::new(),
            initialises,
            without: Vec::new(),
            finals: finals(&class, false),
            constants: finals(&class, true),
        };
        result = writer.class(&mut class).map(|()| std::mem::take(&mut writer.without));
        let table = table(&class, &writer.sites, &writer.places);
        (writer.sites, table)
    });
    let without = result?;
    if first.is_none() {
        return Err(Error::TooLarge("the list of all hooks"));
    }
    registry::add(&class, &without);
    class.write().map(Some)
}

/// Objects that call methods of the library do so in code with hooks.
fn unfold_references(class: &mut Class) -> Result<(), Error> {
    let matters = |method: Reference<'_>| {
        jdk::is_of_jdk(method.class)
            && jdk::effect(method.class, method.name, method.descriptor) != Effect::Nothing
    };
    let mut lines = BTreeMap::new();
    for method in &class.methods {
        let Some(attribute) = code_of(&class.pool, method) else { continue };
        let code = Code::read(&method.attributes[attribute].content)?;
        let table = Lines::read(&class.pool, &code);
        for at in code.instructions()? {
            if code.bytes[at] == opcode::INVOKEDYNAMIC
                && let Some(&index) = code.bytes.get(at + 1..).and_then(<[u8]>::first_chunk)
            {
                lines.insert(u16::from_be_bytes(index), table.at(at));
            }
        }
    }
    unfold(class, matters, &lines)
}

/// What the log has of the sites of a class.
fn table(class: &Class, made: &[Site], lines: &[u16]) -> Vec<u8> {
    let name = class.name();
    let folder = name.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
    let file = [&name[..folder], class.source_file()].concat();
    let mut texts = vec![String::from_utf8_lossy(&file).into_owned()];
    let (mut function, mut wire) = (0, Vec::new());
    for (site, &line) in made.iter().zip(lines) {
        if let What::Method(about) = &site.what {
            function = u32::try_from(texts.len()).unwrap_or(0);
            texts.push(format!("{}.{}", shown(name), String::from_utf8_lossy(&about.name)));
        }
        wire.push(WireSite { file: 0, function, line: line.into(), ..WireSite::default() });
    }
    SiteTable { language: SourceLanguage::Java, texts, sites: wire, ..SiteTable::default() }.encode()
}

/// Puts hooks into a class.
struct Writer {
    first: u32,
    sites: Vec<Site>,
    places: Vec<u16>,
    /// To use the class may run static initialisers with hooks.
    initialises: bool,
    /// Names and types of methods that have no hooks.
    without: Vec<Box<[u8]>>,
    /// Names of fields of objects that never change,
    finals: FxHashSet<Box<[u8]>>,
    /// and of static ones.
    constants: FxHashSet<Box<[u8]>>,
}

impl Writer {
    fn class(&mut self, class: &mut Class) -> Result<(), Error> {
        for index in 0..class.methods.len() {
            let count = self.sites.len();
            let method = &class.methods[index];
            let text = |index| class.pool.text(index);
            let called = [text(method.name), text(method.descriptor)].concat();
            let is_native = method.access & access::NATIVE != 0;
            match self.method(class, index) {
                // It would be too large with hooks.
                Err(Error::TooLarge(_)) => {
                    self.sites.truncate(count);
                    self.places.truncate(count);
                    self.without.push(called.into());
                }
                Ok(()) if is_native => self.without.push(called.into()),
                other => other?,
            }
        }
        Ok(())
    }

    fn method(&mut self, class: &mut Class, index: usize) -> Result<(), Error> {
        let method = class.methods[index].clone();
        let Some(attribute) = code_of(&class.pool, &method) else { return Ok(()) };
        let code = Code::read(&method.attributes[attribute].content)?;
        if code.bytes.len() > LONGEST / 2 {
            return Err(Error::TooLarge("the code of a method"));
        }
        let (name, descriptor) =
            (class.pool.text(method.name).to_vec(), class.pool.text(method.descriptor).to_vec());
        let mut lines = Lines::read(&class.pool, &code);
        let is_static = method.access & access::STATIC != 0;
        let about = MethodInfo {
            class: class.name().into(),
            name: name.clone().into(),
            descriptor: descriptor.into(),
            initialises: self.initialises && (is_static || name == b"<init>") && name != b"<clinit>",
        };
        let own = self.number();
        self.add(What::Method(about), false, own, lines.first());
        let about_fields = Fields { class: class.name(), finals: &self.finals, constants: &self.constants };
        let decided = flow(&code, &class.pool, about_fields)?;
        let mut hooks = Method {
            writer: self,
            class: class.name().to_vec(),
            pool: class.pool.clone(),
            edit: Edit { stack: STACK, ..Edit::default() },
            code: &code,
            lines: &mut lines,
            own,
            is_decided: false,
            decided,
        };

        hooks.frame(&name, method.access)?;
        hooks.instructions(&name, is_static)?;
        let Method { edit, pool, .. } = hooks;
        let old = std::mem::replace(&mut class.pool, pool);
        if let Err(error) = apply(class, index, &edit) {
            class.pool = old;
            return Err(error);
        }
        class.methods[index].access &= !access::SYNCHRONIZED;
        Ok(())
    }

    /// The number of the next site.
    fn number(&self) -> u32 {
        self.first.saturating_add(u32::try_from(self.sites.len()).unwrap_or(u32::MAX))
    }

    fn add(&mut self, what: What, decides: bool, method: u32, line: u16) {
        self.sites.push(Site { what, decides, method, field: OnceLock::new() });
        self.places.push(line);
    }
}

/// Puts hooks into a method.
struct Method<'a> {
    writer: &'a mut Writer,
    class: Vec<u8>,
    /// The constants of the class, with new ones.
    pool: Pool,
    edit: Edit,
    code: &'a Code,
    lines: &'a mut Lines,
    /// The site of the method.
    own: u32,
    /// A decision was made since the last hook, maybe.
    is_decided: bool,
    /// The same before each instruction.
    decided: Vec<bool>,
}

impl Method<'_> {
    /// A new site at an instruction.
    fn site(&mut self, what: What, decides: bool, at: usize) -> u32 {
        let number = self.writer.number();
        let decides = decides || self.is_decided;
        let line = self.lines.at(at);
        self.writer.add(what, decides, self.own, line);
        self.is_decided = false;
        number
    }

    /// Pushes the number of a site, and calls a hook.
    fn hook(&mut self, out: &mut Vec<u8>, name: &str, descriptor: &str, site: u32) -> Result<(), Error> {
        let index = self.pool.add_integer(site.cast_signed())?;
        out.push(LDC_W);
        out.extend_from_slice(&index.to_be_bytes());
        self.call(out, name, descriptor)
    }

    fn call(&mut self, out: &mut Vec<u8>, name: &str, descriptor: &str) -> Result<(), Error> {
        let (name, descriptor) = (name.as_bytes(), descriptor.as_bytes());
        let index = self.pool.add_method(Reference { class: helper::NAME, name, descriptor })?;
        out.push(opcode::INVOKESTATIC);
        out.extend_from_slice(&index.to_be_bytes());
        Ok(())
    }

    /// Pushes a class.
    fn push_class(&mut self, out: &mut Vec<u8>, name: &[u8]) -> Result<(), Error> {
        let index = self.pool.add_class(name)?;
        out.push(LDC_W);
        out.extend_from_slice(&index.to_be_bytes());
        Ok(())
    }

    /// What happens where the method begins and ends.
    fn frame(&mut self, name: &[u8], flags: u16) -> Result<(), Error> {
        let mut first = Vec::new();
        self.hook(&mut first, "entered", "(I)V", self.own)?;
        self.edit.first = first;
        let (mut begin, mut end) = (Vec::new(), Vec::new());
        let local = self.code.max_locals;
        if flags & access::SYNCHRONIZED != 0 {
            if flags & access::STATIC != 0 {
                let class = self.class.clone();
                self.push_class(&mut begin, &class)?;
            } else {
                begin.push(ALOAD_0);
            }
            begin.push(DUP);
            put_local(&mut begin, ASTORE, local);
            begin.push(DUP);
            self.hook(&mut begin, "lock", "(Ljava/lang/Object;I)V", self.own)?;
            begin.push(MONITORENTER);
            put_local(&mut end, ALOAD, local);
            end.push(MONITOREXIT);
            put_local(&mut end, ALOAD, local);
            self.hook(&mut end, "unlock", "(Ljava/lang/Object;I)V", self.own)?;
        } else if name == b"<clinit>" {
            self.hook(&mut begin, "beginInitialiser", "(I)V", self.own)?;
            // Nothing is kept, but the verifier wants an object.
            begin.push(1);
            put_local(&mut begin, ASTORE, local);
            self.hook(&mut end, "endInitialiser", "(I)V", self.own)?;
        } else {
            return Ok(());
        }
        self.edit.around = Some(Around { begin, end, class: b"java/lang/Object".to_vec() });
        Ok(())
    }

    fn instructions(&mut self, name: &[u8], is_static: bool) -> Result<(), Error> {
        let targets = targets(self.code)?;
        let handlers: Vec<usize> = self.code.handlers.iter().map(|handler| handler.at.into()).collect();
        // Until the constructor of the parent was called, the object cannot be passed to a hook.
        let mut unborn = (name == b"<init>").then_some(0_u32);
        let mut before: Vec<usize> = Vec::new();
        let keeps_this = !is_static && !stores_this(self.code)?;
        for at in self.code.instructions()? {
            let opcode = self.code.bytes[at];
            self.is_decided = self.decided.get(at).copied().unwrap_or(true);
            if handlers.contains(&at) {
                let mut caught = Vec::new();
                let site = self.site(What::Place, true, at);
                self.hook(&mut caught, "caught", "(I)V", site)?;
                self.edit.at(at).before = caught;
            }
            if targets.contains(&at) || handlers.contains(&at) {
                before.clear();
            }
            let fields = self.fields();
            let is_known_object = place_of_object(self.code, &self.pool, at)
                .is_some_and(|below| is_known(self.code, &self.pool, (fields, keeps_this), &before, below));
            match opcode {
                opcode::GETFIELD | opcode::PUTFIELD | opcode::GETSTATIC | opcode::PUTSTATIC => {
                    self.field(at, opcode, is_known_object, unborn.is_some())?;
                }
                opcode::IALOAD..=opcode::SALOAD => self.load_element(at)?,
                opcode::IASTORE..=opcode::SASTORE => self.store_element(at, opcode)?,
                MONITORENTER | MONITOREXIT => {
                    let of_constant = is_constant_for_block(self.code, &before);
                    self.monitor(at, opcode, is_known_object || of_constant)?;
                }
                opcode::INVOKEVIRTUAL..=opcode::INVOKEINTERFACE => {
                    self.invoke(at, opcode, is_known_object)?;
                    unborn = self.count_constructors(at, unborn);
                }
                opcode::INVOKEDYNAMIC => self.invoke_dynamic(at)?,
                opcode::NEW => unborn = unborn.map(|open| open + 1),
                IRETURN..=RETURN => self.end(at)?,
                _ => {}
            }
            before.push(at);
        }
        Ok(())
    }

    /// The method returns. What it has decided by then holds for the caller.
    fn end(&mut self, at: usize) -> Result<(), Error> {
        let mut before = Vec::new();
        if self.is_decided {
            let site = self.site(What::Place, true, at);
            self.hook(&mut before, "decided", "(I)V", site)?;
        }
        if let Some(around) = &self.edit.around {
            before.extend_from_slice(&around.end);
        }
        self.edit.at(at).before.extend(before);
        Ok(())
    }

    /// Whether the constructor of the parent is still to be called after this call: how many other objects are being
    /// made.
    fn count_constructors(&self, at: usize, unborn: Option<u32>) -> Option<u32> {
        let is_constructor =
            reference(self.code, &self.pool, at).is_some_and(|called| *called.name == *b"<init>");
        match unborn {
            Some(0) if is_constructor => None,
            Some(open) if is_constructor => Some(open - 1),
            other => other,
        }
    }

    fn fields(&self) -> Fields<'_> {
        Fields { class: &self.class, finals: &self.writer.finals, constants: &self.writer.constants }
    }

    fn field(&mut self, at: usize, opcode: u8, is_known_object: bool, is_unborn: bool) -> Result<(), Error> {
        let member = reference(self.code, &self.pool, at).ok_or(Error::Malformed)?;
        let is_static = matches!(opcode, opcode::GETSTATIC | opcode::PUTSTATIC);
        let is_own = *member.owner == *self.class;
        let is_too_early = opcode == opcode::PUTFIELD && is_unborn && is_own;
        // Static initialisers are known by the accesses to static fields.
        let is_skipped = !is_static && self.fields().is_skipped(&member);
        if jdk::is_of_jdk(&member.owner) || is_too_early || is_skipped {
            return Ok(());
        }
        let (owner, wide) = (member.owner.clone(), places(&member.descriptor) == 2);
        let value = passed_as(&member.descriptor);
        let decides = !(is_static || is_known_object);
        let site = self.site(What::Field(member), decides, at);
        let mut before = Vec::new();
        match opcode {
            opcode::GETFIELD => {
                before.push(DUP);
                self.hook(&mut before, "read", "(Ljava/lang/Object;I)V", site)?;
            }
            opcode::PUTFIELD if wide => {
                before.extend([DUP2_X1, POP2, DUP_X2, DUP_X2, POP, DUP2_X1]);
                self.hook(&mut before, "write", &format!("(Ljava/lang/Object;{value}I)V"), site)?;
            }
            opcode::PUTFIELD => {
                before.push(DUP2);
                self.hook(&mut before, "write", &format!("(Ljava/lang/Object;{value}I)V"), site)?;
            }
            opcode::GETSTATIC => {
                self.push_class(&mut before, &owner)?;
                self.hook(&mut before, "readStatic", "(Ljava/lang/Class;I)V", site)?;
            }
            _ => {
                before.push(if wide { DUP2 } else { DUP });
                self.push_class(&mut before, &owner)?;
                self.hook(&mut before, "writeStatic", &format!("({value}Ljava/lang/Class;I)V"), site)?;
            }
        }
        self.edit.at(at).before.extend(before);
        Ok(())
    }

    fn load_element(&mut self, at: usize) -> Result<(), Error> {
        let site = self.site(What::Place, true, at);
        let mut before = vec![DUP2];
        self.hook(&mut before, "readElement", "(Ljava/lang/Object;II)V", site)?;
        self.edit.at(at).before.extend(before);
        Ok(())
    }

    /// The value is put aside, into local variables behind all others.
    fn store_element(&mut self, at: usize, opcode: u8) -> Result<(), Error> {
        let kind = match opcode {
            opcode::LASTORE => 1,
            opcode::FASTORE => 2,
            opcode::DASTORE => 3,
            opcode::AASTORE => 4,
            _ => 0,
        };
        let value = ["I", "J", "F", "D", "Ljava/lang/Object;"][usize::from(kind)];
        let site = self.site(What::Place, true, at);
        let scratch = self.edit.scratch(self.code.max_locals);
        self.edit.locals = self.edit.locals.max(2);
        let mut before = Vec::new();
        put_local(&mut before, opcode::ISTORE + kind, scratch);
        before.push(DUP2);
        put_local(&mut before, opcode::ILOAD + kind, scratch);
        self.hook(&mut before, "writeElement", &format!("(Ljava/lang/Object;I{value}I)V"), site)?;
        put_local(&mut before, opcode::ILOAD + kind, scratch);
        self.edit.at(at).before.extend(before);
        Ok(())
    }

    fn monitor(&mut self, at: usize, opcode: u8, is_known: bool) -> Result<(), Error> {
        let site = self.site(What::Place, opcode == MONITORENTER && !is_known, at);
        self.edit.at(at).before.push(DUP);
        let mut code = Vec::new();
        if opcode == MONITORENTER {
            self.hook(&mut code, "lock", "(Ljava/lang/Object;I)V", site)?;
            self.edit.at(at).before.extend(code);
        } else {
            self.hook(&mut code, "unlock", "(Ljava/lang/Object;I)V", site)?;
            self.edit.at(at).after = code;
        }
        Ok(())
    }

    fn invoke(&mut self, at: usize, opcode: u8, is_known_object: bool) -> Result<(), Error> {
        let member = reference(self.code, &self.pool, at).ok_or(Error::Malformed)?;
        let is_static = opcode == opcode::INVOKESTATIC;
        match (&*member.name, &*member.descriptor) {
            (b"notify" | b"notifyAll", b"()V") if !is_static => return self.notify(at, &member),
            (b"join", b"()V" | b"(J)V") if !is_static => self.join(at, &member)?,
            (b"arraycopy", _) if *member.owner == *b"java/lang/System" => return self.copy(at),
            _ => {}
        }
        if is_unhooked(&member) {
            return self.mark(at, &member);
        }
        let decides = !(is_static || is_known_object || *member.name == *b"<init>");
        // Where the code says which class's method is meant, that of the object does not matter.
        let is_virtual = matches!(opcode, opcode::INVOKEVIRTUAL | opcode::INVOKEINTERFACE);
        self.call_outside(at, member, decides, is_virtual)
    }

    /// Where threads do something with each other the place matters, although the call itself needs no hook.
    fn mark(&mut self, at: usize, member: &Member) -> Result<(), Error> {
        if matches!(&*member.name, b"start" | b"sleep" | b"yield" | b"wait") {
            let site = self.site(What::Place, false, at);
            let mut before = Vec::new();
            self.hook(&mut before, "at", "(I)V", site)?;
            self.edit.at(at).before.extend(before);
        }
        Ok(())
    }

    /// Texts are put together by the library, which asks objects for theirs.
    fn invoke_dynamic(&mut self, at: usize) -> Result<(), Error> {
        let index = self.code.bytes.get(at + 1..).and_then(<[u8]>::first_chunk).ok_or(Error::Malformed)?;
        let named = self.pool.dynamic(u16::from_be_bytes(*index));
        let asks = named.is_some_and(|(name, descriptor)| decisions::asks_objects(name, descriptor));
        if !asks {
            return Ok(());
        }
        let (owner, name) = (b"java/lang/Object"[..].into(), b"toString"[..].into());
        let descriptor = b"()Ljava/lang/String;"[..].into();
        self.call_outside(at, Member { owner, name, descriptor }, true, false)
    }

    fn call_outside(
        &mut self,
        at: usize,
        member: Member,
        decides: bool,
        has_object: bool,
    ) -> Result<(), Error> {
        let effect = jdk::effect(&member.owner, &member.name, &member.descriptor);
        let is_dynamic = self.code.bytes[at] == opcode::INVOKEDYNAMIC;
        let is_looked_at = jdk::is_of_jdk(&member.owner) && effect != Effect::Nothing && !is_dynamic;
        let is_answered = is_looked_at && library::is_answered(&member.name, &member.descriptor);
        let descriptor = member.descriptor.clone();
        let site = self.site(What::Call(member, OnceLock::new()), decides, at);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        if is_looked_at {
            self.objects(&mut before, &descriptor, has_object, site)?;
        }
        self.hook(&mut before, "call", "(I)V", site)?;
        if !is_answered {
            self.call(&mut after, "back", "()V")?;
        } else if descriptor.ends_with(b"Z") {
            after.push(DUP);
            self.call(&mut after, "back", "(I)V")?;
        } else {
            after.push(DUP);
            self.call(&mut after, "back", "(Ljava/lang/Object;)V")?;
        }
        self.edit.at(at).before.extend(before);
        self.edit.at(at).after.splice(0..0, after);
        Ok(())
    }

    /// Passes the object of a call to a hook, and those of its parameters that matter. The parameters are put aside,
    /// into local variables behind all others.
    fn objects(
        &mut self,
        out: &mut Vec<u8>,
        descriptor: &[u8],
        has_object: bool,
        site: u32,
    ) -> Result<(), Error> {
        let (parameters, _) = descriptor::method(descriptor)?;
        if !has_object && !parameters.iter().any(|parameter| jdk::is_looked_at(parameter)) {
            return Ok(());
        }
        let mut local = self.edit.scratch(self.code.max_locals);
        let mut put = Vec::new();
        for parameter in &parameters {
            put.push((kind_of(parameter), local, jdk::is_looked_at(parameter)));
            local += places(parameter);
        }
        let used = local - self.edit.scratch(self.code.max_locals);
        self.edit.locals = self.edit.locals.max(used);
        put.iter().rev().for_each(|&(kind, local, _)| put_local(out, opcode::ISTORE + kind, local));
        if has_object {
            out.push(DUP);
            self.hook(out, "receiver", "(Ljava/lang/Object;I)V", site)?;
        }
        for &(_, local, _) in put.iter().filter(|(.., is_looked_at)| *is_looked_at) {
            put_local(out, ALOAD, local);
            self.hook(out, "argument", "(Ljava/lang/Object;I)V", site)?;
        }
        put.iter().for_each(|&(kind, local, _)| put_local(out, opcode::ILOAD + kind, local));
        Ok(())
    }

    /// The virtual machine first looks whether the thread may do that.
    fn notify(&mut self, at: usize, member: &Member) -> Result<(), Error> {
        let name = if *member.name == *b"notify" { "notified" } else { "notifiedAll" };
        let site = self.site(What::Place, true, at);
        self.edit.at(at).before.push(DUP);
        let mut after = Vec::new();
        self.hook(&mut after, name, "(Ljava/lang/Object;I)V", site)?;
        self.edit.at(at).after = after;
        Ok(())
    }

    /// The thread waits before it asks the virtual machine, which then has nothing to wait for.
    fn join(&mut self, at: usize, member: &Member) -> Result<(), Error> {
        let site = self.site(What::Place, true, at);
        let mut before = Vec::new();
        if *member.descriptor == *b"()V" {
            before.push(DUP);
            self.hook(&mut before, "join", "(Ljava/lang/Object;I)V", site)?;
        } else {
            before.extend([DUP2_X1, POP2, DUP_X2, DUP_X2, POP, DUP2_X1]);
            self.hook(&mut before, "join", "(Ljava/lang/Object;JI)V", site)?;
        }
        self.edit.at(at).before.extend(before);
        Ok(())
    }

    /// Elements are copied by the hook, which knows what it reads and writes.
    fn copy(&mut self, at: usize) -> Result<(), Error> {
        let site = self.site(What::Place, true, at);
        let mut instead = Vec::new();
        self.hook(&mut instead, "copy", "(Ljava/lang/Object;ILjava/lang/Object;III)V", site)?;
        self.edit.at(at).instead = Some(instead);
        Ok(())
    }
}

/// Whether the instructions before that of a block's monitor have pushed a class, which is no decision.
fn is_constant_for_block(code: &Code, before: &[usize]) -> bool {
    const LDC: u8 = 0x12;
    let opcode = |at: usize| code.bytes.get(at).copied().unwrap_or_default();
    let is_store =
        |opcode: u8| opcode == ASTORE || (opcode::ASTORE_0..=opcode::ASTORE_0 + 3).contains(&opcode);
    match *before {
        [.., pushed, copied, stored] if opcode(copied) == DUP && is_store(opcode(stored)) => {
            matches!(opcode(pushed), LDC | LDC_W)
        }
        _ => false,
    }
}

/// Whether something is stored where `this` is.
fn stores_this(code: &Code) -> Result<bool, Error> {
    let bytes = &code.bytes;
    let places = code.instructions()?;
    Ok(places.into_iter().any(|at| match bytes[at] {
        opcode::ASTORE_0 => true,
        ASTORE => bytes.get(at + 1) == Some(&0),
        opcode::WIDE => bytes.get(at + 1..at + 4) == Some(&[ASTORE, 0, 0]),
        _ => false,
    }))
}

/// Which form of loads and stores a value needs: they stand in the order `int`, `long`, `float`, `double`, reference.
fn kind_of(descriptor: &[u8]) -> u8 {
    match descriptor.first() {
        Some(b'J') => 1,
        Some(b'F') => 2,
        Some(b'D') => 3,
        Some(b'L' | b'[') => 4,
        _ => 0,
    }
}

/// How a value is passed to a hook.
fn passed_as(descriptor: &[u8]) -> &'static str {
    match descriptor.first() {
        Some(b'J') => "J",
        Some(b'F') => "F",
        Some(b'D') => "D",
        _ if descriptor::is_reference(descriptor) => "Ljava/lang/Object;",
        _ => "I",
    }
}

fn put_local(out: &mut Vec<u8>, opcode: u8, index: u16) {
    match u8::try_from(index) {
        Ok(short) => out.extend_from_slice(&[opcode, short]),
        Err(_) => {
            out.extend_from_slice(&[opcode::WIDE, opcode]);
            out.extend_from_slice(&index.to_be_bytes());
        }
    }
}

/// The fields of a class that never change once its objects are made, or it is initialised if they are static.
fn finals(class: &Class, are_static: bool) -> FxHashSet<Box<[u8]>> {
    let is_final = |field: &&foretell_classfile::class::Member| {
        field.access & access::FINAL != 0 && (field.access & access::STATIC != 0) == are_static
    };
    class.fields.iter().filter(is_final).map(|field| class.pool.text(field.name).into()).collect()
}
