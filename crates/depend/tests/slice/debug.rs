use crate::script::{id, numbers};
use foretell_depend::{Property, Rule, Slicer, listing};
use foretell_testkit::program::{Shape, program};

#[test]
fn debug() {
    let Ok(seed) = std::env::var("SEED") else { return };
    let seed: u64 = seed.parse().unwrap();
    let pair: Vec<u32> = std::env::var("PAIR").unwrap().split(',').map(|n| n.parse().unwrap()).collect();
    let source = program(seed, Shape::any(seed)).to_string();
    println!("{source}");
    let program = foretell_cimp::compile(&source).unwrap();
    let run = crate::programs::recorded(&program, seed);
    println!("{:?} {}", run.ending, run.schedule);
    println!("{}", listing(&run.trace, &run.flow));
    let slicer = Slicer::new(&run.trace, Some(&run.flow));
    for rule in [Rule::Sound, Rule::Published] {
        let slice = slicer.slice(&Property::race(id(pair[0]), id(pair[1])), rule);
        println!("{rule:?} {:?}", numbers(&slice));
        println!(
            "{:?}",
            crate::programs::witness(
                &run,
                &slice,
                (id(pair[0]), id(pair[1])),
                foretell_witness::Model::SameValue
            )
        );
    }
}
