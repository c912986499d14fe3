//! Small random problems, held against all orders and all values of booleans.

mod checked;

use foretell_solve::{Lit, Node, OrderSolver, SearchAnswer, SearchLimits};
use proptest::prelude::*;

/// A literal of a generated clause.
#[derive(Clone, Copy, Debug)]
enum Term {
    Before(Node, Node),
    Boolean(usize, bool),
}

#[derive(Clone, Debug)]
struct Problem {
    chain_of: Vec<u32>,
    facts: Vec<(Node, Node)>,
    /// What each boolean prefers.
    booleans: Vec<bool>,
    clauses: Vec<Vec<Term>>,
}

fn term(nodes: Node, booleans: usize) -> impl Strategy<Value = Term> {
    let before = (0..nodes, 0..nodes).prop_map(|(a, b)| Term::Before(a, b));
    let boolean = (0..booleans.max(1), any::<bool>()).prop_map(|(index, value)| Term::Boolean(index, value));
    prop_oneof![if booleans > 0 { 4 } else { 1 } => before, u32::from(booleans > 0) => boolean]
}

fn problem() -> impl Strategy<Value = Problem> {
    (1..=7_u32, 2..=4_u32, 0..=3_usize).prop_flat_map(|(nodes, chains, booleans)| {
        let chain_of = prop::collection::vec(0..chains, nodes as usize);
        let facts = prop::collection::vec((0..nodes, 0..nodes), 0..3);
        // Mostly facts that agree with the numbers: others tend to contradict.
        let facts = (facts, any::<[bool; 3]>()).prop_map(|(facts, turned)| {
            let turn =
                |((a, b), turned): ((Node, Node), bool)| if turned { (a, b) } else { (a.min(b), a.max(b)) };
            facts.into_iter().zip(turned).map(turn).collect::<Vec<_>>()
        });
        let booleans = prop::collection::vec(any::<bool>(), booleans);
        let clauses = (Just(nodes), booleans.clone()).prop_flat_map(|(nodes, booleans)| {
            prop::collection::vec(prop::collection::vec(term(nodes, booleans.len()), 1..=3), 0..=16)
                .prop_map(move |clauses| (booleans.clone(), clauses))
        });
        (chain_of, facts, clauses).prop_map(|(chain_of, facts, (booleans, clauses))| Problem {
            chain_of,
            facts,
            booleans,
            clauses,
        })
    })
}

impl Problem {
    /// Whether a solution of the first `clauses` clauses exists, by trying everything.
    fn is_satisfiable(&self, clauses: usize) -> bool {
        let mut places = vec![None; self.chain_of.len()];
        self.extend(&mut places, 0, clauses)
    }

    /// Puts each node that may come next at `next`, and goes on.
    fn extend(&self, places: &mut Vec<Option<usize>>, next: usize, clauses: usize) -> bool {
        if next == places.len() {
            return (0..1_u32 << self.booleans.len()).any(|values| self.holds(places, values, clauses));
        }
        for node in 0..places.len() {
            if places[node].is_none() && self.may_be_next(places, node) {
                places[node] = Some(next);
                if self.extend(places, next + 1, clauses) {
                    return true;
                }
                places[node] = None;
            }
        }
        false
    }

    fn may_be_next(&self, places: &[Option<usize>], node: usize) -> bool {
        let chain = (0..node).filter(|&other| self.chain_of[other] == self.chain_of[node]);
        let facts = self.facts.iter().filter(|fact| fact.1 as usize == node).map(|fact| fact.0 as usize);
        chain.chain(facts).all(|other| places[other].is_some())
    }

    fn holds(&self, places: &[Option<usize>], values: u32, clauses: usize) -> bool {
        let is_true = |term: &Term| match *term {
            Term::Before(a, b) => places[a as usize] < places[b as usize],
            Term::Boolean(index, value) => (values >> index & 1 == 1) == value,
        };
        self.clauses[..clauses].iter().all(|clause| clause.iter().any(is_true))
    }

