//! The same program in C++, line by line: what stands on a line of the one stands on the same line of the other.
//!
//! So races can be compared by variables and lines. Where the small language ends a program (an index out of bounds, a
//! reference to nothing, a division by zero, a failed assertion, a lock that is not held), the C++ program exits. It
//! may exit where the other goes on (to wait with a lock that is held twice), but never the other way round.

use std::fmt::Write as _;

use super::print::Printer;
use super::tree::{Declaration, Expression, Function, Program, Statement};

/// What the programs are built on. Threads, locks and the like are those of POSIX, as the recorder knows them.
const PRELUDE: &str = r#"
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
static void stop() { _exit(9); }
static void check(long holds) { if (!holds) stop(); }
static long at(long index, long length) { check(index >= 0 && index < length); return index; }
static long divide(long a, long b) { check(b != 0); return a / b; }
static long rest(long a, long b) { check(b != 0); return a % b; }
template <class T> static T *there(long reference) { check(reference != 0); return (T *)reference; }
struct Lock { pthread_mutex_t mutex; int number; };
#define LOCK(number) { PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, number }
static thread_local long held[64];
static void acquire(Lock &lock) { pthread_mutex_lock(&lock.mutex); held[lock.number]++; }
static void release(Lock &lock) { check(held[lock.number]-- > 0); pthread_mutex_unlock(&lock.mutex); }
static void acquire(sem_t &semaphore) { while (sem_wait(&semaphore)) {} }
static void release(sem_t &semaphore) { sem_post(&semaphore); }
static void P(sem_t &semaphore) { acquire(semaphore); }
static void V(sem_t &semaphore) { release(semaphore); }
static void notify(pthread_cond_t &condition) { pthread_cond_signal(&condition); }
static void notifyall(pthread_cond_t &condition) { pthread_cond_broadcast(&condition); }
static void wait(pthread_cond_t &condition, Lock &lock) {
    check(held[lock.number] == 1);
    pthread_cond_wait(&condition, &lock.mutex);
}
struct Sync { Lock &lock; Sync(Lock &lock) : lock(lock) { acquire(lock); } ~Sync() { release(lock); } };
template <class F> static void *run(void *copy) { F body = *(F *)copy; delete (F *)copy; body(); return nullptr; }
template <class F> static long spawn(F body) {
    pthread_t thread;
    check(pthread_create(&thread, nullptr, run<F>, new F(body)) == 0);
    return (long)thread;
}
template <class F, class... A> static long spawn_call(F function, A... arguments) {
    return spawn([=]() -> long { return function(arguments...); });
}
static void join(long thread) { pthread_join((pthread_t)thread, nullptr); }
template <class... F> static void both(F... bodies) {
    long threads[] = {spawn(bodies)...};
    for (long thread : threads) join(thread);
}
"#;

/// The file that the lines of the program itself are said to stand in; those before them are ours.
pub const PROGRAM_FILE: &str = "program.cimp";

/// Where a thread of its own begins; it ends with [`END`].
const BEGIN: &str = "[=]() -> long ";
/// Threads and functions that do not return a value give 0.
const END: &str = "return 0; }";

impl Program {
    /// The program in C++.
    pub fn to_cpp(&self) -> String {
        let mut text = format!("{PRELUDE}#line 1 \"{PROGRAM_FILE}\"\n");
        let mut printer = Text { out: &mut text, program: self, locks: 0 };
        printer.program();
        text
    }

    /// The cell that a field belongs to.
    pub(super) fn cell_of(&self, field: &str) -> &str {
        let has = |declaration: &&Declaration| matches!(declaration, Declaration::Cell(_, fields) if fields.iter().any(|(name, _)| name == field));
        match self.declarations.iter().find(has) {
            Some(Declaration::Cell(name, _)) => name,
            _ => "void",
        }
    }

