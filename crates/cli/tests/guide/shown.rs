//! Whether what is printed is what is shown.

/// Whether the lines are as they are shown, where `...` stands for any lines and `[..]` for any text in a line.
pub(crate) fn matches(shown: &[&str], printed: &[&str]) -> bool {
    match shown {
        [] => printed.is_empty(),
        ["...", rest @ ..] => (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..])),
        [first, rest @ ..] => printed
            .split_first()
            .is_some_and(|(line, others)| line_matches(first, line) && matches(rest, others)),
    }
}

fn line_matches(shown: &str, printed: &str) -> bool {
    let Some((begin, rest)) = shown.split_once("[..]") else { return shown.trim_end() == printed.trim_end() };
    let Some(printed) = printed.strip_prefix(begin) else { return false };
    let ends = printed.char_indices().map(|(at, _)| at).chain([printed.len()]);
    ends.into_iter().any(|at| line_matches(rest, &printed[at..]))
}

#[test]
fn any_text_and_any_lines_have_signs() {
    assert!(matches(&["a [..] c", "...", "z"], &["a b c", "1", "2", "z"]));
    assert!(matches(&["...", "z"], &["z"]));
    assert!(matches(&["proven in [..] s"], &["proven in 0.01 s"]));
    assert!(!matches(&["a"], &["a", "b"]));
    assert!(!matches(&["a [..] c"], &["a b d"]));
    assert!(!matches(&["...", "y"], &["z"]));
}
