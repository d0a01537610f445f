//! Dynamic sparse data exchange: processes know whom they send to, nobody knows who will send to them.

use std::ffi::{c_char, c_int, c_void};
use std::sync::{Arc, Mutex, PoisonError};

use super::args::{self, Entry, Results};
use super::boundary;
use crate::datatype::buffers::{Blocks, Located, Names, RECV, SEND, Shape, length};
use crate::datatype::known::Known;
use crate::datatype::pack::unpack_by_mpi;
use crate::environment;
use crate::error::{Argument, Class, Error, Result};
use crate::logging;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype::{self, Owned as Datatype};
use crate::mpi::message::Block;
use crate::mpi::{self, MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info, comm, device, info};
use crate::select::hints::SparseHints;
use crate::sparse::mailbox::{Arrived, Inbox, Layout, Outgoing, Sends};
use crate::sparse::plan::Plan;
use crate::sparse::{self, Exchange, Form, Shared, Wires};
use crate::topology::neighborhood;

/// What a sparse exchange brought: messages, ordered by source, those of one source as it sent them.
pub struct MPIX_Sparse_result_object {
    /// As they came.
    packed: Inbox,
    /// As elements of the receive type, where that differs.
    typed: Option<Inbox>,
    kind: Kind,
    comm: Arc<Comm>,
    of_plan: bool,
}

/// A result of a sparse exchange. NULL is none.
pub type MPIX_Sparse_result = *mut MPIX_Sparse_result_object;

/// A nonblocking sparse exchange under way.
pub struct MPIX_Sparse_request_object {
    /// Also in the list of what each wait of the process moves forward.
    exchange: Arc<Mutex<Exchange>>,
    wires: Shared,
    kind: Kind,
    /// Keeps the send type alive.
    _sendtype: Option<Datatype>,
    user: MPI_Comm,
}

/// A nonblocking sparse exchange. NULL is none.
pub type MPIX_Sparse_request = *mut MPIX_Sparse_request_object;

/// A sparse exchange whose targets and sizes stay.
pub struct MPIX_Sparse_plan_object {
    plan: Plan,
    result: Box<MPIX_Sparse_result_object>,
    /// Keeps the send type alive, as long as the plan.
    _sendtype: Option<Datatype>,
    wires: Shared,
    user: MPI_Comm,
}

/// A plan of a sparse exchange. NULL is none.
pub type MPIX_Sparse_plan = *mut MPIX_Sparse_plan_object;

/// What `MPIX_Sparse_exchange_each` calls for each message: source, elements of the receive type, their place (valid during the call), and what the
/// caller gave as context. Returns `MPI_SUCCESS`, or anything else not to be called again.
pub type MPIX_Sparse_function =
    Option<unsafe extern "C" fn(source: c_int, count: MPI_Count, data: *const c_void, context: *mut c_void) -> c_int>;

/// A datatype that messages are received as.
struct Kind {
    layout: Layout,
    /// For types that must be unpacked: a handle of our own.
    derived: Option<Datatype>,
}

/// What a call sends, and what it receives it as.
struct Call {
    sends: Sends,
    kind: Kind,
}

/// The send side of a call.
struct Send {
    ntargets: c_int,
    targets: *const c_int,
    buffer: *const c_void,
    counts: Counts,
    datatype: MPI_Datatype,
}

/// Where messages lie in the send buffer.
enum Counts {
    Narrow(*const c_int, *const c_int),
    Wide(*const MPI_Count, *const MPI_Aint),
    Equal(i64),
}

impl Counts {
    /// # Safety
    /// The arrays must be null or valid for `n` entries.
    unsafe fn shape<'a>(&self, n: usize) -> Result<Shape<'a>> {
        unsafe fn vector<'a, C: Entry + 'a, D: Entry + 'a>(counts: *const C, displs: *const D, n: usize) -> Result<Shape<'a>> {
            // SAFETY: the caller vouches for the arrays.
            unsafe {
                let counts = C::ints(args::array(SEND.counts, counts, n)?);
                let displs = D::ints(args::array(SEND.displs, displs, n)?);
                Ok(Shape::Vector { counts, displs })
            }
        }
        // SAFETY: the caller vouches for the arrays.
        unsafe {
            match *self {
                Counts::Narrow(counts, displs) => vector(counts, displs, n),
                Counts::Wide(counts, displs) => vector(counts, displs, n),
                Counts::Equal(count) => Ok(Shape::Equal { count }),
            }
        }
    }
}

/// Names of the arguments where both sides have one type.
const LISTS: (&str, &str) = ("targets", "targets");

/// Extent of a datatype, and whether its elements are sent as they lie; an error if it cannot be used for communication.
///
/// # Safety
/// The handle must be a datatype or null.
unsafe fn examine(names: &'static Names, datatype: MPI_Datatype, known: &Known, comm: &Comm) -> Result<(i64, bool)> {
    let argument = Argument::new(names.datatype);
    if datatype::is_null(datatype) {
        return Err(Error::NullHandle { argument, null: "MPI_DATATYPE_NULL", class: Class::Type }.into());
    }
    // SAFETY: the caller vouches for the handle.
    unsafe {
        if let Some(extent) = known.dense(datatype)? {
            return Ok((extent, true));
        }
        if let Err(e) = datatype::check_committed(datatype, comm) {
            return Err(Error::Datatype { argument, text: e.to_string() }.into());
        }
        Ok((known.extent(datatype)?, false))
    }
}

