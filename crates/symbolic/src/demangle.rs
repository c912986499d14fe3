//! Names of functions as people write them.

use std::fmt;

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

/// The name behind that which the linker knows: `bank::Account::deposit`, without parameters and hashes.
pub fn demangle(name: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return format!("{rust:#}");
    }
    let cpp = if name.starts_with("_Z") { demangle_cpp(name) } else { None };
    cpp.map_or_else(|| name.to_string(), |full| full.replace(STRING, "std::string"))
}

/// A few hundred bytes can stand for a name of any length, so type arguments of a long one are left out.
fn demangle_cpp(name: &str) -> Option<String> {
    let options = ParseOptions::default().recursion_limit(DEPTH);
    let symbol = Symbol::new_with_options(name, &options).ok()?;
    let write = |mut name: Name| {
        let options = DemangleOptions::new().no_params().no_return_type().recursion_limit(DEPTH);
        symbol.structured_demangle(&mut name, &options).ok().map(|()| name.text)
    };
    write(Name { left: LONGEST, ..Name::default() })
        .or_else(|| write(Name { left: LOOKED_AT, is_short: true, ..Name::default() }))
}

/// How deep types may be nested.
const DEPTH: u32 = 300;
/// Names are written whole up to this length.
const LONGEST: usize = 2_000;
/// And looked through up to this one.
const LOOKED_AT: usize = 1_000_000;

/// A name that is being written.
#[derive(Default)]
struct Name {
    text: String,
    /// How much may still come.
    left: usize,
    /// Whether type arguments are left out, and in how many lists of them this is.
    is_short: bool,
    depth: usize,
    last: char,
}

impl Name {
    fn push(&mut self, next: char) {
        let is_name = self.depth == 0 && self.text.trim_end_matches(['<', '-', '=']).ends_with("operator");
        let is_arrow = self.last == '-' && next == '>';
        match next {
            '<' if self.is_short && !is_name => {
                self.depth += 1;
                if self.depth == 1 {
                    self.text.push_str("<…>");
                }
            }
            '>' if self.depth > 0 && !is_arrow => self.depth -= 1,
            _ if self.depth == 0 => self.text.push(next),
            _ => {}
        }
        self.last = next;
    }
}

impl fmt::Write for Name {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.left = self.left.checked_sub(text.len()).ok_or(fmt::Error)?;
        text.chars().for_each(|next| self.push(next));
        Ok(())
    }
}

/// What `std::string` is short for.
const STRING: &str = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short() {
        assert_eq!(demangle("main"), "main");
        assert_eq!(demangle("_ZN4bank7Account7depositEi"), "bank::Account::deposit");
        assert_eq!(demangle("_ZN4bank7deposit17h05af221e174051e9E"), "bank::deposit");
        assert_eq!(demangle("_RNvCsbDqzXfLQacH_4bank7deposit"), "bank::deposit");
        assert_eq!(demangle("_Z3maxIiET_S0_S0_"), "max<int>");
        let size = "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4sizeEv";
        assert_eq!(demangle(size), "std::string::size");
        assert_eq!(demangle("_Znonsense"), "_Znonsense");
    }

    #[test]
    fn names_that_would_fill_pages_are_written_without_arguments() {
        // Nest<T>::bump, where T is P<int, int>, or pairs of such pairs, and so on, to the depths 2, 9 and 23.
        assert_eq!(demangle("_ZN4NestI1PIS0_IiiES1_EE4bumpEv"), "Nest<P<P<int, int>, P<int, int> > >::bump");
        let nine = "_ZN4NestI1PIS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IiiES1_ES2_ES3_ES4_ES5_ES6_ES7_ES8_EE4bumpEv";
        assert_eq!(demangle(nine), "Nest<…>::bump");
        let deep = "_ZN4NestI1PIS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_\
                    IS0_IS0_IS0_IiiES1_ES2_ES3_ES4_ES5_ES6_ES7_ES8_ES9_ESA_ESB_ESC_ESD_ESE_ESF_ESG_ESH_ESI_ESJ_\
                    ESK_ESL_ESM_EE4bumpEv";
        assert_eq!(demangle(deep), deep);
    }
}
