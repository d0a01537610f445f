//! Combines blocks where they lie: in the landing area, or in the buffer of a message. A slot keeps
//! its message until the next call lets its source put.

use super::state::{InState, Round};
use crate::datatype::buffers::Buffers;
use crate::error::Result;
use crate::exec::folding::{ChainEntry, Origin};

impl Round {
    /// Binds what is combined, and the process's own blocks.
    pub(super) fn bind_fold(&mut self, buffers: &Buffers) -> Result<()> {
        let Self { folding, ins, outputs, to_all, self_edges, accepted, known, comm, .. } = self;
        // without sources, the operator is not significant
        let (Some((folding, self_comm)), Some(op)) = (folding, buffers.op) else { return Ok(()) };
        folding.bind(op, &buffers.output, &known[0], comm, self_comm)?;
        folding.bind_own(self_edges, &buffers.input, &mut accepted[0], &known[0], comm)?;
        for recv in ins {
            folding.stage(&mut outputs[recv.blocks.clone()], *to_all);
        }
        Ok(())
    }

    /// Combines every block that is here and whose turn has come. Returns true when no more are to
    /// come.
    pub(super) fn fold(&mut self) -> bool {
        let Some((mut folding, self_comm)) = self.folding.take() else { return true };
        let mut any = true;
        while std::mem::take(&mut any) {
            for position in folding.candidates() {
                if folding.is_done(position) {
                    continue;
                }
                let ChainEntry { origin, offset, .. } = folding.chain[position];
                let data = match origin {
                    Origin::Own(k) => Some(folding.own_data(k)),
                    Origin::Peer(i) => match self.ins[i as usize].state {
                        InState::Landed => Some(self.ins[i as usize].data.wrapping_add(offset)),
                        InState::Done => None,
                        _ => continue,
                    },
                    Origin::Nowhere | Origin::Remote => None,
                };
                any = true;
                let Some(data) = data else {
                    // it will not come
                    folding.skip(position);
                    continue;
                };
                // SAFETY: the caller of `bind` vouches for result and places; the block is here.
                if let Err(e) = unsafe { folding.fold(position, data, &self.known[0], self.loopback()) } {
                    self.note(e);
                }
            }
        }
        let done = folding.is_complete();
        self.folding = Some((folding, self_comm));
        done
    }
}
