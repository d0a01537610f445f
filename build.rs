//! Compiles the C file that gives Rust the MPI constants which bindgen cannot see.

fn main() {
    println!("cargo::rerun-if-changed=src/mpi/constants.c");
    println!("cargo::rerun-if-env-changed=MPICC");
    #[cfg(feature = "mpi")]
    {
        // the wrapper that mpi-sys uses too
        let mpicc = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
        cc::Build::new().compiler(mpicc).file("src/mpi/constants.c").warnings_into_errors(true).compile("mpixn_constants");
    }
}
