//! Blocks that travel in parts, and that only MPI can pack: it knows whole elements alone, while
//! parts are cut at any bytes. Such a block is packed whole before the first round, and unpacked
//! after the last of its parts has come; its parts are put from there, or taken to there. The
//! parts of all other blocks are packed and unpacked where they lie.
//!
//! Cost: memory for all such blocks of a call together, and one copy more for each byte.

use std::collections::HashMap;

use super::state::Round;
use crate::datatype::buffers::{Buffers, enlarge};
use crate::datatype::pack::Loopback;
use crate::error::{Error, Result};
use crate::exec::blocks::MessageBlock;
use crate::mpi::device::Devices;
use crate::util::memory::LINE;

/// A block that travels in parts.
struct Cut {
    whole: MessageBlock,
    is_sent: bool,
    /// The round of each part, and its position among the blocks there.
    parts: Vec<(usize, usize)>,
    /// Where it begins in the buffer, if only MPI can pack it.
    place: Option<usize>,
    /// True if it has been unpacked, or no call is to receive it.
    is_done: bool,
}

/// All blocks that travel in parts.
#[derive(Default)]
pub(super) struct Cuts {
    cuts: Vec<Cut>,
    /// Positions of those that are received, in the order of their sources, and of the rounds in
    /// which their last parts come.
    by_source: Vec<(usize, usize)>,
    by_round: Vec<(usize, usize)>,
    buffer: Vec<u8>,
}

/// The blocks that a round sends, or those that it receives.
fn blocks(round: &mut Round, is_sent: bool) -> &mut [MessageBlock] {
    if is_sent { &mut round.inputs } else { &mut round.outputs }
}

impl Cuts {
    /// Finds the blocks of which rounds move parts.
    pub(super) fn of(rounds: &[Round]) -> Cuts {
        let mut cuts: Vec<Cut> = Vec::new();
        let mut known: HashMap<(bool, u32, u32), usize> = HashMap::new();
        for (r, round) in rounds.iter().enumerate() {
            for (is_sent, blocks) in [(true, &round.inputs), (false, &round.outputs)] {
                for (position, block) in blocks.iter().enumerate().filter(|(_, block)| block.is_part()) {
                    let index = *known.entry((is_sent, block.field, block.entry)).or_insert(cuts.len());
                    if index == cuts.len() {
                        let whole = MessageBlock::new(block.field as usize, block.entry);
                        cuts.push(Cut { whole, is_sent, parts: Vec::new(), place: None, is_done: true });
                    }
                    cuts[index].parts.push((r, position));
                }
            }
        }
        let received = || cuts.iter().enumerate().filter(|(_, cut)| !cut.is_sent);
        let mut by_source: Vec<_> = received().map(|(at, cut)| (cut.whole.entry as usize, at)).collect();
        let mut by_round: Vec<_> = received().filter_map(|(at, cut)| Some((cut.parts.last()?.0, at))).collect();
        by_source.sort_unstable();
        by_round.sort_unstable();
        Cuts { cuts, by_source, by_round, buffer: Vec::new() }
    }

    /// Gives places to the parts of blocks that only MPI can pack. The rounds' blocks have been
    /// bound, and handed over to MPI if they lie on `devices`.
    pub(super) fn bind(&mut self, rounds: &mut [Round], fields: &[Buffers], devices: Option<&Devices>) -> Result<()> {
        let mut end = 0usize;
        for cut in &mut self.cuts {
            let (r, position) = cut.parts[0];
            (cut.place, cut.is_done) = (None, true);
            if !blocks(&mut rounds[r], cut.is_sent)[position].needs_place() {
                continue;
            }
            let (field, round) = (cut.whole.field as usize, &rounds[r]);
            let side = if cut.is_sent { &fields[field].input } else { &fields[field].output };
            let known = &round.known[field];
            let freed = known.freed()?;
            cut.whole.bind(side, known, freed, &round.comm)?;
            if let Some(devices) = devices {
                cut.whole.find_device(devices, side, known, freed, &round.comm)?;
            }
            cut.place = Some(end);
            let bytes = cut.whole.bytes;
            end = (end.checked_add(bytes))
                .and_then(|end| end.checked_next_multiple_of(LINE))
                .filter(|&end| isize::try_from(end).is_ok())
                .ok_or(Error::NoMemory { bytes })?;
        }
        enlarge(&mut self.buffer, end)?;
        let begin = self.buffer.as_mut_ptr();
        for cut in &self.cuts {
            let Some(place) = cut.place else { continue };
            for &(r, position) in &cut.parts {
                blocks(&mut rounds[r], cut.is_sent)[position].place(begin.wrapping_add(place), cut.whole.bytes);
            }
        }
        Ok(())
    }

    /// Forgets which datatypes MPI has accepted.
    pub(super) fn forget_datatypes(&mut self) {
        self.cuts.iter_mut().for_each(|cut| cut.whole.forget());
    }

    /// Packs what is sent. Where that fails, the rounds know that the parts are lost.
    pub(super) fn start(&mut self, rounds: &mut [Round], tag: i32) -> Result<()> {
        let (mut done, Self { cuts, buffer, .. }) = (Ok(()), self);
        rounds.iter_mut().for_each(|round| round.lost.clear());
        for cut in cuts {
            cut.is_done = false;
            let (Some(place), true) = (cut.place, cut.is_sent) else { continue };
            let (me, comm) = (rounds[0].me, &rounds[0].comm);
            // SAFETY: the caller of `bind` vouches for the block; the buffer has room for it.
            let packed = unsafe { cut.whole.pack(buffer[place..].as_mut_ptr(), Loopback { me, tag, comm }) };
            if packed.is_err() {
                cut.parts.iter().for_each(|&(r, position)| rounds[r].lost.push(position));
            }
            done = done.and(packed);
        }
        done
    }

    /// Unpacks the blocks whose last parts have come with round `r`.
    pub(super) fn unpack_round(&mut self, rounds: &[Round], r: usize) -> Result<()> {
        unpack(&mut self.cuts, &self.buffer, rounds, values_of(&self.by_round, r))
    }

    /// Unpacks the block from a source, all parts of which are here.
    pub(super) fn unpack_source(&mut self, rounds: &[Round], source: usize) -> Result<()> {
        unpack(&mut self.cuts, &self.buffer, rounds, values_of(&self.by_source, source))
    }

    /// Leaks the buffer, which MPI may still access.
    #[cold]
    pub(super) fn lose(&mut self) {
        std::mem::forget(std::mem::take(&mut self.buffer));
    }
}

/// The values of a key in a sorted list of keys and values.
pub(super) fn values_of(sorted: &[(usize, usize)], key: usize) -> impl Iterator<Item = usize> {
    let begin = sorted.partition_point(|pair| pair.0 < key);
    sorted[begin..].iter().take_while(move |pair| pair.0 == key).map(|pair| pair.1)
}

/// Unpacks some blocks that have been received, each once. On an error the others are unpacked
/// nonetheless.
fn unpack(cuts: &mut [Cut], buffer: &[u8], rounds: &[Round], which: impl Iterator<Item = usize>) -> Result<()> {
    let mut done = Ok(());
    for at in which {
        let cut = &mut cuts[at];
        let place = cut.place.filter(|_| !cut.is_done);
        cut.is_done = true;
        let Some(place) = place else { continue };
        // SAFETY: as for `start`.
        done = done.and(unsafe { cut.whole.unpack(buffer[place..].as_ptr(), rounds[0].loopback()) });
    }
    done
}
