//! Names come from other people's programs and files. What a terminal would act upon is shown instead; and how much
//! room it takes.

use unicode_width::UnicodeWidthChar as _;

/// How many marks one letter may carry: more than any script needs would cover the lines above and below.
const MARKS: usize = 2;

/// `text` with everything spelled out that a terminal acts upon, or that cannot be seen, or that changes how other
/// text is read.
pub fn visible(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    // Marks at the beginning would go with what stands before the text.
    let mut marks = MARKS;
    for character in text.chars() {
        let is_mark = character.width() == Some(0);
        marks = if is_mark { marks + 1 } else { 0 };
        if is_unfit(character) || (is_mark && marks > MARKS) {
            safe.extend(character.escape_default());
        } else {
            safe.push(character);
        }
    }
    safe
}

/// The same for text of several lines, whose line breaks are meant.
pub fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// A location with everything spelled out, and without detours: compilers name `/usr/lib/../include/x.h`.
pub fn place(location: &str) -> String {
    if !location.contains("/../") {
        return visible(location);
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in location.split('/') {
        match parts.last() {
            Some(&last) if part == ".." && !last.is_empty() && last != ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    visible(&parts.join("/"))
}

/// How many columns of a terminal the text takes.
pub fn width(text: &str) -> usize {
    text.chars().map(|character| character.width().unwrap_or(0)).sum()
}

/// The text, followed by spaces up to so many columns.
pub fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// At most so many columns of the text.
pub fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_string();
    }
    let mut used = 1;
    let kept = text.chars().take_while(|character| {
        used += character.width().unwrap_or(0);
        used <= columns
    });
    kept.chain(['…']).collect()
}

/// Whether a character is none that should reach a terminal.
fn is_unfit(character: char) -> bool {
    character.is_control() || is_direction_mark(character) || is_unseen(character)
}

/// Characters that change the direction of the text around them, and so can make it read differently.
fn is_direction_mark(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Invisible characters, that break lines, or that join what stands around them: two names could look the same.
fn is_unseen(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200d}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{2060}'..='\u{2065}'
            | '\u{206a}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_no_detours() {
        assert_eq!(place("/usr/lib/gcc/../../include/x.h:3:1"), "/usr/include/x.h:3:1");
        assert_eq!(place("../src/./x.c:3"), "../src/./x.c:3");
        assert_eq!(place("../../a/../x.c:3"), "../../x.c:3");
    }

    #[test]
    fn nothing_reaches_the_terminal_as_a_command() {
        assert_eq!(visible("\u{1b}[31mred\n"), "\\u{1b}[31mred\\n");
        assert_eq!(visible("\u{9b}31m\u{7f}"), "\\u{9b}31m\\u{7f}");
        assert_eq!(visible("a\u{202e}b\u{2028}c\u{200b}"), "a\\u{202e}b\\u{2028}c\\u{200b}");
        assert_eq!(visible("Zähler[0] 変数"), "Zähler[0] 変数");
    }

    #[test]
    fn a_letter_carries_few_marks() {
        assert_eq!(visible("Za\u{308}hler"), "Za\u{308}hler");
        assert_eq!(visible("\u{308}x"), "\\u{308}x");
        assert_eq!(visible("x\u{301}\u{302}\u{303}\u{304}"), "x\u{301}\u{302}\\u{303}\\u{304}");
    }

    #[test]
    fn wide_letters_take_two_columns() {
        assert_eq!((width("ab"), width("変数"), width("a\u{308}")), (2, 4, 1));
        assert_eq!(
            (fit("変数変数", 5), fit("変数", 4), pad("変", 4)),
            ("変数…".into(), "変数".into(), "変  ".into())
        );
    }

    #[test]
    fn line_breaks_may_be_meant() {
        assert_eq!(visible_lines("a\n\u{1b}b\r\n"), "a\n\\u{1b}b\\r\n");
    }
}
