//! The grammar of programs and declarations.

use crate::diagnostic::{Diagnostics, Span};
use crate::syntax::parser::{Failed, Parsed, Parser};
use crate::syntax::token::{Kind, Token};
use crate::syntax::tree::{Declaration, Initial, Number, Sort, Thread, Tree};

/// What declarations begin with.
pub(super) const DECLARATIONS: [&str; 7] =
    ["shared", "atomic", "lock", "semaphore", "condition", "cell", "fn"];

/// Reads a program. What is returned is only of use if nothing was reported.
pub(crate) fn parse<'s>(tokens: &[Token<'s>], diagnostics: &mut Diagnostics) -> Tree<'s> {
    let mut parser = Parser::new(tokens, diagnostics);
    let mut tree = Tree::default();
    // Failing means that the end of the program is not worth looking at.
    let _ = parser.program(&mut tree);
    tree
}

impl<'s> Parser<'s, '_> {
    fn program(&mut self, tree: &mut Tree<'s>) -> Parsed<()> {
        while !self.is_next("{") && !self.is_next("thread") {
            if self.peek().kind == Kind::End {
                let help = Some("write at least one thread after the declarations: `{ … }`".to_owned());
                self.diagnostics.report_with_help(self.peek().span, "this program has no thread", help);
                return Err(Failed);
            }
            if self.is_next("}") {
                let span = self.advance().span;
                self.diagnostics.report(span, "this `}` closes nothing");
                continue;
            }
            self.recovering(&DECLARATIONS, |parser| parser.declaration(&mut tree.declarations));
        }
        tree.threads.push(self.thread()?);
        while self.eat("||") {
            tree.threads.push(self.thread()?);
        }
        self.end()
    }

    fn end(&mut self) -> Parsed<()> {
        let token = self.peek();
        match token.text {
            _ if token.kind == Kind::End => Ok(()),
            "{" | "thread" => self.expected("`||` between threads"),
            "}" => self.fail(token.span, "this `}` closes nothing"),
            text if DECLARATIONS.contains(&text) => {
                self.fail(token.span, "declarations stand before the threads")
            }
            _ => self.expected("`||` and another thread, or the end of the program"),
        }
    }

    fn thread(&mut self) -> Parsed<Thread<'s>> {
        let name = if self.eat("thread") { Some(self.name("a name for the thread")?) } else { None };
        Ok(Thread { name, body: self.block("of the thread")? })
    }

    fn declaration(&mut self, out: &mut Vec<Declaration<'s>>) -> Parsed<()> {
        let word = self.peek();
        match word.text {
            _ if word.kind != Kind::Keyword => return self.expected("a declaration or a thread"),
            "cell" => return self.cell(out),
            "fn" => return self.function(out),
            text if !DECLARATIONS.contains(&text) => return self.expected("a declaration or a thread"),
            _ => self.advance(),
        };
        loop {
            let name = self.name("a name")?;
            let length = self.length()?;
            let sort = match word.text {
                "lock" => Sort::Lock { length },
                "condition" => Sort::Condition { length },
                "semaphore" => {
                    let permits = if self.eat("=") { Some(self.constant()?) } else { None };
                    Sort::Semaphore { length, permits }
                }
                _ => Sort::Shared { atomic: word.text == "atomic", length, initial: self.initial()? },
            };
            out.push(Declaration { name, sort });
            if !self.eat(",") {
                return self.semicolon("declaration");
            }
        }
    }

    fn length(&mut self) -> Parsed<Option<Number>> {
        if !self.eat("[") {
            return Ok(None);
        }
        let length = self.constant()?;
        self.expect("]", "after the number of elements")?;
        Ok(Some(length))
    }

    fn initial(&mut self) -> Parsed<Initial> {
        if !self.eat("=") {
            return Ok(Initial::All(0));
        }
        if !self.is_next("{") {
            return Ok(Initial::All(self.constant()?.value));
        }
        let open = self.advance().span;
        let mut each = Vec::new();
        while !self.is_next("}") {
            each.push(self.constant()?.value);
            if !self.eat(",") {
                break;
            }
        }
        self.expect("}", "after the last number")?;
        Ok(Initial::Each(each, open))
    }

    /// A number that is known before the program runs.
    fn constant(&mut self) -> Parsed<Number> {
        let negative = self.eat("-");
        let token = self.peek();
        let value = match (token.kind, token.text) {
            (Kind::Number(magnitude), _) => self.signed(token.span, magnitude, negative)?,
            (Kind::Keyword, "true") => 1,
            (Kind::Keyword, "false" | "null") => 0,
            _ => return self.expected("a number"),
        };
        self.advance();
        Ok(Number { value, span: token.span })
    }

    pub(super) fn signed(&mut self, span: Span, magnitude: u64, negative: bool) -> Parsed<i64> {
        let value =
            if negative { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() };
        match value {
            Some(value) => Ok(value),
            None => self.fail(span, "this number does not fit into 64 bits"),
        }
    }

    fn cell(&mut self, out: &mut Vec<Declaration<'s>>) -> Parsed<()> {
        self.advance();
        let name = self.name("a name for this kind of cell")?;
        self.expect("{", "before the fields")?;
        let mut fields = Vec::new();
        while !self.is_next("}") {
            let field = self.name("the name of a field")?;
            let value = if self.eat("=") { self.constant()?.value } else { 0 };
            fields.push((field, value));
            if !self.eat(",") {
                break;
            }
        }
        self.expect("}", "after the last field")?;
        self.eat(";");
        out.push(Declaration { name, sort: Sort::Cell { fields } });
        Ok(())
    }

    fn function(&mut self, out: &mut Vec<Declaration<'s>>) -> Parsed<()> {
        self.advance();
        let name = self.name("a name for the function")?;
        self.expect("(", "after the name of the function")?;
        let mut parameters = Vec::new();
        while !self.is_next(")") {
            parameters.push(self.name("the name of a parameter")?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")", "after the parameters")?;
        let body = self.block("of the function")?;
        out.push(Declaration { name, sort: Sort::Function { parameters, body } });
        Ok(())
    }
}
