//! The grammar of expressions.

use foretell_depend::{Binary, Unary};

use crate::diagnostic::Diagnostics;
use crate::syntax::parser::{Parsed, Parser};
use crate::syntax::token::{Kind, Token};
use crate::syntax::tree::{Expression, ExpressionKind, Logic, Name, Object};

/// What an operator between two expressions makes of them.
#[derive(Clone, Copy)]
enum Operator {
    Binary(Binary),
    Logic(Logic),
}

/// How strongly comparisons bind: they are the only operators that cannot be chained.
const COMPARISON: u8 = 3;

/// The operator that is written like this, and how strongly it binds.
fn operator(token: Token<'_>) -> Option<(u8, Operator)> {
    if !matches!(token.kind, Kind::Symbol | Kind::Keyword) {
        return None;
    }
    Some(match token.text {
        "||" => (1, Operator::Logic(Logic::Or)),
        "or" => (1, Operator::Binary(Binary::Or)),
        "&&" => (2, Operator::Logic(Logic::And)),
        "and" => (2, Operator::Binary(Binary::And)),
        "==" => (COMPARISON, Operator::Binary(Binary::Equal)),
        "!=" => (COMPARISON, Operator::Binary(Binary::NotEqual)),
        "<" => (COMPARISON, Operator::Binary(Binary::Less)),
        "<=" => (COMPARISON, Operator::Binary(Binary::LessOrEqual)),
        ">" => (COMPARISON, Operator::Binary(Binary::Greater)),
        ">=" => (COMPARISON, Operator::Binary(Binary::GreaterOrEqual)),
        "+" => (4, Operator::Binary(Binary::Add)),
        "-" => (4, Operator::Binary(Binary::Subtract)),
        "*" => (5, Operator::Binary(Binary::Multiply)),
        "/" => (5, Operator::Binary(Binary::Divide)),
        "%" => (5, Operator::Binary(Binary::Remainder)),
        _ => return None,
    })
}

/// Reads an expression that is all there is; none if something was reported.
pub(crate) fn parse_expression<'s>(
    tokens: &[Token<'s>],
    diagnostics: &mut Diagnostics,
) -> Option<Expression<'s>> {
    let mut parser = Parser::new(tokens, diagnostics);
    let expression = parser.expression().ok()?;
    if parser.peek().kind == Kind::End { Some(expression) } else { parser.expected("the end").ok() }
}

