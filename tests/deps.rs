//! What `scripts/deps` takes for missing.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs `scripts/deps build` where dpkg knows no package but libc6-dev, there is no apt, and these
/// commands are.
fn deps(name: &str, commands: &[&str], cc: Option<&str>) -> String {
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("deps").join(name);
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    for program in ["bash", "sh", "dirname", "grep", "id", "sed"] {
        let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .map(|folder| folder.join(program))
            .find(|file| file.exists());
        symlink(found.unwrap(), place.join(program)).unwrap();
    }
    let stubs = commands.iter().map(|command| (*command, "exit 0"));
    let dpkg = r#"case "$*" in *libc6-dev) echo "install ok installed" ;; *) exit 1 ;; esac"#;
    for (stub, text) in stubs.chain([("dpkg-query", dpkg), ("mpicc.other", "exit 0")]) {
        let file = place.join(stub);
        fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    // a library of this name is all that is looked for
    fs::write(place.join("libclang.so"), "").unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/deps");
    let mut command = Command::new(place.join("bash"));
    command.arg(script).arg("build").env_clear().env("PATH", &place).env("LIBCLANG_PATH", &place).env("MPICC", "mpicc.other");
    if let Some(cc) = cc {
        command.env("CC", cc);
    }
    let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
    // cargo is asked for when nothing is missing
    output.lines().find(|line| line.starts_with("missing:") || line.contains("Install Rust")).expect(&output).to_owned()
}

#[test]
fn a_command_stands_for_its_package() {
    assert!(deps("all", &["cc", "make", "pkg-config"], None).starts_with("Install Rust"));
    assert!(deps("gcc", &["gcc", "make", "pkg-config"], None).starts_with("Install Rust"));
    assert!(deps("named", &["clang", "make", "pkg-config"], Some("clang -m64")).starts_with("Install Rust"));
    assert_eq!(deps("none", &[], Some("clang")), "missing: gcc make pkg-config");
    assert_eq!(deps("one", &["cc", "make"], None), "missing: pkg-config");
}
