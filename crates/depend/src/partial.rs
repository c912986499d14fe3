//! Dependence as ReconP's partial simulation finds it (section III.C of its paper).
//!
//! Only reads of what other threads have written are followed; a read of what its own thread has written is taken to
//! steer everything after it. That is quicker where one follows values instruction by instruction, and sound, but it
//! keeps reads that matter to nothing: of a value that came from elsewhere, went through a variable of its own thread,
//! and is never used. [`foretell_trace::Dependence`] as the recorders find it is exact in that; this is there to
//! compare with.

use foretell_trace::{Dependence, EventId, ThreadId, Trace};

/// The same trace with the dependence of the partial simulation, from that of the full one.
pub fn to_partial(trace: Trace) -> Trace {
    match partial(&trace) {
        // Every read still steers events of its own thread that come after it, so this fits.
        Some(dependence) => trace.with_dependence(dependence).unwrap_or_default(),
        None => trace,
    }
}

fn partial(trace: &Trace) -> Option<Dependence> {
    let mut dependence = trace.dependence()?.clone();
    let mut next: Vec<Option<EventId>> = vec![None; trace.thread_count()];
    let own = own_reads(trace);
    for (index, event) in trace.events().iter().enumerate().rev() {
        let Some(id) = EventId::from_index(index) else { continue };
        let after = next[event.thread.index()].replace(id);
        if let (true, Some(after)) = (own[index], after) {
            dependence.steer(id, after);
        }
    }
    Some(dependence)
}

/// For each event, whether it reads what its own thread has written.
fn own_reads(trace: &Trace) -> Vec<bool> {
    let mut writer: Vec<Option<ThreadId>> = vec![None; trace.names().vars.len()];
    let of = |event: &foretell_trace::Event| {
        let Some(access) = event.op.access() else { return false };
        let last = &mut writer[access.var.index()];
        let is_own = access.kind.reads() && *last == Some(event.thread);
        if access.kind.writes() {
            *last = Some(event.thread);
        }
        is_own
    };
    trace.events().iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_trace::format::text::TextReader;

    #[test]
    fn only_reads_of_what_the_own_thread_wrote_are_kept() {
        let text = "A|w(z,1)|1\nB|r(z,1)|2\nB|w(m,2)|3\nB|r(m,2)|4\nB|w(n,3)|5\nB|r(q,0)|6\nB|end|7\n\
            #dependence\n#value 3 2\n#value 5 4\n#steers 6 7\n";
        let trace = Trace::read(Box::new(TextReader::new(Box::new(text.as_bytes())))).unwrap();
        let partial = to_partial(trace);
        let dependence = partial.dependence().unwrap();
        let steered = |number| {
            let id = EventId::from_number(number).unwrap();
            dependence.steered_by(id).map(EventId::number)
        };
        assert_eq!([2, 4, 6].map(steered), [None, Some(5), Some(7)]);
        let plain = Trace::read(Box::new(TextReader::new(Box::new(&b"A|w(z,1)|1\n"[..])))).unwrap();
        assert!(to_partial(plain).dependence().is_none());
    }
}
