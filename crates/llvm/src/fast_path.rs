//! Plain accesses and calls that are recorded, or passed over where the detector knows them, without the runtime.
//!
//! For each of these hooks there is a function in the module that looks whether the thread may write to its log, or
//! has nothing to record, and if so does what the hook would do, see [`front`]; if not, it calls the hook. Code calls
//! it instead of the hook: to the compiler that is little more than the access itself, where the body in its place
//! would be forty instructions in six blocks. Every access to memory in it is exact (volatile): it stays where it
//! stands among the others, because a signal handler or another thread may look in between.

use foretell_wire::hook::{self, PREFIX, front};
use foretell_wire::pack::{self, EXIT_HEAD, FULL, SEGMENT, SHORT};
use foretell_wire::record::REMEMBERED;

use crate::hooks::Hooks;
use crate::ir::{Block, Opcode, Type, Value};

/// What the names of the functions begin with, instead of what those of hooks begin with.
const NAME: &str = "__foretell_fast_";

/// How far the address of a short record can be from the last one: so many bytes back, and not so many forward.
const REACH: u64 = 1 << 15;

// The lowest bits of a site's address tell where it is in its segment, and where its last address is kept.
const _: () = assert!(SEGMENT.is_multiple_of(REMEMBERED as u64));

/// Puts calls of such functions in the place of the hooks.
pub(crate) fn put_in(function: Value, hooks: &Hooks) {
    let mut thread = None;
    for call in function.instructions() {
        let Some(event) = FastEvent::of(call) else { continue };
        let thread = *thread.get_or_insert_with(|| ask_for_thread(function, hooks));
        let mut arguments = call.arguments();
        arguments.push(thread);
        let fast = event.function(call, &arguments, hooks);
        hooks.build.before(call);
        let result = hooks.build.call(fast, &arguments);
        if call.type_of().is_void() {
            call.erase();
        } else {
            call.replace_with(result);
        }
    }
}

/// Where the runtime keeps what it knows of the calling thread. That is the same for the whole function.
fn ask_for_thread(function: Value, hooks: &Hooks) -> Value {
    hooks.build.before(function.first_instruction());
    let call = hooks.call(hook::THREAD, hooks.types.pointer, &[]);
    for promise in ["memory", "nosync", "speculatable", "willreturn"] {
        call.callee().add_attribute(promise);
    }
    call
}

/// What is recorded in this way.
#[derive(Clone, Copy)]
enum FastEvent {
    /// A plain access; the logarithm of how many bytes it has.
    Access { writes: bool, size: u32 },
    /// A call of an instrumented function.
    Enter,
    /// The return from one.
    Return,
}

impl FastEvent {
    /// What a call of a hook records, if it can be recorded without the runtime.
    fn of(call: Value) -> Option<FastEvent> {
        if call.opcode() != Some(Opcode::LLVMCall) || !call.callee().is_function() {
            return None;
        }
        let name = call.callee().name();
        match name.as_str() {
            hook::ENTER => return Some(FastEvent::Enter),
            hook::RETURN => return Some(FastEvent::Return),
            _ => {}
        }
        let writes = name.starts_with(hook::STORE);
        let bytes = name.strip_prefix(if writes { hook::STORE } else { hook::LOAD })?;
        Some(FastEvent::Access { writes, size: bytes.parse::<u32>().ok()?.ilog2() })
    }

    /// The function that does what the hook does.
    fn function(self, call: Value, arguments: &[Value], hooks: &Hooks) -> (Value, Type) {
        let name = call.callee().name().replacen(PREFIX, NAME, 1);
        let is_new = !hooks.module.has_function(&name);
        let parameters: Vec<Type> = arguments.iter().map(|argument| argument.type_of()).collect();
        let function = hooks.module.common_function(&name, call.type_of(), &parameters);
        if is_new {
            call.callee().add_attribute("cold");
            self.define(function.0, call, hooks);
        }
        function
    }