    /// The permits that semaphores have at the beginning.
    fn semaphores(&self) -> impl Iterator<Item = (&str, usize)> {
        self.declarations.iter().filter_map(|declaration| match declaration {
            Declaration::Semaphore(name, permits) => Some((name.as_str(), *permits)),
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
                let kind = if *atomic { "_Atomic(long)" } else { "long" };
                let values: Vec<String> = initial.iter().map(ToString::to_string).collect();
                match values.as_slice() {
                    [value] => format!("{kind} {name} = {value};"),
                    values => format!("{kind} {name}[{}] = {{{}}};", values.len(), values.join(", ")),
                }
            }
            Declaration::Lock(name, None) => format!("Lock {name} = LOCK({});", self.next_lock()),
            Declaration::Lock(name, Some(length)) => {
                let locks: Vec<String> =
                    (0..*length).map(|_| format!("LOCK({})", self.next_lock())).collect();
                format!("Lock {name}[{length}] = {{{}}};", locks.join(", "))
            }
            Declaration::Semaphore(name, _) => format!("sem_t {name};"),
            Declaration::Condition(name) => format!("pthread_cond_t {name} = PTHREAD_COND_INITIALIZER;"),
            Declaration::Cell(name, fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(field, value)| format!("long {field} = {value};")).collect();
                format!("struct {name} {{ {} }};", fields.join(" "))
            }
        };
        self.put(&text);
    }

    fn function(&mut self, function: &Function) {
        let parameters: Vec<String> =
            function.fuel.iter().chain(&function.parameters).map(|name| format!("long {name}")).collect();
        let _ = write!(self.out, "long {}({}) ", function.name, parameters.join(", "));
        match &function.fuel {
            None => self.body(&function.body, END),
            Some(fuel) => {
                let _ = write!(self.out, "{{\nif ({fuel} > 0) ");
                self.body(&function.body, "}");
                self.put("\n");
                self.put(END);
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Local(name, value) => {
                let _ = write!(self.out, "long {name} = ");
                self.expression(value);
                self.put(";");
            }
            Statement::Assign(place, value) => {
                self.expression(place);
                self.put(" = ");
                self.expression(value);
                self.put(";");
            }
            Statement::If(condition, body, otherwise) => {
                self.put("if (");
                self.expression(condition);
                self.put(") ");
                self.body(body, "}");
                if !otherwise.is_empty() {
                    self.put(" else ");
                    self.body(otherwise, "}");
                }
            }
            Statement::Loop { counter, times, condition, body } => {
                let _ = write!(self.out, "long {counter} = 0;\nwhile ({counter} < {times}");
                if let Some(condition) = condition {
                    self.put(" && ");
                    self.nested(condition);
                }
                let _ = write!(self.out, ") {{\n{counter} = {counter} + 1;\n");
                self.body(body, "}");
                self.put("\n}");
            }
            Statement::Assert(condition) => self.call("check", std::slice::from_ref(condition), ";"),
            Statement::Sync(lock, body) => {
                self.put("{ ");
                self.call("Sync sync", std::slice::from_ref(lock), "; ");
                self.body(body, "} }");
            }
            Statement::Do(what, arguments) => self.call(what, arguments, ";"),
            Statement::Join(handle) => self.call("join", std::slice::from_ref(handle), ";"),
            Statement::Parallel(threads) => {
                for (index, thread) in threads.iter().enumerate() {
                    self.thread(if index == 0 { "both(" } else { ", " }, thread);
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
                let _ = write!(self.out, "{number}L");
            }
            Expression::Null => self.put("0L"),
            Expression::Name(name) => self.put(name),
            Expression::Element(name, index) => {
                let _ = write!(self.out, "{name}[at(");
                self.expression(index);
                let _ = write!(self.out, ", sizeof {name} / sizeof *{name})]");
            }
            Expression::Field(reference, field) => {
                let cell = self.program.cell_of(field);
                self.call(&format!("there<{cell}>"), std::slice::from_ref(reference), &format!("->{field}"));
            }
            Expression::New(cell) => {
                let _ = write!(self.out, "(long)new {cell}()");
            }
            Expression::Unary(operator, value) => {
                self.put(operator);
                self.nested(value);
            }
            Expression::Binary(left, operator, right) => self.binary(left, operator, right),
            Expression::Call(function, arguments) => self.call(function, arguments, ""),
            Expression::Again { function, fuel, arguments } => {
                self.again(function, fuel, arguments);
            }
            Expression::Fork(function, arguments) => {
                let _ = write!(self.out, "spawn_call({function}");
                for argument in arguments {
                    // A copy, whatever it is: what is shared is read here and not by the other thread.
                    self.put(", (long)");
                    self.nested(argument);
                }
                self.put(")");
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
        self.put("int main() { ");
        for (name, permits) in self.program.semaphores() {
            let _ = write!(self.out, "sem_init(&{name}, 0, {permits}); ");
        }
        for (index, thread) in self.program.threads.iter().enumerate() {
            self.put(if index == 0 { "" } else { " " });
            self.thread("spawn(", thread);
            self.put(");");
        }
        // The others go on; the program ends with the last of them.
        self.put(" pthread_exit(nullptr); }\n");
    }

    fn call(&mut self, function: &str, arguments: &[Expression], end: &str) {
        self.put(function);
        self.put("(");
        self.commas(arguments);
        self.put(")");
        self.put(end);
    }

    fn commas(&mut self, arguments: &[Expression]) {
        for (index, argument) in arguments.iter().enumerate() {
            self.put(if index == 0 { "" } else { ", " });
            self.expression(argument);
        }
    }

    fn binary(&mut self, left: &Expression, operator: &str, right: &Expression) {
        let (before, between, after) = match operator {
            "/" => ("divide((", "), (", "))"),
            "%" => ("rest((", "), (", "))"),
            // Both sides are always looked at.
            "and" => ("(((", ") != 0) & ((", ") != 0))"),
            "or" => ("(((", ") != 0) | ((", ") != 0))"),
            _ => ("((", "", "))"),
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
            let cpp = program.to_cpp();
            let (_, cpp) = cpp.split_once("\"program.cimp\"\n").unwrap();
            assert_eq!(program.to_string().lines().count(), cpp.lines().count(), "{program}\n{cpp}");
        }
    }
}