impl Send {
    unsafe fn read(&self, wires: &Wires) -> Result<Sends> {
        let n = args::length("ntargets", self.ntargets)?;
        if n == 0 {
            return Ok(Sends::default());
        }
        // SAFETY: the caller vouches for arrays and handles.
        unsafe {
            let ranks = args::array("targets", self.targets, n)?;
            let targets = neighborhood::slots(ranks, None, mpi::proc_null(), wires.size(), LISTS)?;
            if mpi::is_in_place(self.buffer) {
                return Err(Error::InPlace { argument: Argument::new(SEND.buffer) }.into());
            }
            let (extent, dense) = examine(&SEND, self.datatype, &wires.send, wires.comm())?;
            let size = if dense { extent } else { datatype::size(self.datatype)? };
            let shape = self.counts.shape(n)?;
            device::look();
            let devices = device::devices();
            let blocks = Blocks { base: self.buffer.cast_mut().cast(), datatype: self.datatype, extent, shape, names: &SEND };
            let mut list = Vec::with_capacity(n);
            for (i, target) in targets.iter().enumerate() {
                let at = blocks.locate(i)?;
                let Some(target) = target.rank else { continue };
                let bytes = length(at.count, size, || blocks.count_argument(i))?;
                if at.at.is_null() && bytes > 0 && dense {
                    return Err(Error::NullBuffer { argument: Argument::new(SEND.buffer), count: at.count }.into());
                }
                let block = Block { at: at.at, count: at.count, datatype: at.datatype };
                let device = devices.as_ref().map_or(Ok(false), |devices| devices.hold_block(&block))?;
                list.push(Outgoing { target, block, bytes: bytes as u64, device });
            }
            Ok(Sends { list, dense })
        }
    }
}

impl Kind {
    /// # Safety
    /// The handle must be a datatype or null.
    unsafe fn of(datatype: MPI_Datatype, wires: &Wires) -> Result<Kind> {
        // SAFETY: the caller vouches for the handle.
        unsafe {
            let (extent, dense) = examine(&RECV, datatype, &wires.recv, wires.comm())?;
            if dense {
                let layout = Layout { size: extent as u64, extent, bounds: (0, extent) };
                return Ok(Kind { layout, derived: None });
            }
            let layout = Layout { size: datatype::size(datatype)? as u64, extent, bounds: datatype::bounds(datatype)? };
            Ok(Kind { layout, derived: Some(Datatype::duplicate(datatype)?) })
        }
    }

    /// Bytes, which are used where nothing is received into a buffer of the caller's.
    fn bytes() -> Kind {
        Kind { layout: Layout { size: 1, extent: 1, bounds: (0, 1) }, derived: None }
    }

    fn check(&self, m: &Arrived) -> Result<u64> {
        let ragged = || Error::Ragged { source_rank: m.source, bytes: m.bytes, size: self.layout.size };
        self.layout.count(m.bytes).ok_or_else(|| ragged().into())
    }

    unsafe fn unpacked(&self, packed: &Inbox, comm: &Comm) -> Result<Option<Inbox>> {
        match &self.derived {
            None => Ok(None),
            // SAFETY: a datatype of our own; the callers have checked the lengths.
            Some(datatype) => unsafe { packed.unpacked(&self.layout, datatype.raw(), comm) }.map(Some),
        }
    }
}

impl MPIX_Sparse_result_object {
    fn new(packed: Inbox, kind: Kind, comm: &Arc<Comm>) -> Result<Self> {
        for m in &packed.messages {
            kind.check(m)?;
        }
        // SAFETY: the lengths have just been checked.
        let typed = unsafe { kind.unpacked(&packed, comm) }?;
        Ok(MPIX_Sparse_result_object { packed, typed, kind, comm: Arc::clone(comm), of_plan: false })
    }

    fn messages(&self) -> &[Arrived] {
        &self.typed.as_ref().unwrap_or(&self.packed).messages
    }

    fn count(&self, m: &Arrived) -> u64 {
        self.kind.layout.count(m.bytes).unwrap_or(0)
    }

    fn elements(&self) -> u64 {
        self.messages().iter().map(|m| self.count(m)).sum()
    }
}

/// Begins an exchange. A process whose arguments are in error takes part with no messages, so that the others do not wait for it, and gets the
/// error when all are through.
unsafe fn begin<T>(
    comm: MPI_Comm,
    info: MPI_Info,
    form: Form,
    read: impl FnOnce(&Wires) -> Result<T>,
    sends: impl FnOnce(&mut T) -> Result<Sends>,
) -> Result<(Exchange, T)> {
    // SAFETY: the caller vouches for `comm` and `info`.
    unsafe {
        let shared = sparse::wires(comm)?;
        logging::unknown_keys(info, comm);
        let (hints, understood) = sparse_hints(info);
        let call = understood.and_then(|()| {
            let mut call = read(&shared.hold())?;
            let sends = sends(&mut call)?;
            Ok((call, sends))
        });
        match call {
            Ok((call, sends)) => Ok((Exchange::start(&shared, hints.as_ref(), sends, form)?, call)),
            Err(e) => {
                Exchange::start(&shared, hints.as_ref(), Sends::default(), form)?.wait()?;
                Err(e)
            }
        }
    }
}

/// The hints of a call, if it has any, and whether all of them have been understood: those that have been hold, so that a process whose hints are in error
/// takes the same protocol as the others.
///
/// # Safety
/// `info` must be an info object or `MPI_INFO_NULL`.
pub unsafe fn sparse_hints(info: MPI_Info) -> (Option<SparseHints>, Result<()>) {
    if info::is_null(info) {
        return (None, Ok(()));
    }
    // SAFETY: the caller vouches for `info`.
    let (hints, understood) = SparseHints::read(|key| unsafe { info::get(info, key) }, environment::variable, environment::text);
    (Some(hints), understood)
}

