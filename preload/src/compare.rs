//! Makes a blocking call twice, here and in the MPI, and compares the results.
//!
//! The receive blocks are packed before, between and after the calls, block by block, so that the
//! gaps are not touched. In the end they hold the result of our own call.

use std::ffi::c_int;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use mpix_neighbor::util::cast::{to_int, to_usize};

use crate::agree;
use crate::blocks::{Block, Blocks, Sides, is_in_place};
use crate::errors::SUCCESS;
use crate::state::State;

/// Most bytes of all blocks together that are compared.
const LIMIT: usize = 1 << 30;

/// The outcome of a comparison.
pub struct Comparison {
    /// True if the results differ, or the MPI reported an error.
    pub differ: bool,
    /// Time of our own call.
    pub ours: Duration,
    /// Time of the MPI's call.
    pub native: Duration,
}

/// Makes a call twice, alternating which of the two goes first.
///
/// Makes only our own call if on some process the blocks cannot be saved or the MPI is known to get
/// the call wrong (`flawed`; it might hang). Collective over the communicator: one reduction of a
/// word.
///
/// # Safety
/// The arguments that `sides` describes must be those of the call; the thread must be inside.
pub unsafe fn run(
    state: &State,
    sides: &Sides,
    ours: &dyn Fn() -> c_int,
    native: &dyn Fn() -> c_int,
    flawed: bool,
) -> (c_int, Option<Comparison>) {
    // SAFETY: the caller vouches for the arguments.
    let (blocks, before) = unsafe {
        let blocks = blocks(&sides.recv, &state.sources);
        let before = blocks.as_ref().and_then(|blocks| pack(blocks, state));
        (blocks.unwrap_or_default(), before)
    };
    // SAFETY: the shadow is a communicator of our own.
    let all = unsafe { agree::all(state.shadow, before.is_some() && !flawed) };
    let Some(before) = before.filter(|_| all) else {
        return (ours(), None);
    };
    let timed = |call: &dyn Fn() -> c_int| {
        let begin = Instant::now();
        (call(), begin.elapsed())
    };
    let keep = || {
        // SAFETY: as above.
        unsafe { pack(&blocks, state) }
    };
    // SAFETY: as above; the bytes are those of these blocks.
    let restore = |bytes: &[u8]| unsafe { unpack(&blocks, bytes, state) };
    if state.turn.fetch_add(1, Ordering::Relaxed) & 1 == 0 {
        let (code, time) = timed(ours);
        let mine = keep();
        restore(&before);
        let (other, native) = timed(native);
        let theirs = keep();
        if let Some(mine) = &mine {
            restore(mine);
        }
        (code, Some(Comparison { differ: other != SUCCESS || mine != theirs, ours: time, native }))
    } else {
        let (other, native) = timed(native);
        let theirs = keep();
        restore(&before);
        let (code, time) = timed(ours);
        (code, Some(Comparison { differ: other != SUCCESS || keep() != theirs, ours: time, native }))
    }
}

/// The blocks that the call writes; `None` if their description is invalid.
unsafe fn blocks(side: &Blocks, exist: &[bool]) -> Option<Vec<Block>> {
    if (side.lacks_arrays() || is_in_place(side.base)) && exist.contains(&true) {
        return None;
    }
    // SAFETY: the caller vouches for the arrays, which are there.
    let blocks = (0..exist.len()).filter(|&i| exist[i]).map(|i| unsafe { side.typed_block(i) });
    let blocks: Vec<Block> = blocks.filter(|block| block.as_ref().is_none_or(|block| block.count != 0)).collect::<Option<_>>()?;
    let are_valid = blocks.iter().all(|block| c_int::try_from(block.count).is_ok_and(|count| count > 0));
    (are_valid && (blocks.is_empty() || !side.lacks_buffer())).then_some(blocks)
}

/// Packs blocks; `None` if they are too long or the MPI cannot pack them.
unsafe fn pack(blocks: &[Block], state: &State) -> Option<Vec<u8>> {
    let mut room = 0usize;
    for block in blocks {
        let mut bytes = 0;
        // SAFETY: the caller vouches for the datatypes; the shadow returns errors.
        if unsafe { mpi_sys::MPI_Pack_size(to_int::<c_int>(block.count), block.datatype, state.shadow, &mut bytes) } != SUCCESS {
            return None;
        }
        room += usize::try_from(bytes).ok()?;
    }
    if room > LIMIT {
        return None;
    }
    let (mut packed, mut position) = (vec![0u8; room], 0);
    for block in blocks {
        let (into, room, count) = (packed.as_mut_ptr().cast(), to_int::<c_int>(room), to_int::<c_int>(block.count));
        // SAFETY: the caller vouches for the blocks; there is room for what MPI has said.
        let code = unsafe { mpi_sys::MPI_Pack(block.at, count, block.datatype, into, room, &mut position, state.shadow) };
        if code != SUCCESS {
            return None;
        }
    }
    packed.truncate(to_usize(position));
    Some(packed)
}

/// Restores blocks from the bytes that `pack` returned for them.
unsafe fn unpack(blocks: &[Block], packed: &[u8], state: &State) {
    let mut position = 0;
    for block in blocks {
        let (from, length, count) = (packed.as_ptr().cast(), to_int::<c_int>(packed.len()), to_int::<c_int>(block.count));
        // SAFETY: as in `pack`. It cannot fail where packing has not.
        unsafe { mpi_sys::MPI_Unpack(from, length, &mut position, block.at, count, block.datatype, state.shadow) };
    }
}
