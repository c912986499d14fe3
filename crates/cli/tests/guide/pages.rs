//! Documents, and the blocks in them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::repository;

/// One document.
pub(crate) struct Page {
    pub(crate) path: PathBuf,
    /// The path from the root of the repository.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Something in a document that is set apart.
#[derive(Debug)]
pub(crate) enum Block {
    /// Commands with what they print.
    Console {
        /// The line of the document on which it begins.
        line: usize,
        text: String,
    },
    /// Commands alone.
    Commands {
        /// The line of the document on which it begins.
        line: usize,
        text: String,
    },
    /// A file that the commands after it use, as the comment before it says: `<!-- file: NAME -->`.
    File { name: String, text: String },
    /// Anything else, or what is not to be run.
    Other,
}

impl Page {
    pub(crate) fn read(path: &Path) -> Page {
        let path = path.canonicalize().expect("the document is there");
        let root = repository().canonicalize().expect("the repository is there");
        let name = path.strip_prefix(&root).expect("documents are in the repository").display().to_string();
        Page { text: fs::read_to_string(&path).expect("the document can be read"), path, name }
    }

    /// All documents in the folder and below.
    pub(crate) fn read_all(folder: &Path, pages: &mut Vec<Page>) {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                Page::read_all(&path, pages);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                pages.push(Page::read(&path));
            }
        }
    }

    /// Whether its commands compile native programs.
    pub(crate) fn needs_compilers(&self) -> bool {
        self.text.contains("<!-- needs: compilers -->")
    }

    /// Its blocks, from top to bottom.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut before = "";
        let mut lines = self.text.lines().enumerate();
        while let Some((index, line)) = lines.next() {
            if let Some(kind) = line.trim_start().strip_prefix("```") {
                let inside = lines.by_ref().take_while(|(_, line)| line.trim() != "```");
                let text: String = inside.map(|(_, line)| format!("{line}\n")).collect();
                blocks.push(Block::new(kind, before, index + 1, text));
            } else if !line.trim().is_empty() {
                before = line;
            }
        }
        blocks
    }

    /// Where its links lead, as they are written; those to other places than files are left out.
    pub(crate) fn links(&self) -> Vec<String> {
        let mut is_code = false;
        let mut links = Vec::new();
        for line in self.text.lines() {
            is_code ^= line.trim_start().starts_with("```");
            let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            if !is_code {
                links.extend(targets.filter(|target| !target.contains("://")).map(String::from));
            }
        }
        links
    }

    /// The file that a link leads to.
    pub(crate) fn target(&self, link: &str) -> Option<PathBuf> {
        let file = link.split('#').next().unwrap_or_default();
        if file.is_empty() {
            return Some(self.path.clone());
        }
        self.path.parent()?.join(file).canonicalize().ok()
    }

    /// Whether a link leads to a file, and to a heading in it if it names one.
    pub(crate) fn leads_somewhere(&self, link: &str) -> bool {
        let Some(target) = self.target(link) else { return false };
        let Some((_, anchor)) = link.split_once('#') else { return true };
        let text = fs::read_to_string(target).unwrap_or_default();
        text.lines().filter(|line| line.starts_with('#')).any(|heading| anchor_of(heading) == anchor)
    }
}

/// What a heading is called in links.
fn anchor_of(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

impl Block {
    fn new(kind: &str, before: &str, line: usize, text: String) -> Block {
        let comment = |key: &str| {
            before.trim().strip_prefix("<!--")?.strip_suffix("-->")?.trim().strip_prefix(key).map(str::trim)
        };
        if let Some(reason) = comment("not run:") {
            assert!(reason.len() > 10, "line {line}: why is it not run?");
            return Block::Other;
        }
        if let Some(name) = comment("file:") {
            return Block::File { name: name.to_string(), text };
        }
        match kind {
            "console" => Block::Console { line, text },
            "sh" => Block::Commands { line, text },
            _ => Block::Other,
        }
    }
}
