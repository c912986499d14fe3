use foretell_wire::code::{Code, CodePosition, FunctionCode, Operand};
use foretell_wire::log::module::Module;
use foretell_wire::site::{Site, SiteTable};

use super::*;

const NAMES: [&str; 7] = ["i32", "global", "callee", "caller", "mystery", "sqrt", "setjmp"];
const LOAD: u8 = 27;
const STORE: u8 = 28;

fn result(index: u32) -> Operand {
    Operand::Instruction(index)
}

/// The name of a function, how many parameters it has, its blocks and its instructions.
type About<'a> = (u32, u32, &'a [u32], &'a [(u8, &'a [Operand])]);

/// Functions with these names, numbers of parameters, blocks and instructions. Loads and stores of the global are
/// recorded, and so are all places that are named.
fn functions(about: &[About<'_>], told: &[(u32, u32)]) -> Functions {
    let (mut made, mut sites) = (Vec::new(), vec![Site::default()]);
    for (function, &(name, parameters, blocks, instructions)) in (0..).zip(about) {
        let parameters = vec![0; parameters as usize];
        let mut code = FunctionCode { name, parameters, blocks: blocks.to_vec(), ..FunctionCode::default() };
        for (instruction, &(opcode, operands)) in (0..).zip(instructions) {
            code.add(opcode, 0, (0, 0, 0), operands);
            let is_access = matches!(opcode, LOAD | STORE) && operands.last() == Some(&Operand::Global(1));
            if is_access || told.contains(&(function, instruction)) {
                let position = Some(CodePosition { function, instruction });
                sites.push(Site { position, is_told: true, ..Site::default() });
            }
        }
        made.push(code);
    }
    let table = SiteTable { texts: NAMES.map(str::to_string).to_vec(), sites, ..SiteTable::default() };
    let table = Code { table, functions: made }.encode();
    let mut functions = Functions::default();
    functions.add(&Module { address: 0x100, table: &table, globals: Vec::new() });
    functions
}

fn region(functions: &Functions, from: Option<u32>, to: Target) -> Option<Rc<Region>> {
    Regions::default().between(functions, 0, from, to)
}

#[test]
fn a_straight_way_replaces_what_was_there() {
    // local = global; global = local + parameter
    let functions = functions(
        &[(
            3,
            1,
            &[6],
            &[
                (26, &[Operand::Number(1)]),
                (LOAD, &[Operand::Global(1)]),
                (STORE, &[result(1), result(0)]),
                (LOAD, &[result(0)]),
                (8, &[result(3), Operand::Parameter(0)]),
                (STORE, &[result(4), Operand::Global(1)]),
            ],
        )],
        &[],
    );
    let found = region(&functions, Some(1), Target::At(5)).unwrap();
    // The slots of the parameter and of the variable's content follow those of the six instructions.
    assert_eq!(found.changes, [(4, vec![1, 6]), (7, vec![1])]);
    assert!(found.steering.is_empty() && !found.is_unknown);
    assert!(region(&functions, Some(5), Target::At(1)).is_none(), "no way leads back");
    assert!(region(&functions, None, Target::At(5)).is_none(), "the load on the way would be recorded");
}

/// `if (parameter) local = global's value; global = local`, with what is between.
fn diamond(between: (u8, &[Operand])) -> Functions {
    functions(
        &[(
            3,
            1,
            &[3, 2, 2],
            &[
                (26, &[Operand::Number(1)]),
                (LOAD, &[Operand::Global(1)]),
                (2, &[Operand::Parameter(0), Operand::Block(1), Operand::Block(2)]),
                between,
                (2, &[Operand::Block(2)]),
                (LOAD, &[result(0)]),
                (STORE, &[result(5), Operand::Global(1)]),
            ],
        )],
        &[],
    )
}

#[test]
fn what_happens_on_some_ways_only_leaves_what_was_there() {
    let functions = diamond((STORE, &[result(1), result(0)]));
    let found = region(&functions, Some(1), Target::At(6)).unwrap();
    assert_eq!(found.steering, [7], "the parameter decides");
    assert_eq!(found.changes, [(5, vec![1, 8]), (8, vec![1, 8])]);
}

#[test]
fn ways_on_which_something_is_recorded_do_not_count() {
    let functions = diamond((STORE, &[result(1), Operand::Global(1)]));
    let found = region(&functions, Some(1), Target::At(6)).unwrap();
    assert_eq!(found.changes, [(5, vec![8])]);
    assert_eq!(found.steering, [7], "it decides not to go there");
}

#[test]
fn what_nobody_knows_makes_all_unknown() {
    let functions = diamond((45, &[Operand::Global(4)]));
    assert!(region(&functions, Some(1), Target::At(6)).unwrap().is_unknown);
    let functions = diamond((45, &[result(1), Operand::Global(5)]));
    let found = region(&functions, Some(1), Target::At(6)).unwrap();
    assert_eq!(found.steering, [1, 7], "what a function of a library is given decides");
}

#[test]
fn a_function_that_is_jumped_back_to_is_unknown() {
    let functions = diamond((45, &[result(0), Operand::Global(6)]));
    let to_the_store = [Some(1), Some(5)].map(|from| region(&functions, from, Target::At(6)));
    assert!(to_the_store.into_iter().all(|region| region.is_some_and(|region| region.is_unknown)));
}

#[test]
fn loops_are_gone_any_number_of_times() {
    // global = value; do { local = local + global's value } while (local); global = local
    let functions = functions(
        &[(
            3,
            0,
            &[3, 4, 2],
            &[
                (26, &[Operand::Number(1)]),
                (LOAD, &[Operand::Global(1)]),
                (2, &[Operand::Block(1)]),
                (LOAD, &[result(0)]),
                (8, &[result(3), result(1)]),
                (STORE, &[result(4), result(0)]),
                (2, &[result(4), Operand::Block(1), Operand::Block(2)]),
                (LOAD, &[result(0)]),
                (STORE, &[result(7), Operand::Global(1)]),
            ],
        )],
        &[],
    );
    let found = region(&functions, Some(1), Target::At(8)).unwrap();
    assert!(found.steering.starts_with(&[1]) && found.steering.contains(&9), "{found:?}");
    let content = found.changes.iter().find(|(slot, _)| *slot == 9).unwrap();
    assert!(content.1.contains(&1) && content.1.contains(&9), "{found:?}");
}

/// `global = callee(first, second)`, and the callee.
fn call(callee: &[(u8, &[Operand])], blocks: &[u32]) -> Functions {
    functions(
        &[
            (
                3,
                2,
                &[2],
                &[
                    (45, &[Operand::Parameter(0), Operand::Parameter(1), Operand::Global(2)]),
                    (STORE, &[result(0), Operand::Global(1)]),
                ],
            ),
            (2, 2, blocks, callee),
        ],
        &[],
    )
}

#[test]
fn calls_without_a_record_do_what_the_function_does() {
    let sum: &[(u8, &[Operand])] = &[(8, &[Operand::Parameter(1), Operand::Number(1)]), (1, &[result(0)])];
    let found = region(&call(sum, &[2]), None, Target::At(1)).unwrap();
    assert_eq!(found.changes, [(0, vec![3])], "made of the second parameter alone");
    assert!(found.steering.is_empty());
    let decides: &[(u8, &[Operand])] = &[
        (2, &[Operand::Parameter(0), Operand::Block(1), Operand::Block(2)]),
        (1, &[Operand::Number(1)]),
        (1, &[Operand::Parameter(1)]),
    ];
    let found = region(&call(decides, &[1, 1, 1]), None, Target::At(1)).unwrap();
    assert_eq!((&found.changes[..], &found.steering[..]), (&[(0, vec![3])][..], &[2][..]));
}

#[test]
fn a_function_that_always_records_cannot_be_passed() {
    let tells: &[(u8, &[Operand])] = &[(LOAD, &[Operand::Global(1)]), (1, &[result(0)])];
    assert!(region(&call(tells, &[2]), None, Target::At(1)).is_none());
    let itself: &[(u8, &[Operand])] = &[(45, &[Operand::Global(2)]), (1, &[result(0)])];
    assert!(region(&call(itself, &[2]), None, Target::At(1)).is_none(), "it never comes back");
}

#[test]
fn a_function_that_calls_itself_does_what_all_its_calls_do() {
    // if (first) return 0; return 1 + callee(second, first);
    let swaps: &[(u8, &[Operand])] = &[
        (2, &[Operand::Parameter(0), Operand::Block(1), Operand::Block(2)]),
        (1, &[Operand::Number(0)]),
        (45, &[Operand::Parameter(1), Operand::Parameter(0), Operand::Global(2)]),
        (8, &[result(2), Operand::Number(1)]),
        (1, &[result(3)]),
    ];
    let found = region(&call(swaps, &[1, 1, 3]), None, Target::At(1)).unwrap();
    assert_eq!(
        (&found.steering[..], found.is_unknown),
        (&[2, 3][..], false),
        "either is the first somewhere"
    );
    assert_eq!(found.changes, [(0, vec![])], "the result is made of neither");
    // if (0) return first; return callee(second, first);
    let hands_on: &[(u8, &[Operand])] = &[
        (2, &[Operand::Number(0), Operand::Block(1), Operand::Block(2)]),
        (1, &[Operand::Parameter(0)]),
        (45, &[Operand::Parameter(1), Operand::Parameter(0), Operand::Global(2)]),
        (1, &[result(2)]),
    ];
    let found = region(&call(hands_on, &[1, 1, 2]), None, Target::At(1)).unwrap();
    assert_eq!((&found.changes[..], &found.steering[..]), (&[(0, vec![2, 3])][..], &[][..]));
}

#[test]
fn functions_that_call_each_other_are_looked_at_together() {
    // if (first) return second; return the other one of (first, second);
    let passes_on = |to: &'static [Operand]| -> [(u8, &'static [Operand]); 4] {
        [
            (2, &[Operand::Parameter(0), Operand::Block(1), Operand::Block(2)]),
            (1, &[Operand::Parameter(1)]),
            (45, to),
            (1, &[Operand::Instruction(2)]),
        ]
    };
    let even = passes_on(&[Operand::Parameter(0), Operand::Parameter(1), Operand::Global(4)]);
    let odd = passes_on(&[Operand::Parameter(0), Operand::Parameter(1), Operand::Global(2)]);
    let caller: &[(u8, &[Operand])] = &[
        (45, &[Operand::Parameter(0), Operand::Parameter(1), Operand::Global(2)]),
        (STORE, &[result(0), Operand::Global(1)]),
    ];
    let functions =
        functions(&[(3, 2, &[2], caller), (2, 2, &[1, 1, 2], &even), (4, 2, &[1, 1, 2], &odd)], &[]);
    let found = region(&functions, None, Target::At(1)).unwrap();
    assert_eq!((&found.changes[..], &found.steering[..]), (&[(0, vec![3])][..], &[2][..]));
}

