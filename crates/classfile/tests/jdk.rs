//! All classes of the installed Java are read and written, and a sample of them is changed at every instruction and
//! then loaded with all checks of the virtual machine.
//!
//! `FORETELL_SEEDS=1` takes all classes of `java.base` instead of the sample.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use foretell_classfile::class::{Class, access};
use foretell_classfile::code::Code;
use foretell_classfile::edit::{Around, Edit, apply, code_of};
use foretell_classfile::opcode::{self, ALOAD, ASTORE, POP, SIPUSH};

/// Loads all classes whose names are in a file, and has them verified.
const LOADER: &str = r#"
public class Load {
    public static void main(String[] args) throws Exception {
        int loaded = 0;
        for (String name : java.nio.file.Files.readAllLines(java.nio.file.Path.of(args[0]))) {
            Class.forName(name, false, null).getDeclaredConstructors();
            loaded++;
        }
        System.out.println(loaded);
    }
}
"#;

/// A folder that goes away.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The classes of `java.base` whose names begin so; none if there is no JDK.
fn extract(name: &str, what: &str) -> Option<Folder> {
    let java = env::var_os("PATH").and_then(|paths| {
        env::split_paths(&paths).map(|folder| folder.join("java")).find(|path| path.is_file())
    });
    let home = java
        .and_then(|java| java.canonicalize().ok())
        .and_then(|java| Some(java.parent()?.parent()?.to_path_buf()));
    let folder = Folder(env::temp_dir().join(format!("foretell-{name}-{}", std::process::id())));
    let image = home.map(|home| (home.join("bin/jimage"), home.join("lib/modules")));
    let Some((jimage, modules)) = image.filter(|(jimage, modules)| jimage.is_file() && modules.is_file())
    else {
        eprintln!("skipped: there is no JDK here; `cargo xtask setup` installs one");
        return None;
    };
    let mut command = Command::new(jimage);
    command.args(["extract", "--include", &format!("regex:/java.base/{what}")]);
    let status = command.arg("--dir").arg(&folder.0).arg(modules).status().unwrap();
    assert!(status.success());
    Some(folder)
}

/// All class files below a folder, with their names.
fn classes(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let root = folder.join("java.base");
    let (mut open, mut found) = (vec![root.clone()], BTreeMap::new());
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "class") {
                let name = path.strip_prefix(&root).unwrap().with_extension("");
                found.insert(name.to_str().unwrap().to_string(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Which classes are looked at.
fn wanted() -> &'static str {
    if env::var_os("FORETELL_SEEDS").is_some() { ".*" } else { "java/util/.*" }
}

/// Code that does nothing, before and after all instructions and around the method.
fn disturb(class: &mut Class, filling: usize) -> usize {
    let mut changed = 0;
    for index in 0..class.methods.len() {
        let method = class.methods[index].clone();
        let Some(attribute) = code_of(&class.pool, &method) else { continue };
        let code = Code::read(&method.attributes[attribute].content).unwrap();
        let mut edit = Edit { stack: 1, ..Edit::default() };
        edit.first = vec![SIPUSH, 0, 1, opcode::IFNE, 0, 4, 0, 0];
        edit.targets = vec![edit.first.len() - 1];
        let nothing = [&[SIPUSH, 0, 7, POP][..], &vec![0; filling]].concat();
        for at in code.instructions().unwrap() {
            let opcode = code.bytes[at];
            edit.at(at).before.clone_from(&nothing);
            if !opcode::ends_flow(opcode) {
                edit.at(at).after = vec![SIPUSH, 1, 7, POP];
            }
        }
        if class.pool.text(method.name) != b"<init>" && code.max_locals < 200 {
            let local = u8::try_from(code.max_locals).unwrap();
            edit.around = Some(Around {
                begin: vec![1, ASTORE, local],
                end: vec![ALOAD, local, POP],
                class: b"java/lang/Object".to_vec(),
            });
            edit.stack = 2;
        }
        // What would be too large is left as it is.
        changed += usize::from(apply(class, index, &edit).is_ok());
    }
    changed
}

#[test]
fn classes_of_the_jdk_come_back() {
    let Some(folder) = extract("identity", wanted()) else { return };
    let classes = classes(&folder.0);
    assert!(classes.len() > 300);
    for (name, bytes) in classes {
        assert!(Class::read(&bytes).unwrap().write().unwrap() == bytes, "{name}");
    }
}

/// The long methods need wide jumps and islands.
#[test]
fn changed_classes_pass_all_checks_of_the_virtual_machine() {
    for filling in [0, 40] {
        let Some(folder) = extract(&format!("changed-{filling}"), wanted()) else { return };
        let mut names = Vec::new();
        let mut changed = 0;
        for (name, bytes) in classes(&folder.0) {
            let mut class = Class::read(&bytes).unwrap();
            if class.access & access::MODULE != 0 {
                continue;
            }
            changed += disturb(&mut class, filling);
            let path = folder.0.join("java.base").join(&name).with_extension("class");
            fs::write(path, class.write().unwrap()).unwrap();
            names.push(name.replace('/', "."));
        }
        assert!(changed > 3000, "{changed}");
        let (source, list) = (folder.0.join("Load.java"), folder.0.join("names"));
        fs::write(&source, LOADER).unwrap();
        fs::write(&list, names.join("\n")).unwrap();
        let compiled = Command::new("javac").arg("-d").arg(&folder.0).arg(&source).status().unwrap();
        assert!(compiled.success());
        let mut java = Command::new("java");
        java.args(["-Xverify:all", "-XX:-UsePerfData", "-Xshare:off", "-Xint", "--patch-module"]);
        java.arg(format!("java.base={}", folder.0.join("java.base").display()));
        java.arg("-cp").arg(&folder.0).arg("Load").arg(&list);
        let output = java.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(text.trim(), names.len().to_string(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
