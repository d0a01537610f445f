//! Reasons for passing a call on to the MPI.

/// Why a call is not taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The communicator connects two groups.
    Intercommunicator,
    /// The communicator has no topology.
    NoTopology,
    /// `MPI_Comm_idup` made it.
    Idup,
    /// It has a topology, but this library did not see it being made.
    Unseen,
    /// A hint in the environment is invalid.
    Hint,
    /// MPI or the library failed to make the neighborhood, or there are too many.
    NotMade,
    /// A request, while the environment asks for rounds, verification or puts.
    Rounds,
    /// `MPI_IN_PLACE`.
    InPlace,
    /// Other invalid arguments, which the MPI reports.
    Arguments,
    /// An all-to-all call with many blocks.
    Dense,
    /// An all-to-all call on fewer processes than asked for.
    Small,
}

/// Number of reasons.
pub const REASONS: usize = 11;

/// The reasons for a launch's line and for people, in the order of [`Reason`].
pub const TEXTS: [(&str, &str); REASONS] = [
    ("intercommunicator", "on an intercommunicator"),
    ("no_topology", "on a communicator without a topology"),
    ("idup", "on a communicator that MPI_Comm_idup made"),
    ("unseen", "on a communicator that was made past this library (by PMPI_*, or MPI_Comm_idup_with_info)"),
    ("hint", "because of a hint in error"),
    ("not_made", "because the neighborhood could not be made, or there were too many"),
    ("rounds", "requests, as the environment asks for rounds, verification or puts"),
    ("in_place", "with MPI_IN_PLACE"),
    ("arguments", "with arguments in error"),
    ("dense", "with too many blocks to be sparse"),
    ("small", "on fewer processes than MPIX_PRELOAD_ALLTOALLV"),
];