/// The common part of calls that give a result.
unsafe fn exchange(
    function: &str,
    send: &Send,
    recvtype: MPI_Datatype,
    info: MPI_Info,
    comm: MPI_Comm,
    result: *mut MPIX_Sparse_result,
) -> c_int {
    boundary::call(function, comm, || {
        // SAFETY: the caller vouches for the arguments.
        unsafe {
            let read = |wires: &Wires| {
                let place = Results::one("result", result)?;
                Ok((place, Call { sends: send.read(wires)?, kind: Kind::of(recvtype, wires)? }))
            };
            let (mut exchange, (place, call)) =
                begin(comm, info, Form::Blocking, read, |(_, call)| Ok(std::mem::take(&mut call.sends)))?;
            exchange.wait()?;
            finish(&mut exchange, call.kind, place)
        }
    })
}

/// Makes a result of an exchange that is done.
fn finish(exchange: &mut Exchange, kind: Kind, place: Results<MPIX_Sparse_result>) -> Result<()> {
    let comm = exchange.comm()?;
    let result = MPIX_Sparse_result_object::new(exchange.take(), kind, &comm)?;
    place.write([Box::into_raw(Box::new(result))]);
    Ok(())
}

/// Dynamic sparse data exchange: sends a message to each target, and receives the messages that others send to the caller, of which it needs to
/// know nothing.
///
/// - `ntargets, targets`: to whom: ranks of `comm`, in any order; may repeat (each entry is a message of its own), be the caller's (copied), or be
///   `MPI_PROC_NULL` (nothing is sent). 0: nothing is sent, and the arrays are not looked at.
/// - `sendbuf, sendcounts, senddispls, sendtype`: message i is `sendcounts[i]` elements at `sendbuf + senddispls[i] * extent(sendtype)`; `ntargets`
///   entries each. Messages of no elements arrive too.
/// - `recvtype`: what the receiver takes messages as; the type signature of each message must be that of a whole number of elements.
/// - `info`: hints, or `MPI_INFO_NULL`; equal on all processes, may be freed afterwards. `mpix_sparse` = `auto` (default), `nbx`, `nbx_probe`, `nbx_node`,
///   `pex`, `pcx`, `pcx_library`, `rsx`, `crystal`, `inbox`: the protocol; `mpix_sparse_targets`: about the most messages that a process sends;
///   `mpix_node_size`: as if each so many processes were a node; `mpix_matched_probe` = `true` (default), `false`; `mpix_loggp`: the machine's parameters,
///   a preset or a file. Environment variables of the same names in capitals override them. docs/sparse.md tells what each does.
/// - `comm`: an intracommunicator.
/// - `result`: what has come, ordered by source, and within a source as it was sent; freed by `MPIX_Sparse_free`.
///
/// Collective over `comm`: every process calls it, also one that sends nothing. One exchange on a communicator runs at a time. The first one on a communicator
/// makes a duplicate of it. A process whose arguments are in error takes part with no messages and then gets the error; what is sent to it is
/// lost. Errors: `MPI_ERR_RANK`, `MPI_ERR_COUNT`, `MPI_ERR_ARG`, `MPI_ERR_BUFFER`, `MPI_ERR_TYPE`, `MPI_ERR_COMM`, `MPI_ERR_INFO_VALUE`,
/// `MPI_ERR_TRUNCATE` where a message is no whole number of elements of `recvtype`, and `MPI_ERR_NO_MEM`, after which other processes may wait for ever.
/// Cost: the messages, and what the protocol needs to find their receivers (`nbx`: a synchronous send each and ceil(log2 P) rounds of 4 bytes; the others in
/// docs/sparse.md). Memory: what arrives. Source: Hoefler, Siebert, Lumsdaine, Scalable Communication Protocols for Dynamic Sparse Data Exchange.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_exchange(
    ntargets: c_int,
    targets: *const c_int,
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const c_int,
    sendtype: MPI_Datatype,
    recvtype: MPI_Datatype,
    info: MPI_Info,
    comm: MPI_Comm,
    result: *mut MPIX_Sparse_result,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let counts = Counts::Narrow(sendcounts, senddispls);
        let send = Send { ntargets, targets, buffer: sendbuf, counts, datatype: sendtype };
        exchange("MPIX_Sparse_exchange", &send, recvtype, info, comm, result)
    }
}

/// `MPIX_Sparse_exchange` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_exchange_c(
    ntargets: c_int,
    targets: *const c_int,
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvtype: MPI_Datatype,
    info: MPI_Info,
    comm: MPI_Comm,
    result: *mut MPIX_Sparse_result,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let counts = Counts::Wide(sendcounts, senddispls);
        let send = Send { ntargets, targets, buffer: sendbuf, counts, datatype: sendtype };
        exchange("MPIX_Sparse_exchange_c", &send, recvtype, info, comm, result)
    }
}

/// `MPIX_Sparse_exchange` of messages of one size: message i is `sendcount` elements at `sendbuf + i * sendcount * extent(sendtype)`.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_exchange_block(
    ntargets: c_int,
    targets: *const c_int,
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvtype: MPI_Datatype,
    info: MPI_Info,
    comm: MPI_Comm,
    result: *mut MPIX_Sparse_result,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let counts = Counts::Equal(sendcount.into());
        let send = Send { ntargets, targets, buffer: sendbuf, counts, datatype: sendtype };
        exchange("MPIX_Sparse_exchange_block", &send, recvtype, info, comm, result)
    }
}

/// `MPIX_Sparse_exchange_block` with a large count.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_exchange_block_c(
    ntargets: c_int,
    targets: *const c_int,
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvtype: MPI_Datatype,
    info: MPI_Info,
    comm: MPI_Comm,
    result: *mut MPIX_Sparse_result,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let counts = Counts::Equal(sendcount);
        let send = Send { ntargets, targets, buffer: sendbuf, counts, datatype: sendtype };
        exchange("MPIX_Sparse_exchange_block_c", &send, recvtype, info, comm, result)
    }
}

