//! The calls that a thread is in: in the log by the sites of the calls, in the trace by the functions.

use foretell_trace::{LabelId, Loc};
use foretell_wire::site::SourceLanguage;

use crate::LogError;

/// A function that a thread is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    /// Where it was called, if it was.
    pub(crate) loc: Option<Loc>,
    pub(crate) function: LabelId,
}

/// What is known of a site.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Spot {
    pub(crate) loc: Loc,
    pub(crate) function: LabelId,
    /// The site of the call that had been inlined there, if it was one.
    pub(crate) caller: Option<u64>,
    /// A decision comes before the access that is made there.
    pub(crate) is_decided: bool,
    /// The site of the decision that follows the access.
    pub(crate) decides: Option<u64>,
    /// What it is written in.
    pub(crate) language: SourceLanguage,
}

/// A call that has not ended.
#[derive(Clone, Copy, Debug)]
struct Call {
    site: u64,
    /// How many functions the trace has entered up to the one that makes this call, if it has entered that.
    told: Option<usize>,
}

/// What changes in the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    Enter(Frame),
    Exit(Frame),
}

/// The calls of one thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    calls: Vec<Call>,
    /// The functions that the thread is in according to the trace, the outermost first.
    frames: Vec<Frame>,
}

impl Calls {
    pub(crate) fn enter(&mut self, site: u64) {
        self.calls.push(Call { site, told: None });
    }

    pub(crate) fn exit(&mut self, calls: u32) {
        let left = self.calls.len().saturating_sub(calls as usize);
        self.calls.truncate(left);
    }

    /// The calls and returns that the trace needs before an event at this site.
    pub(crate) fn changes(
        &mut self,
        site: u64,
        spot: impl FnMut(u64) -> Result<Spot, LogError>,
    ) -> Result<Vec<Change>, LogError> {
        let told = self.calls.iter().rposition(|call| call.told.is_some());
        let last = told.and_then(|last| self.calls.get(last)).copied();
        let mut path = Path { frames: &mut self.frames, spot, length: 0, loc: None, changes: Vec::new() };
        if let Some(Call { site, told: Some(told) }) = last {
            path.length = told;
            path.loc = Some((path.spot)(site)?.loc);
        }
        for call in self.calls.iter_mut().skip(told.map_or(0, |last| last + 1)) {
            path.lead_to(call.site)?;
            call.told = Some(path.length);
        }
        // What happens at the site of the innermost call is that call itself.
        if self.calls.last().is_none_or(|call| call.site != site) {
            path.lead_to(site)?;
        }
        path.end();
        Ok(path.changes)
    }
}

/// The way to what happens, from function to function.
struct Path<'a, S> {
    frames: &'a mut Vec<Frame>,
    spot: S,
    /// How many of the functions are known to be right.
    length: usize,
    /// Where the last of them calls the next.
    loc: Option<Loc>,
    changes: Vec<Change>,
}

impl<S: FnMut(u64) -> Result<Spot, LogError>> Path<'_, S> {
    /// The next function is that of this site; but first come the functions that it had been inlined into.
    fn lead_to(&mut self, site: u64) -> Result<(), LogError> {
        let spot = (self.spot)(site)?;
        if spot.caller.is_none() {
            self.pass(spot);
            return Ok(());
        }
        let mut way = vec![spot];
        while let Some(caller) = way.last().and_then(|spot| spot.caller) {
            way.push((self.spot)(caller)?);
        }
        way.into_iter().rev().for_each(|spot| self.pass(spot));
        Ok(())
    }

    fn pass(&mut self, spot: Spot) {
        let frame = Frame { loc: self.loc, function: spot.function };
        if self.frames.get(self.length) != Some(&frame) {
            self.end();
            self.frames.push(frame);
            self.changes.push(Change::Enter(frame));
        }
        self.length += 1;
        self.loc = Some(spot.loc);
    }

    /// Whatever the thread was in beyond this has ended.
    fn end(&mut self) {
        let length = self.length.min(self.frames.len());
        self.changes.extend(self.frames.drain(length..).rev().map(Change::Exit));
    }
}

#[cfg(test)]
mod tests {
    use foretell_trace::{Names, Symbol};

    use super::*;

    /// Sites are numbers of three digits: the first is the function. Those that end in 9 were inlined at what they
    /// begin with.
    fn texts(calls: &mut Calls, site: u64) -> Vec<String> {
        let mut names = Names::default();
        for function in 0..10 {
            let _: LabelId = names.labels.intern(format!("f{function}").as_bytes()).unwrap();
        }
        let spot = |site: u64| {
            let function = names.labels.get(&format!("f{}", site / 100)).unwrap();
            let loc = Loc(Symbol::number(u32::try_from(site).unwrap()).unwrap());
            let caller = (site % 10 == 9).then_some(site / 10 * 10 - 100);
            let language = SourceLanguage::Other;
            Ok(Spot { loc, function, caller, is_decided: false, decides: None, language })
        };
        let text = |change: &Change| match change {
            Change::Enter(Frame { loc: None, function }) => format!("+{}", names.labels.name(*function)),
            Change::Enter(Frame { loc: Some(loc), function }) => {
                format!("{}+{}", names.symbol_text(loc.0), names.labels.name(*function))
            }
            Change::Exit(frame) => format!("-{}", names.labels.name(frame.function)),
        };
        calls.changes(site, spot).unwrap().iter().map(text).collect()
    }

    #[test]
    fn only_what_changes_is_told() {
        let mut calls = Calls::default();
        assert_eq!(texts(&mut calls, 101), ["+f1"]);
        assert!(texts(&mut calls, 102).is_empty(), "the same function");
        calls.enter(103);
        calls.enter(201);
        assert_eq!(texts(&mut calls, 301), ["103+f2", "201+f3"]);
        calls.exit(1);
        calls.enter(201);
        assert!(texts(&mut calls, 302).is_empty(), "called from the same place again");
        calls.exit(1);
        calls.enter(202);
        assert_eq!(texts(&mut calls, 301), ["-f3", "202+f3"]);
        calls.exit(2);
        assert_eq!(texts(&mut calls, 101), ["-f3", "-f2"]);
    }

    #[test]
    fn what_a_call_does_itself_happens_where_it_is_made() {
        let mut calls = Calls::default();
        calls.enter(101);
        assert_eq!(texts(&mut calls, 101), ["+f1"]);
        assert_eq!(texts(&mut calls, 201), ["101+f2"], "a function that was called back");
        assert_eq!(texts(&mut calls, 101), ["-f2"]);
    }

    #[test]
    fn inlined_functions_are_functions() {
        let mut calls = Calls::default();
        assert_eq!(texts(&mut calls, 209), ["+f1", "100+f2"]);
        calls.enter(209);
        assert_eq!(texts(&mut calls, 301), ["209+f3"]);
    }
}
