//! Color sets as bits, palettes, and the windows of the palette that targets report.

use std::ops::Range;

use crate::topology::neighborhood::Rank;
use crate::util::cast::to_u32;
use crate::util::random::mix;

/// No color, or no proposal.
pub(super) const NONE: u32 = u32::MAX;
/// Maximum number of 32-bit words of free colors that a target reports in one message.
pub(super) const WINDOW: u32 = 8;
/// Number of trials before the palette starts to grow.
const PATIENCE: u32 = 6;

/// The colors from which a source chooses in a trial: words `start`, `start + 1`, ..., modulo
/// `total`, of the palette below `limit`.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) limit: u32,
    pub(super) start: u32,
    pub(super) words: u32,
    pub(super) total: u32,
    /// True if the target reports which of them are free there.
    pub(super) reported: bool,
}

impl Window {
    /// `degrees`: of the source and the target, each on the side of their `common` edges. A target
    /// without other edges has nothing to report: the source knows its colors.
    pub(super) fn new(source: Rank, target: Rank, degrees: [u32; 2], common: u32, trial: u32) -> Window {
        let limit = most_colors(degrees).min(degrees[0].max(degrees[1]) + growth(degrees, trial));
        let total = limit.div_ceil(32);
        let reported = degrees[1] != common;
        if total <= WINDOW || !reported {
            return Window { limit, start: 0, words: total, total, reported };
        }
        // every word is reported within total / WINDOW trials, starting with a different one for
        // each pair
        let first = u64::from(below(draw([u64::from(source), u64::from(target), 0]), total));
        let start = to_u32((first + u64::from(trial) * u64::from(WINDOW)) % u64::from(total));
        Window { limit, start, words: WINDOW, total, reported }
    }

    /// Trials in which all words are reported, rounded up to a power of two: then the end of a
    /// longer period is that of all shorter ones, too.
    pub(super) fn period(&self) -> u32 {
        if self.words == self.total { 1 } else { self.total.div_ceil(WINDOW).next_power_of_two() }
    }

    /// Words of a report.
    pub(super) fn reported_words(&self) -> u32 {
        if self.reported { self.words } else { 0 }
    }

    /// Number, within the palette, of the j-th word of the window.
    pub(super) fn word(&self, j: u32) -> u32 {
        (self.start + j) % self.total
    }
}

/// A sufficient number of colors: the neighboring edges at both ends can block at most one less.
pub(super) fn most_colors(degrees: [u32; 2]) -> u32 {
    degrees[0] + degrees[1] - 1
}

/// Number of colors by which the palette has grown.
pub(super) fn growth(degrees: [u32; 2], trial: u32) -> u32 {
    trial.saturating_sub(PATIENCE).saturating_mul((degrees[0].max(degrees[1]) / 32).max(1)).min(most_colors(degrees))
}

/// Adds a color to a bit set, which grows as needed.
pub(super) fn set(bits: &mut Vec<u32>, color: u32) {
    let w = (color / 32) as usize;
    if bits.len() <= w {
        bits.resize(w + 1, 0);
    }
    bits[w] |= 1 << (color % 32);
}

/// Returns a word of a bit set.
pub(super) fn word_of(bits: &[u32], w: u32) -> u32 {
    bits.get(w as usize).copied().unwrap_or(0)
}

/// The bits of the w-th word for colors below `limit`.
pub(super) fn bits_below(w: u32, limit: u32) -> u32 {
    match limit.saturating_sub(32 * w) {
        left @ 0..32 => (1 << left) - 1,
        _ => u32::MAX,
    }
}

/// The bits of the w-th word for the colors of a palette.
pub(super) fn bits_in(w: u32, palette: &Range<u32>) -> u32 {
    bits_below(w, palette.end) & !bits_below(w, palette.start)
}

/// Returns the n-th color of a set.
pub(super) fn nth(words: impl Iterator<Item = (u32, u32)>, mut n: u32) -> u32 {
    for (w, mut bits) in words {
        if n < bits.count_ones() {
            for _ in 0..n {
                bits &= bits - 1;
            }
            return 32 * w + bits.trailing_zeros();
        }
        n -= bits.count_ones();
    }
    unreachable!("there are fewer colors")
}

/// Returns a pseudorandom number that is a function of the words.
pub(super) fn draw(words: [u64; 3]) -> u64 {
    words.into_iter().fold(0, |hash: u64, word| mix((hash ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15)))
}

/// Scales a random number to a number below `n`.
pub(super) fn below(drawn: u64, n: u32) -> u32 {
    (((drawn >> 32) * u64::from(n)) >> 32) as u32
}