    fn define(self, function: Value, call: Value, hooks: &Hooks) {
        hooks.build.in_new_body(function, hooks.module);
        let [watch, record, leave, slow] = [(); 4].map(|()| hooks.build.new_block(function, hooks.module));
        let parameters = function.parameters();
        if let Some((&thread, given)) = parameters.split_last() {
            let body = Body { function, thread, record, leave, slow, hooks };
            let time = body.choose(watch);
            self.fill(&body, given, watch, time);
            hooks.build.at_end(slow);
            let result = hooks.call(&call.callee().name(), call.type_of(), given);
            give_back(Some(result).filter(|_| !call.type_of().is_void()), hooks);
        }
    }

    /// Both ways to do what the hook does: where races are looked for, which is decided at this time, and where it is
    /// recorded.
    fn fill(self, body: &Body<'_>, given: &[Value], watch: Block, time: Value) {
        body.hooks.build.at_end(watch);
        match (self, given) {
            (FastEvent::Access { writes, size }, &[site, addr, ref value @ ..]) => {
                let value = value.first().copied();
                let access = PlainAccess { writes, size, site, addr, value };
                let result = |made: Value| Some(made).filter(|_| value.is_none());
                give_back(result(access.pass_over(body, time)), body.hooks);
                give_back(result(access.record(body)), body.hooks);
            }
            (FastEvent::Enter, &[site]) => {
                give_back(Some(enter_unrecorded(body, site, time)), body.hooks);
                give_back(Some(enter(body, site)), body.hooks);
            }
            (FastEvent::Return, &[before]) => {
                go_back_unrecorded(body, before);
                give_back(None, body.hooks);
                go_back(body, before);
                give_back(None, body.hooks);
            }
            _ => {}
        }
    }
}

fn give_back(result: Option<Value>, hooks: &Hooks) {
    match result {
        Some(result) => hooks.build.give_back(result),
        None => hooks.build.return_nothing(),
    }
}

/// A function in the making.
struct Body<'a> {
    function: Value,
    /// What the runtime knows of the thread.
    thread: Value,
    /// Where the function records.
    record: Block,
    /// Where the function goes on if it cannot record after all.
    leave: Block,
    /// Where it calls the hook.
    slow: Block,
    hooks: &'a Hooks,
}

impl Body<'_> {
    fn number(&self, number: u64) -> Value {
        self.hooks.types.int64.constant(number)
    }

    /// The address of something that is known of the thread.
    fn at(&self, place: u64) -> Value {
        self.hooks.build.after(self.thread, self.number(place), self.hooks.types)
    }

    fn load(&self, place: u64) -> Value {
        self.hooks.build.exact_load(self.hooks.types.int64, self.at(place))
    }

    fn store(&self, value: Value, place: u64) {
        self.hooks.build.exact_store(value, self.at(place));
    }

    /// Where the stack ends.
    fn stack_end(&self) -> Value {
        let ask = self.hooks.module.function("llvm.stacksave.p0", self.hooks.types.pointer, &[]);
        self.hooks.build.call(ask, &[])
    }

    /// The thread is not inside any more.
    fn get_out(&self) {
        self.store(self.number(0), front::INSIDE);
    }

    fn go_on_if(&self, condition: Value, otherwise: Block) {
        let next = self.hooks.build.new_block(self.function, self.hooks.module);
        self.hooks.build.go(condition, next, otherwise);
        self.hooks.build.at_end(next);
    }

    /// Whether races are looked for, and the thread need not look up: then it goes on there. Returns the time.
    fn choose(&self, watch: Block) -> Value {
        let build = &self.hooks.build;
        let time = self.load(front::TIME);
        build.go(build.below(time, self.load(front::WATCH)), watch, self.record);
        time
    }

    /// The thread is inside from now on, unless it is already.
    fn get_in(&self) {
        self.go_on_if(self.hooks.build.equal(self.load(front::INSIDE), self.number(0)), self.slow);
        self.store(self.stack_end(), front::INSIDE);
    }

    /// Something was done that takes time.
    fn tick(&self, time: Value) {
        self.store(self.hooks.build.add(time, self.number(1)), front::TIME);
    }

    /// The thread is inside from now on, and may write where the cursor is.
    fn begin(&self) -> Value {
        let build = &self.hooks.build;
        build.at_end(self.leave);
        self.get_out();
        build.go_to(self.slow);
        build.at_end(self.record);
        self.get_in();
        self.go_on_if(build.below(self.load(front::TIME), self.load(front::LIMIT)), self.leave);
        let cursor = self.load(front::CURSOR);
        self.go_on_if(build.below(cursor, self.load(front::END)), self.leave);
        cursor
    }

    /// Continues only if sites of this one's segment can be recorded; where in its segment the site is.
    fn go_on_if_open(&self, site: Value) -> Value {
        let build = &self.hooks.build;
        let site = build.pointer_to_int(site, self.hooks.types.int64);
        let segment = build.and(site, self.number(!(SEGMENT - 1)));
        self.go_on_if(build.equal(self.load(front::OPEN), segment), self.leave);
        build.and(site, self.number(SEGMENT - 1))
    }

    /// The first two bytes of a record of this site, as a number: the lowest bits of the site come last.
    fn head(&self, site: Value, about: u64) -> Value {
        let build = &self.hooks.build;
        let low = build.and(build.shift_left(site, self.number(8)), self.number(0xFF00));
        build.or(build.or(build.shift_right(site, self.number(8)), low), self.number(about))
    }

    /// The record is there and has so many bytes.
    fn end(&self, cursor: Value, length: Value) {
        self.store(self.hooks.build.add(cursor, length), front::CURSOR);
        self.get_out();
    }
}

