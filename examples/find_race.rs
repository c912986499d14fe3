//! Finds the race of `bank.std` through the library, and prints its witness.

use foretell::{Error, Plan, Recording};

/// The two accesses of each race, and the events that lead there in their new order.
pub(crate) fn races() -> Result<String, Error> {
    let recording = Recording::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/bank.std"))?;
    let analysis = recording.analyse(&Plan::default())?;
    let mut text = String::new();
    for race in &analysis.races {
        let [first, second] =
            race.accesses.each_ref().map(|access| format!("{} {}", access.thread, access.location));
        text += &format!("{first} races with {second}\n");
        for event in race.witness().into_iter().flatten() {
            text += &format!("  event {}: {:?}\n", event.number(), recording.trace().event(*event).op);
        }
    }
    Ok(text)
}

fn main() -> Result<(), Error> {
    print!("{}", races()?);
    Ok(())
}
