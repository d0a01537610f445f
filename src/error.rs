//! All errors of the library, and the MPI error class of each.
//!
//! The texts name the argument and its value; the C boundary prepends the function's name. There
//! are no MPI types here: `src/mpi` maps [`Class`] to the MPI library's numbers.

#![forbid(unsafe_code)]

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Result with [`Error`], boxed: moving one of several words would cost more than a small message.
pub type Result<T> = std::result::Result<T, Box<Error>>;

/// Runs `body`; a panic in it becomes [`Error::Internal`].
#[inline(always)]
pub fn catch<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => result,
        Err(panic) => Err(panicked(&*panic)),
    }
}

#[cold]
fn panicked(panic: &(dyn Any + Send)) -> Box<Error> {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    Box::new(Error::Internal(text.unwrap_or_else(|| "panic".into())))
}

/// An argument of a C function, or one entry of an array argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument {
    /// Name in the C prototype.
    pub name: &'static str,
    /// Index of the entry, if the argument is an array.
    pub index: Option<usize>,
}

impl Argument {
    /// A whole argument.
    pub const fn new(name: &'static str) -> Self {
        Argument { name, index: None }
    }

    /// Entry `index` of an array argument.
    pub const fn at(name: &'static str, index: usize) -> Self {
        Argument { name, index: Some(index) }
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(f, "{}[{index}]", self.name),
            None => f.write_str(self.name),
        }
    }
}

/// The MPI error class of an [`Error`]: the standard's classes, and two of our own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// `MPI_ERR_ARG`
    Arg,
    /// `MPI_ERR_BUFFER`
    Buffer,
    /// `MPI_ERR_COMM`
    Comm,
    /// `MPI_ERR_COUNT`
    Count,
    /// `MPI_ERR_GROUP`
    Group,
    /// `MPI_ERR_INFO_VALUE`
    InfoValue,
    /// `MPI_ERR_INTERN`
    Intern,
    /// `MPI_ERR_NO_MEM`
    NoMem,
    /// `MPI_ERR_OP`
    Op,
    /// `MPI_ERR_OTHER`
    Other,
    /// `MPI_ERR_RANK`
    Rank,
    /// `MPI_ERR_REQUEST`
    Request,
    /// `MPI_ERR_RMA_SYNC`
    RmaSync,
    /// `MPI_ERR_TOPOLOGY`
    Topology,
    /// `MPI_ERR_TRUNCATE`
    Truncate,
    /// `MPI_ERR_TYPE`
    Type,
    /// Our own class `MPIX_ERR_MISMATCH`: the processes' arguments of a set call do not match.
    Mismatch,
    /// Our own class `MPIX_ERR_VERIFY`: verification found two ends of an edge that do not match.
    Verify,
}

impl Class {
    /// All classes. Processes send each other a class as its position here.
    pub const ALL: [Class; 18] = [
        Class::Arg,
        Class::Buffer,
        Class::Comm,
        Class::Count,
        Class::Group,
        Class::InfoValue,
        Class::Intern,
        Class::NoMem,
        Class::Op,
        Class::Other,
        Class::Rank,
        Class::Request,
        Class::RmaSync,
        Class::Topology,
        Class::Truncate,
        Class::Type,
        Class::Mismatch,
        Class::Verify,
    ];
}