/// A plain access.
struct PlainAccess {
    writes: bool,
    size: u32,
    site: Value,
    addr: Value,
    /// What is written, if the access writes.
    value: Option<Value>,
}

impl PlainAccess {
    /// Makes the access, if the detector has seen it; the value.
    fn pass_over(&self, body: &Body<'_>, time: Value) -> Value {
        let (build, types) = (&body.hooks.build, body.hooks.types);
        let addr = build.pointer_to_int(self.addr, types.int64);
        let place = build.shift_left(addr, body.number((3 - self.size).into()));
        let place = build.and(place, body.number(front::SEEN_PLACES));
        let place = build.add(place, body.number(front::seen_kind(self.writes, self.size)));
        let seen = build.int_to_pointer(body.load(front::SEEN), types.pointer);
        let seen = build.exact_load(types.int64, build.after(seen, place, types));
        let this = build.add(addr, body.load(front::GENERATION));
        body.go_on_if(build.equal(seen, this), body.slow);
        body.tick(time);
        self.make(body)
    }

    /// Makes the access and its record; the value.
    fn record(&self, body: &Body<'_>) -> Value {
        let (build, types) = (&body.hooks.build, body.hooks.types);
        let cursor = body.begin();
        let site = body.go_on_if_open(self.site);
        let slot = build.and(site, body.number(REMEMBERED as u64 - 1));
        let slot = build.shift_left(slot, body.number(size_of::<u64>().ilog2().into()));
        let last = build.after(body.at(front::ADDRS), slot, types);
        let addr = build.pointer_to_int(self.addr, types.int64);
        let step = build.subtract(addr, build.exact_load(types.int64, last));
        let reach = build.add(step, body.number(REACH));
        body.go_on_if(build.below(reach, body.number(2 * REACH)), body.leave);
        let value = self.make(body);
        build.exact_store(addr, last);
        let length = self.write(body, cursor, site, step, value);
        body.tick(body.load(front::TIME));
        body.end(cursor, length);
        value
    }

    /// Makes the access; the value as a number of 64 bits.
    fn make(&self, body: &Body<'_>) -> Value {
        let (build, types) = (&body.hooks.build, body.hooks.types);
        let word = [types.byte, types.int16, types.int32, types.int64][self.size as usize];
        match self.value {
            Some(value) => {
                build.exact_store(build.resize(value, word), self.addr);
                value
            }
            None => build.resize(build.exact_load(word, self.addr), types.int64),
        }
    }

