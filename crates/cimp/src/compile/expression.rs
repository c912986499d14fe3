//! The code of expressions: each leaves one value on the stack, and we know where that comes from.

use foretell_depend::{Binary, Unary};

use crate::compile::declare::count;
use crate::compile::names::Global;
use crate::compile::references::{Origin, ValueHolder};
use crate::compile::statement::{Runner, Writer};
use crate::diagnostic::Span;
use crate::program::Instr;
use crate::syntax::tree::{Expression, ExpressionKind, Logic, Name, Object};

impl<'s> Writer<'_, 's> {
    pub(crate) fn expression(&mut self, expression: &Expression<'s>) -> Origin<'s> {
        let position = expression.span.position;
        match &expression.kind {
            ExpressionKind::Number(number) => {
                self.emit(position, Instr::Constant(*number));
                Origin::Number
            }
            ExpressionKind::Variable(object) => self.read(object),
            ExpressionKind::Field(of, field) => {
                self.expression(of);
                self.compiler.names.check_field(*field, &mut self.compiler.diagnostics);
                let instr = Instr::ReadField(field.text.to_owned());
                self.draft.emit_perhaps_failing(field.span.position, instr, true);
                Origin::Place(ValueHolder::Field(field.text))
            }
            ExpressionKind::Call(name, arguments) => {
                let function = self.call(expression.span, *name, arguments, Instr::Call);
                function.map_or(Origin::Number, |function| Origin::Place(ValueHolder::Result(function)))
            }
            ExpressionKind::Fork(name, arguments) => {
                self.call(expression.span, *name, arguments, Instr::Fork);
                Origin::Reference
            }
            ExpressionKind::ForkBlock(body) => {
                self.fork_block(position, body, Runner::Thread);
                Origin::Reference
            }
            ExpressionKind::New(name) => self.new_cell(expression.span, *name),
            ExpressionKind::Unary(operator, operand) => self.unary(expression.span, *operator, operand),
            ExpressionKind::Binary(operator, left, right) => {
                self.binary(expression.span, *operator, left, right)
            }
            ExpressionKind::Logic(logic, left, right) => self.logic(expression.span, *logic, left, right),
        }
    }

    // Variables.

    fn read(&mut self, object: &Object<'s>) -> Origin<'s> {
        let position = object.name.span.position;
        if let Some(local) = self.locals.get(object.name.text).copied()
            && object.index.is_none()
        {
            self.emit(position, Instr::Local(local.slot));
            return Origin::Place(self.place(local.slot));
        }
        let Some(variable) = self.variable(object.name) else { return Origin::Number };
        let length = self.compiler.program.shared[variable].group.length;
        let surely_inside = self.index(object, length);
        self.draft.emit_perhaps_failing(position, Instr::Read(variable), !surely_inside);
        Origin::Place(ValueHolder::Shared(variable))
    }

    /// The number of a shared variable.
    pub(crate) fn variable(&mut self, name: Name<'s>) -> Option<usize> {
        match self.global(name, "a variable", |global| matches!(global, Global::Shared(_)))? {
            Global::Shared(variable) => Some(variable),
            _ => None,
        }
    }

    /// What the name stands for if that fits; reports it otherwise.
    pub(crate) fn global(
        &mut self,
        name: Name<'s>,
        wanted: &str,
        fits: fn(Global) -> bool,
    ) -> Option<Global> {
        let found = self.compiler.names.get(name.text);
        if let Some(global) = found.filter(|global| fits(*global)) {
            return Some(global);
        }
        let is_local = self.locals.contains_key(name.text);
        if !is_local && found.is_none() {
            self.report_unknown(name, wanted, fits);
            return None;
        }
        let noun = if is_local { "a local variable" } else { found.map_or("nothing", Global::noun) };
        // Of locals, only elements are asked for where a variable would do.
        let wanted = if is_local && wanted == "a variable" { "an array" } else { wanted };
        self.report(name.span, format!("`{}` is {noun}, not {wanted}", name.text));
        None
    }

    fn report_unknown(&mut self, name: Name<'s>, wanted: &str, fits: fn(Global) -> bool) {
        let locals = self.locals.keys().copied().filter(|_| wanted == "a variable");
        self.compiler.names.report_unknown(name, fits, locals, &mut self.compiler.diagnostics);
    }

    /// Computes which element is meant, if the object is an array of this length. Says whether there surely is that
    /// element.
    pub(crate) fn index(&mut self, object: &Object<'s>, length: Option<u32>) -> bool {
        let name = object.name;
        match (&object.index, length) {
            (None, None) => true,
            (None, Some(_)) => {
                let help = Some(format!("for the first one, write `{}[0]`", name.text));
                let message = format!("`{}` is an array: say which element", name.text);
                self.compiler.diagnostics.report_with_help(name.span, message, help);
                false
            }
            (Some(index), None) => {
                self.report(name.span, format!("`{}` is not an array", name.text));
                self.expression(index);
                false
            }
            (Some(index), Some(length)) => {
                self.expression(index);
                let ExpressionKind::Number(number) = index.kind else { return false };
                let inside = (0..i64::from(length)).contains(&number);
                if !inside {
                    let message =
                        format!("`{}` has no element {number}: the last one is {}", name.text, length - 1);
                    self.report(index.span, message);
                }
                inside
            }
        }
    }

    // Calls and objects.

    /// Says which function is called or started.
    fn call(
        &mut self,
        span: Span,
        name: Name<'s>,
        arguments: &[Expression<'s>],
        instr: fn(usize) -> Instr,
    ) -> Option<usize> {
        let origins: Vec<Origin<'s>> = arguments.iter().map(|argument| self.expression(argument)).collect();
        let found = self.global(name, "a function", |global| matches!(global, Global::Function(_)));
        let Some(Global::Function(function)) = found else { return None };
        for (origin, slot) in origins.into_iter().zip(0..) {
            self.compiler.references.flow(origin, ValueHolder::Local { function, slot });
        }
        let takes = usize::from(self.compiler.parameters[function]);
        if takes != arguments.len() {
            let takes = count(takes, "argument", "arguments");
            let given = count(arguments.len(), "is", "are");
            self.report(name.span, format!("`{}` takes {takes}, but {given} given", name.text));
        }
        self.emit(span.position, instr(function));
        Some(function)
    }

    fn new_cell(&mut self, span: Span, name: Name<'s>) -> Origin<'s> {
        let found = self.global(name, "a kind of cell", |global| matches!(global, Global::Cell(_)));
        if let Some(Global::Cell(cell)) = found {
            self.emit(span.position, Instr::New(cell));
        }
        Origin::Reference
    }

    // Operators.

    fn unary(&mut self, span: Span, operator: Unary, operand: &Expression<'s>) -> Origin<'s> {
        let origin = self.expression(operand);
        let at = self.emit(span.position, Instr::Unary(operator));
        if operator == Unary::Negate {
            self.doubt(at, origin);
        }
        Origin::Number
    }

    fn binary(
        &mut self,
        span: Span,
        operator: Binary,
        left: &Expression<'s>,
        right: &Expression<'s>,
    ) -> Origin<'s> {
        let origins = [self.expression(left), self.expression(right)];
        let divides = matches!(operator, Binary::Divide | Binary::Remainder);
        let takes_anything = matches!(operator, Binary::Equal | Binary::NotEqual | Binary::And | Binary::Or);
        let divisor_is_known = matches!(right.kind, ExpressionKind::Number(divisor) if divisor != 0);
        let may_fail = divides && !divisor_is_known;
        let at = self.draft.emit_perhaps_failing(span.position, Instr::Binary(operator), may_fail);
        for origin in origins.into_iter().filter(|_| !takes_anything) {
            self.doubt(at, origin);
        }
        Origin::Number
    }

    /// The left side decides whether the right one is computed at all.
    fn logic(
        &mut self,
        span: Span,
        logic: Logic,
        left: &Expression<'s>,
        right: &Expression<'s>,
    ) -> Origin<'s> {
        self.expression(left);
        self.emit(span.position, Instr::Mark);
        let decide = self.decide(span, false);
        if logic == Logic::And {
            self.truth(span, right);
        } else {
            self.emit(span.position, Instr::Constant(1));
        }
        let jump = self.emit(span.position, Instr::Jump(usize::MAX));
        self.draft.lead_here(decide);
        if logic == Logic::And {
            self.emit(span.position, Instr::Constant(0));
        } else {
            self.truth(span, right);
        }
        self.draft.lead_here(jump);
        self.set_ways(decide, decide + 1..self.draft.here());
        self.emit(span.position, Instr::Meet { assigned: Vec::new(), top: true });
        Origin::Number
    }

    /// 1 if the expression is not 0.
    fn truth(&mut self, span: Span, expression: &Expression<'s>) {
        self.expression(expression);
        if !is_truth(expression) {
            self.emit(span.position, Instr::Constant(0));
            self.emit(span.position, Instr::Binary(Binary::NotEqual));
        }
    }

    /// The instruction there fails if what comes from `origin` is a reference.
    pub(crate) fn doubt(&mut self, at: usize, origin: Origin<'s>) {
        match origin {
            Origin::Number => {}
            Origin::Reference => self.draft.may_fail[at] = true,
            Origin::Place(place) => self.compiler.doubts.push((self.function, at, place)),
        }
    }

    /// Where a local variable of this function keeps its value.
    pub(crate) fn place(&self, slot: u16) -> ValueHolder<'s> {
        ValueHolder::Local { function: self.function, slot }
    }
}

/// The value can only be 0 or 1.
fn is_truth(expression: &Expression<'_>) -> bool {
    match &expression.kind {
        ExpressionKind::Number(number) => matches!(number, 0 | 1),
        ExpressionKind::Unary(operator, _) => *operator == Unary::Not,
        ExpressionKind::Binary(operator, ..) => !matches!(
            operator,
            Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Remainder
        ),
        ExpressionKind::Logic(..) => true,
        _ => false,
    }
}
