//! Text for terminals that show ASCII only.

use std::borrow::Cow;

/// The text in ASCII. Signs become what resembles them, in as many columns wherever columns matter; all other
/// characters are spelled out, so that different names stay different.
pub(super) fn ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            // Where a word was cut, there is room for one sign.
            '…' if plain.ends_with(|before: char| !before.is_whitespace() && before != '(') => {
                plain.push('~');
            }
            '…' => plain.push_str("..."),
            '│' | '┃' | '║' => plain.push('|'),
            '─' | '━' | '═' | '–' | '—' | '·' | '−' => plain.push('-'),
            '┌' | '┐' | '└' | '┘' | '├' | '┤' | '┬' | '┴' | '┼' | '╭' | '╮' | '╰' | '╯' =>
            {
                plain.push('+');
            }
            '»' | '›' | '▶' | '►' => plain.push('>'),
            '«' | '‹' => plain.push('<'),
            '→' => plain.push_str("->"),
            '×' => plain.push('x'),
            '•' | '●' => plain.push('*'),
            '✓' => plain.push('+'),
            '‘' | '’' => plain.push('\''),
            '“' | '”' => plain.push('"'),
            '≤' => plain.push_str("<="),
            '≥' => plain.push_str(">="),
            '\u{a0}' | '\u{202f}' => plain.push(' '),
            other if other.is_ascii() => plain.push(other),
            other => plain.extend(other.escape_unicode()),
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stay_and_names_stay_different() {
        assert_eq!(ascii("main │ » writes x…  :12"), "main | > writes x~  :12");
        assert_eq!(ascii("… (waits …) a · b"), "... (waits ...) a - b");
        assert_eq!(ascii("Zähler"), "Z\\u{e4}hler");
        assert!(matches!(ascii("plain"), Cow::Borrowed("plain")));
    }
}
