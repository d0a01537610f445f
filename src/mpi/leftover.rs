//! Messages whose senders have gone: they are complete before MPI is finalized, as it asks for.

use std::sync::{Mutex, PoisonError};

use super::attribute::Key;
use super::comm;
use super::message::Request;

/// Hangs on `MPI_COMM_SELF`, whose attributes MPI drops first when it is finalized.
#[derive(Default)]
struct Leftovers(Mutex<Vec<(Request, Vec<u8>)>>);

static LEFTOVERS: Key<Leftovers> = Key::new();

/// Leaves messages, with the memory from which MPI sends them, to the end of MPI.
pub fn leave(mut messages: Vec<(Request, Vec<u8>)>) {
    static MAKING: Mutex<()> = Mutex::new(());
    // after the end of MPI nothing may be asked, and nothing is read any more
    if !super::is_usable() {
        return;
    }
    messages.retain_mut(|(request, _)| matches!(request.test(), Ok(false)));
    if messages.is_empty() {
        return;
    }
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    let own = comm::itself();
    // SAFETY: a communicator that there always is; the value stays as long as MPI does.
    let kept = unsafe {
        LEFTOVERS
            .get(own)
            .and_then(|there| if there.is_null() { LEFTOVERS.set(own, Leftovers::default()) } else { Ok(()) })
            .and_then(|()| LEFTOVERS.get(own))
    };
    // SAFETY: as above.
    match kept.ok().and_then(|kept| unsafe { kept.as_ref() }) {
        Some(Leftovers(list)) => list.lock().unwrap_or_else(PoisonError::into_inner).append(&mut messages),
        // MPI may still read there
        None => messages.into_iter().for_each(|(_, memory)| std::mem::forget(memory)),
    }
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        let messages = std::mem::take(self.0.get_mut().unwrap_or_else(PoisonError::into_inner));
        for (mut request, _memory) in messages {
            while let Ok(false) = request.test() {
                std::thread::yield_now();
            }
        }
    }
}