/// An error of the library.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A negative count.
    #[error("{argument} = {value} is negative")]
    NegativeCount {
        /// Which count.
        argument: Argument,
        /// Its value.
        value: i64,
    },
    /// A negative degree, weight or length.
    #[error("{argument} = {value} is negative")]
    Negative {
        /// The argument.
        argument: Argument,
        /// Its value.
        value: i64,
    },
    /// A rank outside the communicator.
    #[error("{argument} = {value} is not a rank of this communicator of {size} processes, nor MPI_PROC_NULL")]
    Rank {
        /// Which entry.
        argument: Argument,
        /// Its value.
        value: i64,
        /// Size of the communicator.
        size: u32,
    },
    /// A process of a group that is not in the communicator.
    #[error("process {index} of {argument} is not in the communicator")]
    NotInCommunicator {
        /// Which group.
        argument: Argument,
        /// Rank within the group.
        index: usize,
    },
    /// A null handle.
    #[error("{argument} is {null}")]
    NullHandle {
        /// Which handle.
        argument: Argument,
        /// The name of the null handle.
        null: &'static str,
        /// Class of that kind of handle.
        class: Class,
    },
    /// A null array where entries are needed.
    #[error("{argument} is NULL, but {length} entries are needed")]
    NullArray {
        /// Which array.
        argument: Argument,
        /// Entries needed.
        length: usize,
    },
    /// A null array of weights. `MPI_UNWEIGHTED` stands for no weights.
    #[error("{argument} is NULL or MPI_WEIGHTS_EMPTY, but {length} entries are needed, or MPI_UNWEIGHTED for none")]
    NullWeights {
        /// Which array.
        argument: Argument,
        /// Entries needed.
        length: usize,
    },
    /// A null pointer where one thing is expected, or a place for it.
    #[error("{argument} is NULL")]
    NullPointer {
        /// The argument.
        argument: Argument,
    },
    /// `MPI_IN_PLACE`. The Fortran module also passes it for arguments that it cannot pass.
    #[error("{argument} is MPI_IN_PLACE, or a Fortran array with gaps that cannot be copied; neither is possible here")]
    InPlace {
        /// Which buffer.
        argument: Argument,
    },
    /// A null buffer with elements in it.
    #[error("{argument} is NULL, but a block of {count} elements lies there")]
    NullBuffer {
        /// Which buffer.
        argument: Argument,
        /// Elements.
        count: i64,
    },
    /// A block in device memory that the library would have to access.
    #[error("{argument} has block {entry} in device memory, and {why}")]
    Device {
        /// Which buffer.
        argument: Argument,
        /// Which block.
        entry: usize,
        /// Why the library would access it, and what helps.
        why: String,
    },
    /// A datatype that MPI rejects for communication: not committed, or not a datatype.
    #[error("{argument} cannot be used for communication: {text}")]
    Datatype {
        /// Which datatype.
        argument: Argument,
        /// The MPI library's text.
        text: String,
    },
    /// An operator that does not work on the datatype.
    #[error("op does not work on {argument}: {text}")]
    Operator {
        /// Which datatype.
        argument: Argument,
        /// The MPI library's text.
        text: String,
    },
    /// A block that is too large to address.
    #[error("{argument}: {count} elements of extent {extent} bytes exceed the address range")]
    TooLarge {
        /// Which count.
        argument: Argument,
        /// Elements.
        count: i64,
        /// Bytes from one element to the next.
        extent: i64,
    },
    /// A set of operations that is empty or has unknown members.
    #[error(
        "{argument} = {value} is not {wanted} of MPIX_NEIGHBOR_GATHER, MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_REDUCE, MPIX_NEIGHBOR_ACCUMULATE"
    )]
    Operations {
        /// The argument.
        argument: Argument,
        /// Its value.
        value: i64,
        /// "one", or "a combination".
        wanted: &'static str,
    },
    /// Not one of our own classes.
    #[error("{argument} = {value} is neither MPIX_ERR_MISMATCH nor MPIX_ERR_VERIFY")]
    UnknownClass {
        /// The argument.
        argument: Argument,
        /// Its value.
        value: i64,
    },
    /// No neighborhood on the communicator for this operation.
    #[error("the communicator has no neighborhood for {operation} (MPIX_Neighborhood_set makes one)")]
    NoNeighborhood {
        /// Name of the operation's constant.
        operation: &'static str,
    },
    /// No MPI topology on the communicator.
    #[error("the communicator has no Cartesian, graph or distributed graph topology")]
    NoTopology,
    /// An intercommunicator.
    #[error("comm is an intercommunicator; this function takes an intracommunicator")]
    Intercommunicator,
    /// An intercommunicator.
    #[error("comm is an intercommunicator; sparse exchanges are for intracommunicators")]
    SparseIntercommunicator,
    /// An invalid value of a hint.
    #[error("{origin} {key} = \"{value}\" is not one of {allowed}")]
    HintValue {
        /// "info key" or "environment variable".
        origin: &'static str,
        /// Key.
        key: String,
        /// Value.
        value: String,
        /// The allowed values.
        allowed: String,
    },
    /// A file that does not hold valid machine parameters.
    #[error("{origin} is no file of LogGP parameters: {reason}")]
    LoggpFile {
        /// The setting that names it, and its name.
        origin: String,
        /// Why not.
        reason: String,
    },
    /// A file of machine parameters that cannot be read.
    #[error("{origin} cannot be read: {reason}")]
    LoggpUnread {
        /// The setting that names it, and its name.
        origin: String,
        /// The system's text, or the kind of file.
        reason: String,
    },
    /// An invalid machine parameter.
    #[error("{argument} = {value} is not {wanted}")]
    Parameter {
        /// Which member of which argument.
        argument: String,
        /// Its value.
        value: String,
        /// The values that are valid.
        wanted: &'static str,
    },
    /// A measurement on a communicator of one process.
    #[error("comm has one process, and measuring takes two")]
    Alone,
    /// A schedule that does not work for the neighborhood.
    #[error("schedule {schedule} cannot be used: {reason}")]
    Schedule {
        /// Its name.
        schedule: &'static str,
        /// Why not.
        reason: String,
    },
    /// Source and target lists of two processes that do not match.
    #[error("{text}")]
    Lists {
        /// Which processes, and how often each lists the other.
        text: String,
    },
    /// An argument that must be equal on all processes and is not.
    #[error("{what} is not the same on all processes")]
    Disagreement {
        /// The argument.
        what: std::borrow::Cow<'static, str>,
    },
    /// An error in the arguments of another process.
    #[error("process {rank}: {text}")]
    Remote {
        /// Where.
        rank: u32,
        /// Class there.
        class: Class,
        /// Its text.
        text: String,
    },
    /// A self edge whose two ends describe different amounts of data.
    #[error(
        "the block to target {target} has {sent} bytes, but source {source_entry}, which is this process too, expects {expected} bytes"
    )]
    SelfEdge {
        /// Index in the target list.
        target: usize,
        /// Bytes in it.
        sent: i128,
        /// Index in the source list.
        source_entry: usize,
        /// Bytes expected.
        expected: i128,
    },
    /// Data from another process that is not as long as expected.
    #[error("process {rank} sends {sent} bytes for the source entries {entries:?}, but {expected} bytes are expected")]
    Length {
        /// Which process.
        rank: u32,
        /// Its indices in the source list.
        entries: Vec<u32>,
        /// Bytes sent.
        sent: u64,
        /// Bytes expected.
        expected: u64,
    },
    /// A process that has ended before it sent or received all it had to.
    #[error("process {rank} has ended, or has freed its communicator, before it has taken part in this collective")]
    Gone {
        /// Which process.
        rank: u32,
    },
    /// A forwarded block that is longer than its place.
    #[error("source {source_entry} sends {sent} bytes, but this process expects {expected} bytes")]
    Truncated {
        /// Index in the source list.
        source_entry: usize,
        /// Bytes sent.
        sent: usize,
        /// Bytes expected.
        expected: usize,
    },
    /// Differences that verification found.
    #[error("{0}")]
    Verification(String),
    /// The program runs under another MPI than the one that the library was built for.
    #[error("built for {built}, but running under {running}: link the library that was built for this MPI")]
    WrongMpi {
        /// At build time.
        built: String,
        /// Now.
        running: String,
    },
    /// A collective on this neighborhood is still running.
    #[error("a collective on this neighborhood is still running")]
    Busy,
    /// A request that has been active for too many collectives.
    #[error("a request of this operation is still under way that was started {limit} collectives, or 64 set calls, before")]
    TooManyStarted {
        /// How many collectives may start while a request is active.
        limit: u32,
    },
    /// A process that has not called `MPI_Init`, or has called `MPI_Finalize`.
    #[error("MPI is not initialized by MPI_Init, which this library needs also where communicators come from sessions")]
    NoWorld,
    /// A collective of more fields than there are tags.
    #[error("nfields is {fields}, but {what} take at most {limit}")]
    TooManyFields {
        /// As given.
        fields: usize,
        /// The calls that have that limit.
        what: &'static str,
        /// The most.
        limit: usize,
    },
    /// Another start of a request whose start failed half-way.
    #[error("an earlier start failed while its messages were posted, and MPI may still send some of them: make the request anew")]
    Lost,
    /// A call after one that could not keep messages matched.
    #[error(
        "an earlier call could not post its message to or from process {rank}, so that later ones would be taken for it: free the communicator's neighborhoods and set them again"
    )]
    Unmatched {
        /// Which process.
        rank: u32,
    },
    /// A block that another process could not pack or send.
    #[error("process {rank} could not pack or send its block for this process")]
    Unpacked {
        /// Which process.
        rank: u32,
    },
    /// A forwarded block that some process on its way could not pack or keep.
    #[error("the block of source {source_entry} was lost: a process on its way could not pack it")]
    LostBlock {
        /// Index in the source list.
        source_entry: usize,
    },
    /// No tags are left for what has its own.
    #[error("this MPI has no tags left for a request that matches alone (mpix_match=plan), or for a sparse plan")]
    NoTags,
    /// A request that is active and must not be.
    #[error("{argument} is active: it must be completed first")]
    Active {
        /// Which request.
        argument: Argument,
    },
    /// A request that cannot be started again.
    #[error("{argument} is not persistent")]
    NotPersistent {
        /// Which request.
        argument: Argument,
    },
    /// A persistent request whose neighborhood no longer exists.
    #[error("the neighborhood of {argument} has been freed, or set again, since the request was made")]
    Stale {
        /// Which request.
        argument: Argument,
    },
    /// A request whose communicator no longer exists.
    #[error("the communicator of {argument} has been freed")]
    FreedCommunicator {
        /// Which request.
        argument: Argument,
    },
    /// A value that is not an index of the source list.
    #[error("{argument} = {value} is no index of the source list, which has {indegree} entries")]
    Source {
        /// The argument.
        argument: Argument,
        /// Its value.
        value: i64,
        /// Entries of the list.
        indegree: usize,
    },
    /// A sparse exchange on this communicator is still running.
    #[error("a sparse exchange on this communicator is still running")]
    Exchanging,
    /// A message that is not a whole number of elements.
    #[error(
        "the message of {bytes} bytes from process {source_rank} is no whole number of elements of recvtype, which have {size} bytes"
    )]
    Ragged {
        /// Its sender.
        source_rank: u32,
        /// Its length.
        bytes: u64,
        /// Bytes of an element.
        size: u64,
    },
    /// A count or displacement that does not fit in the caller's integers.
    #[error("{value} does not fit in the int of {argument}: the function of the same name with _c behind it takes it")]
    Narrow {
        /// The argument.
        argument: Argument,
        /// The value.
        value: i64,
    },
    /// A number of messages or neighbors that no `int` holds.
    #[error("{argument} would be {value}, which does not fit in an int")]
    BeyondInt {
        /// The argument.
        argument: Argument,
        /// The value.
        value: usize,
    },
    /// An index beyond the end of the messages.
    #[error("{argument} = {value} is no index of the messages, of which there are {length}")]
    Index {
        /// The argument.
        argument: Argument,
        /// Its value.
        value: i64,
        /// Messages.
        length: usize,
    },
    /// A buffer that is too small.
    #[error("{argument} = {room} elements are too few: {needed} have come")]
    Room {
        /// The argument.
        argument: Argument,
        /// Its value.
        room: i64,
        /// The room needed.
        needed: u64,
    },
    /// The caller's function returned an error.
    #[error("the function that was given returned {code} for the message from process {source_rank}")]
    Callback {
        /// Its return code.
        code: i32,
        /// The sender of the message.
        source_rank: u32,
    },
    /// An index outside a process's part of a window.
    #[error("{argument} = {value} is outside the {count} elements of process {target} in the window")]
    WindowIndex {
        /// Which index.
        argument: Argument,
        /// Its value.
        value: i64,
        /// The process.
        target: u32,
        /// Its elements.
        count: u64,
    },
    /// An operator that a window does not know.
    #[error("{argument} is a user-defined operator that has not been added to the window (MPIX_Sparse_window_add_operator)")]
    UnknownOperator {
        /// The argument.
        argument: Argument,
    },
    /// An operator that every window knows.
    #[error("op is a predefined operator, which every window knows")]
    PredefinedOperator,
    /// More operators than a window takes.
    #[error("the window already has {most} user-defined operators, the maximum")]
    TooManyOperators {
        /// The most.
        most: usize,
    },
    /// A window that is used by an operator's function, from a call that applies the operator to
    /// its elements, or while its fence is under way.
    #[error(
        "the window is in use: an operator must not use the window that it is applied to, and nothing may use one until its MPIX_Sparse_window_fence has returned"
    )]
    WindowInUse,
    /// A window that has been freed.
    #[error("{argument} has been freed")]
    FreedWindow {
        /// Which window.
        argument: Argument,
    },
    /// A result that belongs to a plan.
    #[error("the result belongs to a plan and is freed with it")]
    OfPlan,
    /// The MPI library reported an error.
    #[error("{call} failed: {text}")]
    Mpi {
        /// Which function.
        call: &'static str,
        /// Its return code.
        code: i32,
        /// The text of the code.
        text: String,
    },
    /// No memory for a temporary buffer.
    #[error("no memory for a temporary buffer of {bytes} bytes")]
    NoMemory {
        /// Its size.
        bytes: usize,
    },
    /// A panic, caught at the boundary.
    #[error("internal error: {0}")]
    Internal(String),
}

