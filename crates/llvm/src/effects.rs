//! What a called function that is not part of the module may do to memory unseen.
//!
//! Whatever is not named here counts as unknown: it may read and write everything.

use std::sync::LazyLock;

use foretell_models::{Effect, Model, Table};
use foretell_wire::threads::{self, ThreadFunction};
use foretell_wire::{library, settings};

use crate::instrument::modelled;
use crate::ir::{Opcode, Value};
use crate::rust_name;
use crate::rust_std;

/// How a call deals with the program's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Manner {
    /// It accesses just this memory.
    Accesses(&'static [Effect]),
    /// Nothing is called at all.
    Nothing,
    /// It touches no memory that the program reads or writes itself, or the runtime tells what it does.
    Quiet,
    /// A hook takes its place: it does what the function does, and tells what memory that touches.
    Performed,
    /// As [`Manner::Quiet`], but it reads the word behind this argument, which tells it what to do.
    Reads(u32),
    /// As [`Manner::Quiet`], but it may come back a second time, from wherever the thread is by then.
    Twice,
    /// Anything.
    Unknown,
}

/// The functions by which an allocator of a Rust program is called, and whether memory is given back there.
const RUST_ALLOCATOR: &[(&str, bool)] = &[
    ("__rust_alloc", false),
    ("__rust_alloc_zeroed", false),
    ("__rust_dealloc", true),
    ("__rust_realloc", true),
    ("__rg_alloc", false),
    ("__rg_alloc_zeroed", false),
    ("__rg_dealloc", true),
    ("__rg_realloc", true),
];

/// The same, of functions that are known only for what they are instantiated with here: the library's own.
const RUST_INSTANCES: &[&str] = &[
    "<alloc::sync::Arc<std::thread::spawnhook::SpawnHook>>::drop_slow",
    "<alloc::sync::Arc<std::sync::mpmc::context::Inner>>::drop_slow",
];

/// Panics end the function. They read their message, which goes to the user, and count themselves, which only decides
/// what panics do.
fn is_panic(function: Value, path: &str) -> bool {
    function.has_attribute("noreturn")
        && ["core::", "alloc::", "std::"].iter().any(|start| path.starts_with(start))
}

/// Assembly that does nothing to memory but keep the compiler from moving accesses.
const IDLE_ASSEMBLY: &[&str] = &["", "nop", "pause", "rep; nop", "rep nop", "yield"];

impl Manner {
    pub(crate) fn of(call: Value) -> Manner {
        let callee = call.callee();
        if let Some(text) = callee.assembly() {
            let idle = IDLE_ASSEMBLY.contains(&text.trim());
            return if idle { Manner::Nothing } else { Manner::Unknown };
        }
        if !callee.is_function() || callee.is_defined() && !rust_std::leaves(callee) {
            return Manner::Unknown;
        }
        let name = callee.name();
        let can_be_replaced = call.opcode() == Some(Opcode::LLVMCall) && !call.is_last_of_function();
        if can_be_replaced && library::hook(&name, call.arguments().len()).is_some() {
            return Manner::Performed;
        }
        match threads::known(&name) {
            Some(ThreadFunction::Modelled | ThreadFunction::Harmless) => return Manner::Quiet,
            Some(ThreadFunction::Fence) => return Manner::Unknown,
            None => {}
        }
        match model_of(callee, &name) {
            Some(Model::Harmless | Model::Recorded | Model::Allocates | Model::Frees(_)) => Manner::Quiet,
            Some(&Model::RecordedAt(argument)) => Manner::Reads(argument),
            Some(Model::ReturnsTwice) => Manner::Twice,
            Some(Model::Accesses(effects)) if can_have(call, effects) => {
                if prints_only_numbers(call, effects) { Manner::Quiet } else { Manner::Accesses(effects) }
            }
            Some(Model::Fence | Model::Accesses(_)) | None => Manner::Unknown,
        }
    }

    /// As [`Manner::of`], of a function that writes to the console, which may be a template that this module has
    /// instantiated.
    pub(crate) fn of_console(call: Value) -> Option<Manner> {
        let callee = call.callee();
        if !callee.is_function() {
            return None;
        }
        let effects = console_effects(&callee.name())?;
        can_have(call, effects).then_some(Manner::Accesses(effects))
    }
}

/// All models: those of foretell, replaced by those of the user.
static MODELS: LazyLock<Table> = LazyLock::new(|| {
    let mut all = Table::default();
    for (_, table) in foretell_models::shipped() {
        all.replace_with(table.unwrap_or_default());
    }
    all.replace_with(OF_USER.clone());
    all
});

