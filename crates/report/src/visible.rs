//! Names come from other people's programs and files. What a terminal would act upon is shown instead.

/// `text` with everything spelled out that would not be seen.
pub fn visible(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() || is_unseen(character) {
            safe.extend(character.escape_default());
        } else {
            safe.push(character);
        }
    }
    safe
}

/// A location with control characters spelled out, and without detours: compilers name `/usr/lib/../include/x.h`.
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

/// Characters that change the direction of the text around them, and so can make it read differently; and those that take
/// no room, so that two names could look the same.
fn is_unseen(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
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
        assert_eq!(visible("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(visible("x\u{200b}"), "x\\u{200b}");
        assert_eq!(visible("Zähler[0]"), "Zähler[0]");
    }
}
