//! What all rules of the grammar share: the next token, messages, recovery, and depth.
//!
//! Written by hand, one function per rule. A rule that fails has said why; what comes after the statement or
//! declaration it was in is read nevertheless, so that several mistakes are found at once.

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostics, Span};
use crate::syntax::token::{Kind, Token};
use crate::syntax::tree::Name;

/// How deeply things may be nested. A walk over the tree recurses no deeper than this.
const DEEPEST: usize = 256;

/// A rule does not fit, and that has been reported.
pub(super) struct Failed;

pub(super) type Parsed<T> = Result<T, Failed>;

/// Reads tokens one after the other, and keeps track of what was read.
pub(super) struct Parser<'s, 't> {
    tokens: &'t [Token<'s>],
    /// The next token.
    at: usize,
    pub(super) diagnostics: &'t mut Diagnostics,
    /// How many rules are being read within each other.
    depth: usize,
    /// How deep the tree will be below what is being read, counted from the top.
    deepest: usize,
    /// The names in each body around.
    pub(super) names: Vec<BTreeSet<&'s str>>,
    /// It has been reported that the text ends too early.
    pub(super) ended: bool,
}

impl<'s, 't> Parser<'s, 't> {
    pub(super) fn new(tokens: &'t [Token<'s>], diagnostics: &'t mut Diagnostics) -> Parser<'s, 't> {
        Parser { tokens, at: 0, diagnostics, depth: 0, deepest: 0, names: Vec::new(), ended: false }
    }

    // Tokens.

    pub(super) fn peek(&self) -> Token<'s> {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, count: usize) -> Token<'s> {
        let end = Token { kind: Kind::End, text: "", span: Span::default() };
        self.tokens.get(self.at + count).or(self.tokens.last()).copied().unwrap_or(end)
    }

    /// The token that was read last.
    fn before(&self) -> Option<Token<'s>> {
        self.tokens.get(self.at.checked_sub(1)?).copied()
    }

    pub(super) fn advance(&mut self) -> Token<'s> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len());
        token
    }

    /// Whether this word or symbol of the language is next.
    pub(super) fn is_next(&self, text: &str) -> bool {
        let token = self.peek();
        matches!(token.kind, Kind::Keyword | Kind::Symbol) && token.text == text
    }

    /// Whether this word or symbol of the language was next; then it is read.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let eaten = self.is_next(text);
        if eaten {
            self.advance();
        }
        eaten
    }

    pub(super) fn expect(&mut self, text: &str, role: &str) -> Parsed<Span> {
        if self.is_next(text) { Ok(self.advance().span) } else { self.expected(&format!("`{text}` {role}")) }
    }

    pub(super) fn name(&mut self, what: &str) -> Parsed<Name<'s>> {
        let token = self.peek();
        if token.kind != Kind::Name {
            let failed = self.expected(what);
            // On the same line, a word of the language was meant to be the name; on the next one it begins something
            // new.
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
    pub(super) fn expected<T>(&mut self, what: &str) -> Parsed<T> {
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

    pub(super) fn fail<T>(&mut self, span: Span, message: &str) -> Parsed<T> {
        self.diagnostics.report(span, message);
        Err(Failed)
    }

    /// The end of a statement or declaration. If it is missing at the end of a line, nothing else is wrong.
    pub(super) fn semicolon(&mut self, what: &str) -> Parsed<()> {
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
    pub(super) fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        self.check_depth()
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Reads something that grows from the left, like a sum: `read` calls [`Parser::wrap`] for each step.
    pub(super) fn growing<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let outside = std::mem::replace(&mut self.deepest, self.depth);
        let result = read(self)?;
        self.deepest = self.deepest.max(outside);
        Ok(result)
    }

    /// What was read since the call of [`Parser::growing`] becomes a part of something larger.
    pub(super) fn wrap(&mut self) -> Parsed<()> {
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

    /// Parses one of several items; if that fails, continues where the next one may begin.
    pub(super) fn recovering(&mut self, starts: &[&str], read: impl FnOnce(&mut Self) -> Parsed<()>) {
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
}
