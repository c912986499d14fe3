//! Sites and addresses as people know them.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use foretell_symbolic::demangle;
use foretell_wire::log::module::Module;
use foretell_wire::site::{Language, Site, Table};

use crate::LogError;
use crate::memory::{About, Purpose};

/// What is known of a site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
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
    pub(crate) language: Language,
}

/// The site tables of the program's modules.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// The site tables, by their addresses.
    tables: BTreeMap<u64, Table>,
    /// Size and name of each variable, by its address.
    globals: BTreeMap<u64, (u64, String)>,
    /// How many variables have each name.
    names: FxHashMap<String, u32>,
}

impl Places {
    /// Takes a module up.
    pub(crate) fn add(&mut self, module: &Module<'_>) -> Result<(), LogError> {
        let table = Table::decode(module.table)?;
        for (&address, global) in module.globals.iter().zip(&table.globals) {
            let name = self.name_for(address, &demangle(table.text(global.name)));
            self.globals.insert(address, (global.size, name));
        }
        self.tables.insert(module.address, table);
        Ok(())
    }

    /// Two files may have a variable of the same name each. In a trace a name is one variable, so all but the first
    /// get a number; but a module that is loaded again to the same place brings the same variables.
    fn name_for(&mut self, address: u64, name: &str) -> String {
        if let Some((_, known)) = self.globals.get(&address)
            && known.split('#').next() == Some(name)
        {
            return known.clone();
        }
        let count = self.names.entry(name.to_string()).or_default();
        *count = count.saturating_add(1);
        if *count == 1 { name.to_string() } else { format!("{name}#{count}") }
    }

    /// What is known of a site.
    pub(crate) fn site(&self, site: u64) -> Place {
        let Some((start, table, found)) = self.find(site) else {
            let unknown = || "?".to_string();
            return Place {
                location: unknown(),
                function: unknown(),
                caller: None,
                is_decided: false,
                decides: None,
                language: Language::Other,
            };
        };
        let function = demangle(table.text(found.function));
        let location = match found.line {
            0 => function.clone(),
            line => format!("{}:{line}:{}", table.text(found.file), found.column),
        };
        let beside = |index: u32| start.wrapping_add(index.into());
        Place {
            location,
            function,
            caller: found.caller.map(beside),
            is_decided: found.is_decided,
            decides: found.decides.map(beside),
            language: table.language,
        }
    }

    /// What the code at a site is written in.
    pub(crate) fn language(&self, site: u64) -> Language {
        self.find(site).map_or(Language::Other, |(_, table, _)| table.language)
    }

    fn find(&self, site: u64) -> Option<(u64, &Table, &Site)> {
        let (&start, table) = self.tables.range(..=site).next_back()?;
        let index = usize::try_from(site - start).ok()?;
        Some((start, table, table.sites.get(index)?))
    }

    /// An address as text: the variable that it lies in, or the block of memory.
    pub(crate) fn address(&self, addr: u64, about: About) -> String {
        let within = |name: &str, start: u64| match addr.wrapping_sub(start) {
            0 => name.to_string(),
            offset => format!("{name}+{offset}"),
        };
        match about.purpose {
            Purpose::Heap(number) => within(&format!("heap{number}"), about.start),
            Purpose::Stack(thread) => within(&format!("stack{thread}"), about.start),
            Purpose::Mapped | Purpose::Shared => format!("{addr:#x}"),
            Purpose::Static => match self.globals.range(..=addr).next_back() {
                Some((&start, (size, name))) if addr - start < *size => within(name, start),
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
        let table = Table {
            language: Language::Cpp,
            texts: vec!["total".to_string()],
            sites: Vec::new(),
            globals: vec![Global { name: 0, size: 4 }],
        };
        let table = table.encode();
        let mut places = Places::default();
        for (address, global) in [(0x1000, 0x10), (0x2000, 0x20), (0x1000, 0x10)] {
            places.add(&Module { address, table: &table, globals: vec![global] }).unwrap();
        }
        let about = About { start: 0, purpose: Purpose::Static, given_back: false };
        assert_eq!(places.address(0x10, about), "total");
        assert_eq!(places.address(0x22, about), "total#2+2");
    }
}
