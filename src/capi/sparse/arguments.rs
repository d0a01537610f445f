//! Arguments of sparse exchanges: checking them, and starting an exchange with them.

use std::ffi::{c_int, c_void};

use crate::capi::args;
use crate::capi::hints::sparse_hints;
use crate::datatype::buffers::{Blocks, Entry, Names, RECV, SEND, Shape, length};
use crate::datatype::check::refuse_null;
use crate::datatype::known::Known;
use crate::error::{Argument, Error, Result};
use crate::logging;
use crate::mpi::coll::abandon_outcome;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype::Owned as OwnedDatatype;
use crate::mpi::message::Block;
use crate::mpi::{self, Communicator, Datatype, MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info, device, text_of};
use crate::select::hints::SparseHints;
use crate::sparse::messages::{Arrivals, Arrived, Layout, Outgoing, Sends};
use crate::sparse::{self, Exchange, ExchangeContext, Form, SharedContext};
use crate::topology::neighborhood;
use crate::util::cast::to_int;

/// The arguments that every form of an exchange has.
pub struct Arguments {
    /// The messages to be sent.
    pub send: SendSide,
    /// Datatype of received messages.
    pub recvtype: MPI_Datatype,
    /// Hints.
    pub info: MPI_Info,
    /// Whose processes take part.
    pub comm: MPI_Comm,
}

/// How long an exchange uses its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Until the call returns.
    Call,
    /// Until its request is complete.
    Request,
    /// As long as the plan that the call makes.
    Plan,
}

/// Arguments that have been checked.
struct Checked {
    sends: Sends,
    layout: Layout,
    /// The receive type, if messages must be unpacked.
    derived: Option<Datatype>,
}

/// The same with datatypes of the exchange's own.
struct Kept {
    sends: Sends,
    kind: ReceiveType,
    sendtype: Option<OwnedDatatype>,
}

/// An exchange that has been started, and what its call needs of the arguments.
pub struct Started<D> {
    /// The exchange.
    pub exchange: Exchange,
    /// Where its results go.
    pub destination: D,
    /// Datatype of received messages.
    pub kind: ReceiveType,
    /// Keeps the send type alive, where that outlives the call.
    pub sendtype: Option<OwnedDatatype>,
    /// For a plan, what the exchange sends; otherwise nothing.
    pub sends: Sends,
}

impl Arguments {
    /// Starts an exchange on `comm`, the checked communicator, whose results go to `destination`. A
    /// process whose arguments are in error, that one included, takes part with no messages, so
    /// that its peers do not wait for it, and gets the error when the exchange has ended.
    ///
    /// # Safety
    /// The handles must be valid, the arrays as long as said.
    pub unsafe fn start<D>(&self, comm: Communicator, keep: Keep, destination: Result<D>) -> Result<Started<D>> {
        // SAFETY: the caller vouches for handles and arrays.
        unsafe { self.take_part(comm, keep, destination) }?
    }

    /// As `start`. The outer error is that of a process that has not taken part in an exchange to
    /// its end, the inner one that of a process that has.
    ///
    /// # Safety
    /// As for `start`.
    pub unsafe fn take_part<D>(&self, comm: Communicator, keep: Keep, destination: Result<D>) -> Result<Result<Started<D>>> {
        let form = if keep == Keep::Request { Form::Nonblocking } else { Form::Blocking };
        // SAFETY: the caller vouches for handles and arrays.
        unsafe {
            let context = sparse::context(comm)?;
            logging::unknown_keys(self.info, comm);
            let (hints, understood) = sparse_hints(self.info);
            let checked = understood.and(destination).and_then(|d| Ok((d, self.check(&context.hold())?)));
            // the context is free: a duplicate runs callbacks of the caller's
            let kept = checked.and_then(|(d, checked)| Ok((d, checked.keep(keep)?)));
            match kept {
                Ok((destination, Kept { sends, kind, sendtype })) => {
                    let kept = if keep == Keep::Plan { sends.list.clone() } else { Vec::new() };
                    let kept = Sends { list: kept, dense: sends.dense, marks: 0 };
                    match Exchange::start(&context, hints.as_ref(), sends, form) {
                        Ok(exchange) => Ok(Ok(Started { exchange, destination, kind, sendtype, sends: kept })),
                        Err(e) => not_started(&context, hints.as_ref(), keep, e),
                    }
                }
                Err(e) => {
                    let mut exchange = match Exchange::start_empty(&context, hints.as_ref(), form) {
                        Ok(exchange) => exchange,
                        Err(e) => return not_started(&context, hints.as_ref(), keep, e),
                    };
                    // whatever was lost, the error of its arguments is the one to report
                    let _ = wait_to_end(&mut exchange, keep)?;
                    Ok(Err(e))
                }
            }
        }
    }

