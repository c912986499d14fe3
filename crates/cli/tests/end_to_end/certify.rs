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
        let checked = foretell(&["check", trace, text(&certificate)]);
        assert_eq!(checked.code, 0, "{trace}: {}{}", checked.out, checked.err);
    }
}
