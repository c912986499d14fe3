//! Names of the trace: variables, threads, locations and values, each given once.

use foretell_trace::name::{Interner, Variables};
use foretell_trace::{Loc, LockId, Names, Symbol, ThreadId, Value, VarId};
use foretell_wire::thread_name::ThreadName;
use rustc_hash::FxHashMap;

use crate::LogError;
use crate::calls::Spot;
use crate::cells::{Cell, Extent, Survey};
use crate::memory::{Era, Memory, Purpose};
use crate::objects::Objects;
use crate::places::{Places, SiteInfo};
use crate::remembered::Remembered;

/// So many sites are found quickly.
const RECENT_SPOTS: usize = 1 << 10;

/// The names that the trace has so far.
pub(super) struct Naming<'a> {
    survey: &'a Survey,
    /// The modules that were loaded so far.
    places: Places,
    pub(super) names: Names,
    /// The variables, by the addresses of their cells, and how many bytes they have.
    vars: FxHashMap<(Era, u64), (VarId, u64)>,
    /// The locks, by their addresses.
    locks: FxHashMap<(Era, u64), LockId>,
    /// The objects that memory holds.
    objects: Objects,
    mixed: MixedVars,
    /// What is known of each site that was met so far.
    spots: FxHashMap<u64, Spot>,
    /// The same for those that were asked for last.
    recent_spots: Remembered<u64, Spot, RECENT_SPOTS>,
    /// What the program calls its threads.
    titles: FxHashMap<u32, ThreadName>,
    /// The threads that were met so far, by their numbers.
    threads: FxHashMap<u32, ThreadId>,
    /// Values too large to stand for themselves in a trace.
    large_values: FxHashMap<u64, Value>,
}

/// The variables beside mixed words, see [`super::mixed`].
#[derive(Default)]
struct MixedVars {
    /// By the address of the bytes.
    bytes: FxHashMap<(Era, u64), VarId>,
    /// By the word, the sizes and the thread that uses the first of them.
    sizes: FxHashMap<(Era, u64, [Extent; 2], u32), VarId>,
}