    /// Writes the record, what makes it one last; its length.
    fn write(&self, body: &Body<'_>, cursor: Value, site: Value, step: Value, value: Value) -> Value {
        let (build, types) = (&body.hooks.build, body.hooks.types);
        let at = build.int_to_pointer(cursor, types.pointer);
        build.exact_store(value, build.after(at, body.number(SHORT as u64), types));
        let is_full = build.below(body.number(0xFF), value);
        let full = build.select(is_full, types.int32.constant(FULL.into()), types.int32.constant(0));
        let step = build.shift_left(build.resize(step, types.int32), types.int32.constant(16));
        let head = body.head(site, pack::head(self.writes, self.size, 0).into());
        let head = build.resize(head, types.int32);
        build.exact_store(build.or(build.or(head, step), full), at);
        let [full, small] = [1 << self.size, 1].map(|bytes| body.number(SHORT as u64 + bytes));
        build.select(is_full, full, small)
    }
}

/// Puts the site of a call on the stack, for which there must be room; the calls before.
fn push(body: &Body<'_>, site: Value, otherwise: Block) -> Value {
    let (build, types) = (&body.hooks.build, body.hooks.types);
    let calls = body.load(front::CALLS);
    let depth = build.and(calls, body.number(front::DEPTH));
    body.go_on_if(build.below(depth, body.load(front::ROOM)), otherwise);
    let stack = build.int_to_pointer(body.load(front::STACK), types.pointer);
    let offset = build.shift_left(depth, body.number(3));
    build.exact_store(build.pointer_to_int(site, types.int64), build.after(stack, offset, types));
    body.store(build.add(calls, body.number(1)), front::CALLS);
    calls
}

/// Records that a function is called; the calls before.
fn enter(body: &Body<'_>, site: Value) -> Value {
    let (build, types) = (&body.hooks.build, body.hooks.types);
    let cursor = body.begin();
    let number = body.go_on_if_open(site);
    let calls = push(body, site, body.leave);
    let head = build.resize(body.head(number, pack::enter_head(0).into()), types.int16);
    build.exact_store(head, build.int_to_pointer(cursor, types.pointer));
    body.tick(body.load(front::TIME));
    body.end(cursor, body.number(2));
    calls
}

/// A function is called, which is recorded once something happens in it; the calls before.
fn enter_unrecorded(body: &Body<'_>, site: Value, time: Value) -> Value {
    let (build, types) = (&body.hooks.build, body.hooks.types);
    body.get_in();
    let calls = push(body, site, body.leave);
    let depth = build.resize(calls, types.int32);
    let same = build.exact_load(types.int32, body.at(front::SAME));
    build.exact_store(build.select(build.below(same, depth), same, depth), body.at(front::SAME));
    body.tick(time);
    body.get_out();
    calls
}

/// Records that the last call has ended, if the thread was in these calls before.
fn go_back(body: &Body<'_>, before: Value) {
    let (build, types) = (&body.hooks.build, body.hooks.types);
    let cursor = body.begin();
    body.go_on_if(build.below(body.number(0), body.load(front::OPEN)), body.leave);
    let within = build.add(before, body.number(1));
    body.go_on_if(build.equal(body.load(front::CALLS), within), body.leave);
    body.store(before, front::CALLS);
    let head = types.byte.constant(EXIT_HEAD.into());
    build.exact_store(head, build.int_to_pointer(cursor, types.pointer));
    body.end(cursor, body.number(1));
}

/// The last call has ended, if the thread was in these calls before.
fn go_back_unrecorded(body: &Body<'_>, before: Value) {
    let within = body.hooks.build.add(before, body.number(1));
    body.go_on_if(body.hooks.build.equal(body.load(front::CALLS), within), body.slow);
    body.store(before, front::CALLS);
}
