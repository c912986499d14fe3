//! The words of the project: documents, help and messages use the terms of the field, in British spelling.
//!
//! Checked are the documents, without code, all string literals of shipped sources that are prose, and, by a list of
//! their own, the comments of shipped sources.

use std::fs;
use std::path::Path;

/// A phrase to avoid, and what to write instead. A last word that ends in `*` stands for all words with that beginning.
type Banned = (&'static str, &'static str);

const BANNED: [Banned; 49] = [
    ("nobody", "no thread, unknown, …"),
    ("somebody", "the user, a thread, …"),
    ("anybody", "the user, a thread, …"),
    ("whoever", "the thread that …"),
    ("who says", "scheduling strategy"),
    ("whose turn", "the scheduled thread"),
    ("told", "reported, recorded, shown"),
    ("tells of", "reports, lists"),
    ("tell of", "report, list"),
    ("hear of", "suppress"),
    ("unseen", "uninstrumented, unrecorded"),
    ("next to nothing", "almost nothing"),
    ("to mend", "to fix; remedy"),
    ("mended", "fixed"),
    ("give up", "release"),
    ("gives up", "releases"),
    ("given up", "released"),
    ("gave up", "released"),
    ("go on", "continue"),
    ("goes on", "continues"),
    ("gone on", "continued"),
    ("going on", "continuing"),
    ("went on", "continued"),
    ("anew", "again"),
    ("astray", "inconsistent"),
    ("faithful", "consistent"),
    ("unfaithful", "inconsistent"),
    ("as one likes", "as you like"),
    ("unless told", "[default: …]"),
    ("unless given", "[default: …]"),
    ("was not gone", "untaken branch"),
    ("ways that were not taken", "untaken branches"),
    ("what is demanded", "path constraint"),
    ("detour*", "untaken branch"),
    ("the world", "I/O"),
    ("strays", "reads another value"),
    ("quarry", "target"),
    ("quarries", "targets"),
    ("looks for races in itself", "online detection"),
    ("look for races in themselves", "online detection"),
    ("code that is not instrumented", "uninstrumented code"),
    ("code without hooks", "uninstrumented code"),
    ("behavior*", "behaviour"),
    ("synchroniz*", "synchronis…"),
    ("initializ*", "initialis…"),
    ("optimiz*", "optimis…"),
    ("recogniz*", "recognis…"),
    ("analyz*", "analys…"),
    ("color", "colour (the option is `--color`)"),
];

/// What comments avoid, too: the subject of a sentence is the thing that acts.
const BANNED_IN_COMMENTS: [Banned; 9] = [
    ("nobody", "no thread, unknown, …"),
    ("somebody", "the user, a thread, …"),
    ("anybody", "the user, a thread, …"),
    ("everybody", "all threads, …"),
    ("whoever", "the thread that …"),
    ("who says", "scheduling strategy"),
    ("in vain", "without effect"),
    ("quarry", "target"),
    ("unfaithful", "inconsistent"),
];

/// Titles of papers keep their spelling.
const EXCEPTIONS: [&str; 1] = ["synchronization-preserving"];

/// The documents.
const DOCUMENTS: [&str; 6] =
    ["README.md", "SOUNDNESS.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs"];

/// Crates whose messages only developers see.
const INTERNAL: [&str; 3] = ["crates/lab/", "crates/testkit/", "crates/smt/"];

/// A word of a text.
struct Word {
    text: String,
    line: usize,
    /// Whether only blanks are between it and the word before.
    continues: bool,
}

/// All banned phrases in the documents.
pub(super) fn in_documents(root: &Path) -> Result<Vec<String>, String> {
    let mut broken = Vec::new();
    for path in documents(root)? {
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        broken.extend(complaints(&BANNED, &shown, &prose(&text), 1));
    }
    Ok(broken)
}

/// All banned phrases in the messages and comments of a source file.
pub(super) fn in_source(path: &str, text: &str) -> Vec<String> {
    let is_shipped = path.starts_with("crates/")
        && path.contains("/src/")
        && !path.contains("/tests")
        && !INTERNAL.iter().any(|internal| path.starts_with(internal));
    if !is_shipped {
        return Vec::new();
    }
    let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
    let messages = literals(shipped).into_iter().filter(|(_, literal)| literal.contains(' '));
    let messages = messages.flat_map(|(line, literal)| complaints(&BANNED, path, &literal, line));
    messages.chain(complaints(&BANNED_IN_COMMENTS, path, &comments(text), 1)).collect()
}

/// The comments that have lines of their own, without code. Lines keep their numbers.
fn comments(source: &str) -> String {
    let lines = source.lines().map(|line| line.trim_start().strip_prefix("//").unwrap_or_default());
    let lines: Vec<&str> = lines.map(|line| line.trim_start_matches(['/', '!'])).collect();
    prose(&lines.join("\n"))
}

