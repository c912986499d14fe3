//! The grammar of programs, declarations and statements.
//!
//! Written by hand, one function per rule. A rule that fails has said why; what comes after the statement or declaration
//! it was in is read nevertheless, so that several mistakes are found at once.

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostics, Span};
use crate::syntax::token::{Kind, Token};
use crate::syntax::tree::{
    Block, Body, Declaration, Expression, ExpressionKind, Initial, Name, Number, Object, Operation, Sort,
    Statement, Target, Thread, Tree,
};

/// How deeply things may be nested. Whoever walks over the tree calls itself no deeper than this.
const DEEPEST: usize = 256;

/// A rule does not fit, and that has been reported.
pub(crate) struct Failed;

pub(crate) type Parsed<T> = Result<T, Failed>;

/// Reads a program. What is returned is only of use if nothing was reported.
pub(crate) fn parse<'s>(tokens: &[Token<'s>], diagnostics: &mut Diagnostics) -> Tree<'s> {
    let mut parser = Parser::new(tokens, diagnostics);
    let mut tree = Tree::default();
    // Failing means that the end of the program is not worth looking at.
    let _ = parser.program(&mut tree);
    tree
}

/// Reads an expression that is all there is.
pub(crate) fn parse_expression<'s>(
    tokens: &[Token<'s>],
    diagnostics: &mut Diagnostics,
) -> Parsed<Expression<'s>> {
    let mut parser = Parser::new(tokens, diagnostics);
    let expression = parser.expression()?;
    if parser.peek().kind == Kind::End { Ok(expression) } else { parser.expected("the end") }
}

pub(crate) struct Parser<'s, 't> {
    tokens: &'t [Token<'s>],
    /// The next token.
    at: usize,
    pub(crate) diagnostics: &'t mut Diagnostics,
    /// How many rules are being read within each other.
    depth: usize,
    /// How deep the tree will be below what is being read, counted from the top.
    deepest: usize,
    /// The names in each body around.
    names: Vec<BTreeSet<&'s str>>,
    /// It has been reported that the text ends too early.
    ended: bool,
}

