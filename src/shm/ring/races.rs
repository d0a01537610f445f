//! Two processes as two threads, for tools that watch one run: Miri, ThreadSanitizer. Like `model`,
//! which covers all interleavings, but with many messages.

use std::cell::UnsafeCell;
use std::thread;

use super::*;

/// Memory of a process's messages to the other one: not atomic, so that the tools see two
/// threads that meet there.
#[derive(Default)]
struct Memory([UnsafeCell<u64>; LENGTH]);

// SAFETY: exclusive access is what is tested.
unsafe impl Sync for Memory {}

impl Memory {
    /// Returns the word for number `k`.
    fn at(&self, k: u64) -> *mut u64 {
        self.0[cell_of::<LENGTH>(k)].get()
    }
}

#[test]
fn no_two_meet_in_a_cell() {
    let count = if cfg!(miri) { 150 } else { 100_000 };
    // SAFETY: all zeros are empty rings.
    let rings: Box<[Ring; 2]> = unsafe { Box::new(std::mem::zeroed()) };
    let memory: [Memory; 2] = Default::default();
    let run = |me: usize| {
        let (sender, receiver) = (Sender::<LENGTH>::default(), Receiver::default());
        let (out, into) = (&rings[me], &rings[1 - me]);
        for n in 0..count {
            while !sender.is_free(n, out) {
                thread::yield_now();
            }
            // SAFETY: as above.
            unsafe { *memory[me].at(n) = n + me as u64 };
            sender.put(n, out, Header { bytes: 8, location: 0, acks: receiver.acks(into) }, &[]);
            let header = loop {
                match into.header(n) {
                    Some(header) => break header,
                    None => thread::yield_now(),
                }
            };
            // every third acknowledgement is ignored
            if n % 3 != 0 {
                sender.learn_acks(header.acks);
            }
            // SAFETY: as above.
            assert_eq!(unsafe { *memory[1 - me].at(n) }, n + 1 - me as u64);
            into.take(n);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| run(0));
        run(1);
    });
}

#[test]
fn no_two_meet_in_a_chunk() {
    let count = if cfg!(miri) { 150 } else { 100_000 };
    // SAFETY: all zeros are an empty ring.
    let ring: Box<Ring> = unsafe { Box::new(std::mem::zeroed()) };
    let memory = Memory::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            for chunk in 0..count {
                while ring.chunks_read() + CHUNKS <= chunk {
                    thread::yield_now();
                }
                // SAFETY: as above.
                unsafe { *memory.at(chunk % CHUNKS) = chunk };
                ring.set_chunks_written(chunk + 1);
            }
        });
        for chunk in 0..count {
            while ring.chunks_written() <= chunk {
                thread::yield_now();
            }
            // SAFETY: as above.
            assert_eq!(unsafe { *memory.at(chunk % CHUNKS) }, chunk);
            ring.set_chunks_read(chunk + 1);
        }
    });
}
