//! Generated traces on disk, made once and kept among the build products.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use foretell_testkit::locked::{LockedTrace, Shape};
use foretell_trace::format::{Compression, Format, writer};
use foretell_trace::{Batch, Source};

use xtask::process::root;

/// A generated trace in a file.
pub(crate) struct TraceFile(PathBuf);

impl TraceFile {
    /// The file with a trace of this shape, written if it is not there yet.
    pub(crate) fn get(shape: Shape, format: Format) -> Result<TraceFile, String> {
        let folder = root().join("target/bench");
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let locations = if shape.own_locations { "-own" } else { "" };
        let extension = if format == Format::Binary { "ftr" } else { "std" };
        let path = folder.join(format!("standard-{}{locations}.{extension}", shape.events));
        if !path.exists() {
            // Written under another name first, so that an interrupted run leaves nothing that looks finished.
            let unfinished = path.with_extension("part");
            write(shape, format, &unfinished)
                .and_then(|()| fs::rename(&unfinished, &path).map_err(|error| error.to_string()))
                .map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(TraceFile(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn read(&self) -> Result<Box<dyn Read>, String> {
        let file = File::open(&self.0).map_err(|error| format!("{}: {error}", self.0.display()))?;
        Ok(Box::new(file))
    }

    pub(crate) fn bytes(&self) -> Result<u64, String> {
        Ok(fs::metadata(&self.0).map_err(|error| format!("{}: {error}", self.0.display()))?.len())
    }
}

fn write(shape: Shape, format: Format, path: &Path) -> Result<(), String> {
    let file = File::create(path).map_err(|error| error.to_string())?;
    let failed = |error: foretell_trace::TraceError| error.to_string();
    let output = Compression::None.writer(Box::new(file)).map_err(|error| error.to_string())?;
    let mut writer = writer(format, output, false).map_err(failed)?;
    let mut source = LockedTrace::new(shape);
    let mut batch = Batch::default();
    while source.fill(&mut batch).map_err(failed)? {
        for event in &batch.events {
            writer.write(event, source.names()).map_err(failed)?;
        }
    }
    writer.finish(source.ending()).map_err(failed)
}
