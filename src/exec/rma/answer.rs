//! What a target tells a source before each call.

/// Most runs of a message.
pub(super) const MOST_RUNS: usize = 16;

/// Words of the longest answer: what a source is to do, and address and length of each run.
pub(super) const WORDS: usize = 1 + 2 * MOST_RUNS;

/// The answers of a process to its sources, in the lowest byte of the first word: put into the
/// landing area, send messages, or put into these runs, whose number is above that byte.
pub(super) const PUT: u64 = 1;
pub(super) const SEND: u64 = 2;
pub(super) const RUNS: u64 = 3;
pub(super) const KIND: u32 = 8;

/// Answers of one word, which are never written.
pub(super) static MAY_PUT: [u64; 1] = [PUT];
pub(super) static MUST_SEND: [u64; 1] = [SEND];

/// Returns true if an answer lets the source put.
pub(super) fn lets_put(answer: &[u64; WORDS]) -> bool {
    matches!(answer[0] & 0xff, PUT | RUNS)
}

/// Returns true if an answer asks for messages.
pub(super) fn wants_messages(answer: &[u64; WORDS]) -> bool {
    answer[0] & 0xff == SEND
}

/// Yields address and length of the runs of an answer.
pub(super) fn runs_of(answer: &[u64; WORDS]) -> impl Iterator<Item = (u64, u64)> + '_ {
    let count = if answer[0] & 0xff == RUNS { usize::try_from(answer[0] >> KIND).unwrap_or(0).min(MOST_RUNS) } else { 0 };
    answer[1..=2 * count].chunks_exact(2).map(|run| (run[0], run[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_runs() {
        let mut answer = [0; WORDS];
        (answer[0], answer[1], answer[2], answer[3], answer[4]) = (RUNS | 2 << KIND, 7, 8, 9, 10);
        assert_eq!(runs_of(&answer).collect::<Vec<_>>(), [(7, 8), (9, 10)]);
        assert!(lets_put(&answer) && !wants_messages(&answer));
        answer[0] = u64::MAX << KIND | RUNS;
        assert_eq!(runs_of(&answer).count(), MOST_RUNS);
        answer[0] = SEND;
        assert!(runs_of(&answer).count() == 0 && wants_messages(&answer));
    }
}
