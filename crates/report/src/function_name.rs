//! Names of functions: where their type arguments are, and how long names are shown without them.

use crate::visible::visible;

/// Names are shown whole up to this length.
const WHOLE: usize = 60;

/// A function as reports for people name it: what a long name is instantiated with is left out.
pub(crate) fn short(name: &str) -> String {
    let is_long = name.chars().nth(WHOLE).is_some();
    if is_long { visible(&without_arguments(name)) } else { visible(name) }
}

fn without_arguments(name: &str) -> String {
    let mut kept = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(next) = rest.chars().next() {
        let after = rest.get(next.len_utf8()..).unwrap_or_default();
        let is_list = next == '<' && (has_arguments(&kept) || kept.ends_with(')'));
        let skipped = if is_list { after_arguments(rest) } else { None };
        match skipped {
            Some(_) => kept.push_str("<…>"),
            None => kept.push(next),
        }
        rest = skipped.unwrap_or(after);
    }
    kept
}

/// Whether what follows a name in angle brackets are its type arguments. `operator<` has a bracket for a name, and
/// `<Account as Deposit>` begins with one.
pub(crate) fn has_arguments(name: &str) -> bool {
    let is_operator = name.trim_end_matches(['<', '-', '=', '>']).ends_with("operator");
    !is_operator && name.ends_with(|last: char| last.is_alphanumeric() || last == '_' || last == ':')
}

/// What follows a list in angle brackets, if it has an end.
pub(crate) fn after_arguments(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let mut last = ' ';
    for (at, character) in text.char_indices() {
        match character {
            '<' => depth += 1,
            '>' if last == '-' => {}
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return text.get(at + 1..);
        }
        last = character;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_their_arguments_only() {
        let map = "std::map<std::string, std::unique_ptr<int, std::default_delete<int> > >";
        assert_eq!(short("max<int>"), "max<int>");
        assert_eq!(short(&format!("Nest<6, {map} >::bump")), "Nest<…>::bump");
        assert_eq!(
            short(&format!("main::{{lambda()#1}}::operator()<{map} > const")),
            "main::{lambda()#1}::operator()<…> const"
        );
        assert_eq!(
            short(&format!("<bank::Account<{map}> as bank::Deposit>::deposit")),
            "<bank::Account<…> as bank::Deposit>::deposit"
        );
        assert_eq!(short(&format!("operator< <{map} >")), "operator< <std::map<…> >");
        assert_eq!(short(&format!("open<{map}")), "open<std::map<…>");
    }
}