/// Finds out who has the caller among its targets, without any payload: the messages of the result have no elements.
///
/// All else as for `MPIX_Sparse_exchange`.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_sources(
    ntargets: c_int,
    targets: *const c_int,
    info: MPI_Info,
    comm: MPI_Comm,
    result: *mut MPIX_Sparse_result,
) -> c_int {
    let send = Send { ntargets, targets, buffer: std::ptr::null(), counts: Counts::Equal(0), datatype: datatype::byte() };
    // SAFETY: the caller vouches for the arguments.
    unsafe { exchange("MPIX_Sparse_sources", &send, datatype::byte(), info, comm, result) }
}

/// `MPIX_Sparse_exchange` that calls a function for each message as it arrives, instead of making a result. Messages of one source come in the order
/// in which it sent them; those of different sources in any order.
///
/// - `function`: called on each message, one at a time, in the calling thread; it may call MPI, but no sparse exchange on `comm`.
/// - `context`: handed to it.
///
/// All else as for `MPIX_Sparse_exchange`; also `MPI_ERR_OTHER` where the function returned an error: it is not called again then, and
/// the exchange is brought to its end. Where messages come a long way (`nbx_node`, `crystal`) they come all at once.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said; the function must not jump out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_exchange_each(
    ntargets: c_int,
    targets: *const c_int,
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const c_int,
    sendtype: MPI_Datatype,
    recvtype: MPI_Datatype,
    function: MPIX_Sparse_function,
    context: *mut c_void,
    info: MPI_Info,
    comm: MPI_Comm,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let counts = Counts::Narrow(sendcounts, senddispls);
        let send = Send { ntargets, targets, buffer: sendbuf, counts, datatype: sendtype };
        each("MPIX_Sparse_exchange_each", &send, recvtype, function, context, info, comm)
    }
}

/// `MPIX_Sparse_exchange_each` with large counts.
///
/// # Safety
/// As for `MPIX_Sparse_exchange_each`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_exchange_each_c(
    ntargets: c_int,
    targets: *const c_int,
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvtype: MPI_Datatype,
    function: MPIX_Sparse_function,
    context: *mut c_void,
    info: MPI_Info,
    comm: MPI_Comm,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let counts = Counts::Wide(sendcounts, senddispls);
        let send = Send { ntargets, targets, buffer: sendbuf, counts, datatype: sendtype };
        each("MPIX_Sparse_exchange_each_c", &send, recvtype, function, context, info, comm)
    }
}

unsafe fn each(
    name: &str,
    send: &Send,
    recvtype: MPI_Datatype,
    function: MPIX_Sparse_function,
    context: *mut c_void,
    info: MPI_Info,
    comm: MPI_Comm,
) -> c_int {
    boundary::call(name, comm, || {
        // SAFETY: the caller vouches for the arguments.
        unsafe {
            let read = |wires: &Wires| {
                let function = function.ok_or(Error::NullResult { argument: Argument::new("function") })?;
                Ok((function, Call { sends: send.read(wires)?, kind: Kind::of(recvtype, wires)? }))
            };
            let (mut exchange, (function, call)) =
                begin(comm, info, Form::Blocking, read, |(_, call)| Ok(std::mem::take(&mut call.sends)))?;
            let (private, kind) = (exchange.comm()?, call.kind);
            let mut failed = Ok(());
            let deliver = |m: &Arrived| -> Result<()> {
                let count = kind.check(m)?;
                let typed = kind.unpacked(&Inbox::of(*m), &private)?;
                let at = typed.as_ref().map_or(m.at, |t| t.messages[0].at);
                let code = function(m.source as c_int, count as MPI_Count, at.cast(), context);
                if code == mpi::success() { Ok(()) } else { Err(Error::Callback { code, source_rank: m.source }.into()) }
            };
            exchange.wait_with(|inbox, new| {
                for m in &inbox.messages[new] {
                    if failed.is_ok() {
                        failed = deliver(m);
                    }
                }
            })?;
            failed
        }
    })
}

/// Begins `MPIX_Sparse_exchange` and returns: `MPIX_Sparse_test` and `MPIX_Sparse_wait` bring it to its end.
///
/// - `request`: the exchange. The send buffer must not be written until it is complete; arrays, datatypes and info may be freed at once.
///
/// All else as for `MPIX_Sparse_exchange`; all processes call this form. Local, but for the first exchange on a communicator, and the first one for which a hint
/// asks for `rsx`, `nbx_node` or another `mpix_node_size`: these wait until all processes have begun them (`auto` takes neither protocol before a blocking
/// exchange has). A call whose arguments are in error waits for the end of the exchange. Nothing moves between calls of MPI. The communicator may be freed
/// before the exchange is complete; errors are then reported on `MPI_COMM_WORLD`.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Isparse_exchange(
    ntargets: c_int,
    targets: *const c_int,
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const c_int,
    sendtype: MPI_Datatype,
    recvtype: MPI_Datatype,
    info: MPI_Info,
    comm: MPI_Comm,
    request: *mut MPIX_Sparse_request,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let counts = Counts::Narrow(sendcounts, senddispls);
        let send = Send { ntargets, targets, buffer: sendbuf, counts, datatype: sendtype };
        start("MPIX_Isparse_exchange", &send, recvtype, info, comm, request)
    }
}

/// `MPIX_Isparse_exchange` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Isparse_exchange_c(
    ntargets: c_int,
    targets: *const c_int,
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvtype: MPI_Datatype,
    info: MPI_Info,
    comm: MPI_Comm,
    request: *mut MPIX_Sparse_request,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let counts = Counts::Wide(sendcounts, senddispls);
        let send = Send { ntargets, targets, buffer: sendbuf, counts, datatype: sendtype };
        start("MPIX_Isparse_exchange_c", &send, recvtype, info, comm, request)
    }
}

