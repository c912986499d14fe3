//! Larger random problems: stating clauses when a solution breaks them must lead to the same answer as stating all.

mod checked;

use foretell_solve::{Lit, Node, OrderSolver, SearchAnswer, SearchLimits};

const NODES: usize = 100;
const CHAINS: usize = 12;

/// A linear congruential generator, of which the upper bits are used.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits fit") % end
    }

    fn node(&mut self) -> Node {
        Node::try_from(self.below(NODES)).expect("there are few nodes")
    }
}

struct Problem {
    chain_of: Vec<u32>,
    facts: Vec<(Node, Node)>,
    /// Each clause asks for one of these orders.
    clauses: Vec<[(Node, Node); 3]>,
}

impl Problem {
    fn random(seed: u64) -> Problem {
        let mut random = Random(seed);
        let chain_of = (0..NODES).map(|_| u32::try_from(random.below(CHAINS)).expect("few chains")).collect();
        let pair = |random: &mut Random| (random.node(), random.node());
        let facts = (0..10).map(|_| pair(&mut random)).filter(|(a, b)| a < b).collect();
        let clauses = (0..340).map(|_| [(); 3].map(|()| pair(&mut random))).collect();
        Problem { chain_of, facts, clauses }
    }

    fn solver(&self) -> OrderSolver {
        let mut solver = OrderSolver::new(&self.chain_of);
        self.facts.iter().for_each(|&(a, b)| solver.fact(a, b));
        solver
    }

    fn state(solver: &mut OrderSolver, clause: &[(Node, Node); 3]) -> Vec<Lit> {
        let literals: [Lit; 3] = clause.map(|(a, b)| solver.before(a, b));
        solver.clause(&literals);
        literals.to_vec()
    }

    /// The place of each node in an order that agrees with the solution.
    fn places(&self, solver: &OrderSolver) -> Vec<usize> {
        let mut edges: Vec<(Node, Node)> = solver.edges().chain(self.facts.iter().copied()).collect();
        for (a, chain) in (0..).zip(&self.chain_of) {
            let later = (0..).zip(&self.chain_of).filter(|&(b, of)| b > a && of == chain);
            edges.extend(later.map(|(b, _)| (a, b)));
        }
        let mut places = vec![None; NODES];
        for place in 0..NODES {
            let is_next = |node: &usize| {
                let mut before = edges.iter().filter(|edge| edge.1 as usize == *node);
                places[*node].is_none() && before.all(|edge| places[edge.0 as usize].is_some())
            };
            let next = (0..NODES).find(is_next).expect("the solution has no cycle");
            places[next] = Some(place);
        }
        places.into_iter().flatten().collect()
    }

    fn solve_at_once(&self) -> SearchAnswer {
        let mut solver = self.solver();
        solver.log_proof();
        let stated: Vec<_> = self.clauses.iter().map(|clause| Problem::state(&mut solver, clause)).collect();
        let answer = solver.solve(&SearchLimits::default());
        if answer == SearchAnswer::Sat {
            assert_eq!(self.broken(&self.places(&solver)).count(), 0);
        } else {
            checked::refutation(&solver, &stated);
        }
        answer
    }

    fn solve_lazily(&self) -> SearchAnswer {
        let mut solver = self.solver();
        solver.log_proof();
        let mut stated = Vec::new();
        loop {
            let answer = solver.solve(&SearchLimits::default());
            if answer != SearchAnswer::Sat {
                checked::refutation(&solver, &stated);
                return answer;
            }
            let places = self.places(&solver);
            let broken: Vec<_> = self.broken(&places).take(5).collect();
            if broken.is_empty() {
                return SearchAnswer::Sat;
            }
            stated.extend(broken.into_iter().map(|clause| Problem::state(&mut solver, clause)));
        }
    }

    fn broken(&self, places: &[usize]) -> impl Iterator<Item = &[(Node, Node); 3]> {
        let holds = |&(a, b): &(Node, Node)| places[a as usize] < places[b as usize];
        self.clauses.iter().filter(move |clause| !clause.iter().any(holds))
    }
}

#[test]
fn both_ways_give_the_same_answer() {
    let mut satisfiable = 0;
    const PROBLEMS: u64 = 200;
    for seed in 0..PROBLEMS {
        let problem = Problem::random(seed);
        let answer = problem.solve_at_once();
        assert_eq!(problem.solve_lazily(), answer, "seed {seed}");
        satisfiable += u64::from(answer == SearchAnswer::Sat);
    }
    assert!((PROBLEMS / 10..PROBLEMS * 9 / 10).contains(&satisfiable), "{satisfiable} are satisfiable");
}
