//! The table of places in the source, as it is built up.

use std::collections::HashMap;

use foretell_wire::site::{Global, Site, Table};

use crate::ir::{Module, Place, Value};

/// A table in the making. Sites are numbered in the order in which they are asked for.
#[derive(Default)]
pub(crate) struct Sites {
    table: Table,
    texts: HashMap<String, u32>,
}

impl Sites {
    /// The number of the site for an instruction of this function. What had been inlined has the sites of its callers, too.
    pub(crate) fn add(&mut self, instruction: Value, function: &str) -> u64 {
        let places = instruction.places();
        // What Rust's libraries do for the program is done where it uses them.
        let used = places.iter().position(|place| !place.is_in_library).unwrap_or(0);
        let places = places.get(used..).unwrap_or_default();
        let mut caller = None;
        for place in places.iter().skip(1).rev() {
            caller = Some(self.add_at(&place.function, Some(place), caller));
        }
        let own = places.first();
        let function = own.filter(|_| caller.is_some()).map_or(function, |place| &place.function);
        u64::from(self.add_at(function, own, caller))
    }

    fn add_at(&mut self, function: &str, place: Option<&Place>, caller: Option<u32>) -> u32 {
        let file = self.text(place.map_or("", |place| &place.file));
        let function = self.text(function);
        let (line, column) = place.map_or((0, 0), |place| (place.line, place.column));
        let number = u32::try_from(self.table.sites.len()).unwrap_or(u32::MAX);
        self.table.sites.push(Site { file, function, line, column, caller });
        number
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.table.sites.is_empty()
    }

    /// The finished table, with the variables of the module.
    pub(crate) fn finish(mut self, globals: &[Value], module: Module) -> Table {
        for global in globals {
            let name = self.text(&global.name());
            let size = module.store_size(global.content_type());
            self.table.globals.push(Global { name, size });
        }
        self.table
    }

    fn text(&mut self, text: &str) -> u32 {
        if let Some(&position) = self.texts.get(text) {
            return position;
        }
        let position = u32::try_from(self.table.texts.len()).unwrap_or(u32::MAX);
        self.table.texts.push(text.to_string());
        self.texts.insert(text.to_string(), position);
        position
    }
}