/// A call whose send type, if it is derived, is a handle of our own.
struct Lasting {
    call: Call,
    sendtype: Option<Datatype>,
}

impl Lasting {
    unsafe fn read(send: &Send, recvtype: MPI_Datatype, wires: &Wires) -> Result<Lasting> {
        // SAFETY: the caller vouches for the arguments.
        unsafe {
            let mut call = Call { sends: send.read(wires)?, kind: Kind::of(recvtype, wires)? };
            let mut sendtype = None;
            if !call.sends.list.is_empty() && !call.sends.dense {
                let own = Datatype::duplicate(send.datatype)?;
                call.sends.list.iter_mut().for_each(|o| o.block.datatype = own.raw());
                sendtype = Some(own);
            }
            Ok(Lasting { call, sendtype })
        }
    }
}

unsafe fn start(
    function: &str,
    send: &Send,
    recvtype: MPI_Datatype,
    info: MPI_Info,
    comm: MPI_Comm,
    request: *mut MPIX_Sparse_request,
) -> c_int {
    boundary::call(function, comm, || {
        // SAFETY: the caller vouches for the arguments.
        unsafe {
            let read = |wires: &Wires| {
                let place = Results::one("request", request)?;
                Ok((place, Lasting::read(send, recvtype, wires)?))
            };
            let (exchange, (place, lasting)) =
                begin(comm, info, Form::Nonblocking, read, |(_, l)| Ok(std::mem::take(&mut l.call.sends)))?;
            let (kind, _sendtype) = (lasting.call.kind, lasting.sendtype);
            let wires = Arc::clone(exchange.wires());
            let outstanding = Arc::clone(&wires.hold().outstanding);
            let exchange = Arc::new(Mutex::new(exchange));
            outstanding.add(Arc::clone(&exchange) as _);
            let request = MPIX_Sparse_request_object { exchange, wires, kind, _sendtype, user: comm };
            place.write([Box::into_raw(Box::new(request))]);
            Ok(())
        }
    })
}

/// Whether a nonblocking sparse exchange is complete; moves it forward, never waits.
///
/// - `request`: the exchange; becomes NULL when it is complete.
/// - `flag`: 1 if it is complete, else 0.
/// - `result`: what has come; written only when it is complete.
///
/// Local. Errors: as for `MPIX_Sparse_exchange`, reported on its communicator; `MPI_ERR_ARG` where a pointer or the request is NULL.
///
/// # Safety
/// The request must be one that is not complete; pointers must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_test(
    request: *mut MPIX_Sparse_request,
    flag: *mut c_int,
    result: *mut MPIX_Sparse_result,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        complete("MPIX_Sparse_test", request, result, |exchange| {
            let flag = Results::one("flag", flag)?;
            let done = exchange.progress()?;
            flag.write([c_int::from(done)]);
            Ok(done)
        })
    }
}

/// Waits until a nonblocking sparse exchange is complete.
///
/// All else as for `MPIX_Sparse_test`.
///
/// # Safety
/// As for `MPIX_Sparse_test`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_wait(request: *mut MPIX_Sparse_request, result: *mut MPIX_Sparse_result) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe { complete("MPIX_Sparse_wait", request, result, |exchange| exchange.wait().map(|()| true)) }
}

/// The communicator whose error handler is told of an error: that of `MPI_COMM_WORLD` where the communicator has been freed.
fn handler_of(wires: &Shared, user: MPI_Comm) -> MPI_Comm {
    if wires.is_orphaned() { comm::world() } else { user }
}

unsafe fn complete(
    function: &str,
    request: *mut MPIX_Sparse_request,
    result: *mut MPIX_Sparse_result,
    progress: impl FnOnce(&mut Exchange) -> Result<bool>,
) -> c_int {
    // SAFETY: the caller vouches for the arguments; the request is a box that `start` made.
    unsafe {
        let live = request.as_mut().and_then(|r| r.as_mut());
        let user = live.as_ref().map_or(comm::world(), |r| handler_of(&r.wires, r.user));
        boundary::call(function, user, || {
            let null = Error::NullHandle { argument: Argument::new("request"), null: "NULL", class: Class::Arg };
            let live = live.ok_or(null)?;
            let place = Results::one("result", result)?;
            let outstanding = Arc::clone(&live.wires.hold().outstanding);
            outstanding.advance();
            let progressed = progress(&mut live.exchange.lock().unwrap_or_else(PoisonError::into_inner));
            // one that has failed goes no further
            if !progressed.inspect_err(|_| outstanding.remove(&live.exchange))? {
                return Ok(());
            }
            let mut done = Box::from_raw(std::ptr::replace(request, std::ptr::null_mut()));
            outstanding.remove(&done.exchange);
            let kind = std::mem::replace(&mut done.kind, Kind::bytes());
            let mut exchange = done.exchange.lock().unwrap_or_else(PoisonError::into_inner);
            finish(&mut exchange, kind, place)
        })
    }
}

/// How many messages, and how many elements of the receive type, a sparse exchange brought.
///
/// - `nmessages`, `nelements`: where these are written.
///
/// Local. Errors: `MPI_ERR_ARG` where a pointer or the result is NULL.
///
/// # Safety
/// The result must not have been freed; pointers must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_get_count(
    result: MPIX_Sparse_result,
    nmessages: *mut c_int,
    nelements: *mut MPI_Count,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        with("MPIX_Sparse_get_count", result, |result| {
            let (messages, elements) = (Results::one("nmessages", nmessages)?, Results::one("nelements", nelements)?);
            messages.write([result.messages().len() as c_int]);
            elements.write([result.elements() as MPI_Count]);
            Ok(())
        })
    }
}

