//! A program of the small language CIMP as a tree, and its text.
//!
//! Loops and recursion count by themselves, so every tree is a program that ends, also after parts were cut out of it.
//! Names need not be declared: a change of the tree is checked by compiling it.

use std::fmt::{self, Display, Formatter, Write as _};

/// A program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// What is declared before the functions.
    pub declarations: Vec<Declaration>,
    /// Functions; each calls only those before it, and itself with less fuel.
    pub functions: Vec<Function>,
    /// The threads that run from the beginning.
    pub threads: Vec<Block>,
}

/// Statements one after the other.
pub type Block = Vec<Statement>;

/// Something that threads share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Declaration {
    /// A variable, or an array if there are several initial values.
    Memory {
        /// Its name.
        name: String,
        /// Whether its accesses are atomic.
        atomic: bool,
        /// What it holds at the beginning.
        initial: Vec<i64>,
    },
    /// A lock, or an array of them.
    Lock(String, Option<usize>),
    /// A semaphore and its permits.
    Semaphore(String, usize),
    /// A condition.
    Condition(String),
    /// A kind of heap cell; the fields with what they hold at first.
    Cell(String, Vec<(String, i64)>),
}

/// A function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The parameter that counts down how often the function may still call itself, if it does.
    pub fuel: Option<String>,
    /// The other parameters.
    pub parameters: Vec<String>,
    /// What it does.
    pub body: Block,
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Statement {
    /// `local name = value;`
    Local(String, Expression),
    /// `place = value;`
    Assign(Expression, Expression),
    /// `if (…) { … } else { … }`
    If(Expression, Block, Block),
    /// A loop that ends after so many iterations, or earlier if the condition fails.
    Loop {
        /// The local that counts.
        counter: String,
        /// How many iterations at most.
        times: usize,
        /// What must hold, too.
        condition: Option<Expression>,
        /// What is repeated.
        body: Block,
    },
    /// `assert (…);`
    Assert(Expression),
    /// `sync(lock) { … }`
    Sync(Expression, Block),
    /// An operation that is written like a call: `acquire(l);`, `wait(c, l);`, `f(x);`
    Do(String, Vec<Expression>),
    /// `join handle;`
    Join(Expression),
    /// `{ … } || { … }`
    Parallel(Vec<Block>),
    /// `return value;`
    Return(Expression),
}

/// An expression, or a place to assign to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expression {
    /// A number.
    Number(i64),
    /// The reference to nothing.
    Null,
    /// A variable of any kind, also the name of a lock and the like.
    Name(String),
    /// `name[index]`
    Element(String, Box<Expression>),
    /// `reference.field`
    Field(Box<Expression>, String),
    /// `new Cell`
    New(String),
    /// `-x` or `!x`
    Unary(&'static str, Box<Expression>),
    /// `x + y` and the like
    Binary(Box<Expression>, &'static str, Box<Expression>),
    /// `f(x)`
    Call(String, Vec<Expression>),
    /// A function calls itself with less fuel: `f(n - 1, x)`
    Again {
        /// The function.
        function: String,
        /// Its parameter that counts down.
        fuel: String,
        /// The other arguments.
        arguments: Vec<Expression>,
    },
    /// `fork f(x)`
    Fork(String, Vec<Expression>),
    /// `fork { … }`
    ForkBlock(Block),
}

impl Expression {
    /// A variable.
    pub fn name(name: &str) -> Expression {
        Expression::Name(name.to_string())
    }

    /// An operation on two values.
    pub fn binary(left: Expression, operator: &'static str, right: Expression) -> Expression {
        Expression::Binary(Box::new(left), operator, Box::new(right))
    }
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for declaration in &self.declarations {
            writeln!(f, "{declaration}")?;
        }
        for function in &self.functions {
            writeln!(f, "{function}")?;
        }
        for (index, thread) in self.threads.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { " || " })?;
            block(f, thread, 0)?;
        }
        writeln!(f)
    }
}

