//! Certificates for a whole trace: each pair that is no reported race, and that one pass does not rule out, gets a
//! certificate that the checker has accepted.

use foretell_detect::{Pair, Pairs};
use foretell_predict::{Budget, Certificate, Certified, Certifier, Technique};
use foretell_trace::{Model, Trace};
use foretell_witness::proof::{self, Examination, Extent, NothingElse, TraceFacts};
use foretell_witness::{Claim, Proof, Referee};
use rayon::prelude::*;

use crate::control::Control;
use crate::error::Error;
use crate::exact::Workers;
use crate::plan::{Choice, Plan};

/// How many pairs are worked on before their certificates are written.
const CHUNK: usize = 256;
/// After so many pairs without an answer no more are looked at: the trace will not be certified.
const MOST_OPEN: usize = 100;

/// What came of it.
#[derive(Clone, Debug)]
pub struct Certificates {
    /// How far schedules may deviate from what was observed.
    pub model: Model,
    /// What a race stands for.
    pub extent: Extent,
    /// All races: those that were reported, and those that were found on the way.
    pub races: Vec<Pair>,
    /// The pairs for which there is neither a certificate nor a schedule, and why. None if the trace is certified.
    pub open: Vec<(Pair, String)>,
    /// What is proven, if the trace is certified.
    pub proven: Option<NothingElse>,
    /// Whether everything was stopped before the end.
    pub stopped: bool,
}

/// How certificates are written down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CertificateForm {
    /// Lines of words.
    Text,
    /// Compact records.
    Binary,
}

impl CertificateForm {
    /// What a file of them begins with.
    pub fn magic(self) -> &'static [u8] {
        match self {
            CertificateForm::Text => &[],
            CertificateForm::Binary => Certificate::MAGIC,
        }
    }

    fn of(self, certificate: &Certificate) -> Vec<u8> {
        match self {
            CertificateForm::Text => certificate.text().into_bytes(),
            CertificateForm::Binary => certificate.binary(),
        }
    }

    /// As a file of its own.
    fn checked(self, facts: &TraceFacts<'_>, certificate: &[u8]) -> Result<proof::Refuted, proof::Refusal> {
        proof::check(facts, [self.magic(), certificate].concat())
    }
}

/// The answer on one pair.
enum Word {
    Race,
    Certificate(Vec<u8>, proof::Refuted),
    Open(String),
}

/// Certifies the trace for the technique of the plan. These races are known. `write` gets each certificate, in this
/// form, and says whether more are wanted.
pub fn certify(
    trace: &Trace,
    plan: &Plan,
    reported: &[Pair],
    control: &dyn Control,
    form: CertificateForm,
    write: &mut dyn FnMut(&[u8]) -> bool,
) -> Result<Certificates, Error> {
    let certifier = certifier(trace, plan)?;
    let extent = match plan.pairs {
        Pairs::All => Extent::Events,
        Pairs::ByLocation => Extent::Locations,
    };
    let facts = TraceFacts::new(trace);
    let ids = |pair: &Pair| (pair.first, pair.second);
    let mut work = Work {
        certifier: &certifier,
        facts: &facts,
        referee: Referee::new(trace),
        plan,
        control,
        workers: Workers::new(plan.jobs),
        races: reported.to_vec(),
        refuted: Vec::new(),
        open: Vec::new(),
        form,
        write,
    };
    let is_stopped = || control.is_stopped();
    let known = Examination::new(&facts, certifier.model(), extent, reported.iter().map(ids));
    let progress = control.progress("certifies");
    let mut chunk = Vec::new();
    let ended = known.for_each_open(&is_stopped, |first, second| {
        chunk.push(Pair { first, second });
        if chunk.len() < CHUNK {
            return Ok(());
        }
        progress.expect(chunk.len());
        match work.work_off(&std::mem::take(&mut chunk), &*progress) {
            Ok(true) => Ok(()),
            Ok(false) => Err(None),
            Err(error) => Err(Some(error)),
        }
    });
    let goes_on = match ended {
        Ok(is_whole) => is_whole && work.work_off(&chunk, &*progress)?,
        Err(None) => false,
        Err(Some(error)) => return Err(error),
    };
    let Work { races, refuted, open, .. } = work;
    let stopped = control.is_stopped() || (!goes_on && open.is_empty());
    let mut examination = Examination::new(&facts, certifier.model(), extent, races.iter().map(ids));
    refuted.iter().for_each(|refuted| examination.refute(refuted));
    let proven = if stopped || !open.is_empty() { None } else { examination.finish(&is_stopped).ok() };
    let stopped = stopped || (proven.is_none() && open.is_empty());
    Ok(Certificates { model: certifier.model(), extent, races, open, proven, stopped })
}

