//! Names that follow from `MPICC`: the Makefile and scripts/wrapper.sh make the same ones.

use std::path::Path;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// What a command prints in the tree, with nothing set that names an MPI.
fn output(command: &mut Command) -> String {
    let names = ["MPICC", "MPIRUN", "MPICXX", "MPIFC", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"];
    for name in names {
        command.env_remove(name);
    }
    let output = command.current_dir(ROOT).output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// The value of a text in the Makefile.
fn made(text: &str, variables: &[&str]) -> String {
    let rule = format!("shown: ; @echo '{text}'");
    output(Command::new("make").args(["--silent", "--eval", &rule, "shown"]).args(variables))
}

#[test]
fn names_follow_from_the_file_name_of_the_wrapper() {
    let beside = Path::new(ROOT).parent().unwrap().to_string_lossy().into_owned();
    let key = beside.trim_start_matches('/').replace('/', "-");
    for (mpicc, wanted) in [
        ("mpicc", "mpicc mpicc mpirun mpicxx mpifort"),
        ("mpicc.mpich", "mpicc.mpich mpicc.mpich mpirun.mpich mpicxx.mpich mpifort.mpich"),
        (
            "/opt/mpicc-4/mpicc_abi",
            "/opt/mpicc-4/mpicc_abi opt-mpicc-4-mpicc_abi /opt/mpicc-4/mpirun_abi /opt/mpicc-4/mpicxx_abi /opt/mpicc-4/mpifort_abi",
        ),
        ("../m/mpicc", &format!("{beside}/m/mpicc {key}-m-mpicc {beside}/m/mpirun {beside}/m/mpicxx {beside}/m/mpifort")),
        // the name says nothing of a Fortran compiler; this one compiles C++ as well
        ("mpiicx", "mpiicx mpiicx mpirun mpiicx "),
        ("/opt/mpicc/cc", "/opt/mpicc/cc opt-mpicc-cc /opt/mpicc/mpirun /opt/mpicc/cc "),
    ] {
        let variable = format!("MPICC={mpicc}");
        assert_eq!(made("$(MPICC) $(KEY) $(MPIRUN) $(MPICXX) $(MPIFC)", &[&variable]), wanted.trim_end(), "make {variable}");
        let script = r#". scripts/mpi.sh; cxx=$(sibling mpicxx); echo "$MPICC $KEY $MPIRUN ${cxx:-$MPICC} $(sibling mpifort)""#;
        let script = format!("{variable}; {script}");
        assert_eq!(output(Command::new("bash").args(["-eu", "-c", &script])), wanted.trim_end(), "scripts with {variable}");
    }
}

// `true` takes every option, as a compiler does
#[test]
fn a_c_wrapper_is_taken_for_no_fortran_compiler() {
    assert_eq!(made("$(WITH_FORTRAN)", &["MPICC=true"]), "");
    assert_eq!(made("$(WITH_FORTRAN)", &["MPICC=true", "MPIFC=true"]), "yes");
}
