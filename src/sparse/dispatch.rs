//! The protocols behind one type: [`Run`] is whichever protocol carries an exchange, [`Resources`]
//! is what the protocols keep from one exchange to the next.

use super::alltoall::Alltoall;
use super::messages::{Arrivals, Sends};
use super::protocols::{crystal, inbox, nbx, nbx_node, nbx_probe, pcx, pex, rsx};
use super::receive_ring::ReceiveRing;
use super::recursive_halving::Census;
use super::transport::Transport;
use crate::error::Result;
use crate::model::Protocol;

/// Resources that the protocols keep between the exchanges of a communicator.
pub struct Resources {
    /// The receives that NBX and PCX keep posted. `None` once they have been cancelled.
    pub receives: Option<ReceiveRing>,
    /// The alltoall of PEX.
    pub alltoall: Option<Alltoall>,
    /// The census of PCX.
    pub census: Option<Census>,
    /// The window of RSX.
    pub sums: rsx::Sums,
    /// The crystal router.
    pub router: Option<crystal::Router>,
    /// The nodes and the router of NBX between nodes.
    pub nodes: Option<nbx_node::NodeRouter>,
    /// The inboxes, if all processes share memory.
    pub inboxes: Option<inbox::Inboxes>,
}

impl Resources {
    /// Wraps what is created with the context; the rest is created when first used.
    pub fn new(receives: ReceiveRing, inboxes: Option<inbox::Inboxes>) -> Resources {
        Resources {
            receives: Some(receives),
            alltoall: None,
            census: None,
            sums: rsx::Sums::default(),
            router: None,
            nodes: None,
            inboxes,
        }
    }

    /// Returns true if `protocol` would have to create a window or a map of nodes first, which
    /// takes all processes; `node_size` as for [`Run::make`].
    pub fn lacks(&self, protocol: Protocol, node_size: Option<u32>) -> bool {
        match protocol {
            Protocol::Rsx => self.sums.counters().get().is_none(),
            Protocol::NbxNode => node_size.is_none() && !self.nodes.as_ref().is_some_and(nbx_node::NodeRouter::is_real),
            _ => false,
        }
    }

    /// Cancels the receives that are posted in advance.
    pub fn close(&mut self) {
        self.receives = None;
    }

    /// Leaks the buffers in which messages of an unfinished exchange may still be in flight.
    pub fn leak_buffers(&mut self) {
        std::mem::forget((self.census.take(), self.router.take(), self.nodes.take(), self.alltoall.take()));
    }
}

/// A running protocol. Each communicator has at most one at a time.
pub enum Run {
    /// NBX with posted receives.
    Nbx(nbx::Run),
    /// NBX with probes.
    NbxProbe(nbx_probe::Run),
    /// NBX between nodes.
    NbxNode(nbx_node::Run),
    /// Personalized exchange.
    Pex(pex::Run),
    /// Personalized census.
    Pcx(pcx::Run),
    /// Remote summation.
    Rsx(rsx::Run),
    /// The crystal router.
    Crystal(crystal::Run),
    /// Inboxes in shared memory.
    Inbox(inbox::Run),
}

impl Run {
    /// Makes what the first run of a protocol lacks. That takes all processes; `node_size` is the
    /// number of processes per node to assume in place of the real nodes, if a hint gives one.
    pub fn make(protocol: Protocol, node_size: Option<u32>, transport: &mut Transport, resources: &mut Resources) -> Result<()> {
        match protocol {
            Protocol::NbxNode => nbx_node::Run::make(transport, &mut resources.nodes, node_size)?,
            Protocol::Rsx => rsx::Run::make(transport, &resources.sums)?,
            _ => {}
        }
        Ok(())
    }

    /// Posts the receives of a protocol. If that fails, it may be done again.
    pub fn arm(protocol: Protocol, transport: &mut Transport, resources: &mut Resources) -> Result<()> {
        match protocol {
            Protocol::Crystal => crystal::Run::arm(transport, &mut resources.router),
            Protocol::Nbx | Protocol::NbxProbe | Protocol::NbxNode | Protocol::Rsx => transport.barrier.arm(&transport.comm),
            _ => Ok(()),
        }
    }

    /// Starts a protocol whose receives are posted.
    ///
    /// # Safety
    /// The blocks in `sends` must be readable, and must not be written, until the run is done.
    pub unsafe fn start(
        protocol: Protocol,
        transport: &mut Transport,
        resources: &mut Resources,
        sends: &Sends,
        arrivals: &mut Arrivals,
    ) -> Result<Run> {
        let Resources { receives, alltoall, census, sums, router, nodes, inboxes } = resources;
        // SAFETY: the caller vouches for the blocks.
        unsafe {
            Ok(match protocol {
                Protocol::Nbx => {
                    let mine = transport.stats(sends);
                    Run::Nbx(nbx::Run::start(transport, posted(receives), sends, |i| [sends.list[i].target], mine, arrivals)?)
                }
                Protocol::NbxProbe => Run::NbxProbe(nbx_probe::Run::start(transport, sends)?),
                Protocol::NbxNode => Run::NbxNode(nbx_node::Run::start(transport, posted(receives), nodes, sends)?),
                Protocol::Pex => Run::Pex(pex::Run::start(transport, alltoall, sends)?),
                Protocol::Pcx => {
                    Run::Pcx(pcx::Run::start(transport, posted(receives), census, sends, pcx::Method::Own, arrivals)?)
                }
                Protocol::PcxLibrary => {
                    Run::Pcx(pcx::Run::start(transport, posted(receives), census, sends, pcx::Method::Library, arrivals)?)
                }
                Protocol::Rsx => Run::Rsx(rsx::Run::start(transport, sums, sends)?),
                Protocol::Crystal => Run::Crystal(crystal::Run::start(transport, router, sends)?),
                Protocol::Inbox => {
                    let inboxes = inboxes.as_mut().expect("chosen only where there are inboxes");
                    Run::Inbox(inbox::Run::start(transport, inboxes, sends))
                }
            })
        }
    }

    /// Advances the protocol without blocking. Returns true once every message has been sent and
    /// received.
    ///
    /// # Safety
    /// As for `start`; `sends` must be the same.
    #[inline]
    pub unsafe fn progress(
        &mut self,
        transport: &mut Transport,
        resources: &mut Resources,
        sends: &Sends,
        arrivals: &mut Arrivals,
    ) -> Result<bool> {
        let Resources { receives, alltoall, census, sums, router, nodes, .. } = resources;
        // SAFETY: the caller vouches for the blocks.
        unsafe {
            match self {
                Run::Nbx(run) => run.progress(transport, posted(receives), arrivals),
                Run::NbxProbe(run) => run.progress(transport, arrivals),
                Run::NbxNode(run) => run.progress(transport, posted(receives), nodes, arrivals),
                Run::Pex(run) => run.progress(transport, alltoall, arrivals),
                Run::Pcx(run) => run.progress(transport, posted(receives), census, arrivals),
                Run::Rsx(run) => run.progress(transport, sums, arrivals),
                Run::Crystal(run) => run.progress(transport, router, sends, arrivals),
                Run::Inbox(run) => run.progress(transport, arrivals),
            }
        }
    }
}

/// Returns the posted receives, which exist as long as exchanges can run.
#[inline]
fn posted(receives: &mut Option<ReceiveRing>) -> &mut ReceiveRing {
    receives.as_mut().expect("created with the context and cancelled when MPI ends")
}
