//! What the printers of programs in other languages share.

use std::fmt::Write;

use super::tree::{Block, Declaration, Expression, Function, Program, Statement};

/// Prints a program in another language, line for line.
pub(super) trait Printer {
    /// How the body of a thread begins and ends.
    const THREAD: [&'static str; 2];

    fn out(&mut self) -> &mut String;
    fn declaration(&mut self, declaration: &Declaration);
    fn function(&mut self, function: &Function);
    fn statement(&mut self, statement: &Statement);
    fn expression(&mut self, expression: &Expression);

    fn put(&mut self, text: &str) {
        self.out().push_str(text);
    }

    /// Declarations and functions, each on lines of its own.
    fn definitions(&mut self, program: &Program) {
        for declaration in &program.declarations {
            self.declaration(declaration);
            self.put("\n");
        }
        for function in &program.functions {
            self.function(function);
            self.put("\n");
        }
    }

    /// Statements on lines of their own, between a brace and what ends them.
    fn body(&mut self, block: &Block, end: &str) {
        self.put("{\n");
        for statement in block {
            self.statement(statement);
            self.put("\n");
        }
        self.put(end);
    }

    fn thread(&mut self, start: &str, block: &Block) {
        self.put(start);
        self.put(Self::THREAD[0]);
        self.body(block, Self::THREAD[1]);
    }

    fn nested(&mut self, expression: &Expression) {
        self.put("(");
        self.expression(expression);
        self.put(")");
    }

    /// A function calls itself with less fuel.
    fn again(&mut self, function: &str, fuel: &str, arguments: &[Expression]) {
        let _ = write!(self.out(), "{function}({fuel} - 1");
        for argument in arguments {
            self.put(", ");
            self.expression(argument);
        }
        self.put(")");
    }

    /// Both operands with text around them; an empty text between them stands for the operator itself.
    fn infix(&mut self, left: &Expression, around: [&str; 3], operator: &str, right: &Expression) {
        let [before, between, after] = around;
        self.put(before);
        self.expression(left);
        if between.is_empty() {
            let _ = write!(self.out(), ") {operator} (");
        } else {
            self.put(between);
        }
        self.expression(right);
        self.put(after);
    }
}