impl Display for Declaration {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Declaration::Memory { name, atomic, initial } => {
                let kind = if *atomic { "atomic" } else { "shared" };
                match initial.as_slice() {
                    [value] => write!(f, "{kind} {name} = {value};"),
                    values => write!(f, "{kind} {name}[{}] = {{{}}};", values.len(), commas(values)),
                }
            }
            Declaration::Lock(name, None) => write!(f, "lock {name};"),
            Declaration::Lock(name, Some(length)) => write!(f, "lock {name}[{length}];"),
            Declaration::Semaphore(name, permits) => write!(f, "semaphore {name} = {permits};"),
            Declaration::Condition(name) => write!(f, "condition {name};"),
            Declaration::Cell(name, fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(field, value)| format!("{field} = {value}")).collect();
                write!(f, "cell {name} {{ {} }}", fields.join(", "))
            }
        }
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let parameters: Vec<&String> = self.fuel.iter().chain(&self.parameters).collect();
        write!(f, "fn {}({}) ", self.name, commas(&parameters))?;
        match &self.fuel {
            None => block(f, &self.body, 0),
            Some(fuel) => {
                write!(f, "{{\n    if ({fuel} > 0) ")?;
                block(f, &self.body, 1)?;
                f.write_str("\n}")
            }
        }
    }
}

impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Expression::Number(number) => write!(f, "{number}"),
            Expression::Null => f.write_str("null"),
            Expression::Name(name) => f.write_str(name),
            Expression::Element(name, index) => write!(f, "{name}[{index}]"),
            Expression::Field(reference, field) => write!(f, "{reference}.{field}"),
            Expression::New(cell) => write!(f, "new {cell}"),
            Expression::Unary(operator, value) => write!(f, "{operator}{}", Nested(value)),
            Expression::Binary(left, operator, right) => {
                write!(f, "{} {operator} {}", Nested(left), Nested(right))
            }
            Expression::Call(function, arguments) => write!(f, "{function}({})", commas(arguments)),
            Expression::Again { function, fuel, arguments } => {
                write!(f, "{function}({fuel} - 1")?;
                arguments.iter().try_for_each(|argument| write!(f, ", {argument}"))?;
                f.write_char(')')
            }
            Expression::Fork(function, arguments) => write!(f, "fork {function}({})", commas(arguments)),
            Expression::ForkBlock(body) => {
                f.write_str("fork ")?;
                block(f, body, 1)
            }
        }
    }
}

/// An operand: in parentheses unless it is a name or a number.
struct Nested<'a>(&'a Expression);

impl Display for Nested<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Expression::Unary(..) | Expression::Binary(..) | Expression::New(_) => write!(f, "({})", self.0),
            Expression::Number(number) if *number < 0 => write!(f, "({number})"),
            plain => write!(f, "{plain}"),
        }
    }
}

fn block(f: &mut Formatter<'_>, statements: &[Statement], depth: usize) -> fmt::Result {
    f.write_str("{\n")?;
    for each in statements {
        indent(f, depth + 1)?;
        statement(f, each, depth + 1)?;
        f.write_char('\n')?;
    }
    indent(f, depth)?;
    f.write_char('}')
}

fn indent(f: &mut Formatter<'_>, depth: usize) -> fmt::Result {
    write!(f, "{:1$}", "", 4 * depth)
}

fn statement(f: &mut Formatter<'_>, statement: &Statement, depth: usize) -> fmt::Result {
    match statement {
        Statement::Local(name, value) => write!(f, "local {name} = {value};"),
        Statement::Assign(place, value) => write!(f, "{place} = {value};"),
        Statement::If(condition, body, otherwise) => {
            write!(f, "if ({condition}) ")?;
            block(f, body, depth)?;
            if otherwise.is_empty() {
                return Ok(());
            }
            f.write_str(" else ")?;
            block(f, otherwise, depth)
        }
        Statement::Loop { counter, times, condition, body } => {
            writeln!(f, "local {counter} = 0;")?;
            indent(f, depth)?;
            write!(f, "while ({counter} < {times}")?;
            if let Some(condition) = condition {
                write!(f, " && {}", Nested(condition))?;
            }
            f.write_str(") {\n")?;
            indent(f, depth + 1)?;
            write!(f, "{counter} = {counter} + 1;\n{:1$}", "", 4 * (depth + 1))?;
            block(f, body, depth + 1)?;
            f.write_char('\n')?;
            indent(f, depth)?;
            f.write_char('}')
        }
        Statement::Assert(condition) => write!(f, "assert ({condition});"),
        Statement::Sync(lock, body) => {
            write!(f, "sync({lock}) ")?;
            block(f, body, depth)
        }
        Statement::Do(what, arguments) => write!(f, "{what}({});", commas(arguments)),
        Statement::Join(handle) => write!(f, "join {handle};"),
        Statement::Parallel(threads) => {
            for (index, thread) in threads.iter().enumerate() {
                f.write_str(if index == 0 { "" } else { " || " })?;
                block(f, thread, depth)?;
            }
            Ok(())
        }
        Statement::Return(value) => write!(f, "return {value};"),
    }
}

fn commas<T: Display>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}
