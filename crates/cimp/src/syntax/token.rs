//! Words, numbers and symbols.

use crate::diagnostic::{Diagnostics, Span};
use crate::program::Position;

/// Words that cannot be names.
const KEYWORDS: [&str; 32] = [
    "P",
    "V",
    "acquire",
    "and",
    "assert",
    "atomic",
    "cell",
    "condition",
    "else",
    "false",
    "fn",
    "fork",
    "if",
    "join",
    "local",
    "lock",
    "new",
    "not",
    "notify",
    "notifyall",
    "null",
    "or",
    "release",
    "return",
    "semaphore",
    "shared",
    "skip",
    "sync",
    "thread",
    "true",
    "wait",
    "while",
];

/// Longer ones first: the first that fits is taken.
const SYMBOLS: [&str; 25] = [
    ":=", "==", "!=", "<=", ">=", "&&", "||", "=", "<", ">", "!", "+", "-", "*", "/", "%", "(", ")", "{",
    "}", "[", "]", ",", ";", ".",
];

/// What sort of token it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// An identifier.
    Name,
    /// A word of the language.
    Keyword,
    /// A number without sign. One more than the largest number is there for the smallest one.
    Number(u64),
    /// Punctuation.
    Symbol,
    /// The end of the text, always the last token.
    End,
}

/// The smallest piece of a program that means something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'s> {
    /// What sort of token it is.
    pub(crate) kind: Kind,
    /// As it is written.
    pub(crate) text: &'s str,
    /// Where it is.
    pub(crate) span: Span,
}

impl Token<'_> {
    /// Whether both are on the same line.
    pub(crate) fn is_on_line_of(&self, other: &Token<'_>) -> bool {
        self.span.position.line == other.span.position.line
    }
}

/// Takes the text apart. The last token is [`Kind::End`], and there is always one.
pub(crate) fn tokens<'s>(source: &'s str, diagnostics: &mut Diagnostics) -> Vec<Token<'s>> {
    let mut lexer = Lexer { rest: source, position: Position { line: 1, column: 1 }, diagnostics };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next();
        tokens.extend(token);
        if token.is_some_and(|token| token.kind == Kind::End) {
            return tokens;
        }
    }
}

struct Lexer<'s, 'd> {
    rest: &'s str,
    position: Position,
    diagnostics: &'d mut Diagnostics,
}

impl<'s> Lexer<'s, '_> {
    /// The next token; none if something stands there that is not one.
    fn next(&mut self) -> Option<Token<'s>> {
        self.skip_blank();
        let Some(first) = self.rest.chars().next() else {
            return Some(self.take(0, Kind::End));
        };
        if first.is_ascii_digit() {
            return Some(self.number());
        }
        if is_word(first) {
            let length = self.length_while(is_word);
            let kind = if KEYWORDS.contains(&&self.rest[..length]) { Kind::Keyword } else { Kind::Name };
            return Some(self.take(length, kind));
        }
        if let Some(symbol) = SYMBOLS.iter().find(|symbol| self.rest.starts_with(**symbol)) {
            return Some(self.take(symbol.len(), Kind::Symbol));
        }
        let unknown = self.take(first.len_utf8(), Kind::Symbol);
        self.diagnostics.report(unknown.span, format!("unexpected character `{}`", first.escape_debug()));
        None
    }

    fn number(&mut self) -> Token<'s> {
        let length = self.length_while(is_word);
        let mut token = self.take(length, Kind::Number(0));
        if !token.text.bytes().all(|byte| byte.is_ascii_digit()) {
            self.diagnostics.report(token.span, format!("`{}` is neither a number nor a name", token.text));
        } else if let Some(number) = token.text.parse().ok().filter(|&number: &u64| number <= 1 << 63) {
            token.kind = Kind::Number(number);
        } else {
            self.diagnostics.report(token.span, "this number does not fit into 64 bits");
        }
        token
    }

    fn skip_blank(&mut self) {
        loop {
            self.skip_while(char::is_whitespace);
            if self.rest.starts_with("//") || self.rest.starts_with('#') {
                self.skip_while(|character| character != '\n');
            } else if self.rest.starts_with("/*") {
                self.skip_comment();
            } else {
                return;
            }
        }
    }

    fn skip_comment(&mut self) {
        let start = Span { position: self.position, length: 2 };
        let Some(end) = self.rest[2..].find("*/") else {
            self.diagnostics.report(start, "this comment is never closed");
            self.advance(self.rest.len());
            return;
        };
        self.advance(end + 4);
    }

    fn skip_while(&mut self, keep: impl Fn(char) -> bool) {
        let length = self.length_while(keep);
        self.advance(length);
    }

    /// How many bytes the longest beginning of the rest has whose characters are all like this.
    fn length_while(&self, keep: impl Fn(char) -> bool) -> usize {
        self.rest.find(|character| !keep(character)).unwrap_or(self.rest.len())
    }

    fn take(&mut self, length: usize, kind: Kind) -> Token<'s> {
        let text = &self.rest[..length];
        let characters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        let span = Span { position: self.position, length: characters };
        self.advance(length);
        Token { kind, text, span }
    }

    fn advance(&mut self, length: usize) {
        let (passed, rest) = self.rest.split_at(length);
        for character in passed.chars() {
            if character == '\n' {
                self.position = Position { line: self.position.line + 1, column: 1 };
            } else {
                self.position.column += 1;
            }
        }
        self.rest = rest;
    }
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        let mut diagnostics = Diagnostics::default();
        let tokens = tokens(source, &mut diagnostics);
        assert!(diagnostics.is_empty());
        tokens.iter().map(|token| token.text).collect()
    }

    #[test]
    fn symbols_are_as_long_as_possible() {
        assert_eq!(
            texts("a:=b==c||!d<=e.f"),
            ["a", ":=", "b", "==", "c", "||", "!", "d", "<=", "e", ".", "f", ""]
        );
    }

    #[test]
    fn comments_are_skipped() {
        assert_eq!(texts("a // b\n# c\n/* d\n e */ f /**/"), ["a", "f", ""]);
    }

    #[test]
    fn places_count_characters() {
        let tokens = tokens("/*é*/ x\n  yy", &mut Diagnostics::default());
        let places: Vec<String> = tokens.iter().map(|token| token.span.position.to_string()).collect();
        assert_eq!(places, ["1:7", "2:3", "2:5"]);
        assert_eq!(tokens[1].span.length, 2);
    }
}
