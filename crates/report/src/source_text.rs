//! The lines of a program around an access, with a mark below what is accessed.

use crate::context::SourceLocation;
use crate::page::{Ink, Page, Text};
use crate::report::RacingAccess;
use crate::visible::{fit, place, visible, width};

/// How far the lines are indented.
const INDENT: usize = 6;
/// What a tab is shown as.
const TAB: &str = "    ";

/// Writes the lines, so many before and after the accessed one; and what is to be known about them, once for each file.
pub(crate) fn write(page: &mut Page, access: &RacingAccess, around: usize) {
    let (Some(excerpt), Some(at)) = (&access.excerpt, SourceLocation::parse(&access.location)) else {
        return;
    };
    if let Some(index) = at.line.checked_sub(excerpt.first).and_then(|index| usize::try_from(index).ok()) {
        let from = index.saturating_sub(around);
        let to = excerpt.lines.len().min(index.saturating_add(around).saturating_add(1));
        let shown = excerpt.lines.get(from..to).unwrap_or_default();
        // In a line that may be another one, the column means nothing.
        let column = at.column.filter(|_| excerpt.doubt.is_none());
        write_lines(page, shown, index - from, from, SourceLocation { column, ..at }, excerpt.first);
    }
    if let Some(doubt) = excerpt.doubt {
        let text = format!("{} {}", place(at.file), doubt.words());
        if page.is_new(text.clone()) {
            page.wrapped(INDENT, INDENT + 2, Text::new().ink(Ink::Doubt, format!("({text})")));
        }
    }
}

/// Writes these lines, of which the one at `marked` is accessed; they are the lines from `from` on of what begins at
/// `first`.
fn write_lines(
    page: &mut Page,
    lines: &[String],
    marked: usize,
    from: usize,
    at: SourceLocation<'_>,
    first: u32,
) {
    let number = |index: usize| u64::from(first) + (from + index) as u64;
    let margin = number(lines.len()).to_string().len();
    let room = page.width.saturating_sub(INDENT + margin + 3).max(1);
    let common = lines.iter().filter(|line| !line.trim().is_empty()).map(|line| indentation(line)).min();
    let common = common.unwrap_or(0);
    for (index, line) in lines.iter().enumerate() {
        let head = format!("{:INDENT$}{:>margin$} | ", "", number(index));
        let ink = if index == marked { Ink::Plain } else { Ink::Quiet };
        let span = at.column.filter(|_| index == marked).and_then(|column| span(line, column));
        let (shown, mark) = laid_out(line, span, common, room);
        page.line(Text::new().ink(Ink::Quiet, head).ink(ink, shown));
        if let Some((before, length)) = mark {
            let head = format!("{:INDENT$}{:margin$} | ", "", "");
            let gap = " ".repeat(before);
            page.line(Text::new().ink(Ink::Quiet, head).add(gap).ink(Ink::Race, "^".repeat(length)));
        }
    }
}

/// How many columns of a line are empty at its beginning.
fn indentation(line: &str) -> usize {
    let blank: String = line.chars().take_while(|&character| character == ' ' || character == '\t').collect();
    width(&blank.replace('\t', TAB))
}

/// A line as it is shown without its first columns, and where the span is in that: after how many columns, and how
/// many. Of a line that is too long, the part with the span is shown.
fn laid_out(
    line: &str,
    span: Option<(usize, usize)>,
    common: usize,
    room: usize,
) -> (String, Option<(usize, usize)>) {
    let shown = |text: &str| visible(&text.replace('\t', TAB));
    let without = |text: String| text.chars().skip(common).collect::<String>();
    let parts = span.and_then(|(from, to)| Some((line.get(..from)?, line.get(from..to)?, line.get(to..)?)));
    let Some((before, accessed, after)) = parts else {
        return (fit(without(shown(line)).trim_end(), room), None);
    };
    let (mut before, accessed, after) = (without(shown(before)), fit(&shown(accessed), room), shown(after));
    if width(&before) + width(&accessed) > room {
        let kept = room.saturating_sub(width(&accessed)).saturating_sub(1).min(room / 2);
        let skipped = before.chars().count().saturating_sub(kept);
        let rest: String = before.chars().skip(skipped).collect();
        before = if kept == 0 { String::new() } else { format!("…{rest}") };
    }
    let mark = (width(&before), width(&accessed).max(1));
    (fit(format!("{before}{accessed}{after}").trim_end(), room), Some(mark))
}

/// From which byte of the line to which the thing goes that stands at the column. Compilers count bytes.
pub(crate) fn span(line: &str, column: u32) -> Option<(usize, usize)> {
    let from = usize::try_from(column).ok()?.checked_sub(1)?;
    let rest = line.get(from..).filter(|rest| !rest.trim().is_empty())?;
    let to = from + expression(rest);
    let assigned = line.get(from..to).filter(|operator| assigns(operator)).and(line.get(..from));
    Some((assigned.and_then(operand).unwrap_or(from), to))
}

/// Whether an operator changes what stands before it: compilers tell the place of the operator.
fn assigns(operator: &str) -> bool {
    match operator {
        "++" | "--" | "<<=" | ">>=" => true,
        "==" | "!=" | "<=" | ">=" => false,
        operator => operator.ends_with('='),
    }
}

/// At which byte the operand begins that a text ends with, if it is a name with its members and indexes.
fn operand(text: &str) -> Option<usize> {
    let text = text.trim_end();
    let is_part = |letter: &char| letter.is_alphanumeric() || "_.->:[]".contains(*letter);
    let length: usize = text.chars().rev().take_while(is_part).map(char::len_utf8).sum();
    let from = text.len() - length;
    let operand = text.get(from..).filter(|operand| name(operand) > 0)?;
    (operand.matches('[').count() == operand.matches(']').count()).then_some(from)
}