    fn has_cycle(&self, edges: impl Iterator<Item = (Node, Node)>) -> bool {
        let edges: Vec<_> = edges.chain(self.facts.iter().copied()).collect();
        let with_edges = Problem { facts: edges, clauses: Vec::new(), ..self.clone() };
        !with_edges.is_satisfiable(0)
    }
}

/// Adds the clauses in stretches, with a search after each, and compares every answer.
fn check(problem: &Problem, stretch: usize, facts_first: bool, limits: &SearchLimits) {
    let mut solver = OrderSolver::new(&problem.chain_of);
    solver.log_proof();
    if facts_first {
        problem.facts.iter().for_each(|&(a, b)| solver.fact(a, b));
    }
    let booleans: Vec<Lit> = problem.booleans.iter().map(|&preferred| solver.boolean(preferred)).collect();
    let mut clauses: Vec<Vec<Lit>> = Vec::new();
    for (index, clause) in problem.clauses.iter().enumerate() {
        let literal = |term: &Term| match *term {
            Term::Before(a, b) => solver.before(a, b),
            Term::Boolean(index, true) => booleans[index],
            Term::Boolean(index, false) => !booleans[index],
        };
        let clause: Vec<Lit> = clause.iter().map(literal).collect();
        solver.clause(&clause);
        clauses.push(clause);
        if !facts_first && index == 0 {
            problem.facts.iter().for_each(|&(a, b)| solver.fact(a, b));
        }
        if (index + 1) % stretch == 0 {
            check_answer(problem, &mut solver, &clauses, limits);
        }
    }
    if facts_first || !clauses.is_empty() {
        check_answer(problem, &mut solver, &clauses, limits);
    }
}

fn check_answer(problem: &Problem, solver: &mut OrderSolver, clauses: &[Vec<Lit>], limits: &SearchLimits) {
    let expected = problem.is_satisfiable(clauses.len());
    let answer = solver.solve(limits);
    if answer == SearchAnswer::GaveUp {
        assert!(limits.conflicts.is_some());
        return;
    }
    assert_eq!(answer == SearchAnswer::Sat, expected);
    if !expected && problem.is_satisfiable(0) {
        checked::refutation(solver, clauses);
    }
    if expected {
        assert!(clauses.iter().all(|clause| clause.iter().any(|&literal| solver.value(literal))));
        assert!(!problem.has_cycle(solver.edges()));
        for (a, b) in solver.edges().collect::<Vec<_>>() {
            let literal = solver.before(a, b);
            assert!(solver.value(literal) && !solver.value(!literal));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8000))]

    #[test]
    fn answers_agree_with_trying_everything(problem in problem()) {
        check(&problem, usize::MAX, true, &SearchLimits::default());
    }

    #[test]
    fn answers_stay_right_when_clauses_are_added(problem in problem(), stretch in 1..4_usize) {
        check(&problem, stretch, true, &SearchLimits::default());
    }

    #[test]
    fn facts_may_follow_atoms_until_the_first_search(problem in problem()) {
        check(&problem, usize::MAX, false, &SearchLimits::default());
    }

    #[test]
    fn a_search_that_gave_up_can_go_on(problem in problem(), stretch in 1..4_usize, conflicts in 0..2_u64) {
        check(&problem, stretch, true, &SearchLimits { conflicts: Some(conflicts), ..SearchLimits::default() });
    }

    #[test]
    fn facts_are_transitive(problem in problem()) {
        let mut solver = OrderSolver::new(&problem.chain_of);
        problem.facts.iter().for_each(|&(a, b)| solver.fact(a, b));
        if problem.is_satisfiable(0) {
            let nodes = (0..).take(problem.chain_of.len());
            for (a, b) in nodes.clone().flat_map(|a| nodes.clone().map(move |b| (a, b))).filter(|(a, b)| a != b) {
                let reverse = std::iter::once((b, a));
                prop_assert_eq!(solver.is_fact(a, b), problem.has_cycle(reverse));
            }
        }
    }
}