/// Whether certificates can be made for the technique of the plan, and if not, why not.
pub fn check_plan(plan: &Plan) -> Result<Technique, Error> {
    let techniques = [Technique::Rf, Technique::Mcm, Technique::Rv, Technique::RvNre];
    match plan.choice {
        Choice::One(technique) if techniques.contains(&technique) && plan.window.is_none() => Ok(technique),
        Choice::One(technique) if techniques.contains(&technique) => {
            Err(Error::Plan("a certificate is about whole schedules: leave out --window".to_string()))
        }
        choice => Err(Error::Plan(format!(
            "{} has no certificates; choose one of {} with --technique",
            choice.name(),
            techniques.map(Technique::name).join(", ")
        ))),
    }
}

fn certifier<'t>(trace: &'t Trace, plan: &Plan) -> Result<Certifier<'t>, Error> {
    let technique = check_plan(plan)?;
    Certifier::new(trace, technique)
        .ok_or_else(|| Error::Plan(format!("{} has no certificates", technique.name())))
}

/// What the pairs are worked off with, and what has come of it so far.
struct Work<'a, 't> {
    certifier: &'a Certifier<'t>,
    facts: &'a TraceFacts<'t>,
    referee: Referee<'t>,
    plan: &'a Plan,
    control: &'a dyn Control,
    workers: Workers,
    races: Vec<Pair>,
    refuted: Vec<proof::Refuted>,
    open: Vec<(Pair, String)>,
    form: CertificateForm,
    write: &'a mut dyn FnMut(&[u8]) -> bool,
}

impl Work<'_, '_> {
    /// Decides these pairs. Says whether more are wanted.
    fn work_off(&mut self, pairs: &[Pair], progress: &dyn crate::Progress) -> Result<bool, Error> {
        let (certifier, facts, control) = (self.certifier, self.facts, self.control);
        let (referee, budget, form) = (&self.referee, self.plan.budget, self.form);
        let each = |referee: &mut Referee<'_>, &pair: &Pair| {
            let deciding = Budget { per_pair: budget, stop: control.stop_flag() };
            let word = word(certifier, facts, referee, pair, &deciding, form);
            progress.worked();
            word
        };
        let pool = self.workers.pool()?;
        let words: Vec<Word> = pool.install(|| pairs.par_iter().map_init(|| referee.clone(), each).collect());
        for (&pair, word) in pairs.iter().zip(words) {
            match word {
                Word::Race => self.races.push(pair),
                Word::Open(why) => self.open.push((pair, why)),
                Word::Certificate(certificate, refuted) => {
                    self.refuted.push(refuted);
                    if !(self.write)(&certificate) {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(self.open.len() < MOST_OPEN && !control.is_stopped())
    }
}

fn word(
    certifier: &Certifier<'_>,
    facts: &TraceFacts<'_>,
    referee: &mut Referee<'_>,
    pair: Pair,
    budget: &Budget<'_>,
    form: CertificateForm,
) -> Word {
    let Pair { first, second } = pair;
    match certifier.certify(pair, budget) {
        Certified::Reached(witness) => {
            let proof = Proof::Adjacent { model: witness.model, schedule: witness.schedule };
            match referee.check(Claim { first, second, proof }) {
                Ok(_) => Word::Race,
                Err(rejection) => Word::Open(format!("the referee rejects its schedule: {rejection}")),
            }
        }
        // What the checker does not accept here, it will not accept later.
        Certified::Refuted(certificate) => {
            let certificate = form.of(&certificate);
            match form.checked(facts, &certificate) {
                Ok(refuted) if refuted.pair() == Some((first, second)) => {
                    Word::Certificate(certificate, refuted)
                }
                Ok(_) => Word::Open("its certificate is about another pair".to_string()),
                Err(refusal) => Word::Open(format!("the checker refuses its certificate: {refusal}")),
            }
        }
        Certified::Undecided(limit) => Word::Open(limit.to_string()),
    }
}
