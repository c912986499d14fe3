//! `predict --certify` and `check`: certificates of whole traces.

use std::fs;
use std::path::Path;

use foretell_testkit::tiny::{self, Features, Shape};

use crate::{file, folder, foretell, repository};

/// Three pairs race, one is ordered by the flag, the rest by the fork or the lock.
const TRACE: &str = "\
main|w(x,1)|1
main|fork(t)|2
main|w(data,1)|3
main|astore.rel(flag,1)|4
t|aload.acq(flag,1)|5
t|branch|6
t|r(data,1)|7
main|acq(l)|8
main|w(x,2)|9
main|rel(l)|10
t|acq(l)|11
t|r(x,2)|12
t|rel(l)|13
t|w(y,1)|14
main|w(y,2)|15
";

fn text(path: &Path) -> &str {
    path.to_str().expect("a name")
}

#[test]
fn a_trace_is_certified_and_checked() {
    let folder = folder("certified");
    let (trace, certificate) = (file(&folder, "t.std", TRACE), folder.join("proof"));
    let ran = foretell(&["predict", "-t", "mcm", "--certify", text(&certificate), &trace]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(
        ran.err.contains("proven: no schedule of the run") && ran.err.contains("1 certificate;"),
        "{}",
        ran.err
    );
    let checked = foretell(&["check", &trace, text(&certificate)]);
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
    assert!(
        checked.out.starts_with("Proven: no schedule") && checked.out.contains("rules of mcm"),
        "{}",
        checked.out
    );
    assert_eq!(fs::read_to_string(certificate.join("races")).unwrap().lines().last(), Some("race 14 15"));

    // Whatever is changed, the certificate is refused.
    let (races, certificates) = (certificate.join("races"), certificate.join("certificates"));
    let (old_races, old) = (fs::read_to_string(&races).unwrap(), fs::read_to_string(&certificates).unwrap());
    let refused = |why: &str| {
        let checked = foretell(&["check", &trace, text(&certificate)]);
        assert_eq!(checked.code, 1, "{}", checked.out);
        assert!(checked.out.starts_with("Refused: ") && checked.out.contains(why), "{}", checked.out);
    };
    fs::write(&races, old_races.replace("race 14 15\n", "")).unwrap();
    refused("nothing is said about the events 14 and 15");
    fs::write(&races, old_races.replace("same-value", "control-flow")).unwrap();
    refused("nothing is said about the events 3 and 7");
    fs::write(&races, old_races.replace("events 15", "events 16")).unwrap();
    refused("races: line 3");
    fs::write(&races, &old_races).unwrap();
    fs::write(&certificates, "").unwrap();
    refused("nothing is said about the events 3 and 7");
    fs::write(
        &certificates,
        old.lines().take(old.lines().count() - 1).map(|line| format!("{line}\n")).collect::<String>(),
    )
    .unwrap();
    refused("it ends without a contradiction");
    fs::write(&certificates, old.replace("pair 3 7", "pair 14 15")).unwrap();
    refused("certificates, line");
    fs::write(&certificates, &old).unwrap();
    assert_eq!(foretell(&["check", &trace, text(&certificate)]).code, 0);
    fs::remove_file(&races).unwrap();
    assert_eq!(foretell(&["check", &trace, text(&certificate)]).code, 2);
}

#[test]
fn what_cannot_be_certified_is_refused_before_it_is_analysed() {
    let folder = folder("not-certified");
    let (trace, certificate) = (file(&folder, "t.std", TRACE), folder.join("proof"));
    for (args, why) in [
        (&["-t", "recipe"][..], "recipe has no certificates"),
        (&[], "add -t rf, mcm, rv or rv-nre"),
        (&["-t", "mcm,rv"], "one trace and one technique"),
        (&["-t", "mcm", "--window", "100"], "leave out --window"),
        (&["-t", "rv-nre", "--dependence", "none"], "leave out --dependence"),
    ] {
        let ran = foretell(&[&["predict", "--certify", text(&certificate), &trace], args].concat());
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.err.contains(why) && ran.out.is_empty(), "{args:?}: {}", ran.err);
    }
    // Who meets at a barrier of unknown size is unknown, and so is whether these race.
    let unknown = "a|arrive(b)|1\na|depart(b)|2\na|w(x)|3\na|arrive(b)|4\nb|arrive(b)|5\na|depart(b)|6\nb|depart(b)|7\nb|w(x)|8\n";
    let trace = file(&folder, "barrier.std", unknown);
    let ran = foretell(&["predict", "-t", "rf", "--certify", text(&certificate), &trace]);
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    assert!(
        ran.err.contains("not certified: 1 pair is undecided") && ran.err.contains("events 3,8"),
        "{}",
        ran.err
    );
    assert!(!certificate.join("certificates").exists());
}

