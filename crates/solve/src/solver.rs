//! The solver as its callers see it.

use std::cell::OnceCell;

use rustc_hash::FxHashMap;

use crate::clocks::Clocks;
use crate::facts::{Chains, Facts};
use crate::limits::{SearchAnswer, SearchLimits, Statistics};
use crate::literal::{Lit, Var};
use crate::proof::ProofLog;
use crate::search::Search;

/// A thing to be ordered: its number, from 0.
pub type Node = u32;

/// Clauses over booleans and over the order of nodes. See the crate for how to use it.
#[derive(Debug)]
pub struct OrderSolver {
    chains: Chains,
    /// The facts as stated.
    stated: Vec<(Node, Node)>,
    /// What follows from them; made when first asked for.
    facts: OnceCell<Facts>,
    search: Search<Clocks>,
    /// For each pair that has an atom, smaller node first, its variable: true if the smaller one comes first.
    atom_of: FxHashMap<(Node, Node), Var>,
    /// The atoms in the order in which they were made.
    atoms: Vec<(Var, Node, Node)>,
    /// How many of the atoms the search knows.
    known_atoms: usize,
    /// Whether a search has begun: from then on the facts stand.
    begun: bool,
    /// For each variable its value in the last solution.
    model: Vec<bool>,
    /// How many of the atoms have a value in the last solution.
    model_atoms: usize,
}

impl OrderSolver {
    /// A problem without clauses over as many nodes as `chain_of` has entries. Entry i is the chain of node i. Nodes of
    /// one chain are ordered by their numbers, and solutions order other nodes by their numbers as well where they can.
    pub fn new(chain_of: &[u32]) -> OrderSolver {
        let chains = Chains::new(chain_of);
        OrderSolver {
            stated: Vec::new(),
            facts: OnceCell::new(),
            search: Search::new(Clocks::new(chains.count())),
            chains,
            atom_of: FxHashMap::default(),
            atoms: Vec::new(),
            known_atoms: 0,
            begun: false,
            model: vec![true],
            model_atoms: 0,
        }
    }

    /// States that a comes before b. A contradiction leaves no solution.
    ///
    /// The first question about the order draws the conclusions from all facts; a fact stated after it has them drawn
    /// again. So state all facts, then ask.
    ///
    /// # Panics
    /// If `solve` was called before.
    pub fn fact(&mut self, a: Node, b: Node) {
        assert!(!self.begun, "facts are stated before the first search");
        self.stated.push((a, b));
        self.facts.take();
    }

    /// A new boolean, decided towards `preferred` unless forced.
    pub fn boolean(&mut self, preferred: bool) -> Lit {
        Lit::new(self.search.add_variable(preferred), true)
    }

    /// The statement that a comes before b; its negation is that b comes before a. Where chains and facts decide, it is
    /// [`Lit::TRUE`] or [`Lit::FALSE`].
    pub fn before(&mut self, a: Node, b: Node) -> Lit {
        if a == b || self.is_fact(b, a) {
            return Lit::FALSE;
        }
        if self.is_fact(a, b) {
            return Lit::TRUE;
        }
        let (first, second) = (a.min(b), a.max(b));
        let var = *self.atom_of.entry((first, second)).or_insert_with(|| {
            let var = self.search.add_variable(true);
            self.atoms.push((var, first, second));
            var
        });
        Lit::new(var, a == first)
    }

    /// Whether a comes before b by chains and facts alone.
    pub fn is_fact(&self, a: Node, b: Node) -> bool {
        a != b && self.facts().reaches(&self.chains, a, b)
    }

    fn facts(&self) -> &Facts {
        self.facts.get_or_init(|| Facts::new(&self.chains, &self.stated))
    }

    /// Adds a clause: at least one of the literals must hold. May be called between two searches; the last solution
    /// stays readable.
    pub fn clause(&mut self, literals: &[Lit]) {
        self.tell_atoms();
        self.search.add_clause(literals);
    }

    /// Searches for a solution of all clauses. What was learnt in earlier calls is kept.
    pub fn solve(&mut self, limits: &SearchLimits) -> SearchAnswer {
        self.begun = true;
        self.tell_atoms();
        if self.facts().are_contradictory() {
            self.search.add_unsatisfiable();
        }
        let answer = self.search.solve(limits);
        if answer == SearchAnswer::Sat {
            self.model.clear();
            self.model.extend(self.search.model());
            self.model_atoms = self.atoms.len();
        }
        answer
    }

    /// Lets the search know the atoms made since the last time. Before the first search facts may still be missing.
    fn tell_atoms(&mut self) {
        if !self.begun {
            return;
        }
        let facts = self.facts.get_or_init(|| Facts::new(&self.chains, &self.stated));
        for &(var, a, b) in &self.atoms[self.known_atoms..] {
            if facts.reaches(&self.chains, a, b) {
                self.search.add_known(Lit::new(var, true));
            } else if facts.reaches(&self.chains, b, a) {
                self.search.add_known(Lit::new(var, false));
            } else {
                self.search.with_theory(|clocks, implied| {
                    clocks.add_atom(&self.chains, facts, var, (a, b), implied);
                });
            }
        }
        self.known_atoms = self.atoms.len();
    }

    /// Whether a literal holds in the last solution. One that is younger than that solution counts as not holding.
    pub fn value(&self, literal: Lit) -> bool {
        let value = self.model.get(literal.var() as usize).copied();
        value.is_some_and(|value| value == literal.is_positive())
    }

    /// The pairs (a, b) that the last solution puts in the order a, b by atoms, besides chains and facts.
    pub fn edges(&self) -> impl Iterator<Item = (Node, Node)> {
        self.atoms[..self.model_atoms].iter().map(
            |&(var, a, b)| {
                if self.model[var as usize] { (a, b) } else { (b, a) }
            },
        )
    }

    /// The nodes that a literal puts in order, earlier first, if it is about the order.
    pub fn ordered(&self, literal: Lit) -> Option<(Node, Node)> {
        let found = self.atoms.binary_search_by_key(&literal.var(), |atom| atom.0).ok()?;
        let (_, a, b) = self.atoms[found];
        Some(if literal.is_positive() { (a, b) } else { (b, a) })
    }

    /// From here on keeps a proof of what is found; to be called before the first clause.
    pub fn log_proof(&mut self) {
        self.search.log_proof();
    }

    /// The proof that there is no solution, if one was asked for and there is none.
    ///
    /// Nothing is proven if the facts alone contradict each other.
    pub fn proof(&self) -> Option<&ProofLog> {
        self.search.proof().filter(|proof| proof.refutation().is_some())
    }

    /// What has been done so far.
    pub fn statistics(&self) -> Statistics {
        Statistics { atoms: self.atoms.len(), ..self.search.statistics() }
    }
}