impl<'s> Parser<'s, '_> {
    pub(crate) fn expression(&mut self) -> Parsed<Expression<'s>> {
        self.operators(1)
    }

    /// Whether an expression may begin here.
    pub(crate) fn begins_expression(&self) -> bool {
        let token = self.peek();
        match token.kind {
            Kind::Name | Kind::Number(_) => true,
            Kind::Keyword => ["not", "new", "fork", "true", "false", "null"].contains(&token.text),
            Kind::Symbol => ["(", "-", "!"].contains(&token.text),
            Kind::End => false,
        }
    }

    /// Operands with operators between them that bind at least as strongly as `weakest`.
    fn operators(&mut self, weakest: u8) -> Parsed<Expression<'s>> {
        self.enter()?;
        let result = self.growing(|parser| {
            let mut left = parser.unary()?;
            let mut compared = false;
            while let Some((strength, operator)) = operator(parser.peek()).filter(|(s, _)| *s >= weakest) {
                let span = parser.advance().span;
                if strength == COMPARISON && std::mem::replace(&mut compared, true) {
                    let help = Some("write `a < b && b < c`".to_owned());
                    parser.diagnostics.report_with_help(span, "comparisons cannot be chained", help);
                }
                compared &= strength >= COMPARISON;
                parser.wrap()?;
                let (first, second) = (Box::new(left), Box::new(parser.operators(strength + 1)?));
                let kind = match operator {
                    Operator::Binary(binary) => ExpressionKind::Binary(binary, first, second),
                    Operator::Logic(logic) => ExpressionKind::Logic(logic, first, second),
                };
                left = Expression { kind, span };
            }
            Ok(left)
        })?;
        self.leave();
        Ok(result)
    }

    fn unary(&mut self) -> Parsed<Expression<'s>> {
        let Token { text, span, .. } = self.peek();
        let operator = match text {
            _ if self.is_next("-") => Unary::Negate,
            _ if self.is_next("!") || self.is_next("not") => Unary::Not,
            _ => return self.postfix(),
        };
        self.advance();
        // The smallest number has no positive counterpart, so its sign belongs to it.
        if let (Unary::Negate, Kind::Number(magnitude)) = (operator, self.peek().kind) {
            self.advance();
            return Ok(Expression {
                kind: ExpressionKind::Number(self.signed(span, magnitude, true)?),
                span,
            });
        }
        self.enter()?;
        let operand = self.unary()?;
        self.leave();
        Ok(Expression { kind: ExpressionKind::Unary(operator, Box::new(operand)), span })
    }

    /// An operand, and the fields of cells that it leads to.
    pub(crate) fn postfix(&mut self) -> Parsed<Expression<'s>> {
        self.growing(|parser| {
            let mut of = parser.operand()?;
            while parser.eat(".") {
                parser.wrap()?;
                let field = parser.name("the name of a field")?;
                of = Expression { kind: ExpressionKind::Field(Box::new(of), field), span: field.span };
            }
            Ok(of)
        })
    }

    fn operand(&mut self) -> Parsed<Expression<'s>> {
        let token = self.peek();
        let span = token.span;
        let kind = match (token.kind, token.text) {
            (Kind::Number(magnitude), _) => {
                self.advance();
                ExpressionKind::Number(self.signed(span, magnitude, false)?)
            }
            (Kind::Name, text) => {
                self.advance();
                self.named(Name { text, span })?
            }
            (Kind::Symbol, "(") => {
                self.advance();
                let inner = self.expression()?;
                self.expect(")", "to close the parenthesis")?;
                return Ok(inner);
            }
            (Kind::Keyword, "true") => self.word(ExpressionKind::Number(1)),
            (Kind::Keyword, "false" | "null") => self.word(ExpressionKind::Number(0)),
            (Kind::Keyword, "new") => {
                self.advance();
                ExpressionKind::New(self.name("the name of a kind of cell")?)
            }
            (Kind::Keyword, "fork") => self.fork()?,
            _ => return self.expected("an expression"),
        };
        Ok(Expression { kind, span })
    }

    fn word(&mut self, meaning: ExpressionKind<'s>) -> ExpressionKind<'s> {
        self.advance();
        meaning
    }

    /// A variable or a call.
    fn named(&mut self, name: Name<'s>) -> Parsed<ExpressionKind<'s>> {
        if self.is_next("(") {
            return Ok(ExpressionKind::Call(name, self.arguments()?));
        }
        self.mention(name);
        Ok(ExpressionKind::Variable(Object { name, index: self.index()? }))
    }

    fn fork(&mut self) -> Parsed<ExpressionKind<'s>> {
        self.advance();
        if self.is_next("{") {
            return Ok(ExpressionKind::ForkBlock(self.body("after `fork`")?));
        }
        let name = self.name("a function or a block after `fork`")?;
        Ok(ExpressionKind::Fork(name, self.arguments()?))
    }

    fn arguments(&mut self) -> Parsed<Vec<Expression<'s>>> {
        self.expect("(", "and the arguments")?;
        let mut arguments = Vec::new();
        while !self.is_next(")") {
            arguments.push(self.expression()?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")", "after the arguments")?;
        Ok(arguments)
    }

    pub(crate) fn index(&mut self) -> Parsed<Option<Box<Expression<'s>>>> {
        if !self.eat("[") {
            return Ok(None);
        }
        let index = self.expression()?;
        self.expect("]", "after the index")?;
        Ok(Some(Box::new(index)))
    }
}
