//! Which objects of which types memory holds, as far as accesses tell: debug information knows what each of them was
//! about. A name is given only where everything that is known of the memory agrees.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;

use foretell_wire::layout::TypeLayout;
use rustc_hash::FxHashMap;

use crate::memory::Era;

/// So many different things may be said of one place.
const DIFFERENT: usize = 32;
/// So many objects are looked at in one block of memory; of more, nothing is said.
const MOST: usize = 4096;

/// What an access says of memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Claim {
    /// What it was about.
    pub(crate) layout: Rc<TypeLayout>,
    /// Function and name, if it was a local variable.
    pub(crate) local: Option<String>,
}

/// What is claimed of one block of memory.
#[derive(Debug, Default)]
struct Claims {
    /// By the addresses where the objects begin.
    by_start: BTreeMap<u64, Vec<Claim>>,
    /// How large the largest of the objects is.
    largest: u64,
}

/// What is claimed of each block of memory.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    /// None for blocks with too many.
    claims: FxHashMap<Era, Option<Claims>>,
    /// What objects are called that have got a name, by block and address.
    named: FxHashMap<(Era, u64), String>,
    /// How many objects have each name.
    counts: FxHashMap<String, u32>,
}

impl Objects {
    /// An access was about an object that begins there.
    pub(crate) fn claim(&mut self, era: Era, start: u64, layout: &Rc<TypeLayout>, local: Option<&str>) {
        let known = self.claims.entry(era).or_insert_with(|| Some(Claims::default()));
        let Some(claims) = known else { return };
        let at = claims.by_start.entry(start).or_default();
        if at.iter().any(|claim| claim.layout == *layout && claim.local.as_deref() == local) {
            return;
        }
        at.push(Claim { layout: Rc::clone(layout), local: local.map(str::to_string) });
        claims.largest = claims.largest.max(layout.size());
        if at.len() > DIFFERENT || claims.by_start.len() > MOST {
            *known = None;
        }
        // The type of the block with the counts has that of the object.
        if let Some((at, counted @ TypeLayout::Structure { .. })) = layout.counted() {
            self.claim(era, start.saturating_add(at), &Rc::new(counted.clone()), None);
        }
    }

    /// What so many bytes are called, if all that is known of them agrees.
    pub(crate) fn name(&mut self, era: Era, addr: u64, bytes: u64) -> Option<String> {
        let known = self.claims.get(&era)?.as_ref()?;
        let (start, claim) = known.object_at(addr, bytes)?;
        let path = claim.layout.path(addr - start, bytes)?;
        let name = match (&claim.local, &*claim.layout) {
            (Some(local), _) => local.clone(),
            (None, TypeLayout::Structure { name, .. }) if !name.is_empty() => name.clone(),
            _ => return None,
        };
        if let Some(known) = self.named.get(&(era, start)) {
            return Some(format!("{known}{path}"));
        }
        // What a variable is called is no name of a type.
        let counted = if claim.local.is_some() { format!("{name} ") } else { name.clone() };
        let count = self.counts.entry(counted).or_default();
        *count = count.saturating_add(1);
        let numbered = if *count == 1 { name } else { format!("{name}#{count}") };
        self.named.insert((era, start), numbered.clone());
        Some(format!("{numbered}{path}"))
    }

    /// A name that something else has already.
    pub(crate) fn reserve(&mut self, name: &str) {
        self.counts.entry(name.to_string()).or_insert(1);
    }
}

impl Claims {
    /// All claims about objects that have a byte between these.
    fn touching(&self, from: u64, end: u64) -> impl Iterator<Item = (u64, &Claim)> {
        let near = self.by_start.range(from.saturating_sub(self.largest)..end);
        let all = near.flat_map(|(&start, claims)| claims.iter().map(move |claim| (start, claim)));
        all.filter(move |(start, claim)| start.saturating_add(claim.layout.size()) > from)
    }

