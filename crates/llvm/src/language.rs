//! What a module is written in.

use foretell_wire::site::SourceLanguage;

use crate::ir::Module;

/// The language of all that the module was compiled from. Where there are several, or where that is not known, it is
/// the one whose rules order most.
pub(crate) fn of(module: Module) -> SourceLanguage {
    let mut units = module.compile_units().into_iter().map(|unit| of_unit(&unit));
    let Some(first) = units.next() else { return SourceLanguage::Other };
    if units.all(|unit| unit == first) { first } else { SourceLanguage::Other }
}

/// The language that a description tells, which LLVM writes as `language: DW_LANG_Rust` or `sourceLanguageName:
/// DW_LNAME_Rust`.
fn of_unit(unit: &str) -> SourceLanguage {
    let told = |prefix: &str| unit.split_once(prefix).map(|(_, rest)| rest);
    match told("DW_LANG_").or_else(|| told("DW_LNAME_")) {
        Some(name) if name.starts_with("Rust") => SourceLanguage::Rust,
        Some(name) if name.starts_with("C_plus_plus") => SourceLanguage::Cpp,
        _ => SourceLanguage::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_known_by_their_names() {
        let unit = |name: &str| {
            format!("<0x1> = distinct !DICompileUnit(language: {name}, file: !1, producer: \"x\")")
        };
        assert_eq!(of_unit(&unit("DW_LANG_Rust")), SourceLanguage::Rust);
        assert_eq!(of_unit(&unit("DW_LANG_C_plus_plus_14")), SourceLanguage::Cpp);
        assert_eq!(of_unit(&unit("DW_LANG_C11")), SourceLanguage::Other);
        assert_eq!(
            of_unit("distinct !DICompileUnit(sourceLanguageName: DW_LNAME_C_plus_plus)"),
            SourceLanguage::Cpp
        );
        assert_eq!(of_unit(""), SourceLanguage::Other);
    }
}