/// The compact form says the same, in less room; what is left when the axioms are believed is for any checker of LRAT.
#[test]
fn the_compact_form_is_checked_and_judged_by_others() {
    let folder = folder("certified-compactly");
    let trace = file(&folder, "t.std", TRACE);
    let size = |form: &str| {
        let certificate = folder.join(form);
        let ran = foretell(&[
            "predict",
            "-t",
            "mcm",
            "--certify",
            text(&certificate),
            "--certify-form",
            form,
            &trace,
        ]);
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert_eq!(foretell(&["check", &trace, text(&certificate)]).code, 0);
        fs::metadata(certificate.join("certificates")).expect("the file").len()
    };
    let (words, records) = (size("text"), size("binary"));
    assert!(records * 2 < words, "{records} and {words} bytes");
    let certificates = folder.join("binary").join("certificates");
    let old = fs::read(&certificates).expect("the file");
    for length in [0, 4, 8, 9, old.len() - 1] {
        fs::write(&certificates, &old[..length]).unwrap();
        let checked = foretell(&["check", &trace, text(&folder.join("binary"))]);
        assert_eq!(checked.code, 1, "{length}: {}{}", checked.out, checked.err);
    }
    let ran = foretell(&["predict", "-t", "mcm", "--certify-form", "binary", &trace]);
    assert_eq!(ran.code, 2, "a form alone: {}", ran.out);

    let lrat = folder.join("lrat");
    let checked = foretell(&["check", &trace, text(&folder.join("text")), "--lrat", text(&lrat)]);
    assert_eq!(checked.code, 0, "{}", checked.err);
    assert_accepted_elsewhere(&lrat);
    let proof = lrat.join("1.lrat");
    let cut: String =
        fs::read_to_string(&proof).unwrap().lines().rev().skip(1).map(|line| format!("{line}\n")).collect();
    fs::write(&proof, cut).unwrap();
    assert!(!second_checker(&lrat.join("1.cnf"), &proof));
}

/// The second checker accepts all of the folder.
fn assert_accepted_elsewhere(lrat: &Path) {
    let formulas: Vec<_> =
        (1..).map(|number| lrat.join(format!("{number}.cnf"))).take_while(|file| file.exists()).collect();
    assert!(!formulas.is_empty());
    for formula in formulas {
        assert!(second_checker(&formula, &formula.with_extension("lrat")), "{}", formula.display());
    }
}

/// What a checker says that knows the format LRAT and nothing of foretell.
fn second_checker(formula: &Path, proof: &Path) -> bool {
    let program = repository().join("crates/cli/tests/lrat.py");
    let ran = std::process::Command::new("python3").arg(program).arg(formula).arg(proof).output();
    let ran = ran.expect("Python runs");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(
        ran.status.success() || said.starts_with("refused"),
        "{said}{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    ran.status.success()
}

/// What takes long is given up in time, and then nothing is proven.
#[test]
fn checking_has_limits() {
    let folder = folder("certified-in-time");
    let (trace, certificate) = (file(&folder, "t.std", TRACE), folder.join("proof"));
    assert_eq!(foretell(&["predict", "-t", "mcm", "--certify", text(&certificate), &trace]).code, 1);
    let limited = foretell(&["check", &trace, text(&certificate), "--time-limit", "0s"]);
    assert!(limited.code == 3 && limited.err.contains("nothing is proven"), "{}{}", limited.out, limited.err);
    // A line without an end is not read to its end.
    let endless = std::io::Read::take(std::io::repeat(b'1'), 100 << 20);
    let path = certificate.join("certificates");
    let head = "foretell-proof 1\nmodel same-value\nevents 15\npair 3 7\nneed ";
    let mut input = std::io::Read::chain(head.as_bytes(), endless);
    std::io::copy(&mut input, &mut fs::File::create(&path).unwrap()).unwrap();
    let refused = foretell(&["check", &trace, text(&certificate)]);
    assert!(refused.code == 1 && refused.out.contains("line 5: the line is too long"), "{}", refused.out);
    fs::remove_file(path).unwrap();
}

/// Why a pair cannot race, for people with a browser.
#[test]
fn the_page_on_a_pair_has_the_reasons() {
    let folder = folder("asked-page");
    let trace = file(&folder, "t.std", TRACE);
    let page = folder.join("why.html");
    let ran = foretell(&["predict", "-t", "mcm", "--pair", "3,7", &trace, "-o", text(&page)]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let page = fs::read_to_string(page).expect("the page");
    assert!(page.contains("data: no race") && page.contains("Why they cannot meet"), "{page}");
    assert!(page.matches("<li>").count() >= 1 && page.contains("flag"), "{page}");
}

/// Each example, and some random traces, by both ways of counting pairs.
#[test]
fn examples_are_certified() {
    let folder = folder("certified-examples");
    let example = |name: &str| repository().join("corpus").join(name).display().to_string();
    let mut traces: Vec<String> = [
        "mcm_figure7.std",
        "notify_handoff.std",
        "reader_writes_then_writer.std",
        "semaphore_handoff.std",
        "use_races_with_free.std",
    ]
    .map(example)
    .into();
    let shape = Shape {
        locations: Some(20),
        ..Shape::new(Features { values: true, branches: true, ..Features::BASIC }, 60)
    };
    traces.extend((0..6).map(|seed| file(&folder, &format!("{seed}.std"), tiny::trace(seed, shape))));
    for (number, trace) in traces.iter().enumerate() {
        let (technique, pairs) = (["rf", "mcm", "rv", "rv-nre"][number % 4], ["all", "location"][number % 2]);
        let certificate = folder.join(format!("proof-{number}"));
        let args = ["predict", "-t", technique, "--pairs", pairs, "--certify", text(&certificate), trace];
        let ran = foretell(&args);
        assert!(ran.code < 2, "{trace}: {}", ran.err);
        let lrat = folder.join(format!("lrat-{number}"));
        let checked = foretell(&["check", trace, text(&certificate), "--lrat", text(&lrat)]);
        assert_eq!(checked.code, 0, "{trace}: {}{}", checked.out, checked.err);
        if lrat.join("1.cnf").exists() {
            assert_accepted_elsewhere(&lrat);
        }
    }
}