impl<'s, 't> Parser<'s, 't> {
    fn new(tokens: &'t [Token<'s>], diagnostics: &'t mut Diagnostics) -> Parser<'s, 't> {
        Parser { tokens, at: 0, diagnostics, depth: 0, deepest: 0, names: Vec::new(), ended: false }
    }

    // Tokens.

    pub(crate) fn peek(&self) -> Token<'s> {
        self.ahead(0)
    }

    pub(crate) fn ahead(&self, count: usize) -> Token<'s> {
        let end = Token { kind: Kind::End, text: "", span: Span::default() };
        self.tokens.get(self.at + count).or(self.tokens.last()).copied().unwrap_or(end)
    }

    /// The token that was read last.
    fn before(&self) -> Option<Token<'s>> {
        self.tokens.get(self.at.checked_sub(1)?).copied()
    }

    pub(crate) fn advance(&mut self) -> Token<'s> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len());
        token
    }

    /// Whether this word or symbol of the language is next.
    pub(crate) fn is_next(&self, text: &str) -> bool {
        let token = self.peek();
        matches!(token.kind, Kind::Keyword | Kind::Symbol) && token.text == text
    }

    /// Whether this word or symbol of the language was next; then it is read.
    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let eaten = self.is_next(text);
        if eaten {
            self.advance();
        }
        eaten
    }

    pub(crate) fn expect(&mut self, text: &str, role: &str) -> Parsed<Span> {
        if self.is_next(text) { Ok(self.advance().span) } else { self.expected(&format!("`{text}` {role}")) }
    }

    pub(crate) fn name(&mut self, what: &str) -> Parsed<Name<'s>> {
        let token = self.peek();
        if token.kind != Kind::Name {
            let failed = self.expected(what);
            // On the same line, a word of the language was meant to be the name; on the next one it begins something new.
            if token.kind == Kind::Keyword && self.before().is_some_and(|before| before.is_on_line_of(&token))
            {
                self.advance();
            }
            return failed;
        }
        let Token { text, span, .. } = self.advance();
        Ok(Name { text, span })
    }

    /// Reports that something else should be next.
    pub(crate) fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        let token = self.peek();
        let found = match token.kind {
            Kind::End if std::mem::replace(&mut self.ended, true) => return Err(Failed),
            Kind::End => "the program ends".to_owned(),
            Kind::Keyword => format!("found the keyword `{}`", token.text),
            _ => format!("found `{}`", token.text),
        };
        let help = self.is_next("=").then(|| "to compare, write `==`".to_owned());
        self.diagnostics.report_with_help(token.span, format!("expected {what}, but {found}"), help);
        Err(Failed)
    }

    fn fail<T>(&mut self, span: Span, message: &str) -> Parsed<T> {
        self.diagnostics.report(span, message);
        Err(Failed)
    }

    /// The end of a statement or declaration. If it is missing at the end of a line, nothing else is wrong.
    fn semicolon(&mut self, what: &str) -> Parsed<()> {
        if self.eat(";") {
            return Ok(());
        }
        let Some(before) = self.before() else { return self.expected("`;`") };
        let mut span = Span { length: 1, ..before.span };
        span.position.column += before.span.length;
        let help = self.is_next("=").then(|| "to compare, write `==`".to_owned());
        self.diagnostics.report_with_help(span, format!("expected `;` after this {what}"), help);
        let goes_on = before.is_on_line_of(&self.peek()) && !self.is_next("}");
        if goes_on { Err(Failed) } else { Ok(()) }
    }

    // Depth.

    /// One rule within another; to be followed by [`Parser::leave`].
    pub(crate) fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        self.check_depth()
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Reads something that grows from the left, like a sum: `read` calls [`Parser::wrap`] for each step.
    pub(crate) fn growing<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let outside = std::mem::replace(&mut self.deepest, self.depth);
        let result = read(self)?;
        self.deepest = self.deepest.max(outside);
        Ok(result)
    }

    /// What was read since the call of [`Parser::growing`] becomes a part of something larger.
    pub(crate) fn wrap(&mut self) -> Parsed<()> {
        self.deepest += 1;
        self.check_depth()
    }

    fn check_depth(&mut self) -> Parsed<()> {
        if self.deepest <= DEEPEST {
            return Ok(());
        }
        let span = self.peek().span;
        self.fail(span, &format!("this is nested too deeply: more than {DEEPEST} levels"))
    }

    // Recovery.

    /// Reads one of several things; if that fails, goes on where the next one may begin.
    fn recovering(&mut self, starts: &[&str], read: impl FnOnce(&mut Self) -> Parsed<()>) {
        let (depth, deepest, names) = (self.depth, self.deepest, self.names.len());
        let start = self.at;
        if read(self).is_ok() {
            return;
        }
        self.depth = depth;
        self.deepest = self.deepest.max(deepest);
        self.names.truncate(names);
        if self.at == start && !self.is_next("}") {
            self.advance();
        }
        self.skip_to(starts);
    }

    fn skip_to(&mut self, starts: &[&str]) {
        let mut open = 0_usize;
        loop {
            let token = self.peek();
            match token.text {
                _ if token.kind == Kind::End => return,
                ";" if open == 0 => {
                    self.advance();
                    return;
                }
                "}" if open == 0 => return,
                "}" => open -= 1,
                text if open == 0 && token.kind == Kind::Keyword && starts.contains(&text) => return,
                "{" => open += 1,
                _ => {}
            }
            self.advance();
            if token.text == "}" && open == 0 && !self.is_next("else") && !self.is_next("||") {
                return;
            }
        }
    }

    // Programs and declarations.

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

    pub(crate) fn signed(&mut self, span: Span, magnitude: u64, negative: bool) -> Parsed<i64> {
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

    // Statements.

    fn block(&mut self, role: &str) -> Parsed<Block<'s>> {
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
    pub(crate) fn body(&mut self, role: &str) -> Parsed<Body<'s>> {
        self.names.push(BTreeSet::new());
        let block = self.block(role)?;
        let names = self.names.pop().unwrap_or_default();
        if let Some(around) = self.names.last_mut() {
            around.extend(&names);
        }
        Ok(Body { block, names })
    }

    /// Takes down that this name is used.
    pub(crate) fn mention(&mut self, name: Name<'s>) {
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

    fn locals(&mut self) -> Parsed<Vec<(Name<'s>, Option<super::tree::Expression<'s>>)>> {
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
        self.expect(",", "and the lock to give up while waiting")?;
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

/// What declarations begin with.
const DECLARATIONS: [&str; 7] = ["shared", "atomic", "lock", "semaphore", "condition", "cell", "fn"];

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
