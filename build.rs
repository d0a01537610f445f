//! Compiles the C file that gives Rust the MPI constants which bindgen cannot see, and names the
//! shared library.

fn main() {
    println!("cargo::rerun-if-changed=src/mpi/constants.c");
    println!("cargo::rerun-if-changed=src/mpi/simgrid.c");
    println!("cargo::rerun-if-changed=src/mpi/families.h");
    println!("cargo::rerun-if-env-changed=MPICC");
    // not rustc-cdylib-link-arg, which cargo also applies to packages that depend on this one: the
    // preload library would bear this name, and ldconfig would take it for this one
    println!("cargo::rustc-link-arg=-Wl,-soname,libmpix_neighbor.so.{}", env!("CARGO_PKG_VERSION_MAJOR"));
    #[cfg(feature = "mpi")]
    {
        // the wrapper that mpi-sys uses too
        let mpicc = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
        if let Err(error) = std::process::Command::new(&mpicc).arg("-show").output() {
            println!("cargo::error=MPICC={mpicc} cannot be run ({error}): name the compiler wrapper of an MPI");
            std::process::exit(1);
        }
        cc::Build::new().compiler(mpicc).file("src/mpi/constants.c").compile("mpixn_constants");
    }
}