impl Error {
    /// The MPI error class that a caller sees. `None`: that of the MPI code inside.
    pub fn class(&self) -> Option<Class> {
        Some(match self {
            Error::NegativeCount { .. } | Error::TooLarge { .. } | Error::Narrow { .. } | Error::BeyondInt { .. } => Class::Count,
            Error::Negative { .. }
            | Error::NullArray { .. }
            | Error::NullWeights { .. }
            | Error::NullPointer { .. }
            | Error::Operations { .. }
            | Error::UnknownClass { .. }
            | Error::Index { .. }
            | Error::Source { .. }
            | Error::OfPlan
            | Error::WindowIndex { .. }
            | Error::FreedWindow { .. }
            | Error::TooManyOperators { .. }
            | Error::Parameter { .. }
            | Error::TooManyFields { .. }
            | Error::Schedule { .. } => Class::Arg,
            Error::Rank { .. } => Class::Rank,
            Error::NotInCommunicator { .. } => Class::Group,
            Error::NullHandle { class, .. } | Error::Remote { class, .. } => *class,
            Error::InPlace { .. } | Error::NullBuffer { .. } | Error::Device { .. } => Class::Buffer,
            Error::Datatype { .. } => Class::Type,
            Error::Operator { .. } | Error::UnknownOperator { .. } | Error::PredefinedOperator => Class::Op,
            Error::WindowInUse => Class::RmaSync,
            Error::NoNeighborhood { .. } | Error::NoTopology => Class::Topology,
            Error::Intercommunicator | Error::SparseIntercommunicator | Error::Alone => Class::Comm,
            Error::FreedCommunicator { .. } | Error::NoWorld => Class::Comm,
            Error::Active { .. }
            | Error::NotPersistent { .. }
            | Error::Stale { .. }
            | Error::Lost
            | Error::TooManyStarted { .. } => Class::Request,
            Error::HintValue { .. } | Error::LoggpFile { .. } | Error::LoggpUnread { .. } => Class::InfoValue,
            Error::Lists { .. } | Error::Disagreement { .. } => Class::Mismatch,
            Error::SelfEdge { .. }
            | Error::Truncated { .. }
            | Error::Length { .. }
            | Error::Ragged { .. }
            | Error::Room { .. } => Class::Truncate,
            Error::Verification(_) => Class::Verify,
            Error::WrongMpi { .. }
            | Error::Gone { .. }
            | Error::Unmatched { .. }
            | Error::Unpacked { .. }
            | Error::LostBlock { .. }
            | Error::NoTags
            | Error::Busy
            | Error::Exchanging
            | Error::Callback { .. } => Class::Other,
            Error::Mpi { .. } => return None,
            Error::NoMemory { .. } => Class::NoMem,
            Error::Internal(_) => Class::Intern,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_name_argument_and_value() {
        let e = Error::NegativeCount { argument: Argument::at("recvcounts", 3), value: -1 };
        assert_eq!(e.to_string(), "recvcounts[3] = -1 is negative");
        assert_eq!(e.class(), Some(Class::Count));
        let e = Error::Rank { argument: Argument::at("targets", 0), value: 9, size: 4 };
        assert!(e.to_string().starts_with("targets[0] = 9 is not a rank"));
    }

    #[test]
    fn panics_become_errors() {
        for (body, text) in [
            ((|| panic!("plain")) as fn() -> Result<()>, "internal error: plain"),
            (|| panic!("number {}", 7), "internal error: number 7"),
            (|| std::panic::panic_any(7), "internal error: panic"),
        ] {
            let e = catch(body).unwrap_err();
            assert_eq!(e.to_string(), text);
            assert_eq!(e.class(), Some(Class::Intern));
        }
        assert_eq!(catch(|| Ok(())), Ok(()));
    }

    #[test]
    fn each_class_has_one_number() {
        for (i, a) in Class::ALL.iter().enumerate() {
            assert_eq!(Class::ALL.iter().position(|b| a == b), Some(i));
        }
    }
}
