//! The source language at each site, by the site tables of the modules.

use std::collections::BTreeMap;
use std::ops::Range;

use foretell_wire::site::SourceLanguage;

/// The languages of all modules.
#[derive(Debug, Default)]
pub(crate) struct Languages {
    /// End of its sites and language of each module, by its first site.
    modules: BTreeMap<u64, (u64, SourceLanguage)>,
}

impl Languages {
    /// A module was loaded. What was loaded there before is gone.
    pub(crate) fn add(&mut self, sites: &Range<u64>, language: SourceLanguage) {
        self.modules.insert(sites.start, (sites.end, language));
    }

    /// The language at a site.
    pub(crate) fn at(&self, site: u64) -> SourceLanguage {
        match self.modules.range(..=site).next_back() {
            Some((_, &(end, language))) if site < end => language,
            _ => SourceLanguage::Other,
        }
    }
}
