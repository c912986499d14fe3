//! What was found in shards so far, in a folder: an analysis that was killed goes on where it was.

use std::cell::Cell;
use std::error::Error;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use foretell_engine::ShardStore;
use foretell_report::ShardResult;
use serde::{Deserialize, Serialize};

use super::write_file;
use crate::error::Failure;
use crate::output;

const STATE: &str = "state.json";
const VERSION: u32 = 1;

/// Which analysis the folder is about.
#[derive(PartialEq, Serialize, Deserialize)]
struct State {
    foretell_state: u32,
    version: String,
    analysis: String,
}

/// The folder.
pub(crate) struct StateFolder {
    path: PathBuf,
    /// How many results were there already.
    loaded: Cell<u32>,
}

impl StateFolder {
    pub(crate) fn new(path: &Path) -> StateFolder {
        StateFolder { path: path.to_path_buf(), loaded: Cell::new(0) }
    }

    fn file(&self, shard: u32) -> PathBuf {
        self.path.join(format!("shard-{shard:05}.json"))
    }

    fn open(&self, identity: &str) -> Result<(), Failure> {
        let state = State {
            foretell_state: VERSION,
            version: env!("CARGO_PKG_VERSION").to_string(),
            analysis: identity.to_string(),
        };
        fs::create_dir_all(&self.path)
            .map_err(|error| Failure::file(&self.path, "make the folder", error))?;
        let path = self.path.join(STATE);
        match fs::read_to_string(&path) {
            Ok(text) if serde_json::from_str::<State>(&text).is_ok_and(|known| known == state) => Ok(()),
            Ok(_) => Err(Failure::Usage(format!(
                "{} holds the state of another analysis: another trace, version or option; name another folder, or \
                 remove this one",
                self.path.display()
            ))),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let text = serde_json::to_string(&state).map_err(|error| Failure::rendering(error.into()))?;
                write_file(&path, text.as_bytes())
            }
            Err(error) => Err(Failure::file(&path, "read", error)),
        }
    }
}

impl ShardStore for StateFolder {
    fn begin(&self, identity: &str) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.open(identity).map_err(Into::into)
    }

    fn load(&self, shard: u32) -> Option<ShardResult> {
        let text = fs::read_to_string(self.file(shard)).ok()?;
        // What does not fit its checksum is found again.
        let (checksum, result) = text.split_once('\n')?;
        let is_intact = checksum.parse() == Ok(crc32fast::hash(result.as_bytes()));
        let result: ShardResult = serde_json::from_str(result).ok().filter(|_| is_intact)?;
        if self.loaded.replace(self.loaded.get() + 1) == 0 {
            output::note(&format!("note: continues with the shards that {} has", self.path.display()));
        }
        (result.shard == shard).then_some(result)
    }

    fn save(&self, result: &ShardResult) -> Result<(), Box<dyn Error + Send + Sync>> {
        let text = serde_json::to_string(result)?;
        let text = format!("{}\n{text}", crc32fast::hash(text.as_bytes()));
        write_file(&self.file(result.shard), text.as_bytes()).map_err(Into::into)
    }
}