impl<'a> Naming<'a> {
    pub(super) fn new(survey: &'a Survey) -> Naming<'a> {
        Naming {
            survey,
            places: Places::default(),
            names: Names::default(),
            vars: FxHashMap::default(),
            locks: FxHashMap::default(),
            objects: Objects::default(),
            mixed: MixedVars::default(),
            spots: FxHashMap::default(),
            recent_spots: Remembered::new(),
            titles: FxHashMap::default(),
            threads: FxHashMap::default(),
            large_values: FxHashMap::default(),
        }
    }

    /// A module was loaded. Sites that were unknown may be known now.
    pub(super) fn add(&mut self, module: &foretell_wire::log::module::Module<'_>) -> Result<(), LogError> {
        self.spots.clear();
        self.recent_spots.clear();
        self.places.add(module)
    }

    /// The name of an address at this moment.
    pub(super) fn address(&self, memory: &Memory, addr: u64) -> String {
        self.address_in(memory, memory.era(addr), addr, 0)
    }

    fn address_in(&self, memory: &Memory, era: Era, addr: u64, bytes: u64) -> String {
        self.survey.places.address(addr, bytes, memory.about(era))
    }

    /// The lock at an address.
    pub(super) fn lock(&mut self, memory: &Memory, addr: u64) -> Result<LockId, LogError> {
        let lock = self.names.locks.intern(self.address(memory, addr).as_bytes())?;
        self.locks.insert((memory.era(addr), addr), lock);
        self.claim_object(memory, memory.era(addr));
        Ok(lock)
    }

    /// An object of a managed heap was met. Its type matters if anything of it is kept.
    pub(super) fn know_object(&mut self, memory: &Memory, survey: &Survey, addr: u64) {
        let era = memory.era(addr);
        if survey.kept(era).next().is_some() {
            self.claim_object(memory, era);
        }
    }

    fn claim_object(&mut self, memory: &Memory, era: Era) {
        let about = memory.about(era);
        if let Purpose::Object(site) = about.purpose {
            self.accessed(era, site, about.start);
        }
    }

    /// An access at this site was made to recorded memory.
    pub(super) fn accessed(&mut self, era: Era, site: u64, addr: u64) {
        if let Some(accessed) = self.survey.places.accessed(site)
            && let Some(start) = addr.checked_sub(accessed.offset)
        {
            self.objects.claim(era, start, &accessed.layout, accessed.local.as_deref());
        }
    }

    /// All names. Memory without one is called by the types and fields that it was used as.
    pub(super) fn finish(mut self) -> Result<Names, LogError> {
        self.survey.places.variables().for_each(|name| self.objects.reserve(name));
        let mut vars: Vec<(VarId, Era, u64, u64)> =
            self.vars.iter().map(|(&(era, addr), &(var, bytes))| (var, era, addr, bytes)).collect();
        vars.sort_unstable_by_key(|&(var, ..)| var.index());
        let mut new = FxHashMap::default();
        for (var, era, addr, bytes) in vars {
            if is_bare(self.names.vars.name(var))
                && let Some(name) = self.objects.name(era, addr, bytes)
            {
                new.insert(var.index(), name);
            }
        }
        self.names.vars = renamed_variables(&self.names.vars, &new)?;
        let mut locks: Vec<(LockId, Era, u64)> =
            self.locks.iter().map(|(&(era, addr), &lock)| (lock, era, addr)).collect();
        locks.sort_unstable_by_key(|&(lock, ..)| lock.index());
        let mut new: FxHashMap<usize, Option<String>> = FxHashMap::default();
        for (lock, era, addr) in locks {
            let name = self.objects.name(era, addr, 0).filter(|_| is_bare(self.names.locks.name(lock)));
            // A lock that has two addresses has no name of either.
            new.entry(lock.index()).and_modify(|known| *known = None).or_insert(name);
        }
        self.names.locks = renamed_locks(&self.names.locks, &new)?;
        Ok(self.names)
    }

    /// The variable that a cell is.
    pub(super) fn variable(
        &mut self,
        memory: &Memory,
        era: Era,
        word: u64,
        cell: Cell,
    ) -> Result<VarId, LogError> {
        let addr = word + u64::from(cell.first);
        if let Some(&(var, _)) = self.vars.get(&(era, addr)) {
            return Ok(var);
        }
        let bytes = u64::from(cell.end - cell.first);
        let mut name = self.address_in(memory, era, addr, bytes);
        if self.survey.word(era, word).is_some_and(|word| word.is_mixed()) {
            name.push_str(" as a whole");
        }
        // Two eras may have the same name, where nothing but the address is known.
        let var = self.names.vars.renew(name.as_bytes())?;
        self.vars.insert((era, addr), (var, bytes));
        Ok(var)
    }

    /// The variable that plain accesses to some bytes of a mixed word are compared by.
    pub(super) fn bytes_of_mixed(
        &mut self,
        memory: &Memory,
        era: Era,
        word: u64,
        cell: Cell,
    ) -> Result<VarId, LogError> {
        let addr = word + u64::from(cell.first);
        if let Some(&var) = self.mixed.bytes.get(&(era, addr)) {
            return Ok(var);
        }
        let name = self.address_in(memory, era, addr, u64::from(cell.end - cell.first));
        let var = self.names.vars.renew(name.as_bytes())?;
        self.mixed.bytes.insert((era, addr), var);
        Ok(var)
    }

    /// The variable that atomics of two sizes in a mixed word are compared by; one thread uses the first size.
    pub(super) fn sizes_of_mixed(
        &mut self,
        memory: &Memory,
        (era, word): (Era, u64),
        extents: [Extent; 2],
        user: u32,
    ) -> Result<VarId, LogError> {
        let key = (era, word, extents, user);
        if let Some(&var) = self.mixed.sizes.get(&key) {
            return Ok(var);
        }
        let first = word + u64::from(extents[0].first.max(extents[1].first));
        let [one, other] = extents.map(|extent| extent.end - extent.first);
        let name = self.address_in(memory, era, first, one.max(other).into());
        let name = format!("{name} in atomics of {one} and {other} bytes");
        let var = self.names.vars.renew(name.as_bytes())?;
        self.mixed.sizes.insert(key, var);
        Ok(var)
    }

    /// The variable that stands for the free of an era's memory.
    pub(super) fn given_back(&mut self, memory: &Memory, era: Era) -> Result<VarId, LogError> {
        let name = format!("{} given back", self.address_in(memory, era, memory.about(era).start, 0));
        Ok(self.names.vars.intern(name.as_bytes())?)
    }

    /// What is known of a site.
    #[inline]
    pub(super) fn spot(&mut self, site: u64) -> Result<Spot, LogError> {
        if let Some(spot) = self.recent_spots.get(site, site) {
            return Ok(spot);
        }
        let spot = self.look_up_spot(site)?;
        self.recent_spots.set(site, site, spot);
        Ok(spot)
    }

    fn look_up_spot(&mut self, site: u64) -> Result<Spot, LogError> {
        if let Some(&spot) = self.spots.get(&site) {
            return Ok(spot);
        }
        let place = self.places.site(site);
        let loc = Loc(self.names.symbol(place.location.as_bytes())?);
        let function = self.names.labels.intern(place.function.as_bytes())?;
        let SiteInfo { caller, is_decided, decides, language, .. } = place;
        let spot = Spot { loc, function, caller, is_decided, decides, language };
        self.spots.insert(site, spot);
        Ok(spot)
    }

    /// The location of a site, as text.
    pub(super) fn location(&self, site: u64) -> String {
        self.places.site(site).location
    }

    pub(super) fn value(&mut self, number: u64) -> Result<Value, LogError> {
        if let Some(symbol) = u32::try_from(number).ok().and_then(Symbol::number) {
            return Ok(Value(symbol));
        }
        if let Some(&value) = self.large_values.get(&number) {
            return Ok(value);
        }
        let value = Value(self.names.symbol(number.to_string().as_bytes())?);
        self.large_values.insert(number, value);
        Ok(value)
    }

    /// The program gives a thread a name, half of it at a time.
    pub(super) fn name_thread(&mut self, object: u64, other: u64) -> Result<(), LogError> {
        let Some(number) = ThreadName::thread(object) else { return Ok(()) };
        let title = self.titles.entry(number).or_default();
        title.add(object, other);
        let text = title.text();
        let thread = self.thread(number)?;
        self.names.set_title(thread, &text);
        Ok(())
    }

    pub(super) fn thread(&mut self, thread: u32) -> Result<ThreadId, LogError> {
        if let Some(&known) = self.threads.get(&thread) {
            return Ok(known);
        }
        let new = self.names.threads.intern(name_of(thread).as_bytes())?;
        self.threads.insert(thread, new);
        Ok(new)
    }
}

/// The same variables with other names, where there are any that no other variable has.
fn renamed_variables(old: &Variables, new: &FxHashMap<usize, String>) -> Result<Variables, LogError> {
    let mut renamed = Variables::default();
    for var in (0..old.len()).map_while(VarId::from_index) {
        let is_free = |name: &&str| old.get(name).is_none() && renamed.get(name).is_none();
        let name = new.get(&var.index()).map(String::as_str).filter(is_free);
        let _: VarId = renamed.renew(name.unwrap_or_else(|| old.name(var)).as_bytes())?;
    }
    Ok(renamed)
}

/// The same for locks.
fn renamed_locks(
    old: &Interner<LockId>,
    new: &FxHashMap<usize, Option<String>>,
) -> Result<Interner<LockId>, LogError> {
    let mut renamed = Interner::default();
    for lock in (0..old.len()).map_while(LockId::from_index) {
        let is_free = |name: &&str| old.get(name).is_none() && renamed.get(name).is_none();
        let name = new.get(&lock.index()).and_then(|name| name.as_deref()).filter(is_free);
        let _: LockId = renamed.intern(name.unwrap_or_else(|| old.name(lock)).as_bytes())?;
    }
    Ok(renamed)
}

/// Whether a name is that of a block of memory, or an address.
fn is_bare(name: &str) -> bool {
    let is_numbered = |start| {
        name.strip_prefix(start).is_some_and(|rest: &str| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    (name.starts_with("0x") || is_numbered("heap") || is_numbered("stack")) && !name.contains(' ')
}

/// The name of a thread.
pub(crate) fn name_of(thread: u32) -> String {
    if thread == 0 { "main".to_string() } else { format!("T{thread}") }
}
