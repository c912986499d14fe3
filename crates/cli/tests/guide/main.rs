//! The documents are true: every command that they show is run, and prints what they say; every link leads somewhere;
//! every page is in the table of contents, and every technique has one.
//!
//! Blocks that are marked `console` have commands, which begin with `$ `, and what each prints. In that, `[..]` stands
//! for any text within a line, and a line `...` for any lines. The commands of a page are run one after the other by a
//! shell, in a folder of their own where `examples` and `corpus` are those of the repository. Blocks that are marked
//! `sh` have commands without what they print, and names such as `TRACE` in place of files; they must only be accepted.
//! (`trace view` takes a terminal, and is tested in one elsewhere.) What is not run has a comment before it which says
//! why: `<!-- not run: … -->`. Set `FORETELL_UPDATE_DOCUMENTS` to write down what the commands print now.

mod pages;
mod session;
mod shown;

use std::fs;
use std::path::{Path, PathBuf};

use foretell_predict::Technique;
use pages::{Block, Page};
use session::Session;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All documents for users.
fn pages() -> Vec<Page> {
    let mut pages = Vec::new();
    Page::read_all(&repository().join("docs"), &mut pages);
    pages.push(Page::read(&repository().join("README.md")));
    assert!(pages.len() > 20, "documents are missing");
    pages
}

/// Runs all commands of the pages that are wanted.
fn run(is_wanted: impl Fn(&Page) -> bool) {
    let mut wrong = Vec::new();
    let mut commands = 0;
    for page in pages().into_iter().filter(is_wanted) {
        let mut session = Session::new(&page.name);
        let mut text = page.text.clone();
        for block in page.blocks() {
            let (Block::Console { .. } | Block::Commands { .. }) = &block else { continue };
            let (ran, rewritten) = session.run(&page, &block);
            commands += ran.commands;
            wrong.extend(ran.wrong);
            if let Some((old, new)) = rewritten {
                text = text.replacen(&old, &new, 1);
            }
        }
        if std::env::var_os("FORETELL_UPDATE_DOCUMENTS").is_some() && text != page.text {
            fs::write(&page.path, text).expect("the document can be written");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(commands > 0, "no command is shown at all");
}

#[test]
fn commands_on_traces_and_programs_of_the_small_language_print_what_is_shown() {
    run(|page| !page.needs_compilers());
}

#[test]
fn commands_on_native_programs_print_what_is_shown() {
    foretell_testkit::native::build_libraries(env!("CARGO_BIN_EXE_foretell"));
    run(Page::needs_compilers);
}

#[test]
fn every_link_leads_somewhere() {
    for page in pages() {
        for link in page.links() {
            assert!(page.leads_somewhere(&link), "{}: `{link}` leads nowhere", page.name);
        }
    }
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let contents = Page::read(&repository().join("docs/SUMMARY.md"));
    let listed: Vec<PathBuf> = contents.links().iter().filter_map(|link| contents.target(link)).collect();
    for page in pages() {
        if page.name != "README.md" && page.name != "docs/SUMMARY.md" {
            assert!(listed.contains(&page.path), "{} is not in docs/SUMMARY.md", page.name);
        }
    }
}

#[test]
fn every_technique_has_a_page() {
    let names = Technique::ALL.iter().map(|technique| technique.name()).chain(["auto"]);
    for name in names {
        let page = repository().join(format!("docs/techniques/{name}.md"));
        assert!(page.is_file(), "{name} has no page");
    }
}