fn documents(root: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let mut found = Vec::new();
    let mut open: Vec<_> = DOCUMENTS.iter().map(|name| root.join(name)).collect();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let failed = |error| format!("{}: {error}", path.display());
            for entry in fs::read_dir(&path).map_err(failed)? {
                open.push(entry.map_err(failed)?.path());
            }
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The text without code: blocks in other forms than `text` and `console`, and spans between backquotes. Lines keep
/// their numbers.
fn prose(text: &str) -> String {
    let (mut prose, mut is_code, mut is_block) = (String::new(), false, false);
    for line in text.lines() {
        if let Some(kind) = line.trim_start().strip_prefix("```") {
            is_block = !is_block;
            is_code = is_block && !kind.starts_with("text") && !kind.starts_with("console");
        } else if !is_code {
            let pieces = line.split('`').enumerate().filter(|(index, _)| is_block || index % 2 == 0);
            let pieces: Vec<&str> = pieces.map(|(_, piece)| piece).collect();
            prose.push_str(&pieces.join("`"));
        }
        prose.push('\n');
    }
    prose
}

/// The banned phrases of a text that begins on this line.
fn complaints(banned: &[Banned], path: &str, text: &str, first_line: usize) -> Vec<String> {
    let words = words(text);
    let at = |index: usize, (phrase, better): Banned| {
        let line = first_line + words[index].line;
        matches(&words[index..], phrase).then(|| format!("{path}:{line}: `{phrase}`: write {better}"))
    };
    (0..words.len()).flat_map(|index| banned.iter().filter_map(move |&banned| at(index, banned))).collect()
}

/// Whether the words begin with the phrase.
fn matches(words: &[Word], phrase: &str) -> bool {
    let mut length = 0;
    let is_alike = phrase.split(' ').zip(words).enumerate().all(|(index, (expected, word))| {
        length = index + 1;
        let is_same = match expected.strip_suffix('*') {
            Some(stem) => word.text.starts_with(stem) && !EXCEPTIONS.contains(&word.text.as_str()),
            None => word.text == expected,
        };
        is_same && (index == 0 || word.continues)
    });
    is_alike && length == phrase.split(' ').count()
}

/// The words in lower case; `-` and `_` are parts of words.
fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let (mut line, mut is_inside, mut continues) = (0, false, true);
    for c in text.chars() {
        let is_part = c.is_alphanumeric() || c == '-' || c == '_';
        match (is_part, words.last_mut().filter(|_| is_inside)) {
            (true, Some(word)) => word.text.extend(c.to_lowercase()),
            (true, None) => words.push(Word { text: c.to_lowercase().collect(), line, continues }),
            (false, _) if is_inside => continues = c.is_whitespace(),
            (false, _) => continues &= c.is_whitespace(),
        }
        is_inside = is_part;
        line += usize::from(c == '\n');
    }
    words
}

/// The string literals of a source, with their lines. What continues on the next line is joined by a blank.
fn literals(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let (mut line, mut rest) = (1, source);
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if c == '"' {
            let end = end_of_literal(rest);
            found.push((line, rest[1..end.saturating_sub(1).max(1)].replace("\\\n", "\n")));
            end
        } else if rest.starts_with("'\"'") || rest.starts_with("b'\"'") || rest.starts_with("'\\\"'") {
            rest[1..].find('\'').map_or(1, |end| end + 2)
        } else {
            c.len_utf8()
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    found
}

/// Where the literal ends that the text begins with, after its quotation mark.
fn end_of_literal(text: &str) -> usize {
    let mut is_escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        match c {
            '"' if !is_escaped => return index + 1,
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banned_phrase_is_found_across_lines_and_in_any_case() {
        let broken = complaints(&BANNED, "a.md", "The lock is\nGiven\n  up. Nobody knows.", 1);
        assert_eq!(
            broken,
            ["a.md:2: `given up`: write released", "a.md:3: `nobody`: write no thread, unknown, …"]
        );
    }

    #[test]
    fn parts_of_words_and_other_sentences_are_not_found() {
        for fine in
            ["untold", "unseen_read.c", "--go-on", "they go. On the way", "was given, up to 3", "colours"]
        {
            assert!(complaints(&BANNED, "a.md", fine, 1).is_empty(), "{fine}");
        }
        assert!(complaints(&BANNED, "a.md", "*Synchronization-preserving races*", 1).is_empty());
        assert_eq!(complaints(&BANNED, "a.md", "synchronizes", 1).len(), 1);
    }

    #[test]
    fn code_in_documents_is_not_prose_but_output_is() {
        let text = "`mend` and\n```sh\nnobody\n```\n```text\nnobody\n```\nnobody";
        let lines: Vec<String> = complaints(&BANNED, "a.md", &prose(text), 1);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("a.md:6:") && lines[1].starts_with("a.md:8:"), "{lines:?}");
    }

    #[test]
    fn messages_are_found_and_tests_are_not() {
        let source = "// \"given up\"\nfn a() { b('\"', \"who \\\" is\", \"the lock \\\n  given up\") }\n\
                      #[cfg(test)]\nmod tests { const A: &str = \"nobody is here\"; }";
        let broken = in_source("crates/report/src/a.rs", source);
        assert_eq!(broken, ["crates/report/src/a.rs:3: `given up`: write released"]);
        assert!(in_source("crates/lab/src/a.rs", "\"nobody is here\"").is_empty());
    }

    #[test]
    fn comments_have_a_list_of_their_own() {
        let source = "/// It is told\n    // in\n    // vain by `nobody`.\nfn nobody() {}\n";
        let broken = in_source("crates/report/src/a.rs", source);
        assert_eq!(broken, ["crates/report/src/a.rs:2: `in vain`: write without effect"]);
    }
}
