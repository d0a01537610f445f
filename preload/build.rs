//! Compiles the C file that gives Rust what mpi.h has only as macros, and finds out which functions
//! the MPI has.

use std::path::Path;

/// What is asked, and an expression that compiles where the answer is yes.
const QUESTIONS: [(&str, &str); 4] = [
    ("mpi_large", "MPI_Neighbor_alltoallw_c"),
    ("mpi_init", "MPI_Neighbor_alltoallw_init"),
    ("mpi_init_large", "MPI_Neighbor_alltoallw_init_c"),
    ("mpix_init", "MPIX_Neighbor_alltoallw_init"),
];

fn main() {
    println!("cargo::rerun-if-changed=src/constants.c");
    println!("cargo::rerun-if-env-changed=MPICC");
    // the wrapper that mpi-sys uses too
    let mpicc = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
    cc::Build::new().compiler(&mpicc).file("src/constants.c").compile("mpixp_constants");
    let out = std::env::var("OUT_DIR").expect("cargo sets it");
    let compiles = |name: &str, code: &str| {
        let (source, object) = (Path::new(&out).join(format!("{name}.c")), Path::new(&out).join(format!("{name}.o")));
        let code = format!("#include <mpi.h>\n#ifdef OPEN_MPI\n#include <mpi-ext.h>\n#endif\n{code}\n");
        std::fs::write(&source, code).expect("the output directory is there");
        let mut command = std::process::Command::new(&mpicc);
        command.arg("-c").arg(&source).arg("-o").arg(&object).stdout(std::process::Stdio::null());
        command.stderr(std::process::Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    for (name, function) in QUESTIONS {
        println!("cargo::rustc-check-cfg=cfg({name})");
        if compiles(name, &format!("void *p(void) {{ return (void *){function}; }}")) {
            println!("cargo::rustc-cfg={name}");
        }
    }
    println!("cargo::rustc-check-cfg=cfg(open_mpi)");
    println!("cargo::rustc-check-cfg=cfg(mpich)");
    if compiles("open_mpi", "#ifndef OPEN_MPI\n#error\n#endif") {
        println!("cargo::rustc-cfg=open_mpi");
    }
    if compiles("mpich", "#ifndef MPICH_VERSION\n#error\n#endif") {
        println!("cargo::rustc-cfg=mpich");
    }
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmpix_neighbor_preload.so");
}
