//! Tables of models, and the files that they come from.

use std::collections::HashMap;
use std::ops::Range;

use crate::effect::Effect;

/// What is known of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Model {
    /// It accesses no memory that instrumented code accesses, or only what cannot matter.
    Harmless,
    /// The runtime stands in for it and records what it does.
    Recorded,
    /// As [`Model::Recorded`]; it reads the word behind this argument, which decides what it does.
    RecordedAt(u32),
    /// It allocates memory, and accesses none of the program's.
    Allocates,
    /// It frees memory, itself or by calling the named function.
    Frees(String),
    /// It returns a second time, from wherever the thread is by then.
    ReturnsTwice,
    /// It does anything.
    Fence,
    /// It accesses just this memory, does not synchronise, and calls nothing back.
    Accesses(Vec<Effect>),
}

/// What is wrong with a file of models.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct Error {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub reason: String,
}

/// Models by the names of functions: as the linker knows them, or, of Rust, paths without instances.
#[derive(Clone, Default, Debug)]
pub struct Table {
    exact: HashMap<String, Entry>,
    /// Models for all names with a prefix.
    prefixes: Vec<(String, Entry)>,
}

/// A model, and how it is written.
#[derive(Clone, Debug)]
struct Entry {
    model: Model,
    text: String,
}

/// The files that are part of foretell, with their names.
const SHIPPED: &[(&str, &str)] = &[
    ("compiler.toml", include_str!("../models/compiler.toml")),
    ("glib.toml", include_str!("../models/glib.toml")),
    ("glibc.toml", include_str!("../models/glibc.toml")),
    ("openmp.toml", include_str!("../models/openmp.toml")),
    ("openssl.toml", include_str!("../models/openssl.toml")),
    ("libstdcxx.toml", include_str!("../models/libstdcxx.toml")),
    ("libuv.toml", include_str!("../models/libuv.toml")),
    ("rust.toml", include_str!("../models/rust.toml")),
    ("sqlite.toml", include_str!("../models/sqlite.toml")),
    ("zlib.toml", include_str!("../models/zlib.toml")),
];

/// The models that are part of foretell: the names of the files, and what they say.
pub fn shipped() -> impl Iterator<Item = (&'static str, Result<Table, Error>)> {
    SHIPPED.iter().map(|&(name, text)| (name, Table::parse(text)))
}

impl Table {
    /// Reads a file: sections are headings for people, and each entry is a function with its model.
    pub fn parse(text: &str) -> Result<Table, Error> {
        let document = toml::de::DeTable::parse(text).map_err(|error| Error {
            line: line_of(text, &error.span().unwrap_or_default()),
            reason: error.message().to_string(),
        })?;
        let mut table = Table::default();
        for (section, content) in document.get_ref() {
            let entries = content.get_ref().as_table().ok_or_else(|| Error {
                line: line_of(text, &section.span()),
                reason: format!("`{}` is no section: expected `[section]`", section.get_ref()),
            })?;
            for (name, model) in entries {
                let fail = |reason: String| Error { line: line_of(text, &model.span()), reason };
                let value =
                    model.get_ref().as_str().ok_or_else(|| fail("a model is a string".to_string()))?;
                let parsed = Model::parse(name.get_ref(), value).map_err(fail)?;
                if !table.add(name.get_ref(), Entry { model: parsed, text: value.to_string() }) {
                    return Err(fail(format!("`{}` has a model already", name.get_ref())));
                }
            }
        }
        Ok(table)
    }

    /// Adds a model; false if the name has one.
    fn add(&mut self, name: &str, entry: Entry) -> bool {
        match name.strip_suffix('*') {
            Some(prefix) => {
                let is_new = self.prefixes.iter().all(|(known, _)| known != prefix);
                self.prefixes.push((prefix.to_string(), entry));
                is_new
            }
            None => self.exact.insert(name.to_string(), entry).is_none(),
        }
    }

    /// Adds the models of another table, which replace those that are there.
    pub fn replace_with(&mut self, other: Table) {
        self.exact.extend(other.exact);
        self.prefixes.splice(0..0, other.prefixes);
    }

