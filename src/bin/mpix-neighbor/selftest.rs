//! The self-test of `mpix-neighbor info`: what works here, in about a second. Schedules are
//! replayed without MPI. Under an MPI, the processes of the launcher exchange blocks of which every
//! byte is known, by the C functions, as a program would.

use mpix_neighbor::model::generate::random_regular;
use mpix_neighbor::schedule::verify::{Goal, verify};
use mpix_neighbor::schedule::{ALGORITHMS, Tuning, world_schedules};

/// Processes of the graph whose schedules are replayed, and messages of each.
const GRAPH: (u32, u32) = (16, 5);

/// Finding of a check: a sentence, also if it failed.
pub type Outcome = Result<String, String>;

/// Builds the schedules of a graph by every algorithm that fits it, and replays them.
pub fn schedules() -> Outcome {
    let (world, tuning) = (random_regular(GRAPH.0, GRAPH.1, 1).neighborhoods(), Tuning::default());
    let mut names = Vec::new();
    for entry in &ALGORITHMS {
        let Ok(schedules) = world_schedules(entry.algorithm, &world, None, &tuning) else { continue };
        verify(&world, &schedules, Goal::Deliver, entry.single_port).map_err(|defect| format!("{}: {defect}", entry.name))?;
        names.push(entry.name);
    }
    Ok(format!("{} processes with {} messages each: {}", GRAPH.0, GRAPH.1, names.join(", ")))
}

#[cfg(feature = "mpi")]
pub use under_mpi::exchanges;

#[cfg(feature = "mpi")]
#[expect(unsafe_code, reason = "calls the C functions, as a program does")]
mod under_mpi {
    use std::ffi::{CStr, c_char, c_int};

    use mpix_neighbor::capi;
    use mpix_neighbor::environment::variable;
    use mpix_neighbor::measure::session::Session;
    use mpix_neighbor::util::cast::{to_int, to_usize};

    use super::Outcome;

    /// `MPIX_NEIGHBOR_ALLTOALL`.
    const ALLTOALL: c_int = 2;
    /// Bytes of a block: inside a cell of shared memory, a few pages, and what is cut into pieces.
    const LENGTHS: [usize; 3] = [8, 20_000, 1_000_000];

    /// Exchanges blocks between neighbors in a ring, and by a sparse exchange, and compares every
    /// byte. Collective. The sentences are those of the calling process.
    pub fn exchanges(session: &Session) -> Vec<(&'static str, Outcome)> {
        let ring = Ring { session, me: session.rank(), size: session.size() };
        let mut outcomes = vec![
            ("launcher", launched(ring.size)),
            ("blocks between neighbors", ring.neighbors()),
            ("sparse exchange", ring.sparse()),
        ];
        let schedule = ring.text(|length, text, used| {
            // SAFETY: the text has room for `length` characters.
            unsafe { capi::MPIX_Neighborhood_describe(ALLTOALL, session.world(), length, text, used) }
        });
        outcomes.push(("how blocks travelled", Ok(schedule.trim_end().replace('\n', "; "))));
        outcomes
    }

    /// Compares the number of processes with what the launcher says, as one of another MPI starts
    /// programs of one process each.
    fn launched(size: u32) -> Outcome {
        let said = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"].iter().filter_map(|name| Some((name, variable(name)?)));
        let others: Vec<_> = said.clone().filter(|(_, number)| number.trim().parse() != Ok(size)).collect();
        match &others[..] {
            // of two launchers, one inside the other, one has started this program
            [(name, number), ..] if others.len() == said.count() => Err(format!(
                "it started {number} processes ({name}), and MPI has {size}: it is the launcher of another MPI, or cannot reach this one"
            )),
            _ => Ok(format!("processes: {size}")),
        }
    }

