//! What a compiler is asked to do, as far as that changes how we call it.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

/// Options with which the compiler does not link.
const NOT_LINKING: [&str; 16] = [
    "-c",
    "--compile",
    "-S",
    "--assemble",
    "-E",
    "--preprocess",
    "-M",
    "-MM",
    "-fsyntax-only",
    "-r",
    "--precompile",
    "--analyze",
    "-emit-ast",
    "-module-file-info",
    "-extract-api",
    "--help",
];

/// Options whose value is the next argument, which is no file to be compiled.
const WITH_VALUE: [&str; 34] = [
    "-o",
    "-D",
    "-U",
    "-I",
    "-L",
    "-l",
    "-F",
    "-T",
    "-u",
    "-z",
    "-e",
    "-B",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-include",
    "-include-pch",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-isysroot",
    "-iprefix",
    "-iwithprefix",
    "-Xclang",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-mllvm",
    "-target",
    "-arch",
    "--param",
    "-rpath",
];

/// What the names of headers end in: compiled alone, they become precompiled headers.
const HEADERS: [&str; 8] = ["h", "hh", "hpp", "hxx", "h++", "hp", "H", "tcc"];

/// Options that make a program without shared libraries.
const STATIC: [&str; 5] = ["-static", "--static", "-static-pie", "-Wl,-static", "-Wl,--static"];

/// How a sanitizer is asked for.
const SANITIZE: &str = "-fsanitize=";

/// Sanitizers whose libraries replace the allocator, the functions of threads, or the stack, as the recorder does.
const REPLACING: [&str; 12] = [
    "address",
    "hwaddress",
    "memory",
    "thread",
    "leak",
    "dataflow",
    "safe-stack",
    "scudo",
    "type",
    "realtime",
    "numerical",
    "alloc-token",
];

/// Other options with which a program cannot be recorded: stacks in pieces have threads of their own, and the recorder
/// has 64 bits.
const UNUSABLE: [&str; 3] = ["-fsplit-stack", "-m32", "-mx32"];

/// What there is to do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct CommandLine {
    /// Something is linked.
    pub(super) links: bool,
    /// The option that asks for a program without shared libraries, if there is one.
    pub(super) is_static: Option<String>,
    /// Options with which a program cannot be recorded.
    pub(super) rivals: Vec<String>,
}

impl CommandLine {
    pub(super) fn of(arguments: &[OsString]) -> CommandLine {
        let mut found = Found::default();
        let mut rest = expand(arguments, MOST_NESTED).into_iter();
        while let Some(argument) = rest.next() {
            found.add(&argument, &mut rest);
        }
        CommandLine {
            links: found.has_input && !found.has_header && !found.forbids,
            is_static: found.is_static,
            rivals: found.rivals,
        }
    }
}

/// What was found so far.
#[derive(Default)]
struct Found {
    has_input: bool,
    has_header: bool,
    forbids: bool,
    is_static: Option<String>,
    rivals: Vec<String>,
    /// The language of what follows, if it does not go by names.
    language: Option<String>,
}

impl Found {
    fn add(&mut self, argument: &str, rest: &mut impl Iterator<Item = String>) {
        let is = |options: &[&str]| options.contains(&argument);
        if let Some(names) = argument.strip_prefix(SANITIZE) {
            let rivals = names.split(',').filter(|name| REPLACING.contains(name));
            return self.rivals.extend(rivals.map(|name| format!("{SANITIZE}{name}")));
        }
        if let Some(names) = argument.strip_prefix("-fno-sanitize=") {
            let is_off = |rival: &str| names.split(',').any(|name| name == rival || name == "all");
            return self.rivals.retain(|rival| !rival.strip_prefix(SANITIZE).is_some_and(is_off));
        }
        if is(&UNUSABLE) {
            return self.rivals.push(argument.to_string());
        }
        if argument == "-x" {
            self.language = rest.next().filter(|language| language != "none");
        } else if let Some(language) = argument.strip_prefix("-x").filter(|_| !argument.starts_with("-xray"))
        {
            self.language = Some(language.to_string()).filter(|language| language != "none");
        } else if is(&NOT_LINKING) {
            self.forbids = true;
        } else if is(&STATIC) {
            self.is_static = Some(argument.to_string());
        } else if is(&WITH_VALUE) {
            let value = rest.next();
            if argument == "-Xlinker" && value.as_deref().is_some_and(|value| STATIC.contains(&value)) {
                self.is_static = Some("-Xlinker -static".to_string());
            }
        } else if argument == "-" || !argument.starts_with('-') {
            self.has_input = true;
            self.has_header |= self.is_header(argument);
        }
    }

