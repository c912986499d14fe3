//! What the program calls its threads, as part of a trace in the text and in the recording format: after all events a
//! line `#thread T1`, a tab and the title for each thread that has one. In text these are comments, so that others can
//! still read the trace.

use crate::name::Names;

const WORD: &[u8] = b"#thread ";

/// The lines that tell the titles.
pub(crate) fn write(names: &Names) -> String {
    names.titles().map(|(thread, title)| format!("#thread {thread}\t{title}\n")).collect()
}

/// Thread and title, if the line tells them. Any other comment may begin with the same word.
pub(crate) fn read(line: &[u8]) -> Option<(String, String)> {
    let (thread, title) = std::str::from_utf8(line.strip_prefix(WORD)?).ok()?.split_once('\t')?;
    Some((thread.to_string(), title.to_string()))
}

/// Takes up the titles of threads that the trace has.
pub(crate) fn take_up(titles: impl IntoIterator<Item = (String, String)>, names: &mut Names) {
    for (thread, title) in titles {
        if let Some(thread) = names.threads.get(&thread) {
            names.set_title(thread, &title);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_come_back_and_other_comments_are_left_alone() {
        let mut names = Names::default();
        let threads = ["main", "T1", "T2"].map(|name| names.threads.intern(name.as_bytes()).unwrap());
        names.set_title(threads[1], "net worker");
        names.set_title(threads[2], "a\nb\tc");
        let text = write(&names) + "#thread T9\tnobody\n#thread safety\n# thread T1\tx\n";
        let mut found = Names::default();
        found.threads = names.threads.clone();
        take_up(text.lines().filter_map(|line| read(line.as_bytes())), &mut found);
        assert_eq!(threads.map(|thread| found.title(thread)), [None, Some("net worker"), Some("a b c")]);
    }
}