    struct Ring<'a> {
        session: &'a Session,
        me: u32,
        size: u32,
    }

    impl Ring<'_> {
        fn left(&self) -> u32 {
            (self.me + self.size - 1) % self.size
        }

        fn right(&self) -> u32 {
            (self.me + 1) % self.size
        }

        fn neighbors(&self) -> Outcome {
            let world = self.session.world();
            let ranks = [self.left(), self.right()];
            let both = ranks.map(|rank| to_int::<c_int>(rank));
            let weights = [1; 2];
            let (list, even) = (both.as_ptr(), weights.as_ptr());
            // SAFETY: the lists have two entries, as they say.
            let code =
                unsafe { capi::MPIX_Neighborhood_set(ALLTOALL, 2, list, even, 2, list, even, self.session.no_info(), world) };
            self.check(code)?;
            // a process that found a wrong block goes on: its neighbors wait for the others
            let outcomes = LENGTHS.map(|length| self.alltoall(ranks, length));
            outcomes.into_iter().collect::<Result<(), String>>()?;
            Ok(format!("{} processes, up to {} bytes", self.size, LENGTHS[2]))
        }

        /// Exchanges blocks of one length with the neighbors that are set.
        fn alltoall(&self, ranks: [u32; 2], length: usize) -> Result<(), String> {
            let (world, byte, count) = (self.session.world(), self.session.byte(), to_int(length));
            let sent: Vec<u8> = (0..2).flat_map(|entry| block(self.me, entry, length)).collect();
            let mut got = vec![0; 2 * length];
            // SAFETY: both buffers have two blocks of `count` bytes.
            let code = unsafe {
                let (from, into) = (sent.as_ptr().cast(), got.as_mut_ptr().cast());
                capi::MPIX_Neighbor_alltoall(from, count, byte, into, count, byte, world)
            };
            self.check(code)?;
            for (j, &source) in ranks.iter().enumerate() {
                // the left one sends to its right; of two processes, each is on both sides
                let entry = if self.size > 2 { 1 - j } else { j };
                if got[j * length..(j + 1) * length] != block(source, entry, length) {
                    return Err(format!("process {}: {length} bytes from process {source} are not what it sent", self.me));
                }
            }
            Ok(())
        }

        fn sparse(&self) -> Outcome {
            let (world, byte, info) = (self.session.world(), self.session.byte(), self.session.no_info());
            let (target, length) = (to_int::<c_int>(self.right()), LENGTHS[1]);
            let sent = block(self.me, 7, length);
            let mut result = std::ptr::null_mut();
            // SAFETY: there is one target and one block of that length; the result is freed below.
            let code = unsafe {
                let from = sent.as_ptr().cast();
                capi::MPIX_Sparse_exchange_block(
                    1,
                    &raw const target,
                    from,
                    to_int(length),
                    byte,
                    byte,
                    info,
                    world,
                    &raw mut result,
                )
            };
            self.check(code)?;
            let (mut messages, mut bytes) = (0, 0);
            // SAFETY: the result is that of an exchange.
            self.check(unsafe { capi::MPIX_Sparse_get_count(result, &raw mut messages, &raw mut bytes) })?;
            let mut got = vec![0; usize::try_from(bytes).unwrap_or(0)];
            // SAFETY: there is room for all that came.
            self.check(unsafe { capi::MPIX_Sparse_copy(result, bytes, got.as_mut_ptr().cast()) })?;
            // SAFETY: nothing refers to it any more.
            self.check(unsafe { capi::MPIX_Sparse_free(&raw mut result) })?;
            if messages != 1 || got != block(self.left(), 7, length) {
                return Err(format!(
                    "process {}: {messages} messages of {bytes} bytes, not what process {} sent",
                    self.me,
                    self.left()
                ));
            }
            Ok(format!("a message of {length} bytes to each of {} processes", self.size))
        }

        /// Returns a text that a function writes into room of any size.
        fn text(&self, write: impl Fn(c_int, *mut c_char, *mut c_int) -> c_int) -> String {
            let (mut text, mut used) = ([0; 2000], 0);
            let code = write(to_int(text.len()), text.as_mut_ptr(), &raw mut used);
            // SAFETY: the functions end a text by 0; so is one that was not written.
            let text = unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned();
            if code == 0 { text } else { format!("process {}: no text, error {code}", self.me) }
        }

        fn check(&self, code: c_int) -> Result<(), String> {
            if code == 0 {
                return Ok(());
            }
            let text = self.text(|length, text, used| {
                // SAFETY: the text has room for `length` characters.
                unsafe { capi::MPIX_Neighbor_error_string(self.session.world(), length, text, used) }
            });
            Err(format!("process {}: {text}", self.me))
        }
    }

    /// The block that a process sends as this entry of its list: no two are equal, and no part of a
    /// block is that of another place.
    fn block(from: u32, entry: usize, length: usize) -> Vec<u8> {
        let seed = 131 * to_usize(from) + 17 * entry + 1;
        (0..length).map(|i| ((i * 7 + i / 251 + seed) % 253).to_le_bytes()[0]).collect()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn schedules_are_replayed() {
        let text = super::schedules().unwrap();
        assert!(text.contains("direct") && text.contains("edge_coloring"), "{text}");
    }
}
