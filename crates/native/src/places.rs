//! Sites and addresses as people know them.

use std::collections::BTreeMap;

use foretell_wire::log::module::Module;
use foretell_wire::site::Table;

use crate::LogError;
use crate::memory::{About, Purpose};

/// What the modules of the program tell about themselves.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// The site tables, by their addresses, with their lengths.
    tables: BTreeMap<u64, (u64, Table)>,
    /// Size and name of each variable, by its address.
    globals: BTreeMap<u64, (u64, String)>,
}

impl Places {
    /// Takes a module up.
    pub(crate) fn add(&mut self, module: &Module<'_>) -> Result<(), LogError> {
        let table = Table::decode(module.table)?;
        for (&address, global) in module.globals.iter().zip(&table.globals) {
            self.globals.insert(address, (global.size, table.text(global.name).to_string()));
        }
        self.tables.insert(module.address, (module.table.len() as u64, table));
        Ok(())
    }

    /// A site as text: `file.c:12:3`, or as much of it as is known.
    pub(crate) fn location(&self, site: u64) -> String {
        let unknown = || "?".to_string();
        let Some((&start, (length, table))) = self.tables.range(..=site).next_back() else {
            return unknown();
        };
        if site - start >= *length {
            return unknown();
        }
        let index = usize::try_from(site - start).unwrap_or(usize::MAX);
        match table.sites.get(index) {
            Some(site) if site.line > 0 => {
                format!("{}:{}:{}", table.text(site.file), site.line, site.column)
            }
            Some(site) => table.text(site.function).to_string(),
            None => unknown(),
        }
    }

    /// An address as text: the variable that it lies in, or the block of memory.
    pub(crate) fn address(&self, addr: u64, about: About) -> String {
        let within = |name: &str, start: u64| match addr - start {
            0 => name.to_string(),
            offset => format!("{name}+{offset}"),
        };
        match about.purpose {
            Purpose::Heap(number) => within(&format!("heap{number}"), about.start),
            Purpose::Stack(thread) => within(&format!("stack{thread}"), about.start),
            Purpose::Mapped => format!("{addr:#x}"),
            Purpose::Static => match self.globals.range(..=addr).next_back() {
                Some((&start, (size, name))) if addr - start < *size => within(name, start),
                _ => format!("{addr:#x}"),
            },
        }
    }
}
