//! Scratch.
use foretell_trace::format::{Compression, Format, writer};
use foretell_trace::{Batch, Source, Ending};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let n: usize = a[2].parse().unwrap();
    let mut source: Box<dyn Source> = match a[1].as_str() {
        "busy" => Box::new(foretell_testkit::busy::trace(foretell_testkit::busy::Shape::standard(n))),
        "same" => Box::new(foretell_testkit::adversarial::same_value_writers(n, true, 1).script),
        "same_no" => Box::new(foretell_testkit::adversarial::same_value_writers(n, false, 1).script),
        "lock" => Box::new(foretell_testkit::adversarial::one_lock(n, 1)),
        _ => Box::new(foretell_testkit::adversarial::many_threads(n, 1)),
    };
    let out = Compression::None.writer(Box::new(std::fs::File::create(&a[3]).unwrap())).unwrap();
    let mut w = writer(Format::Text, out, false).unwrap();
    let mut b = Batch::default();
    while source.fill(&mut b).unwrap() { for e in &b.events { w.write(e, source.names()).unwrap(); } }
    w.finish(Ending::Complete).unwrap();
}
