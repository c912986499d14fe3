//! Every `FORETELL_…` variable of the tree is in the table, and every one of the table is in the documentation.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use foretell_wire::settings::{ALL, Reader, Setting};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All names of variables in a text.
fn names(text: &str) -> impl Iterator<Item = String> {
    let is_part = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    text.match_indices("FORETELL_").map(move |(start, _)| {
        let name: String = text[start..].chars().take_while(|&letter| is_part(letter)).collect();
        name
    })
}

/// All sources and documents below a folder.
fn texts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let kept = !name.starts_with('.') && name != "target";
        if path.is_dir() && kept {
            texts(&path, found);
        } else if ["rs", "md", "cpp", "c", "toml", "sh"]
            .iter()
            .any(|&ending| path.extension().is_some_and(|of| of == ending))
        {
            found.push(path);
        }
    }
}

#[test]
fn every_variable_of_the_tree_is_in_the_table() {
    let known: BTreeSet<&str> = ALL.iter().map(Setting::text).collect();
    let mut files = Vec::new();
    texts(&root(), &mut files);
    let mut seen = BTreeSet::new();
    for path in files {
        for name in names(&fs::read_to_string(&path).unwrap_or_default()) {
            // `FORETELL_` alone, or with a pattern behind it, speaks of all of them.
            let is_family = name == "FORETELL_";
            assert!(is_family || known.contains(&*name), "{}: {name} is not in the table", path.display());
            seen.insert(name);
        }
    }
    assert!(known.iter().all(|name| seen.contains(*name)), "the table has variables that nothing uses");
}

#[test]
fn every_variable_for_users_is_documented_with_its_default() {
    let page = fs::read_to_string(root().join("docs/native.md")).expect("docs/native.md");
    for setting in ALL.iter().filter(|setting| setting.reader != Reader::Tests) {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{}` |", setting.text())));
        let row = row.unwrap_or_else(|| panic!("docs/native.md has no row for {}", setting.text()));
        if let Some(default) = setting.default {
            assert!(row.contains(&format!("[default: {default}]")), "{row}: the default is {default}");
        }
    }
}
