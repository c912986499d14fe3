//! Files and comment lines are short enough to read.

/// A source file outside of tests has at most so many lines.
const LINES: usize = 700;
/// A comment line has at most so many columns. rustfmt sees to the code.
const COLUMNS: usize = 120;
/// Files that may be longer, each with its reason.
const LONGER: [(&str, &str); 0] = [];

/// A file that should be cut by meaning.
pub(super) fn too_long(path: &str, text: &str) -> Option<String> {
    let is_test = path.contains("/tests/") || path.ends_with("tests.rs");
    let lines = text.lines().count();
    let is_allowed = is_test || LONGER.iter().any(|(file, _)| *file == path);
    (lines > LINES && !is_allowed)
        .then(|| format!("{path} has {lines} lines; cut it by meaning ({LINES} at most)"))
}

/// Comment lines that are too wide. Tables and words without a blank cannot be broken.
pub(super) fn wide_comments(path: &str, text: &str) -> Vec<String> {
    let is_wide = |line: &str| {
        let comment =
            line.trim_start().strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!', ' ']));
        line.chars().count() > COLUMNS
            && comment.is_some_and(|text| !text.starts_with(['|', '[']) && text.contains(' '))
    };
    let wide = text.lines().enumerate().filter(|(_, line)| is_wide(line));
    wide.map(|(number, _)| format!("{path}:{}: a comment line of more than {COLUMNS} columns", number + 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_are_named_unless_they_are_tests() {
        let long = "\n".repeat(LINES + 1);
        assert_eq!(
            too_long("crates/a/src/b.rs", &long),
            Some("crates/a/src/b.rs has 701 lines; cut it by meaning (700 at most)".to_string())
        );
        assert_eq!(too_long("crates/a/src/b.rs", &"\n".repeat(LINES)), None);
        assert_eq!(too_long("crates/a/tests/b.rs", &long), None);
        assert_eq!(too_long("crates/a/src/b/tests.rs", &long), None);
    }

    #[test]
    fn wide_comments_are_named_but_not_tables_links_and_code() {
        let words = "word ".repeat(30);
        let found = wide_comments("a.rs", &format!("fn f() {{}}\n    /// {words}\n"));
        assert_eq!(found, ["a.rs:2: a comment line of more than 120 columns"]);
        for fine in
            [format!("//! | {words} |"), format!("// {}", "x".repeat(150)), format!("let a = \"{words}\";")]
        {
            assert!(wide_comments("a.rs", &fine).is_empty(), "{fine}");
        }
        assert!(wide_comments("a.rs", &format!("// {}", "é ".repeat(58))).is_empty(), "columns, not bytes");
    }
}