    /// The model of a function.
    pub fn get(&self, name: &str) -> Option<&Model> {
        let prefixed = || self.prefixes.iter().find(|(prefix, _)| name.starts_with(prefix.as_str()));
        let entry = self.exact.get(name).or_else(|| prefixed().map(|(_, entry)| entry));
        entry.map(|entry| &entry.model)
    }

    /// All names with their models as they are written, sorted; a prefix ends in `*`.
    pub fn entries(&self) -> Vec<(String, &str)> {
        let prefixes = self.prefixes.iter().map(|(prefix, entry)| (format!("{prefix}*"), entry));
        let all = self.exact.iter().map(|(name, entry)| (name.clone(), entry)).chain(prefixes);
        let mut entries: Vec<_> = all.map(|(name, entry)| (name, entry.text.as_str())).collect();
        entries.sort();
        entries
    }
}

impl Model {
    fn parse(name: &str, text: &str) -> Result<Model, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        Ok(match *words.as_slice() {
            ["harmless"] => Model::Harmless,
            ["recorded"] => Model::Recorded,
            ["recorded", argument] => match Effect::parse(&format!("reads {argument} 8"))?.last_argument() {
                Some(number) => Model::RecordedAt(number),
                None => return Err("expected `recorded $N`".to_string()),
            },
            ["allocates"] => Model::Allocates,
            ["frees"] => Model::Frees(name.to_string()),
            ["frees", "by", function] => Model::Frees(function.to_string()),
            ["returns", "twice"] => Model::ReturnsTwice,
            ["fence"] => Model::Fence,
            _ => Model::Accesses(text.split(';').map(Effect::parse).collect::<Result<_, _>>()?),
        })
    }
}

fn line_of(text: &str, span: &Range<usize>) -> usize {
    text.bytes().take(span.start).filter(|&byte| byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_models_can_be_read_and_do_not_contradict_each_other() {
        let mut all = Table::default();
        for (file, table) in shipped() {
            let table = table.unwrap_or_else(|error| panic!("{file}: {error}"));
            assert!(!table.entries().is_empty(), "{file} is empty");
            for (name, model) in table.entries() {
                assert!(all.get(&name).is_none(), "{name} is in two files, in {file} as {model}");
            }
            all.replace_with(table);
        }
    }

    #[test]
    fn the_last_file_wins_and_exact_names_come_first() {
        let mut table = Table::parse("[a]\nf = \"harmless\"\n\"g_*\" = \"fence\"\n").expect("models");
        table.replace_with(
            Table::parse("[b]\nf = \"reads $0 text\"\ng_free = \"harmless\"\n").expect("models"),
        );
        assert!(matches!(table.get("f"), Some(Model::Accesses(_))));
        assert_eq!(table.get("g_free"), Some(&Model::Harmless));
        assert_eq!(table.get("g_lock"), Some(&Model::Fence));
        assert_eq!(table.get("h"), None);
    }

    #[test]
    fn errors_have_lines() {
        for (text, line, reason) in [
            ("[a]\nf = 3\n", 2, "is a string"),
            ("[a]\n\nf = \"sleeps\"\n", 3, "is no effect"),
            ("f = \"harmless\"\n", 1, "is no section"),
            ("[a]\nf = \"fence\"\n[b]\nf = \"fence\"\n", 4, "already"),
            ("[a]\nf = \n", 2, ""),
        ] {
            let error = Table::parse(text).expect_err(text);
            assert_eq!(error.line, line, "{text}: {error}");
            assert!(error.reason.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn damaged_files_are_errors_at_most() {
        for (_, text) in SHIPPED {
            for cut in (0..text.len()).step_by(97).filter(|&cut| text.is_char_boundary(cut)) {
                let damaged = [&text[..cut], "\u{0}$*+\"", &text[cut..]].concat();
                for text in [&text[..cut], damaged.as_str()] {
                    if let Err(error) = Table::parse(text) {
                        assert!(error.line >= 1 && !error.reason.is_empty());
                    }
                }
            }
        }
    }
}