/// One message of a sparse exchange.
///
/// - `index`: which one, from 0. Messages are ordered by source, those of one source as it sent them.
/// - `source`: who sent it.
/// - `count`: elements of the receive type.
/// - `data`: where they lie: in the result's memory, aligned for any type, until the result is freed. The caller may write there.
///
/// Local. Errors: `MPI_ERR_ARG` where a pointer or the result is NULL, or there is no such message.
///
/// # Safety
/// The result must not have been freed; pointers must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_get_message(
    result: MPIX_Sparse_result,
    index: c_int,
    source: *mut c_int,
    count: *mut MPI_Count,
    data: *mut *mut c_void,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        with("MPIX_Sparse_get_message", result, |result| {
            let length = result.messages().len();
            let beyond = || Error::Index { argument: Argument::new("index"), value: index.into(), length };
            let m = usize::try_from(index).ok().and_then(|i| result.messages().get(i)).ok_or_else(beyond)?;
            let (from, elements) = (Results::one("source", source)?, Results::one("count", count)?);
            let place = Results::one("data", data)?;
            from.write([m.source as c_int]);
            elements.write([result.count(m) as MPI_Count]);
            place.write([m.at.cast()]);
            Ok(())
        })
    }
}

/// Sources, counts and displacements of all messages of a sparse exchange, as vector collectives take them.
///
/// - `maxmessages`: entries that the arrays have room for; as many are written at the most.
/// - `sources`, `counts`: as `MPIX_Sparse_get_message` gives them.
/// - `displs`: elements of all messages before this one: where `MPIX_Sparse_copy` puts it.
///
/// Any of the arrays may be NULL if it is not wanted. Local. Errors: `MPI_ERR_ARG`, and `MPI_ERR_COUNT` where a number does not fit in an `int`.
///
/// # Safety
/// The result must not have been freed; the arrays must be writable for as many entries as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_get_messages(
    result: MPIX_Sparse_result,
    maxmessages: c_int,
    sources: *mut c_int,
    counts: *mut c_int,
    displs: *mut c_int,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        with("MPIX_Sparse_get_messages", result, |result| {
            let room = args::length("maxmessages", maxmessages)?;
            let fits = |name, value: u64| {
                let narrow = || Error::Narrow { argument: Argument::new(name), value: value as i64 };
                c_int::try_from(value).map_err(|_| Box::new(narrow()))
            };
            let wide = Table::of(result, room);
            let (mut narrow_counts, mut narrow_displs) = (Vec::new(), Vec::new());
            for (count, displ) in wide.counts.iter().zip(&wide.displs) {
                narrow_counts.push(if counts.is_null() { 0 } else { fits("counts", *count)? });
                narrow_displs.push(if displs.is_null() { 0 } else { fits("displs", *displ)? });
            }
            write_unless_null(sources, wide.sources);
            write_unless_null(counts, narrow_counts);
            write_unless_null(displs, narrow_displs);
            Ok(())
        })
    }
}

/// `MPIX_Sparse_get_messages` with large counts.
///
/// # Safety
/// As for `MPIX_Sparse_get_messages`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_get_messages_c(
    result: MPIX_Sparse_result,
    maxmessages: c_int,
    sources: *mut c_int,
    counts: *mut MPI_Count,
    displs: *mut MPI_Aint,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        with("MPIX_Sparse_get_messages_c", result, |result| {
            let wide = Table::of(result, args::length("maxmessages", maxmessages)?);
            write_unless_null(sources, wide.sources);
            write_unless_null(counts, wide.counts.into_iter().map(|c| c as MPI_Count));
            write_unless_null(displs, wide.displs.into_iter().map(|d| d as MPI_Aint));
            Ok(())
        })
    }
}

/// Sources, counts and displacements of a result's first messages.
struct Table {
    sources: Vec<c_int>,
    counts: Vec<u64>,
    displs: Vec<u64>,
}

impl Table {
    fn of(result: &MPIX_Sparse_result_object, most: usize) -> Table {
        let messages = &result.messages()[..most.min(result.messages().len())];
        let counts: Vec<u64> = messages.iter().map(|m| result.count(m)).collect();
        let displs = counts.iter().scan(0, |at, c| Some(std::mem::replace(at, *at + c))).collect();
        Table { sources: messages.iter().map(|m| m.source as c_int).collect(), counts, displs }
    }
}

unsafe fn write_unless_null<T>(array: *mut T, values: impl IntoIterator<Item = T>) {
    if !array.is_null() {
        for (i, value) in values.into_iter().enumerate() {
            // SAFETY: the caller vouches for as many entries.
            unsafe { array.add(i).write(value) };
        }
    }
}

