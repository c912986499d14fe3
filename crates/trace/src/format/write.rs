//! Writing a trace in any format.

use crate::dependence::Dependence;
use crate::error::TraceError;
use crate::event::Event;
use crate::format::binary::BinaryWriter;
use crate::format::compress::Compressed;
use crate::format::csv::CsvWriter;
use crate::format::open::Format;
use crate::format::rr::RoadRunnerWriter;
use crate::format::text::TextWriter;
use crate::id::VarId;
use crate::name::Names;
use crate::source::Ending;
use crate::steps::Steps;
use crate::symbol::Value;
use crate::values::Values;

/// The name of a variable in a format that has neither values nor generations; values may be left out if `lossy`.
pub(crate) fn bare_variable(
    var: VarId,
    value: Option<Value>,
    lossy: bool,
    names: &Names,
) -> Result<&str, String> {
    if value.is_some() && !lossy {
        return Err("values".to_string());
    }
    if names.vars.generation(var) > 0 {
        return Err(format!("memory that is allocated again (`{}`)", names.vars.name(var)));
    }
    Ok(names.vars.name(var))
}

/// Writes a trace event by event.
pub trait EventWriter {
    /// Writes one event, whose ids are those of `names`; these may have grown since the last event.
    fn write(&mut self, event: &Event, names: &Names) -> Result<(), TraceError>;

    /// Writes which reads matter, after all events. What a format cannot say about this is left out: nothing of the
    /// trace is wrong without it, but less can be predicted.
    fn write_dependence(&mut self, _: &Dependence) -> Result<(), TraceError> {
        Ok(())
    }

    /// Writes how values are computed, after which reads matter: that is `dependence`, if it is known. A format that
    /// cannot say this leaves it out, too.
    fn write_values(&mut self, _: &Values, _: Option<&Dependence>, _: &Names) -> Result<(), TraceError> {
        Ok(())
    }

    /// Writes how far threads have come, after all events. A format that cannot say this leaves it out: then the
    /// program cannot be led where something was predicted.
    fn write_steps(&mut self, _: &Steps) -> Result<(), TraceError> {
        Ok(())
    }

    /// Writes what the program calls its threads, after all events. A format that cannot say this leaves it out.
    fn write_titles(&mut self, _: &Names) -> Result<(), TraceError> {
        Ok(())
    }

    /// Ends the trace. Without this call the output is incomplete. `ending` is how the trace itself ended; a format
    /// that can keeps the mark.
    fn finish(self: Box<Self>, ending: Ending) -> Result<(), TraceError>;
}

/// A writer of `format`. If `lossy`, what the format cannot say about an event is dropped where the event itself can be
/// kept; otherwise it is an error.
pub fn writer(
    format: Format,
    output: impl Into<Compressed>,
    lossy: bool,
) -> Result<Box<dyn EventWriter>, TraceError> {
    let output = output.into();
    Ok(match format {
        Format::Text => Box::new(TextWriter::new(output)),
        Format::Csv => Box::new(CsvWriter::new(output, lossy)),
        Format::RoadRunner => Box::new(RoadRunnerWriter::new(output, lossy)),
        Format::Binary => Box::new(BinaryWriter::new(output)?),
    })
}

/// The methods of a writer whose format can say everything; its own methods of the same names do the work.
macro_rules! forward_all {
    () => {
        fn write(&mut self, event: &Event, names: &Names) -> Result<(), TraceError> {
            self.write(event, names)
        }

        fn write_dependence(&mut self, dependence: &Dependence) -> Result<(), TraceError> {
            self.write_dependence(dependence)
        }

        fn write_values(
            &mut self,
            values: &Values,
            dependence: Option<&Dependence>,
            names: &Names,
        ) -> Result<(), TraceError> {
            self.write_values(values, dependence, names)
        }

        fn write_steps(&mut self, steps: &Steps) -> Result<(), TraceError> {
            self.write_steps(steps)
        }

        fn write_titles(&mut self, names: &Names) -> Result<(), TraceError> {
            self.write_titles(names)
        }
    };
}

impl EventWriter for TextWriter<Compressed> {
    forward_all!();

    fn finish(self: Box<Self>, _: Ending) -> Result<(), TraceError> {
        Ok(self.into_inner().finish()?)
    }
}

impl EventWriter for CsvWriter<Compressed> {
    fn write(&mut self, event: &Event, names: &Names) -> Result<(), TraceError> {
        self.write(event, names)
    }

    fn finish(self: Box<Self>, _: Ending) -> Result<(), TraceError> {
        Ok(self.into_inner().finish()?)
    }
}

impl EventWriter for RoadRunnerWriter<Compressed> {
    fn write(&mut self, event: &Event, names: &Names) -> Result<(), TraceError> {
        self.write(event, names)
    }

    fn finish(self: Box<Self>, _: Ending) -> Result<(), TraceError> {
        Ok(self.into_inner().finish()?)
    }
}

impl EventWriter for BinaryWriter<Compressed> {
    forward_all!();

    fn finish(self: Box<Self>, ending: Ending) -> Result<(), TraceError> {
        let output = match ending {
            Ending::Complete => (*self).finish()?,
            Ending::CutShort => (*self).abandon()?,
        };
        Ok(output.finish()?)
    }
}
