//! Numbers for the functions and the locks of the program, and names that mean the same in its next run.
//!
//! A function is known by its name. Those of the standard libraries of its language are passed over: all threads go
//! through them, to take locks, to allocate, to start threads. A thread that has not called anything yet is in what
//! it was started with, known by the place where it was started.
//!
//! Locks are of one kind if they are used alike, as far as that is known: if the same call has initialised them;
//! otherwise, if they are in the same variable; otherwise, if they are at the same place of blocks that the same call
//! has allocated. A lock of which nothing of this is known is known by its address, which is the same in the next run
//! unless the schedule matters to it.

use std::collections::BTreeMap;

use foretell_wire::log::module::Module;
use foretell_wire::site::{Site, SiteTable};

use crate::machine::machine;

/// Names, numbered in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct NumberedNames {
    numbers: BTreeMap<String, u32>,
    texts: Vec<String>,
}

impl NumberedNames {
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.numbers.insert(name.to_owned(), number);
        self.texts.push(name.to_owned());
        number
    }

    pub(super) fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", String::as_str)
    }
}

/// What is known of the program's functions and locks.
#[derive(Debug, Default)]
pub(super) struct StrategyPlaces {
    pub(super) functions: NumberedNames,
    pub(super) kinds: NumberedNames,
    /// By where their sites begin.
    modules: BTreeMap<u64, SiteTable>,
    /// Variables, by their address: their size and their name.
    variables: BTreeMap<u64, (u64, String)>,
    /// Blocks, by their address: their size and the site that allocated them.
    blocks: BTreeMap<u64, (u64, u64)>,
    /// Locks that a call has initialised, and its site.
    initialised: BTreeMap<u64, u64>,
    /// What was found out before.
    found_functions: BTreeMap<u64, Option<u32>>,
    found_kinds: BTreeMap<u64, u32>,
}

impl StrategyPlaces {
    pub(super) fn add_module(&mut self, module: &Module<'_>) {
        // What does not fit together is the pass's fault, and only names are lost.
        let Ok(table) = SiteTable::decode(module.table) else { return };
        for (&address, global) in module.globals.iter().zip(&table.globals) {
            self.variables.insert(address, (global.size, table.text(global.name).to_owned()));
        }
        self.modules.insert(module.address, table);
    }

    /// The call at the site has allocated a block.
    pub(super) fn add_block(&mut self, address: u64, bytes: u64, site: u64) {
        self.forget_locks(address, bytes);
        self.blocks.insert(address, (bytes, site));
    }

    /// A block is gone.
    pub(super) fn remove_block(&mut self, address: u64) {
        if let Some((bytes, _)) = self.blocks.remove(&address) {
            self.forget_locks(address, bytes);
        }
    }

    /// The call at the site has initialised a lock.
    pub(super) fn add_lock(&mut self, address: u64, site: u64) {
        self.forget_locks(address, 1);
        self.initialised.insert(address, site);
    }

    fn forget_locks(&mut self, address: u64, bytes: u64) {
        remove_range(&mut self.initialised, address, bytes);
        remove_range(&mut self.found_kinds, address, bytes);
    }

    /// The function that the site is in, unless it is passed over.
    pub(super) fn function_of(&mut self, site: u64) -> Option<u32> {
        if let Some(&found) = self.found_functions.get(&site) {
            return found;
        }
        let name = self.site(site).map(|(table, site)| table.text(site.function).to_owned());
        let name = name.filter(|name| !(machine().is_of_library)(name));
        let found = name.map(|name| self.functions.number(&name));
        self.found_functions.insert(site, found);
        found
    }

    /// What a thread is in that was started at the site and has not called anything.
    pub(super) fn beginning_at(&mut self, site: u64) -> u32 {
        let name = format!("thread of {}", self.text_of(site));
        self.functions.number(&name)
    }

    /// The kind of the lock at the address.
    pub(super) fn kind_of(&mut self, lock: u64) -> u32 {
        if let Some(&found) = self.found_kinds.get(&lock) {
            return found;
        }
        let name = self.name_of_lock(lock);
        let found = self.kinds.number(&name);
        self.found_kinds.insert(lock, found);
        found
    }

    fn name_of_lock(&self, lock: u64) -> String {
        if let Some(&site) = self.initialised.get(&lock) {
            return format!("initialised at {}", self.text_of(site));
        }
        if let Some((_, (_, name))) = last_within(&self.variables, lock, |(bytes, _)| *bytes) {
            return format!("in {name}");
        }
        match last_within(&self.blocks, lock, |(bytes, _)| *bytes) {
            Some((address, &(_, site))) => {
                format!("allocated at {}, byte {}", self.text_of(site), lock - address)
            }
            None => format!("at {lock:#x}"),
        }
    }

    fn site(&self, site: u64) -> Option<(&SiteTable, &Site)> {
        let (&address, table) = self.modules.range(..=site).next_back()?;
        Some((table, table.sites.get(usize::try_from(site - address).ok()?)?))
    }

    fn text_of(&self, site: u64) -> String {
        self.site(site).map_or_else(
            || "somewhere".to_owned(),
            |(table, site)| format!("{}:{}:{}", table.text(site.file), site.line, site.column),
        )
    }
}

fn remove_range<T>(entries: &mut BTreeMap<u64, T>, address: u64, bytes: u64) {
    while let Some((&first, _)) = entries.range(address..address.saturating_add(bytes)).next() {
        entries.remove(&first);
    }
}

/// The entry whose range of addresses this one is in.
fn last_within<T>(entries: &BTreeMap<u64, T>, address: u64, bytes: impl Fn(&T) -> u64) -> Option<(u64, &T)> {
    let (&begin, entry) = entries.range(..=address).next_back()?;
    (address - begin < bytes(entry)).then_some((begin, entry))
}
