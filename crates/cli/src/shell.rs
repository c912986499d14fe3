//! Words for a shell.

use std::ffi::OsStr;

/// A word as a shell takes it.
pub(crate) fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// The name of a file as a shell and a command take it: one that begins with a dash would be an option.
pub(crate) fn quoted_file(name: &str) -> String {
    if name.starts_with('-') { quoted(format!("./{name}").as_ref()) } else { quoted(name.as_ref()) }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn words_survive_a_shell() {
        for word in ["./a-b", "two words", "it's", "", "$HOME", "a\"b"] {
            let shown = quoted(OsStr::new(word));
            let told = Command::new("sh").arg("-c").arg(format!("printf %s {shown}")).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&told.stdout), word, "{shown}");
        }
    }

    #[test]
    fn files_are_no_options() {
        assert_eq!(quoted_file("out/report.json"), "out/report.json");
        assert_eq!(quoted_file("my report's.json"), "'my report'\\''s.json'");
        assert_eq!(quoted_file("-x"), "./-x");
        assert_eq!(quoted("-x".as_ref()), "-x");
        assert_eq!(quoted_file(""), "''");
    }
}