/// Copies all messages of a sparse exchange into the caller's buffer, one behind the other, in order.
///
/// - `maxcount`: elements of the receive type that the buffer has room for.
/// - `recvbuf`: the buffer. What lies between the elements of a derived type is left alone.
///
/// Local. Errors: `MPI_ERR_ARG`, and `MPI_ERR_TRUNCATE` where `maxcount` is less than `MPIX_Sparse_get_count` says; nothing is written then.
///
/// # Safety
/// The result must not have been freed; the buffer must be writable for the elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_copy(result: MPIX_Sparse_result, maxcount: MPI_Count, recvbuf: *mut c_void) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        with("MPIX_Sparse_copy", result, |result| {
            let needed = result.elements();
            if u64::try_from(maxcount).map_or(true, |room| room < needed) {
                return Err(Error::Room { argument: Argument::new("maxcount"), room: maxcount, needed }.into());
            }
            if needed > 0 && mpi::is_in_place(recvbuf) {
                return Err(Error::InPlace { argument: Argument::new("recvbuf") }.into());
            }
            // an absolute datatype lies at MPI_BOTTOM, which is NULL
            if recvbuf.is_null() && needed > 0 && result.kind.derived.is_none() {
                return Err(Error::NullBuffer { argument: Argument::new("recvbuf"), count: needed as i64 }.into());
            }
            device::look();
            let devices = device::devices();
            let datatype = result.kind.derived.as_ref().map_or(mpi::message::packed(), Datatype::raw);
            let mut at: *mut u8 = recvbuf.cast();
            for m in &result.packed.messages {
                let count = result.count(m);
                match &result.kind.derived {
                    _ if m.bytes == 0 => {}
                    kind if devices.as_ref().map_or(Ok(false), |devices| devices.hold(at, 1, datatype))? => {
                        let elements = if kind.is_some() { count as i64 } else { m.bytes as i64 };
                        unpack_by_mpi(m.at, m.bytes, &Located { at, count: elements, datatype }, true, &result.comm)?;
                    }
                    None => std::ptr::copy_nonoverlapping(m.at, at, m.bytes as usize),
                    Some(datatype) => {
                        let block = Located { at, count: count as i64, datatype: datatype.raw() };
                        unpack_by_mpi(m.at, m.bytes, &block, false, &result.comm)?;
                    }
                }
                at = at.wrapping_offset(count as isize * result.kind.layout.extent as isize);
            }
            Ok(())
        })
    }
}

/// Frees what a sparse exchange brought. `result` becomes NULL; NULL is left alone.
///
/// Local. Errors: `MPI_ERR_ARG` for a result that belongs to a plan.
///
/// # Safety
/// The result must not have been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_free(result: *mut MPIX_Sparse_result) -> c_int {
    boundary::call("MPIX_Sparse_free", comm::world(), || {
        // SAFETY: the caller vouches for the pointer; the result is a box that `finish` made.
        unsafe {
            let place = result.as_mut().ok_or(Error::NullResult { argument: Argument::new("result") })?;
            match place.as_ref() {
                None => {}
                Some(result) if result.of_plan => return Err(Error::OfPlan.into()),
                Some(_) => drop(Box::from_raw(std::mem::replace(place, std::ptr::null_mut()))),
            }
            Ok(())
        }
    })
}

unsafe fn with(function: &str, result: MPIX_Sparse_result, body: impl FnOnce(&MPIX_Sparse_result_object) -> Result<()>) -> c_int {
    boundary::call(function, comm::world(), || {
        let null = Error::NullHandle { argument: Argument::new("result"), null: "NULL", class: Class::Arg };
        // SAFETY: the caller vouches for the result.
        body(unsafe { result.as_ref() }.ok_or(null)?)
    })
}

/// A sparse exchange whose targets and sizes stay while contents change. Runs the exchange once, which finds out who sends to whom; then each run costs
/// the messages alone.
///
/// - `sendbuf`: what it holds at `MPIX_Sparse_plan_start` is sent by the run. Arrays, datatypes and info may be freed at once.
/// - `plan`: the plan; `MPIX_Sparse_plan_result` gives its result, which already holds the first run's messages. Where one process gets an error instead,
///   the plans of those that send to it must not be run.
///
/// All else as for `MPIX_Sparse_exchange`.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_plan_create(
    ntargets: c_int,
    targets: *const c_int,
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    senddispls: *const c_int,
    sendtype: MPI_Datatype,
    recvtype: MPI_Datatype,
    info: MPI_Info,
    comm: MPI_Comm,
    plan: *mut MPIX_Sparse_plan,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let counts = Counts::Narrow(sendcounts, senddispls);
        let send = Send { ntargets, targets, buffer: sendbuf, counts, datatype: sendtype };
        make_plan("MPIX_Sparse_plan_create", &send, recvtype, info, comm, plan)
    }
}

/// `MPIX_Sparse_plan_create` with large counts.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_plan_create_c(
    ntargets: c_int,
    targets: *const c_int,
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    senddispls: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvtype: MPI_Datatype,
    info: MPI_Info,
    comm: MPI_Comm,
    plan: *mut MPIX_Sparse_plan,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let counts = Counts::Wide(sendcounts, senddispls);
        let send = Send { ntargets, targets, buffer: sendbuf, counts, datatype: sendtype };
        make_plan("MPIX_Sparse_plan_create_c", &send, recvtype, info, comm, plan)
    }
}

unsafe fn make_plan(
    function: &str,
    send: &Send,
    recvtype: MPI_Datatype,
    info: MPI_Info,
    comm: MPI_Comm,
    plan: *mut MPIX_Sparse_plan,
) -> c_int {
    boundary::call(function, comm, || {
        // SAFETY: the caller vouches for the arguments; the result's memory lives as long as the plan.
        unsafe {
            // first of all: all processes count their plans, also those whose arguments are in error
            let tag = sparse::wires(comm)?.hold().next_plan();
            let read = |wires: &Wires| {
                let place = Results::one("plan", plan)?;
                Ok((place, Lasting::read(send, recvtype, wires)?))
            };
            let (mut exchange, (place, lasting)) = begin(comm, info, Form::Blocking, read, |(_, l)| {
                Ok(Sends { list: l.call.sends.list.clone(), dense: l.call.sends.dense })
            })?;
            exchange.wait()?;
            let (private, inbox) = (exchange.comm()?, exchange.take());
            let plan = Plan::new(exchange.wires(), lasting.call.sends, &inbox, tag)?;
            let mut result = Box::new(MPIX_Sparse_result_object::new(inbox, lasting.call.kind, &private)?);
            result.of_plan = true;
            place.write([Box::into_raw(Box::new(MPIX_Sparse_plan_object {
                plan,
                result,
                _sendtype: lasting.sendtype,
                wires: Arc::clone(exchange.wires()),
                user: comm,
            }))]);
            Ok(())
        }
    })
}