    /// Checks the arguments.
    ///
    /// # Safety
    /// As for `start`.
    unsafe fn check(&self, context: &ExchangeContext) -> Result<Checked> {
        // SAFETY: the caller vouches for handles and arrays.
        unsafe {
            let sends = self.send.read(context)?;
            let (layout, derived) = receive_type(self.recvtype, context)?;
            Ok(Checked { sends, layout, derived })
        }
    }
}

/// What becomes of a call whose exchange does not start here, which others may run. One that is to
/// make a plan takes part, or they would wait for it in what follows. The errors are those of
/// [`Arguments::take_part`].
#[cold]
fn not_started<T>(context: &SharedContext, hints: Option<&SparseHints>, keep: Keep, error: Box<Error>) -> Result<Result<T>> {
    if keep == Keep::Plan {
        if Exchange::join(context, hints) {
            return Ok(Err(error));
        }
        let context = context.hold();
        // it has started, and stopped
        if context.is_running() && !matches!(*error, Error::Exchanging) {
            abandon_outcome(context.comm())?;
        }
    }
    Err(error)
}

/// Waits for an exchange. The outer error is that of one that has stopped halfway, the inner one
/// that of a message that was lost. The others may never come to the end of one that has stopped,
/// and must not be waited for; who does, and is to make a plan, is told that there is none.
pub fn wait_to_end(exchange: &mut Exchange, keep: Keep) -> Result<Result<()>> {
    let waited = exchange.wait();
    if exchange.has_ended() {
        return Ok(waited);
    }
    let told = if keep == Keep::Plan { abandon_outcome(&exchange.comm()) } else { Ok(()) };
    waited.and(told).map(Ok)
}

impl Checked {
    /// Duplicates the receive type if messages must be unpacked, and a derived send type that is
    /// used after the call.
    fn keep(self, keep: Keep) -> Result<Kept> {
        let Checked { mut sends, layout, derived } = self;
        let kind = ReceiveType { layout, derived: derived.map(OwnedDatatype::duplicate).transpose()? };
        let mut sendtype = None;
        if let (false, Some(first)) = (keep == Keep::Call || sends.dense, sends.list.first()) {
            let own = OwnedDatatype::duplicate(first.block.datatype)?;
            // SAFETY: the duplicate lives as long as the exchange, and a plan that is made of it.
            let lent = unsafe { own.lend() };
            sends.list.iter_mut().for_each(|o| o.block.datatype = lent);
            sendtype = Some(own);
        }
        Ok(Kept { sends, kind, sendtype })
    }
}

/// The send side of a call.
pub struct SendSide {
    /// Number of messages.
    pub ntargets: c_int,
    /// Rank of each one's receiver.
    pub targets: *const c_int,
    /// Where the messages are.
    pub buffer: *const c_void,
    /// Where each one is.
    pub counts: Counts,
    /// Datatype of the elements.
    pub datatype: MPI_Datatype,
}

/// Where messages are in the send buffer.
pub enum Counts {
    /// Counts and displacements.
    Narrow(*const c_int, *const c_int),
    /// The same with large counts.
    Wide(*const MPI_Count, *const MPI_Aint),
    /// One count for all, the messages one after the other.
    Equal(i64),
}

