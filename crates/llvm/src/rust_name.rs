//! Names of Rust's functions as the source has them.

use rustc_demangle::try_demangle;

/// The path of a function of Rust, without what its types are instantiated with:
/// `<std::sync::Mutex<T> as Debug>::fmt` is `std::sync::Mutex::fmt`. None for other languages.
pub(crate) fn path(mangled: &str) -> Option<String> {
    text(mangled).map(|text| path_of(&text))
}

/// The whole name of a function of Rust, without the hash at its end.
pub(crate) fn text(mangled: &str) -> Option<String> {
    let mangled = mangled.split('.').next().unwrap_or(mangled);
    try_demangle(mangled).ok().map(|name| format!("{name:#}"))
}

/// Whether a function with this whole name is one of many: instantiated with types, or a function of such a type.
pub(crate) fn is_instance(text: &str) -> bool {
    let (owner, rest) = text.strip_prefix('<').and_then(split_at_closing).unwrap_or(("", text));
    before_as(owner).contains('<') || rest.contains('<')
}

/// Whether the function only passes a reference to a number or a text on to the formatting of the library. It is part
/// of that, although it is instantiated in the program: who prints by it calls nothing of the program.
pub(crate) fn is_formatting(mangled: &str) -> bool {
    let Some(text) = text(mangled) else { return false };
    let Some((owner, "::fmt")) = text.strip_prefix("<&").and_then(split_at_closing) else { return false };
    let formatted = before_as(owner);
    owner[formatted.len()..].starts_with(" as core::fmt::")
        && (!formatted.contains("::") || formatted == "alloc::string::String")
}

/// The path in a whole name. Brackets at the beginning hold the type whose function it is, all others what something is
/// instantiated with.
pub(crate) fn path_of(name: &str) -> String {
    let (owner, rest) = match name.strip_prefix('<').and_then(split_at_closing) {
        Some((inside, rest)) => (path_of(before_as(inside)), rest),
        None => (String::new(), name),
    };
    let mut path = owner;
    let mut depth = 0_u32;
    let mut last = ' ';
    for letter in rest.chars() {
        match letter {
            '<' => depth += 1,
            // `->` closes nothing.
            '>' if last != '-' => depth = depth.saturating_sub(1),
            _ if depth == 0 => path.push(letter),
            _ => {}
        }
        last = letter;
    }
    path.replace("::::", "::").trim_end_matches("::").to_string()
}

/// What stands before the bracket that closes what is open, and what stands after it.
fn split_at_closing(text: &str) -> Option<(&str, &str)> {
    let mut depth = 1_u32;
    let mut last = ' ';
    for (position, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' if last != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&text[..position], &text[position + 1..]));
        }
        last = letter;
    }
    None
}

/// The type of `Type as Trait`.
fn before_as(text: &str) -> &str {
    let mut depth = 0_u32;
    for (position, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 && text[position..].starts_with(" as ") => return &text[..position],
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatting_of_the_library_is_told_apart() {
        let names = [
            ("_RNvXs1h_NtCs7bbL4ie2bf7_4core3fmtReNtB6_7Display3fmtCs5ss6CDkqWqI_4demo", true),
            ("_RNvXs1h_NtCs7bbL4ie2bf7_4core3fmtRmNtB6_7Display3fmtCs5ss6CDkqWqI_4demo", true),
            ("_RNvXs1h_NtCs7bbL4ie2bf7_4core3fmtRNtC4demo4TypeNtB6_7Display3fmtCs5ss6CDkqWqI_4demo", false),
            ("_RNvXC4demoNtB2_4TypeNtNtCs7bbL4ie2bf7_4core3fmt7Display3fmt", false),
        ];
        for (name, is_so) in names {
            assert_eq!(is_formatting(name), is_so, "{:?}", text(name));
        }
    }

    #[test]
    fn instances_are_told_apart() {
        for text in [
            "std::env::_var_os",
            "<std::thread::thread::Thread>::new",
            "<std::thread::spawnhook::SpawnHooks as core::ops::drop::Drop>::drop",
            "<std::thread::Scope as core::ops::FnOnce<()>>::call_once",
        ] {
            assert!(!is_instance(text), "{text}");
        }
        for text in [
            "<alloc::sync::Arc<std::thread::lifecycle::Packet<()>>>::drop_slow",
            "alloc::sync::Arc<T,A>::drop_slow",
            "core::panicking::assert_failed::<u64, u64>",
            "<alloc::vec::Vec<u8> as core::ops::drop::Drop>::drop",
        ] {
            assert!(is_instance(text), "{text}");
        }
    }
}