    /// The object that has these bytes: a local variable, or the largest of the program's own types, and the
    /// standard libraries' only where there is no other, the blocks of `Arc` and `Rc` last. None if anything that is
    /// known of the same memory contradicts it.
    fn object_at(&self, addr: u64, bytes: u64) -> Option<(u64, &Claim)> {
        let end = addr.saturating_add(bytes.max(1));
        let covers = |&(start, claim): &(u64, &Claim)| {
            start <= addr && start.saturating_add(claim.layout.size()) >= end
        };
        let rank = |&(start, claim): &(u64, &Claim)| {
            let is_of_library = matches!(*claim.layout, TypeLayout::Structure { is_of_library: true, .. });
            let is_counting = claim.layout.counted().is_some();
            (claim.local.is_some(), !is_of_library, !is_counting, claim.layout.size(), Reverse(start))
        };
        let (start, best) = self.touching(addr, end).filter(covers).max_by_key(rank)?;
        let agrees = |(at, claim): (u64, &Claim)| {
            let is_same_local = claim.local.is_none() || claim.local == best.local;
            let within = at >= start && claim.layout.is_within(&best.layout, at - start);
            let around = at <= start && best.layout.is_within(&claim.layout, start - at);
            is_same_local && (within || around)
        };
        self.touching(start, start.saturating_add(best.layout.size())).all(agrees).then_some((start, best))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERA: Era = Era(7);

    fn layout(text: &str) -> Rc<TypeLayout> {
        Rc::new(TypeLayout::parse(text).unwrap())
    }

    fn stats() -> Rc<TypeLayout> {
        layout("S16;5;stats0;2;0;4;hitss8;8;6;missess8;")
    }

    fn connection() -> Rc<TypeLayout> {
        layout("S24;10;connection0;2;0;2;fds8;8;5;statsS16;5;stats0;2;0;4;hitss8;8;6;missess8;")
    }

    #[test]
    fn memory_is_called_by_the_largest_type_that_all_agree_on() {
        let mut objects = Objects::default();
        objects.claim(ERA, 0x108, &stats(), None);
        assert_eq!(objects.name(ERA, 0x110, 8).as_deref(), Some("stats.misses"));
        objects.claim(ERA, 0x100, &connection(), None);
        assert_eq!(objects.name(ERA, 0x110, 8).as_deref(), Some("connection.stats.misses"));
        objects.claim(ERA, 0x200, &connection(), None);
        assert_eq!(objects.name(ERA, 0x200, 8).as_deref(), Some("connection#2.fd"));
        assert_eq!(objects.name(ERA, 0x300, 8), None);
        assert_eq!(objects.name(Era(8), 0x110, 8), None);
    }

    #[test]
    fn what_is_counted_is_known_by_its_counts() {
        let mut objects = Objects::default();
        let mutex = "S16;10;Mutex<i32>1;2;0;5;inners4;8;4;datas4;";
        let block = format!("S32;20;ArcInner<Mutex<i32>>1;3;0;6;strongs8;8;4;weaks8;16;4;data{mutex}");
        objects.claim(ERA, 0x100, &layout(&block), None);
        assert_eq!(objects.name(ERA, 0x118, 4).as_deref(), Some("Mutex<i32>.data"));
        assert_eq!(objects.name(ERA, 0x110, 0).as_deref(), Some("Mutex<i32>"), "the lock itself");
        assert_eq!(objects.name(ERA, 0x100, 8).as_deref(), Some("ArcInner<Mutex<i32>>.strong"));
    }

    #[test]
    fn what_contradicts_itself_has_no_name() {
        let mut objects = Objects::default();
        objects.claim(ERA, 0x100, &connection(), None);
        objects.claim(ERA, 0x100, &stats(), None);
        assert_eq!(objects.name(ERA, 0x108, 8), None);
        let mut objects = Objects::default();
        objects.claim(ERA, 0x100, &stats(), Some("main::one"));
        assert_eq!(objects.name(ERA, 0x100, 8).as_deref(), Some("main::one.hits"));
        objects.claim(ERA, 0x108, &layout("s8;"), Some("main::other"));
        assert_eq!(objects.name(ERA, 0x100, 8), None, "memory of two variables");
    }
}