impl Counts {
    /// # Safety
    /// The arrays must be null or valid for `n` entries.
    unsafe fn shape<'a>(&self, n: usize) -> Result<Shape<'a>> {
        unsafe fn vector<'a, C: Entry, D: Entry>(counts: *const C, displs: *const D, n: usize) -> Result<Shape<'a>> {
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

/// Returns the extent of a datatype, and true if its elements are sent as they are in memory. An
/// error if it cannot be used for communication.
fn examine(names: &'static Names, datatype: Datatype, known: &Known, comm: &Comm) -> Result<(i64, bool)> {
    if let Some(extent) = known.dense(datatype)? {
        return Ok((extent, true));
    }
    if let Err(e) = datatype.check_committed(comm.view()) {
        return Err(Error::Datatype { argument: Argument::new(names.datatype), text: text_of(*e) }.into());
    }
    Ok((known.extent(datatype)?, false))
}

impl SendSide {
    /// Checks the arguments and locates each message.
    ///
    /// # Safety
    /// The arrays must be null or as long as said, the datatype a datatype or null.
    unsafe fn read(&self, context: &ExchangeContext) -> Result<Sends> {
        let n = args::length("ntargets", self.ntargets)?;
        if n == 0 {
            return Ok(Sends::default());
        }
        // SAFETY: the caller vouches for arrays and handles.
        unsafe {
            let ranks = args::array("targets", self.targets, n)?;
            let targets = neighborhood::entries(ranks, None, mpi::proc_null(), context.size(), LISTS)?;
            if mpi::is_in_place(self.buffer) {
                return Err(Error::InPlace { argument: Argument::new(SEND.buffer) }.into());
            }
            let datatype = args::datatype(SEND.datatype, self.datatype)?;
            let (extent, dense) = examine(&SEND, datatype, &context.send, context.comm())?;
            let size = if dense { extent } else { datatype.size()? };
            let shape = self.counts.shape(n)?;
            device::look();
            let devices = device::devices();
            let blocks = Blocks { base: self.buffer.cast_mut().cast(), datatype, extent, shape, names: &SEND, field: None };
            let mut list = Vec::with_capacity(n);
            for (i, target) in targets.iter().enumerate() {
                let Some(target) = target.rank else { continue };
                let at = blocks.locate(i)?;
                let bytes = length(at.count, size, || blocks.count_argument(i))?;
                refuse_null(&at, &blocks)?;
                let block = Block { at: at.at, count: at.count, datatype: at.datatype };
                let device = devices.as_ref().map_or(Ok(false), |devices| devices.hold_block(&block))?;
                list.push(Outgoing { target, block, bytes: bytes as u64, device });
            }
            Ok(Sends { list, dense, marks: 0 })
        }
    }
}

/// A datatype that messages are received as.
pub struct ReceiveType {
    /// Sizes of an element.
    pub layout: Layout,
    /// A duplicate of the datatype, if messages must be unpacked.
    pub derived: Option<OwnedDatatype>,
}

/// Checks a datatype that messages are received as; returns it with the layout of its elements if
/// messages must be unpacked.
///
/// # Safety
/// The handle must be a datatype or null.
unsafe fn receive_type(datatype: MPI_Datatype, context: &ExchangeContext) -> Result<(Layout, Option<Datatype>)> {
    // SAFETY: the caller vouches for the handle.
    let datatype = unsafe { args::datatype(RECV.datatype, datatype) }?;
    let (extent, dense) = examine(&RECV, datatype, &context.recv, context.comm())?;
    if dense {
        return Ok((Layout { size: to_int(extent), extent, bounds: (0, extent) }, None));
    }
    // negative if MPI cannot say it: no message is as long
    let size = u64::try_from(datatype.size()?).unwrap_or(u64::MAX);
    Ok((Layout { size, extent, bounds: datatype.bounds()? }, Some(datatype)))
}

impl ReceiveType {
    /// Bytes.
    pub fn bytes() -> ReceiveType {
        ReceiveType { layout: Layout { size: 1, extent: 1, bounds: (0, 1) }, derived: None }
    }

    /// Elements in a message, which must be a whole number of them.
    pub fn check(&self, m: &Arrived) -> Result<u64> {
        let ragged = || Error::Ragged { source_rank: m.source, bytes: m.bytes, size: self.layout.size };
        self.layout.count(m.bytes).ok_or_else(|| ragged().into())
    }

    /// Address of the first element of a message: its own, or if the datatype must be unpacked, in
    /// `room`.
    ///
    /// # Safety
    /// The message must have arrived and been checked.
    pub unsafe fn unpacked(&self, m: &Arrived, room: &mut Arrivals, comm: &Comm) -> Result<*mut u8> {
        let Some(datatype) = &self.derived else { return Ok(m.at) };
        let at = room.spread(&self.layout, m)?;
        // SAFETY: a datatype of our own, for whose elements there is room; the caller vouches for
        // the message.
        unsafe { m.unpack(&self.layout, at, datatype.lend(), comm) }.map(|()| at)
    }
}
