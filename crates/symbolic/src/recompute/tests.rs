//! A small program, and logs that agree with it or not.

use foretell_wire::code::{Code, CodePosition, FunctionCode, Operand, opcode, predicate};
use foretell_wire::site::{Global, Site, SiteTable};

use super::*;

const TEXTS: [&str; 8] = ["i32", "ptr", "void", "i1", "main", "half", "x", "array"];
const INT: u32 = 0;
const PTR: u32 = 1;
const VOID: u32 = 2;
const BIT: u32 = 3;
const MAIN: u32 = 4;
const HALF: u32 = 5;
const X: u32 = 6;
const ARRAY: u32 = 7;

const TABLE: u64 = 0x1000;
const AT_X: u64 = 0x2000;
const AT_ARRAY: u64 = 0x3000;

/// The sites of the program, in the order of [`code`].
const READ_LIMIT: u64 = TABLE;
const DECIDE: u64 = TABLE + 1;
const PUT: u64 = TABLE + 2;
const CALL: u64 = TABLE + 3;
const WRITE: u64 = TABLE + 4;
const READ: u64 = TABLE + 5;

fn result(index: u32) -> Operand {
    Operand::Instruction(index)
}

/// `limit = x; for (i = 0; i < limit; i++) array[i] = i + 1; x = half(i);`
fn main() -> FunctionCode {
    let mut function = FunctionCode { name: MAIN, blocks: vec![2, 3, 4, 3], ..FunctionCode::default() };
    let mut add = |opcode, of, operands: &[Operand], numbers: &[i64]| {
        function.add(opcode, of, (0, 0, 0), operands);
        function.note(numbers);
    };
    let (zero, one) = (Operand::Number(0), Operand::Number(1));
    add(opcode::LOAD, INT, &[Operand::Global(X)], &[]);
    add(opcode::BR, VOID, &[Operand::Block(1)], &[]);
    add(opcode::PHI, INT, &[zero, Operand::Block(0), result(6), Operand::Block(2)], &[]);
    add(opcode::ICMP, BIT, &[result(2), result(0)], &[predicate::ICMP_SLT]);
    add(opcode::BR, VOID, &[result(3), Operand::Block(2), Operand::Block(3)], &[]);
    add(opcode::GETELEMENTPTR, PTR, &[Operand::Global(ARRAY), zero, result(2)], &[0, 4]);
    add(opcode::ADD, INT, &[result(2), one], &[]);
    add(opcode::STORE, INT, &[result(6), result(5)], &[]);
    add(opcode::BR, VOID, &[Operand::Block(1)], &[]);
    add(opcode::CALL, INT, &[result(2), Operand::Global(HALF)], &[]);
    add(opcode::STORE, INT, &[result(9), Operand::Global(X)], &[]);
    add(opcode::RET, VOID, &[], &[]);
    function
}

/// `return x / 2 + parameter;`
fn half() -> FunctionCode {
    let mut function =
        FunctionCode { name: HALF, parameters: vec![INT], blocks: vec![4], ..FunctionCode::default() };
    function.add(opcode::LOAD, INT, (0, 0, 0), &[Operand::Global(X)]);
    function.add(opcode::SDIV, INT, (0, 0, 0), &[result(0), Operand::Number(2)]);
    function.add(opcode::ADD, INT, (0, 0, 0), &[result(1), Operand::Parameter(0)]);
    function.add(opcode::RET, VOID, (0, 0, 0), &[result(2)]);
    function
}

fn code(globals: Vec<Global>) -> Code {
    let places = [(0, 0, true), (0, 4, false), (0, 7, true), (0, 9, false), (0, 10, true), (1, 0, true)];
    let site = |(function, instruction, is_recorded)| {
        let position = Some(CodePosition { function, instruction });
        Site { position, is_told: is_recorded, ..Site::default() }
    };
    let sites = places.into_iter().map(site).collect();
    let texts = TEXTS.map(str::to_string).to_vec();
    Code {
        table: SiteTable { texts, sites, globals, ..SiteTable::default() },
        functions: vec![main(), half()],
    }
}

fn read(site: u64, addr: u64, value: u64) -> Record<'static> {
    Record::Read { site, addr, size: 4, value }
}