    fn is_header(&self, file: &str) -> bool {
        match &self.language {
            Some(language) => language.ends_with("-header"),
            None => {
                let ending = Path::new(file).extension().and_then(|ending| ending.to_str());
                ending.is_some_and(|ending| HEADERS.contains(&ending))
            }
        }
    }
}

/// Files with arguments may name further ones, so deep.
const MOST_NESTED: u32 = 8;

/// The arguments with those that stand in files (`@file`). What is in files that cannot be read is the compiler's
/// business.
fn expand(arguments: &[OsString], depth: u32) -> Vec<String> {
    let mut all = Vec::new();
    for argument in arguments {
        let text = argument.to_string_lossy();
        match text.strip_prefix('@').filter(|_| depth > 0).and_then(|file| fs::read_to_string(file).ok()) {
            Some(content) => {
                let words: Vec<OsString> = words(&content).into_iter().map(OsString::from).collect();
                all.extend(expand(&words, depth - 1));
            }
            None => all.push(text.into_owned()),
        }
    }
    all
}

/// The words of such a file: quotes and backslashes are as in a shell.
fn words(content: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = content.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(characters.next()),
            (None, space) if space.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> CommandLine {
        CommandLine::of(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn linking_is_told_from_compiling() {
        for line in
            ["a.c -o a", "-O2 a.o b.o -lm", "-x c - -o a", "-xc++ a.h", "a.bc", "-x c-header -x none a.c"]
        {
            assert!(of(line).links, "{line}");
        }
        for line in [
            "-c a.c",
            "--version",
            "-o a -v",
            "-E -x c /dev/null",
            "a.h",
            "a.hpp -o a.pch",
            "-x c++-header all -o all.pch",
            "-MM a.c",
            "--analyze a.c",
            "-include all.h -print-search-dirs",
        ] {
            assert!(!of(line).links, "{line}");
        }
    }

    #[test]
    fn static_programs_are_recognised() {
        for line in ["-static a.c", "a.c -static-pie", "a.c -Wl,-static", "a.c -Xlinker -static"] {
            assert!(of(line).is_static.is_some(), "{line}");
        }
        for line in ["a.c -static-libgcc", "a.c -o -static", "-Wl,-Bstatic a.c"] {
            assert_eq!(of(line).is_static, None, "{line}");
        }
    }

    #[test]
    fn options_with_which_nothing_can_be_recorded_are_recognised() {
        let rivals = |line: &str| of(line).rivals;
        assert_eq!(
            rivals("-fsanitize=undefined,address a.c -fsanitize=leak"),
            ["-fsanitize=address", "-fsanitize=leak"]
        );
        assert_eq!(rivals("-c -fsanitize=thread a.c"), ["-fsanitize=thread"]);
        assert!(rivals("-fsanitize=undefined,function,cfi,kcfi,bounds a.c").is_empty());
        assert!(rivals("-fsanitize=address -fno-sanitize=address a.c").is_empty());
        assert_eq!(rivals("-m32 -fsanitize=address,thread -fno-sanitize=all a.c"), ["-m32"]);
    }

    #[test]
    fn arguments_are_read_from_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("options");
        let named = format!("@{}", file.display());
        fs::write(&file, "-c 'a file.c'\n").expect("a file");
        assert!(!of(&named).links);
        fs::write(&file, "-O2\n\"a.c\" -o a").expect("a file");
        assert!(of(&named).links);
        fs::write(&file, &named).expect("a file that names itself");
        assert!(of(&named).links);
        assert_eq!(words("a 'b c' \"d \\\" e\" f\\ g ''"), ["a", "b c", "d \" e", "f g", ""]);
    }
}