#[test]
fn the_end_of_a_function_tells_what_it_returns() {
    let functions = diamond((1, &[result(1)]));
    assert!(region(&functions, Some(6), Target::End).is_none(), "it goes on for ever");
    let found = region(&functions, Some(1), Target::End);
    assert!(found.is_some_and(|found| found.result == [1] && found.steering == [7]));
    let ahead = region(&functions, Some(1), Target::Anywhere).unwrap();
    assert_eq!(ahead.steering, [7]);
}

#[test]
fn a_function_that_may_run_anew_unseen_is_not_taken_to_go_on() {
    // do global = 1; while (!parameter); library();
    let with = |library: u32| {
        functions(
            &[(
                3,
                1,
                &[1, 2, 2],
                &[
                    (2, &[Operand::Block(1)]),
                    (STORE, &[Operand::Number(1), Operand::Global(1)]),
                    (2, &[Operand::Parameter(0), Operand::Block(2), Operand::Block(1)]),
                    (45, &[Operand::Global(library)]),
                    (1, &[]),
                ],
            )],
            &[],
        )
    };
    let again = |functions: &Functions| region(functions, Some(1), Target::At(1)).unwrap().is_unknown;
    assert!(again(&with(4)), "it may have been called by what it calls");
    assert!(!again(&with(5)));
}
