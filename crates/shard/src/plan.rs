//! The plan: which shards there are, and what they need of the whole trace, as a file.

use serde::{Deserialize, Serialize};

use crate::ShardError;
use crate::apart::ApartLocations;
use crate::whole::Whole;

const WHAT: &str = "plan";
const VERSION: u32 = 1;

/// A plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlanFile {
    /// The version of the form.
    foretell_plan: u32,
    /// The trace, as it was named.
    pub trace: String,
    /// Half the length of a shard.
    pub step: usize,
    /// What only the whole trace tells.
    pub whole: Whole,
    /// The locations with accesses that may race and lie in no common shard.
    pub apart: ApartLocations,
    /// All shards, in their order.
    pub shards: Vec<ShardEntry>,
    /// CRC-32 of the same without this.
    #[serde(default)]
    check: u32,
}

/// A shard in the list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ShardEntry {
    /// The name of its file.
    pub file: String,
    /// CRC-32 of its content.
    pub checksum: u32,
    /// How many events of the trace it has.
    pub events: usize,
}

/// What every version of the form has.
#[derive(Deserialize)]
struct Stamp {
    foretell_plan: Option<u32>,
}

impl PlanFile {
    /// The plan for these shards.
    pub fn new(
        trace: String,
        step: usize,
        whole: Whole,
        apart: ApartLocations,
        shards: Vec<ShardEntry>,
    ) -> PlanFile {
        let plan = PlanFile { foretell_plan: VERSION, trace, step, whole, apart, shards, check: 0 };
        PlanFile { check: plan.sum(), ..plan }
    }

    fn sum(&self) -> u32 {
        // It can always be written: its keys are texts.
        let text = serde_json::to_vec(&PlanFile { check: 0, ..self.clone() }).unwrap_or_default();
        crc32fast::hash(&text)
    }

    /// What tells it from other plans.
    pub fn id(&self) -> u32 {
        self.check
    }

    /// The plan as the content of a file.
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// The plan that [`PlanFile::to_text`] has written.
    pub fn from_text(text: &str) -> Result<PlanFile, ShardError> {
        let stamp: Stamp = serde_json::from_str(text).map_err(|error| match error.classify() {
            serde_json::error::Category::Eof => ShardError::Damaged(WHAT),
            _ => ShardError::NotOne(WHAT),
        })?;
        let found = stamp.foretell_plan.ok_or(ShardError::NotOne(WHAT))?;
        if found != VERSION {
            return Err(ShardError::Version { what: WHAT, found, wanted: VERSION });
        }
        let plan: PlanFile = serde_json::from_str(text).map_err(|_| ShardError::Damaged(WHAT))?;
        if plan.sum() == plan.check { Ok(plan) } else { Err(ShardError::Damaged(WHAT)) }
    }
}

impl ShardEntry {
    /// The entry for a shard with this content.
    pub fn new(number: u32, content: &[u8], events: usize) -> ShardEntry {
        let file = format!("shard-{number:05}");
        ShardEntry { file, checksum: crc32fast::hash(content), events }
    }

    /// Whether this is the content that was written, of the shard that is meant.
    pub fn check(&self, content: &[u8], is_meant: bool) -> Result<(), ShardError> {
        let is_same = is_meant && crc32fast::hash(content) == self.checksum;
        if is_same { Ok(()) } else { Err(ShardError::Foreign) }
    }
}
