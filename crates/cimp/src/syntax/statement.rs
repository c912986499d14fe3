//! The grammar of statements.

use std::collections::BTreeSet;

use crate::diagnostic::Span;
use crate::syntax::declaration::DECLARATIONS;
use crate::syntax::parser::{Failed, Parsed, Parser};
use crate::syntax::token::Kind;
use crate::syntax::tree::{
    Block, Body, Expression, ExpressionKind, Name, Object, Operation, Statement, Target,
};

/// What statements begin with, if they begin with a word of the language.
const STATEMENTS: [&str; 16] = [
    "P",
    "V",
    "acquire",
    "assert",
    "fork",
    "if",
    "join",
    "local",
    "notify",
    "notifyall",
    "release",
    "return",
    "skip",
    "sync",
    "wait",
    "while",
];

impl<'s> Parser<'s, '_> {
    pub(super) fn block(&mut self, role: &str) -> Parsed<Block<'s>> {
        let open = self.expect("{", role)?;
        let mut statements = Vec::new();
        while !self.is_next("}") {
            if self.peek().kind == Kind::End {
                if !std::mem::replace(&mut self.ended, true) {
                    self.diagnostics.report(open, "this `{` is never closed");
                }
                return Err(Failed);
            }
            self.recovering(&STATEMENTS, |parser| {
                statements.push(parser.statement()?);
                Ok(())
            });
        }
        let close = self.advance().span;
        Ok(Block { open, statements, close })
    }

    /// A block that may be run by another thread.
    pub(super) fn body(&mut self, role: &str) -> Parsed<Body<'s>> {
        self.names.push(BTreeSet::new());
        let block = self.block(role)?;
        let names = self.names.pop().unwrap_or_default();
        if let Some(around) = self.names.last_mut() {
            around.extend(&names);
        }
        Ok(Body { block, names })
    }

    /// Takes down that this name is used.
    pub(super) fn mention(&mut self, name: Name<'s>) {
        if let Some(names) = self.names.last_mut() {
            names.insert(name.text);
        }
    }

    fn statement(&mut self) -> Parsed<Statement<'s>> {
        self.enter()?;
        let statement = self.nested_statement()?;
        self.leave();
        Ok(statement)
    }

    fn nested_statement(&mut self) -> Parsed<Statement<'s>> {
        let word = self.peek();
        let span = word.span;
        match word.text {
            "{" => self.blocks(),
            "fork" | "new" | "true" | "false" | "null" => self.assignment_or_call(),
            _ if word.kind != Kind::Keyword => self.assignment_or_call(),
            "else" => self.fail(span, "this `else` belongs to no `if`"),
            text if DECLARATIONS.contains(&text) => {
                self.fail(span, "declarations stand before the threads, not within")
            }
            text if !STATEMENTS.contains(&text) => self.expected("a statement"),
            text => {
                self.advance();
                self.statement_after(text, span)
            }
        }
    }

    /// The rest of a statement that begins with this word.
    fn statement_after(&mut self, word: &str, span: Span) -> Parsed<Statement<'s>> {
        let statement = match word {
            "if" => return self.decision(span),
            "while" => {
                let condition = self.expression()?;
                return Ok(Statement::While { span, condition, body: Box::new(self.statement()?) });
            }
            "sync" => {
                let lock = self.object_in_parentheses()?;
                return Ok(Statement::Sync { span, lock, body: self.block("after `sync (…)`")? });
            }
            "skip" => Statement::Skip,
            "local" => Statement::Local(self.locals()?),
            "assert" => Statement::Assert { span, condition: self.expression()? },
            "wait" => self.wait(span)?,
            "join" => Statement::Join { span, handle: self.expression()? },
            "return" => {
                let value = if self.is_next(";") { None } else { Some(self.expression()?) };
                Statement::Return { span, value }
            }
            _ => {
                let operation = match word {
                    "acquire" => Operation::Acquire,
                    "release" => Operation::Release,
                    "P" => Operation::Down,
                    "V" => Operation::Up,
                    "notify" => Operation::Notify,
                    _ => Operation::NotifyAll,
                };
                Statement::Operate { span, operation, object: self.object_in_parentheses()? }
            }
        };
        self.semicolon("statement")?;
        Ok(statement)
    }

    fn blocks(&mut self) -> Parsed<Statement<'s>> {
        let first = self.body("")?;
        if !self.is_next("||") {
            return Ok(Statement::Block(first.block));
        }
        let mut bodies = vec![first];
        while self.eat("||") {
            bodies.push(self.body("after `||`")?);
        }
        Ok(Statement::Parallel(bodies))
    }

    fn decision(&mut self, span: Span) -> Parsed<Statement<'s>> {
        let condition = self.expression()?;
        let then = Box::new(self.statement()?);
        let otherwise = if self.eat("else") { Some(Box::new(self.statement()?)) } else { None };
        Ok(Statement::If { span, condition, then, otherwise })
    }

    fn locals(&mut self) -> Parsed<Vec<(Name<'s>, Option<Expression<'s>>)>> {
        let mut locals = Vec::new();
        loop {
            let name = self.name("a name for the local variable")?;
            let given = self.eat("=") || self.eat(":=");
            locals.push((name, if given { Some(self.expression()?) } else { None }));
            if !self.eat(",") {
                return Ok(locals);
            }
        }
    }

    fn wait(&mut self, span: Span) -> Parsed<Statement<'s>> {
        self.expect("(", "after `wait`")?;
        let condition = self.object()?;
        self.expect(",", "and the lock to release while waiting")?;
        let lock = self.object()?;
        self.expect(")", "after the lock")?;
        Ok(Statement::Wait { span, condition, lock })
    }

    fn object_in_parentheses(&mut self) -> Parsed<Object<'s>> {
        self.expect("(", "and what it is about")?;
        let object = self.object()?;
        self.expect(")", "after the name")?;
        Ok(object)
    }

    fn object(&mut self) -> Parsed<Object<'s>> {
        let name = self.name("a name")?;
        self.mention(name);
        Ok(Object { name, index: self.index()? })
    }

    fn assignment_or_call(&mut self) -> Parsed<Statement<'s>> {
        if !self.begins_expression() {
            return self.expected("a statement");
        }
        let left = self.postfix()?;
        if self.eat("=") || self.eat(":=") {
            let target = match left.kind {
                ExpressionKind::Variable(object) => Target::Variable(object),
                ExpressionKind::Field(of, name) => Target::Field(*of, name),
                _ => return self.fail(left.span, "nothing can be assigned to this"),
            };
            let value = self.expression()?;
            self.semicolon("statement")?;
            return Ok(Statement::Assign { target, value });
        }
        match &left.kind {
            ExpressionKind::ForkBlock(_) => {
                self.eat(";");
            }
            ExpressionKind::Call(..) | ExpressionKind::Fork(..) => self.semicolon("statement")?,
            _ => return self.expected("`=` and a new value"),
        }
        Ok(Statement::Evaluate(left))
    }
}