/// The models of the user.
static OF_USER: LazyLock<Table> = LazyLock::new(|| {
    let mut all = Table::default();
    let files = std::env::var_os(settings::MODELS.text()).unwrap_or_default();
    for file in std::env::split_paths(&files).filter(|file| !file.as_os_str().is_empty()) {
        let text = std::fs::read_to_string(&file).map_err(|error| error.to_string());
        match text.and_then(|text| Table::parse(&text).map_err(|error| error.to_string())) {
            Ok(table) => all.replace_with(table),
            Err(reason) => fail(&format!("{}: {reason}", file.display())),
        }
    }
    all
});

/// Whether the model of a function is the user's, and not only that it is a fence.
pub(crate) fn is_of_user(function: Value) -> bool {
    let name = function.name();
    let of_path = || rust_name::path(&name).and_then(|path| OF_USER.get(&path));
    OF_USER.get(&name).or_else(of_path).is_some_and(|model| *model != Model::Fence)
}

/// A program that is built with other models than the user wants could show false races.
fn fail(reason: &str) -> ! {
    eprintln!("foretell: {reason}");
    std::process::exit(2)
}

fn model_of(function: Value, name: &str) -> Option<&'static Model> {
    if let Some(model) = MODELS.get(name) {
        return Some(model);
    }
    let (text, path) = (rust_name::text(name)?, rust_name::path(name)?);
    if RUST_INSTANCES.contains(&text.as_str()) || is_panic(function, &path) {
        return Some(&Model::Harmless);
    }
    MODELS.get(&path).filter(|_| !rust_name::is_instance(&text))
}

fn console_effects(name: &str) -> Option<&'static [Effect]> {
    match MODELS.get(name) {
        Some(Model::Accesses(effects)) if effects.contains(&Effect::Console) => Some(effects),
        _ => None,
    }
}

/// Whether the function may write to the console. It is not instrumented where a module has instantiated it: of the
/// console its model says all that matters, and of other streams only the library knows it.
pub(crate) fn writes_to_console(name: &str) -> bool {
    console_effects(name).is_some()
}

/// Whether the call has the arguments that the effects refer to, and comes back.
fn can_have(call: Value, effects: &[Effect]) -> bool {
    let count = call.arguments().len();
    let has = |effect: &Effect| {
        effect.last_argument().is_none_or(|last| (last as usize) < count) && is_asked(call, effect)
    };
    effects.iter().all(has) && modelled::can_be_followed(call)
}

/// Whether the call is one of those that the effect is for.
fn is_asked(call: Value, effect: &Effect) -> bool {
    let Effect::Only(argument, numbers) = effect else { return true };
    let given = call.operand(*argument).constant_number().and_then(|number| u64::try_from(number).ok());
    given.is_some_and(|number| numbers.contains(&number))
}

/// Whether the call only formats numbers, for the console.
fn prints_only_numbers(call: Value, effects: &[Effect]) -> bool {
    match effects {
        [Effect::Prints(formatted)] if formatted.list.is_none() => {
            call.arguments().get(formatted.format as usize).is_some_and(|&text| prints_numbers(text))
        }
        _ => false,
    }
}

/// The function by which a quiet call may give memory back, if it may: its own name, or `free`.
pub(crate) fn gives_back(callee: Value) -> Option<String> {
    let name = callee.name();
    match model_of(callee, &name)? {
        Model::Frees(function) => Some(function.clone()),
        Model::Harmless => {
            let is_instance =
                rust_name::text(&name).is_some_and(|text| RUST_INSTANCES.contains(&text.as_str()));
            is_instance.then(|| "free".to_string())
        }
        _ => None,
    }
}

/// Whether a quiet call allocates memory.
pub(crate) fn takes(callee: Value) -> bool {
    matches!(model_of(callee, &callee.name()), Some(Model::Allocates))
}

/// Whether the function is the entry of an allocator that the program has defined, and if so, whether memory is given
/// back there.
pub(crate) fn as_allocator(function: &str) -> Option<bool> {
    match MODELS.get(function) {
        Some(Model::Allocates) => return Some(false),
        Some(Model::Frees(_)) => return Some(true),
        _ => {}
    }
    let path = rust_name::path(function);
    let path = path.as_deref().map_or(function, |path| path.strip_prefix("__rustc::").unwrap_or(path));
    RUST_ALLOCATOR.iter().find(|(name, _)| *name == path).map(|&(_, gives_back)| gives_back)
}

/// Whether the format is known and asks for nothing that lies behind a pointer.
fn prints_numbers(format: Value) -> bool {
    format.constant_text().is_some_and(|text| {
        let mut conversions = text.split('%').skip(1);
        let is_flag = |c: char| c.is_ascii_digit() || "-+ #0.*'hlLqjzt".contains(c);
        conversions
            .all(|conversion| !conversion.trim_start_matches(is_flag).starts_with(['s', 'S', 'n', 'm']))
    })
}