/// How many bytes the expression has that a text begins with: a name with its members and indexes, an operator, or
/// one letter.
fn expression(text: &str) -> usize {
    let prefixed = text.trim_start_matches("++").trim_start_matches("--").trim_start_matches(['*', '&']);
    let pointers = text.len() - prefixed.len();
    let name = pointers + name(text.get(pointers..).unwrap_or_default());
    if name > pointers {
        return name + members(text.get(name..).unwrap_or_default());
    }
    let operator = text.len() - text.trim_start_matches(|letter| "+-*/%&|^<>=!~".contains(letter)).len();
    if operator > 0 { operator } else { text.chars().next().map_or(0, char::len_utf8) }
}

/// How many bytes the name has that a text begins with.
fn name(text: &str) -> usize {
    text.len() - text.trim_start_matches(|letter: char| letter.is_alphanumeric() || letter == '_').len()
}

/// How many bytes of a text go on with a name before it: `.member`, `->member`, `::name`, `[index]`.
fn members(text: &str) -> usize {
    let mut length = 0;
    while let Some(more) = text.get(length..).and_then(member) {
        length += more;
    }
    length
}

/// How many bytes the one member or index has that a text begins with.
fn member(text: &str) -> Option<usize> {
    let named = |prefix: &&str| {
        let length = name(text.strip_prefix(*prefix)?);
        (length > 0).then_some(prefix.len() + length)
    };
    let index = || {
        let inner = text.strip_prefix('[')?;
        let end = inner.find(']')?;
        (!inner.get(..end)?.contains('[')).then_some(end + 2)
    };
    ["->", "::", "."].iter().find_map(named).or_else(index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::excerpt::{Doubt, Excerpt};
    use crate::text::Detail;

    fn text(lines: &[&str], location: &str, doubt: Option<Doubt>, width: usize) -> Vec<String> {
        let lines = lines.iter().map(|line| (*line).to_string()).collect();
        let access = RacingAccess {
            location: location.to_string(),
            excerpt: Some(Excerpt { first: 9, lines, doubt }),
            ..RacingAccess::default()
        };
        let mut page = Page::new(Detail { width, ..Detail::default() });
        write(&mut page, &access, 1);
        write(&mut page, &access, 0);
        page.finish().lines().map(String::from).collect()
    }

    #[test]
    fn the_access_is_marked_among_its_neighbours() {
        assert_eq!(
            text(&["\tlock();", "\tshown = bank->sum[i];", "\tunlock();", "}"], "b.c:10:10", None, 80),
            [
                "       9 | lock();",
                "      10 | shown = bank->sum[i];",
                "         |         ^^^^^^^^^^^^",
                "      11 | unlock();",
                "      10 | shown = bank->sum[i];",
                "         |         ^^^^^^^^^^^^",
            ]
        );
    }

    #[test]
    fn what_is_not_known_for_sure_is_told_once() {
        assert_eq!(
            text(&["x = 1;"], "b.c:9:3", Some(Doubt::Changed), 80),
            [
                "       9 | x = 1;",
                "      (b.c was changed after the recording; this may be another line)",
                "       9 | x = 1;",
            ]
        );
        assert_eq!(text(&[], "b.c:9", Some(Doubt::Missing), 80), ["      (b.c cannot be read here)"]);
    }

    #[test]
    fn of_a_long_line_the_access_is_shown() {
        let long = format!("{}counter++; // {}", "f(1); ".repeat(30), "very ".repeat(30));
        let lines = text(&[&long], "b.c:9:181", None, 60);
        assert!(lines.iter().all(|line| width(line) <= 60), "{lines:?}");
        let (shown, mark) = (&lines[0], &lines[1]);
        let at = width(mark.trim_end_matches('^'));
        let marked: String = shown.chars().skip(at).take(7).collect();
        assert_eq!((marked.as_str(), mark.matches('^').count()), ("counter", 7));
    }

    #[test]
    fn marks_are_below_what_they_mark_whatever_stands_before() {
        // Columns count bytes; wide letters take two columns, and what is dangerous is spelled out.
        let lines = text(&["\t/* 変\u{1b} */ x = 1;"], "b.c:9:13", None, 80);
        assert_eq!(lines[0], "       9 | /* 変\\u{1b} */ x = 1;");
        assert_eq!(lines[1], "         |                ^");
        for column in ["2000000000", "6", "0"] {
            assert_eq!(
                text(&["/* 変 */"], &format!("b.c:9:{column}"), None, 80).len(),
                2,
                "no mark at {column}"
            );
        }
    }

    #[test]
    fn what_is_assigned_stands_before_the_operator() {
        for (line, column, accessed) in [
            ("    balance -= 10;", 13, "balance -="),
            ("} sum[i].x = 1;", 12, "sum[i].x ="),
            ("    counter++;", 12, "counter++"),
            ("    ++counter;", 5, "++counter"),
            ("    a[i + 1] = 2;", 14, "="),
            ("    if (a == b)", 11, "=="),
            ("    *p = 2;", 8, "p ="),
        ] {
            let (from, to) = span(line, column).expect("a span");
            assert_eq!(&line[from..to], accessed);
        }
    }

    #[test]
    fn expressions_have_an_end() {
        for (text, accessed) in [
            ("balance -= 10", "balance"),
            ("-= 10", "-="),
            ("++;", "++"),
            ("*p->next = 3", "*p->next"),
            ("a[i].b[j + 1](x)", "a[i].b[j + 1]"),
            ("a[b[1]]", "a"),
            ("(x)", "("),
            ("bank::sum+1", "bank::sum"),
            ("größe = 1", "größe"),
            ("a.", "a"),
        ] {
            assert_eq!(&text[..expression(text)], accessed);
        }
    }
}
