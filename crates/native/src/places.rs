//! Sites and addresses as people know them.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use foretell_symbolic::demangle;
use foretell_wire::layout::TypeLayout;
use foretell_wire::log::module::Module;
use foretell_wire::site::{Site, SiteTable, SourceLanguage};

use crate::LogError;
use crate::memory::{About, Purpose};

/// What is known of a site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SiteInfo {
    /// Where it is: `file.c:12:3`, or as much of it as is known.
    pub(crate) location: String,
    pub(crate) function: String,
    /// The site of the call that had been inlined there.
    pub(crate) caller: Option<u64>,
    /// A decision comes before the access.
    pub(crate) is_decided: bool,
    /// The site of the decision that follows the access.
    pub(crate) decides: Option<u64>,
    /// What it is written in.
    pub(crate) language: SourceLanguage,
}

/// A variable with an address of its own.
#[derive(Debug)]
struct Variable {
    size: u64,
    name: String,
    layout: Option<Rc<TypeLayout>>,
}

/// What is accessed at a site.
#[derive(Debug)]
pub(crate) struct Accessed {
    pub(crate) layout: Rc<TypeLayout>,
    /// Where in that the access is.
    pub(crate) offset: u64,
    /// Function and name, if it is a local variable.
    pub(crate) local: Option<String>,
}

/// The site tables of the program's modules.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// The site tables, by their addresses.
    tables: BTreeMap<u64, SiteTable>,
    /// Each variable, by its address.
    globals: BTreeMap<u64, Variable>,
    /// What is accessed at sites, as far as debug information tells.
    accessed: FxHashMap<u64, Accessed>,
    /// How many variables have each name.
    names: FxHashMap<String, u32>,
}

impl Places {
    /// Takes a module up.
    pub(crate) fn add(&mut self, module: &Module<'_>) -> Result<(), LogError> {
        let table = SiteTable::decode(module.table)?;
        for (&address, global) in module.globals.iter().zip(&table.globals) {
            let name = self.name_for(address, &demangle(table.text(global.name)));
            self.globals.insert(address, Variable { size: global.size, name, layout: None });
        }
        self.describe(module, &table);
        self.tables.insert(module.address, table);
        Ok(())
    }

    /// Takes up what debug information tells.
    fn describe(&mut self, module: &Module<'_>, table: &SiteTable) {
        let mut layouts: FxHashMap<u32, Option<Rc<TypeLayout>>> = FxHashMap::default();
        for described in &table.described {
            let parse = || TypeLayout::parse(table.text(described.layout)).map(Rc::new);
            let Some(layout) = layouts.entry(described.layout).or_insert_with(parse).clone() else {
                continue;
            };
            if !described.is_global {
                let local = described.local.map(|local| table.text(local).to_string());
                let accessed = Accessed { layout, offset: described.offset, local };
                self.accessed.insert(module.address.wrapping_add(described.index.into()), accessed);
            } else if let Some(variable) =
                module.globals.get(described.index as usize).and_then(|at| self.globals.get_mut(at))
            {
                variable.layout = Some(layout);
            }
        }
    }

    /// What is accessed at a site, if that is known.
    pub(crate) fn accessed(&self, site: u64) -> Option<&Accessed> {
        self.accessed.get(&site)
    }

    /// The names of all variables.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        self.globals.values().map(|variable| variable.name.as_str())
    }

    /// Two files may have a variable of the same name each. In a trace a name is one variable, so all but the first
    /// get a number; but a module that is loaded again to the same place brings the same variables.
    fn name_for(&mut self, address: u64, name: &str) -> String {
        if let Some(Variable { name: known, .. }) = self.globals.get(&address)
            && known.split('#').next() == Some(name)
        {
            return known.clone();
        }
        let count = self.names.entry(name.to_string()).or_default();
        *count = count.saturating_add(1);
        if *count == 1 { name.to_string() } else { format!("{name}#{count}") }
    }

    /// Whether there is a module whose code is not in its table, so that no value can be followed.
    pub(crate) fn is_managed(&self) -> bool {
        self.tables.values().any(|table| table.language == SourceLanguage::Java)
    }

    /// What is known of a site.
    pub(crate) fn site(&self, site: u64) -> SiteInfo {
        let Some((start, table, found)) = self.find(site) else {
            let unknown = || "?".to_string();
            return SiteInfo {
                location: unknown(),
                function: unknown(),
                caller: None,
                is_decided: false,
                decides: None,
                language: SourceLanguage::Other,
            };
        };
        let function = demangle(table.text(found.function));
        let location = match found.line {
            0 => function.clone(),
            line if found.column == 0 => format!("{}:{line}", table.text(found.file)),
            line => format!("{}:{line}:{}", table.text(found.file), found.column),
        };
        let beside = |index: u32| start.wrapping_add(index.into());
        SiteInfo {
            location,
            function,
            caller: found.caller.map(beside),
            is_decided: found.is_decided,
            decides: found.decides.map(beside),
            language: table.language,
        }
    }

    /// What the code at a site is written in.
    pub(crate) fn language(&self, site: u64) -> SourceLanguage {
        self.find(site).map_or(SourceLanguage::Other, |(_, table, _)| table.language)
    }

    fn find(&self, site: u64) -> Option<(u64, &SiteTable, &Site)> {
        let (&start, table) = self.tables.range(..=site).next_back()?;
        let index = usize::try_from(site - start).ok()?;
        Some((start, table, table.sites.get(index)?))
    }

    /// So many bytes at an address as text: the variable that they lie in and which part of it they are, or the
    /// block of memory. No bytes mean an object that begins there.
    pub(crate) fn address(&self, addr: u64, bytes: u64, about: About) -> String {
        let within = |name: &str, start: u64| match addr.wrapping_sub(start) {
            0 => name.to_string(),
            offset => format!("{name}+{offset}"),
        };
        match about.purpose {
            Purpose::Heap(number) => within(&format!("heap{number}"), about.start),
            Purpose::Part(number) => within(&format!("part{number}"), about.start),
            Purpose::Stack(thread) => within(&format!("stack{thread}"), about.start),
            Purpose::Object(_) | Purpose::Mapped | Purpose::Shared => format!("{addr:#x}"),
            Purpose::Static => match self.globals.range(..=addr).next_back() {
                Some((&start, variable)) if addr - start < variable.size => {
                    let layout = variable.layout.as_ref().filter(|layout| layout.size() == variable.size);
                    let path = layout.and_then(|layout| layout.path(addr - start, bytes));
                    path.map_or_else(
                        || within(&variable.name, start),
                        |path| format!("{}{path}", variable.name),
                    )
                }
                _ => format!("{addr:#x}"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use foretell_wire::site::Global;

    use super::*;

    #[test]
    fn variables_of_the_same_name_in_two_modules_are_two() {
        let table = SiteTable {
            language: SourceLanguage::Cpp,
            texts: vec!["total".to_string()],
            sites: Vec::new(),
            globals: vec![Global { name: 0, size: 4 }],
            described: Vec::new(),
        };
        let table = table.encode();
        let mut places = Places::default();
        for (address, global) in [(0x1000, 0x10), (0x2000, 0x20), (0x1000, 0x10)] {
            places.add(&Module { address, table: &table, globals: vec![global] }).unwrap();
        }
        let about = About { start: 0, purpose: Purpose::Static, given_back: false };
        assert_eq!(places.address(0x10, 4, about), "total");
        assert_eq!(places.address(0x22, 1, about), "total#2+2");
    }
}
