//! Hooks at the start and the end of MPI.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::Ordering;

use mpix_neighbor::util::cast::to_int;
use mpix_neighbor::util::say::say;

use mpi_sys::{MPI_Comm, MPI_Op};

use crate::interpose::interpose;
use crate::{counters, ending, guard, report, settings, state};

/// Reports before MPI ends, and leaves all communicators to it.
pub fn before() {
    if settings::get().counts {
        finish();
    }
    guard::FINALIZING.store(true, Ordering::Release);
}

/// Collects the numbers of all processes, and prints them on process 0 of `MPI_COMM_WORLD`.
/// Collective.
fn finish() {
    let _inside = guard::enter();
    ending::prepare();
    if settings::get().report {
        state::describe_all();
    }
    let mine = counters::snapshot();
    // SAFETY: MPI is not finalized yet; constants of mpi-sys' C file.
    let (sum, most, rank, processes) = unsafe {
        let world = mpi_sys::RSMPI_COMM_WORLD;
        let (mut rank, mut size) = (0, 0);
        mpi_sys::MPI_Comm_rank(world, &mut rank);
        mpi_sys::MPI_Comm_size(world, &mut size);
        (reduce(&mine, mpi_sys::RSMPI_SUM, world), reduce(&mine, mpi_sys::RSMPI_MAX, world), rank, size)
    };
    // not before the reductions: a launcher may end a process that waits in them
    if !ending::finishing() || rank != 0 {
        return;
    }
    if settings::get().report {
        let mut text = String::new();
        // writing to a string does not fail
        let _ = report::write(&mut text, &sum, &most, &report::Scope::Launch { processes });
        let _ = report::write_schedules(&mut text);
        say(&text);
    }
    ending::add_line(&sum, processes);
}

unsafe fn reduce(mine: &[u64], op: MPI_Op, comm: MPI_Comm) -> Vec<u64> {
    let mut result = vec![0u64; mine.len()];
    let (from, into) = (mine.as_ptr().cast::<c_void>(), result.as_mut_ptr().cast::<c_void>());
    // SAFETY: both have as many elements; the caller vouches for operator and communicator; a
    // constant of mpi-sys' C file.
    unsafe { mpi_sys::MPI_Reduce(from, into, to_int::<c_int>(mine.len()), mpi_sys::RSMPI_UINT64_T, op, 0, comm) };
    result
}

interpose! {
    fn MPI_Finalize() |native| {
        before();
        native()
    }

    fn MPI_Abort(comm: MPI_Comm, errorcode: c_int) |native| {
        ending::aborting();
        native()
    }

    fn MPI_Init(argc: *mut c_int, argv: *mut *mut *mut c_char) |native| {
        let code = native();
        ending::prepare();
        code
    }

    fn MPI_Init_thread(argc: *mut c_int, argv: *mut *mut *mut c_char, required: c_int, provided: *mut c_int) |native| {
        let code = native();
        ending::prepare();
        code
    }
}