unsafe fn with_plan(
    function: &str,
    plan: MPIX_Sparse_plan,
    body: impl FnOnce(&mut MPIX_Sparse_plan_object) -> Result<()>,
) -> c_int {
    // SAFETY: the caller vouches for the plan.
    let plan = unsafe { plan.as_mut() };
    let user = plan.as_ref().map_or(comm::world(), |p| handler_of(&p.wires, p.user));
    boundary::call(function, user, || {
        let null = Error::NullHandle { argument: Argument::new("plan"), null: "NULL", class: Class::Arg };
        body(plan.ok_or(null)?)
    })
}

impl MPIX_Sparse_plan_object {
    /// After a run: what has come, as elements of the receive type.
    fn refresh(&mut self) -> Result<()> {
        // SAFETY: the lengths are those of the first run, which have been checked.
        unsafe { self.result.refresh() }
    }
}

impl MPIX_Sparse_result_object {
    unsafe fn refresh(&mut self) -> Result<()> {
        let (Some(datatype), Some(typed)) = (&self.kind.derived, &self.typed) else {
            return Ok(());
        };
        for (from, into) in self.packed.messages.iter().zip(&typed.messages).filter(|(m, _)| m.bytes > 0) {
            let count = self.kind.layout.count(from.bytes).unwrap_or(0) as i64;
            let block = Located { at: into.at, count, datatype: datatype.raw() };
            // SAFETY: the caller vouches for the lengths; there is room for the elements.
            unsafe { unpack_by_mpi(from.at, from.bytes, &block, false, &self.comm) }?;
        }
        Ok(())
    }
}

/// Begins a run of a plan.
///
/// Called by every process that sends or receives messages in the plan. Neither the send buffer nor the result may be touched until the run is complete.
/// Errors: `MPI_ERR_ARG`, and `MPI_ERR_OTHER` where a run is under way already.
///
/// # Safety
/// The plan must not have been freed, and its send buffer be readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_plan_start(plan: MPIX_Sparse_plan) -> c_int {
    // SAFETY: the caller vouches for the plan.
    unsafe { with_plan("MPIX_Sparse_plan_start", plan, |p| p.plan.start()) }
}

/// Whether a run of a plan is complete: its messages are then in the plan's result. Never waits.
///
/// - `flag`: 1 if it is complete, or there is none; else 0.
///
/// Local. Errors: `MPI_ERR_ARG`, and what MPI reports.
///
/// # Safety
/// The plan must not have been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_plan_test(plan: MPIX_Sparse_plan, flag: *mut c_int) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        with_plan("MPIX_Sparse_plan_test", plan, |p| {
            let flag = Results::one("flag", flag)?;
            let before = p.plan.is_active();
            let done = p.plan.test()?;
            if before && done {
                p.refresh()?;
            }
            flag.write([c_int::from(done)]);
            Ok(())
        })
    }
}

/// Waits until a run of a plan is complete: its messages are then in the plan's result.
///
/// Local. Errors: `MPI_ERR_ARG`, and what MPI reports.
///
/// # Safety
/// The plan must not have been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_plan_wait(plan: MPIX_Sparse_plan) -> c_int {
    // SAFETY: the caller vouches for the plan.
    unsafe {
        with_plan("MPIX_Sparse_plan_wait", plan, |p| {
            let before = p.plan.is_active();
            p.plan.wait()?;
            if before { p.refresh() } else { Ok(()) }
        })
    }
}

/// The result of a plan: the same for all runs, whose messages replace one another in place. Freed with the plan.
///
/// Local. Errors: `MPI_ERR_ARG`.
///
/// # Safety
/// The plan must not have been freed; the pointer must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_plan_result(plan: MPIX_Sparse_plan, result: *mut MPIX_Sparse_result) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        with_plan("MPIX_Sparse_plan_result", plan, |p| {
            Results::one("result", result)?.write([&raw mut *p.result]);
            Ok(())
        })
    }
}

/// Frees a plan and its result. `plan` becomes NULL; NULL is left alone.
///
/// Local. Errors: `MPI_ERR_OTHER` where a run is under way (nothing is freed then).
///
/// # Safety
/// The plan must not have been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_plan_free(plan: *mut MPIX_Sparse_plan) -> c_int {
    boundary::call("MPIX_Sparse_plan_free", comm::world(), || {
        // SAFETY: the caller vouches for the pointer; the plan is a box that `make_plan` made.
        unsafe {
            let place = plan.as_mut().ok_or(Error::NullResult { argument: Argument::new("plan") })?;
            match place.as_ref() {
                None => {}
                Some(p) if p.plan.is_active() => return Err(Error::Exchanging.into()),
                Some(_) => drop(Box::from_raw(std::mem::replace(place, std::ptr::null_mut()))),
            }
            Ok(())
        }
    })
}

/// A few lines for a person about the sparse exchanges on a communicator: which protocol served the
/// last one and why, how processes wait, the hints in effect and where they come from.
///
/// - `length`: characters that `string` has room for, the final null included. 0: nothing is written to `string`.
/// - `string`: where the text is written, cut off if it is longer; each line ends with a line feed.
/// - `resultlen`: length of the whole text, without the null.
///
/// Collective over `comm` before the first exchange on it, which it then prepares; local afterwards. Errors: `MPI_ERR_ARG`.
///
/// # Safety
/// `comm` must be a communicator, `string` writable for `length` characters, `resultlen` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_describe(
    comm: MPI_Comm,
    length: c_int,
    string: *mut c_char,
    resultlen: *mut c_int,
) -> c_int {
    boundary::call("MPIX_Sparse_describe", comm, || {
        // SAFETY: the caller vouches for the arguments.
        unsafe {
            let shared = sparse::wires(comm)?;
            let text = shared.hold().describe();
            args::text(&text, length, string, resultlen)
        }
    })
}