fn write(site: u64, addr: u64, value: u64) -> Record<'static> {
    Record::Write { site, addr, size: 4, value }
}

/// The records of a run in which the limit is 2.
fn records() -> Vec<Record<'static>> {
    vec![
        read(READ_LIMIT, AT_X, 2),
        write(PUT, AT_ARRAY, 1),
        write(PUT, AT_ARRAY + 4, 2),
        Record::Enter { site: CALL },
        read(READ, AT_X, 2),
        Record::Exit { calls: 1 },
        write(WRITE, AT_X, 3),
    ]
}

/// What is found in a run with these records, if the log tells where the variables are.
fn found(records: &[Record<'_>]) -> Recomputed {
    let globals = vec![Global { name: X, size: 4 }, Global { name: ARRAY, size: 40 }];
    recomputed(records, &code(globals), vec![AT_X, AT_ARRAY])
}

fn recomputed(records: &[Record<'_>], code: &Code, globals: Vec<u64>) -> Recomputed {
    let mut recomputation = Recomputation::default();
    recomputation.add(&Module { address: TABLE, table: &code.encode(), globals });
    for record in records {
        recomputation.record(0, record);
    }
    recomputation.finish()
}

#[test]
fn what_is_right_is_computed_again() {
    let found = found(&records());
    let all = |all| Tally { all, known: all, differ: 0 };
    assert_eq!((found.stores, found.addresses, found.decisions), (all(3), all(5), all(3)), "{found:?}");
    assert_eq!((found.lost, found.differ()), (0, 0));
}

#[test]
fn values_that_are_not_those_of_the_program_are_told() {
    for (index, wrong) in [(2, write(PUT, AT_ARRAY + 4, 3)), (6, write(WRITE, AT_X, 4))] {
        let mut records = records();
        records[index] = wrong;
        let found = found(&records);
        assert_eq!((found.stores.differ, found.differ()), (1, 1), "{found:?}");
        assert!(found.differences[0].contains("was computed"), "{found:?}");
    }
}

#[test]
fn addresses_that_are_not_those_of_the_program_are_told() {
    let mut records = records();
    records[2] = write(PUT, AT_ARRAY + 8, 2);
    let found = found(&records);
    assert_eq!((found.addresses.differ, found.differ()), (1, 1), "{found:?}");
}

#[test]
fn a_way_that_the_program_does_not_go_is_told() {
    let mut records = records();
    records.remove(2);
    let found = found(&records);
    assert_eq!(found.decisions.differ, 1, "{found:?}");
    assert!(found.differences[0].contains("another way") && found.differences[0].contains("of main"));
}

#[test]
fn what_is_decided_by_is_compared() {
    let mut records = records();
    records.insert(1, Record::Branch { site: DECIDE, by: Some(1) });
    assert_eq!(found(&records).differ(), 0);
    records[1] = Record::Branch { site: DECIDE, by: Some(0) };
    assert!(found(&records).decisions.differ > 0);
}

#[test]
fn where_variables_are_is_learned() {
    let found = recomputed(&records(), &code(Vec::new()), Vec::new());
    assert_eq!(found.addresses, Tally { all: 5, known: 2, differ: 0 }, "{found:?}");
    let mut records = records();
    records[6] = write(WRITE, AT_X + 4, 3);
    assert_eq!(recomputed(&records, &code(Vec::new()), Vec::new()).addresses.differ, 1);
}

#[test]
fn a_record_that_no_way_leads_to_is_counted() {
    let mut records = records();
    records.swap(0, 6);
    let found = found(&records);
    assert!(found.lost > 0 && found.differ() == 0, "{found:?}");
}

#[test]
fn threads_are_followed_each_for_itself() {
    let globals = vec![Global { name: X, size: 4 }, Global { name: ARRAY, size: 40 }];
    let mut recomputation = Recomputation::default();
    let table = code(globals).encode();
    recomputation.add(&Module { address: TABLE, table: &table, globals: vec![AT_X, AT_ARRAY] });
    for record in &records() {
        recomputation.record(0, record);
        recomputation.record(7, record);
    }
    let found = recomputation.finish();
    assert_eq!((found.stores, found.differ()), (Tally { all: 6, known: 6, differ: 0 }, 0));
}
