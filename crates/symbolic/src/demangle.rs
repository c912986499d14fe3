//! Names of functions as people write them.

use cpp_demangle::{DemangleOptions, Symbol};

/// The name behind that which the linker knows: `bank::Account::deposit`, without parameters and hashes.
pub fn demangle(name: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return format!("{rust:#}");
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    let cpp = || Symbol::new(name).ok()?.demangle_with_options(&options).ok();
    let full = if name.starts_with("_Z") { cpp() } else { None };
    full.map_or_else(|| name.to_string(), |full| full.replace(STRING, "std::string"))
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
}
