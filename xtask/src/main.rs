use foretell_detect::*;
use foretell_testkit::locked::*;
use foretell_trace::*;
use std::time::Instant;
fn main() {
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let own = std::env::args().nth(2).is_some();
    let trace =
        Trace::read(Box::new(LockedTrace::new(Shape { own_locations: own, ..Shape::standard(n) }))).unwrap();
    let run = |name: &str, d: &mut dyn Detector| {
        let mut r = Reports::new(Pairs::ByLocation);
        let t = Instant::now();
        let mut id = EventId::FIRST;
        for c in trace.events().chunks(4096) {
            d.batch(id, c, &mut r);
            id = EventId::from_index(id.index() + c.len()).unwrap();
        }
        d.finish(&mut r);
        let s = t.elapsed();
        println!(
            "{name} {:.1} ns/event, {} reports {} forgotten",
            s.as_nanos() as f64 / trace.events().len() as f64,
            r.pairs().len(),
            r.forgotten()
        );
    };
    for _ in 0..2 {
        run("hb", &mut hb::Hb::default());
        run("shb", &mut shb::Shb::default());
        run("ft", &mut fasttrack::FastTrack::default());
    }
}
