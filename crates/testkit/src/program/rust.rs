//! The same program in Rust, line by line, as a test: what stands on a line of the one stands on the same line of the
//! other.
//!
//! It is a module of its own, beside what it is built on ([`RUST_PRELUDE`]): threads, scopes, mutexes and conditions of
//! the standard library. Where the small language ends a program, this one exits, as the one in C++ does.

use std::fmt::Write as _;

use super::print::Printer;
use super::tree::{Declaration, Expression, Function, Program, Statement};

/// The crate whose module the program is; it has one test, [`RUST_TEST`].
pub const RUST_PRELUDE: &str = r#"#![allow(warnings)]
use std::cell::{Cell, UnsafeCell};
use std::mem::ManuallyDrop;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
unsafe extern "C" { fn _exit(code: i32) -> !; }
fn check(holds: i64) { if holds == 0 { unsafe { _exit(9) } } }
fn at(index: i64, length: usize) -> usize { check((index >= 0 && index < length as i64) as i64); index as usize }
fn divide(a: i64, b: i64) -> i64 { check((b != 0) as i64); a.wrapping_div(b) }
fn rest(a: i64, b: i64) -> i64 { check((b != 0) as i64); a.wrapping_rem(b) }
fn there<T>(reference: i64) -> *mut T { check(reference); reference as *mut T }
struct Lock { mutex: Mutex<()>, number: usize }
const fn lock(number: usize) -> Lock { Lock { mutex: Mutex::new(()), number } }
type Held = UnsafeCell<ManuallyDrop<Option<MutexGuard<'static, ()>>>>;
thread_local! {
    static COUNTS: [Cell<i64>; 64] = const { [const { Cell::new(0) }; 64] };
    static HELD: [Held; 64] = const { [const { UnsafeCell::new(ManuallyDrop::new(None)) }; 64] };
}
fn held<R>(lock: &'static Lock, act: impl FnOnce(&mut Option<MutexGuard<'static, ()>>) -> R) -> R {
    HELD.with(|held| act(unsafe { &mut *held[lock.number].get() }))
}
fn count(lock: &Lock, change: i64) -> i64 {
    COUNTS.with(|counts| { let before = counts[lock.number].get(); counts[lock.number].set(before + change); before })
}
trait Takes { fn take(&'static self); fn give(&'static self); }
impl Takes for Lock {
    fn take(&'static self) { if count(self, 1) == 0 { let guard = self.mutex.lock().unwrap(); held(self, |held| *held = Some(guard)) } }
    fn give(&'static self) {
        let before = count(self, -1);
        check((before > 0) as i64);
        if before == 1 { drop(held(self, Option::take)) }
    }
}
struct Semaphore { permits: Mutex<i64>, given: Condvar }
const fn semaphore(permits: i64) -> Semaphore { Semaphore { permits: Mutex::new(permits), given: Condvar::new() } }
impl Takes for Semaphore {
    fn take(&'static self) { *self.given.wait_while(self.permits.lock().unwrap(), |permits| *permits == 0).unwrap() -= 1 }
    fn give(&'static self) { *self.permits.lock().unwrap() += 1; self.given.notify_one() }
}
fn acquire(what: &'static impl Takes) { what.take() }
fn release(what: &'static impl Takes) { what.give() }
fn P(what: &'static Semaphore) { what.take() }
fn V(what: &'static Semaphore) { what.give() }
fn notify(condition: &Condvar) { condition.notify_one() }
fn notifyall(condition: &Condvar) { condition.notify_all() }
fn wait(condition: &Condvar, lock: &'static Lock) {
    check((count(lock, 0) == 1) as i64);
    let guard = condition.wait(held(lock, Option::take).unwrap()).unwrap();
    held(lock, |held| *held = Some(guard));
}
struct Sync_(&'static Lock);
fn sync(lock: &'static Lock) -> Sync_ { lock.take(); Sync_(lock) }
impl Drop for Sync_ { fn drop(&mut self) { self.0.give() } }
type Handle = Mutex<Option<JoinHandle<i64>>>;
fn spawn(body: impl FnOnce() -> i64 + Send + 'static) -> i64 {
    Box::into_raw(Box::new(Handle::new(Some(std::thread::spawn(body))))) as i64
}
fn join(handle: i64) {
    let handle = unsafe { &*there::<Handle>(handle) }.lock().unwrap().take();
    check(handle.is_some() as i64);
    handle.unwrap().join().unwrap();
}
macro_rules! both { ($($body:expr),*) => { std::thread::scope(|scope| { $(scope.spawn($body);)* }) } }
#[path = "program.cimp"]
mod program;
#[test]
fn program() { unsafe { program::main() } }
"#;

/// The name of the program's test.
pub const RUST_TEST: &str = "program";

/// Where a thread of its own begins; it ends with [`END`].
const BEGIN: &str = "move || -> i64 { unsafe ";
/// What ends a thread; functions and threads that do not return a value give 0.
const END: &str = "return 0; } }";

impl Program {
    /// The program as a module in Rust.
    pub fn to_rust(&self) -> String {
        let mut text = String::from("use super::*; use std::sync::atomic::{AtomicI64, Ordering::SeqCst}; ");
        let mut printer = Text { out: &mut text, program: self, locks: 0 };
        printer.program();
        text
    }

    /// Whether a variable with this name is atomic, and how many elements it has; None for what is no memory.
    fn memory(&self, wanted: &str) -> Option<(bool, usize)> {
        self.declarations.iter().find_map(|declaration| match declaration {
            Declaration::Memory { name, atomic, initial } if name == wanted => Some((*atomic, initial.len())),
            _ => None,
        })
    }
}

struct Text<'a> {
    out: &'a mut String,
    program: &'a Program,
    /// How many locks were declared.
    locks: usize,
}

impl Printer for Text<'_> {
    const THREAD: [&'static str; 2] = [BEGIN, END];

    fn out(&mut self) -> &mut String {
        self.out
    }

    fn declaration(&mut self, declaration: &Declaration) {
        let text = match declaration {
            Declaration::Memory { name, atomic, initial } => {
                let (kind, how) = if *atomic { ("AtomicI64", "static") } else { ("i64", "static mut") };
                let value = |value: &i64| {
                    if *atomic { format!("AtomicI64::new({value})") } else { value.to_string() }
                };
                let values: Vec<String> = initial.iter().map(value).collect();
                match values.as_slice() {
                    [value] => format!("{how} {name}: {kind} = {value};"),
                    values => format!("{how} {name}: [{kind}; {}] = [{}];", values.len(), values.join(", ")),
                }
            }
            Declaration::Lock(name, None) => format!("static {name}: Lock = lock({});", self.next_lock()),
            Declaration::Lock(name, Some(length)) => {
                let locks: Vec<String> =
                    (0..*length).map(|_| format!("lock({})", self.next_lock())).collect();
                format!("static {name}: [Lock; {length}] = [{}];", locks.join(", "))
            }
            Declaration::Semaphore(name, permits) => {
                format!("static {name}: Semaphore = semaphore({permits});")
            }
            Declaration::Condition(name) => format!("static {name}: Condvar = Condvar::new();"),
            Declaration::Cell(name, fields) => {
                let kinds: Vec<String> = fields.iter().map(|(field, _)| format!("{field}: i64")).collect();
                let writes: Vec<String> =
                    fields.iter().map(|(field, value)| format!("(*cell).{field} = {value};")).collect();
                format!(
                    "struct {name} {{ {} }} impl {name} {{ unsafe fn make() -> i64 {{ let cell = \
                     std::alloc::alloc(std::alloc::Layout::new::<[i64; {}]>()) as *mut {name}; {} cell as i64 }} }}",
                    kinds.join(", "),
                    fields.len().max(1),
                    writes.join(" ")
                )
            }
        };
        self.put(&text);
    }

    fn function(&mut self, function: &Function) {
        let all = function.fuel.iter().chain(&function.parameters);
        let parameters: Vec<String> = all.map(|name| format!("mut {name}: i64")).collect();
        let _ = write!(self.out, "unsafe fn {}({}) -> i64 ", function.name, parameters.join(", "));
        match &function.fuel {
            None => self.body(&function.body, "return 0; }"),
            Some(fuel) => {
                let _ = write!(self.out, "{{\nif {fuel} > 0 ");
                self.body(&function.body, "}");
                self.put("\nreturn 0; }");
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Local(name, value) => {
                let _ = write!(self.out, "let mut {name}: i64 = ");
                self.expression(value);
                self.put(";");
            }
            Statement::Assign(place, value) => {
                self.put("{ let value: i64 = ");
                self.expression(value);
                self.put("; ");
                let is_atomic = self.place(place);
                self.put(if is_atomic { ".store(value, SeqCst); }" } else { " = value; }" });
            }
            Statement::If(condition, body, otherwise) => {
                self.put("if 0 != ");
                self.nested(condition);
                self.put(" ");
                self.body(body, "}");
                if !otherwise.is_empty() {
                    self.put(" else ");
                    self.body(otherwise, "}");
                }
            }
            Statement::Loop { counter, times, condition, body } => {
                let _ = write!(self.out, "let mut {counter}: i64 = 0;\nwhile {counter} < {times}");
                if let Some(condition) = condition {
                    self.put(" && 0 != ");
                    self.nested(condition);
                }
                let _ = write!(self.out, " {{\n{counter} = {counter} + 1;\n");
                self.body(body, "}");
                self.put("\n}");
            }
            Statement::Assert(condition) => {
                self.put("check");
                self.nested(condition);
                self.put(";");
            }
            Statement::Sync(lock, body) => {
                self.put("{ let held = sync(&");
                self.place(lock);
                self.put("); ");
                self.body(body, "} }");
            }
            Statement::Do(what, arguments) => {
                self.call(what, arguments);
                self.put(";");
            }
            Statement::Join(handle) => {
                self.put("join");
                self.nested(handle);
                self.put(";");
            }
            Statement::Parallel(threads) => {
                for (index, thread) in threads.iter().enumerate() {
                    self.thread(if index == 0 { "both!(" } else { ", " }, thread);
                }
                self.put(");");
            }
            Statement::Return(value) => {
                self.put("return ");
                self.expression(value);
                self.put(";");
            }
        }
    }

    fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::Number(number) => {
                let _ = write!(self.out, "({number}_i64)");
            }
            Expression::Null => self.put("0_i64"),
            Expression::Name(_) | Expression::Element(..) | Expression::Field(..) => {
                if self.place(expression) {
                    self.put(".load(SeqCst)");
                }
            }
            Expression::New(cell) => {
                let _ = write!(self.out, "{cell}::make()");
            }
            Expression::Unary("-", value) => {
                self.put("0_i64.wrapping_sub");
                self.nested(value);
            }
            Expression::Unary(_, value) => {
                self.put("((0 == ");
                self.nested(value);
                self.put(") as i64)");
            }
            Expression::Binary(left, operator, right) => self.binary(left, operator, right),
            Expression::Call(function, arguments) => self.call(function, arguments),
            Expression::Again { function, fuel, arguments } => {
                self.again(function, fuel, arguments);
            }
            Expression::Fork(function, arguments) => {
                self.put("{ let given = (");
                for argument in arguments {
                    self.expression(argument);
                    self.put(", ");
                }
                let names: Vec<String> = (0..arguments.len()).map(|index| format!("given.{index}")).collect();
                let _ = write!(self.out, "); spawn({BEGIN}{{ {function}({}) }} }}) }}", names.join(", "));
            }
            Expression::ForkBlock(body) => {
                self.thread("spawn(", body);
                self.put(")");
            }
        }
    }
}

impl Text<'_> {
    fn next_lock(&mut self) -> usize {
        self.locks += 1;
        self.locks - 1
    }

    fn program(&mut self) {
        self.definitions(self.program);
        self.put("pub unsafe fn main() { let threads = [");
        for thread in &self.program.threads {
            self.thread("spawn(", thread);
            self.put("), ");
        }
        self.put("]; threads.into_iter().for_each(join); }\n");
    }

    /// Locks and the like are handed over by reference, all else by value.
    fn call(&mut self, function: &str, arguments: &[Expression]) {
        let _ = write!(self.out, "{function}(");
        for (index, argument) in arguments.iter().enumerate() {
            self.put(if index == 0 { "" } else { ", " });
            if self.is_object(argument) {
                self.put("&");
                self.place(argument);
            } else {
                self.expression(argument);
            }
        }
        self.put(")");
    }

    fn is_object(&self, expression: &Expression) -> bool {
        let (Expression::Name(wanted) | Expression::Element(wanted, _)) = expression else { return false };
        self.program.declarations.iter().any(|declaration| match declaration {
            Declaration::Lock(name, _) | Declaration::Semaphore(name, _) | Declaration::Condition(name) => {
                name == wanted
            }
            Declaration::Memory { .. } | Declaration::Cell(..) => false,
        })
    }

    /// Where something is; says whether it is atomic.
    fn place(&mut self, expression: &Expression) -> bool {
        match expression {
            Expression::Element(name, index) => {
                let _ = write!(self.out, "{name}[at(");
                self.expression(index);
                let length = self.length(name);
                let _ = write!(self.out, ", {length})]");
                self.program.memory(name).is_some_and(|(atomic, _)| atomic)
            }
            Expression::Field(reference, field) => {
                let cell = self.program.cell_of(field);
                let _ = write!(self.out, "(*there::<{cell}>(");
                self.expression(reference);
                let _ = write!(self.out, ")).{field}");
                false
            }
            Expression::Name(name) => {
                self.put(name);
                self.program.memory(name).is_some_and(|(atomic, _)| atomic)
            }
            other => {
                self.expression(other);
                false
            }
        }
    }

    fn length(&self, wanted: &str) -> usize {
        let of_locks = |declaration: &Declaration| match declaration {
            Declaration::Lock(name, length) if name == wanted => *length,
            _ => None,
        };
        let memory = self.program.memory(wanted).map(|(_, length)| length);
        memory.or_else(|| self.program.declarations.iter().find_map(of_locks)).unwrap_or(1)
    }

    fn binary(&mut self, left: &Expression, operator: &str, right: &Expression) {
        let (before, between, after) = match operator {
            "/" => ("divide((", "), (", "))"),
            "%" => ("rest((", "), (", "))"),
            "+" => ("(", ").wrapping_add(", ")"),
            "-" => ("(", ").wrapping_sub(", ")"),
            "*" => ("(", ").wrapping_mul(", ")"),
            // Both sides are always looked at.
            "and" => ("((((", ") != 0) & ((", ") != 0)) as i64)"),
            "or" => ("((((", ") != 0) | ((", ") != 0)) as i64)"),
            "&&" => ("((((", ") != 0) && ((", ") != 0)) as i64)"),
            "||" => ("((((", ") != 0) || ((", ") != 0)) as i64)"),
            _ => ("(((", "", ")) as i64)"),
        };
        self.infix(left, [before, between, after], operator, right);
    }
}

#[cfg(test)]
mod tests {
    use crate::program::{Shape, program};

    #[test]
    fn both_texts_have_the_same_lines() {
        for seed in 0..200 {
            let program = program(seed, Shape::any(seed));
            let rust = program.to_rust();
            assert_eq!(program.to_string().lines().count(), rust.lines().count(), "{program}\n{rust}");
        }
    }
}
