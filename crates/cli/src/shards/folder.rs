//! A plan is a folder: a file for each shard, and `plan.json`, which is written last.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use foretell_shard::{PlanFile, Shard, ShardEntry, ShardTrace};

use super::{bad, write_file};
use crate::error::Failure;

const PLAN: &str = "plan.json";

/// The folder of a plan that is being made.
pub(super) struct NewFolder {
    path: PathBuf,
}

impl NewFolder {
    /// Makes the folder. Nothing that is there is overwritten.
    pub(super) fn create(path: &Path) -> Result<NewFolder, Failure> {
        let failed = |error| Failure::file(path, "make the folder", error);
        fs::create_dir_all(path).map_err(failed)?;
        if fs::read_dir(path).map_err(failed)?.next().is_some() {
            return Err(Failure::Usage(format!(
                "{} is not empty: a plan needs a folder of its own",
                path.display()
            )));
        }
        Ok(NewFolder { path: path.to_path_buf() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file, which has its name only once it is complete.
    pub(super) fn write(&self, name: &str, content: &[u8]) -> Result<(), Failure> {
        write_file(&self.path.join(name), content)
    }

    /// All shards are there.
    pub(super) fn finish(&self, plan: &PlanFile) -> Result<(), Failure> {
        self.write(PLAN, plan.to_text().as_bytes())
    }
}

/// The folder of a plan.
pub(super) struct PlanFolder {
    path: PathBuf,
    pub(super) plan: PlanFile,
}

impl PlanFolder {
    /// Reads the plan.
    pub(super) fn open(path: &Path) -> Result<PlanFolder, Failure> {
        let file = path.join(PLAN);
        let text = fs::read_to_string(&file).map_err(|error| match error.kind() {
            ErrorKind::NotFound if path.is_dir() => Failure::Usage(format!(
                "{} holds no complete plan: it has no {PLAN}; make the plan again",
                path.display()
            )),
            _ => Failure::file(&file, "read", error),
        })?;
        let plan = PlanFile::from_text(&text).map_err(|error| bad(&file, error))?;
        Ok(PlanFolder { path: path.to_path_buf(), plan })
    }

    /// Reads a shard, and checks that it is the one that the plan means.
    pub(super) fn shard(&self, number: u32, entry: &ShardEntry) -> Result<ShardTrace, Failure> {
        let path = self.path.join(&entry.file);
        let bytes = fs::read(&path).map_err(|error| Failure::file(&path, "read", error))?;
        let read = || {
            let shard = Shard::from_bytes(&bytes)?;
            entry.check(&bytes, shard.number == number)?;
            shard.into_trace(&self.plan.whole)
        };
        read().map_err(|error| bad(&path, error))
    }
}
