//! `scatter_optimal`: from one process to the others along the tree that is fastest under LogGP.
//!
//! LogGP's A_t^k (section 4.7; for one item A_t, section 4.5). A process that holds the blocks of P
//! processes, its own included, sends those of s processes to one of them, which continues with
//! these while the sender continues with P - s. The best s gives
//!
//! ```text
//! t(1) = 0,   t(P) = min over s of  T(s) + max(L + 2 o + t(s), max(g, o) + t(P - s))
//! ```
//!
//! where T(s) is the time that the blocks of s processes take at the sender's port. If that is less
//! than L + 2 o, the source keeps more than half.
//!
//! There are two differences from the paper. For `s = P - 1` the second argument is 0, because
//! nothing follows that needs a free port (the paper counts until ports are free). If o exceeds g,
//! the sender is limited by o; both formulas agree for `o <= g <= L + 2 o`. Blocks are not divided,
//! which could save a little (the paper's Figure 10). Among equal times, the smallest s sends the
//! fewest bytes.
//!
//! Blocks of different weights are treated as blocks of the mean weight.
//!
//! Cost: at most P - 1 rounds and P - 1 messages; each block travels once for each edge on its
//! path. Building takes time `O(P log P)` and memory `O(P)`. The first argument of the maximum,
//! with T(s), grows with s. The second one, with T(s), does not, because one process less saves at
//! least the port time of its block, provided that g and L + 2 o are at least the time of a byte.
//! The best s is therefore where the first argument reaches the second, or one less, and this s
//! does not decrease as P grows. s = 1 (the simple scatter) and P / 2 (the binomial tree) are tried
//! too, so that the tree is never slower than those, for any parameters, unless it is one of those
//! hundreds of messages deep that `scatter.rs` cuts: where messages take no time but that of bytes.

use crate::schedule::costs::Costs;
use crate::schedule::input::Tuning;
use crate::util::cast::to_u32;

/// For each number of processes from 0 to `processes`, the number of blocks to send away first;
/// `weight` is that of a block.
pub(in crate::schedule) fn splits(processes: u32, weight: f64, tuning: &Tuning) -> Vec<u32> {
    tree(processes, weight, &tuning.costs).0
}

/// Returns the splits and the times t.
fn tree(processes: u32, weight: f64, costs: &Costs) -> (Vec<u32>, Vec<f64>) {
    /// Times with a smaller relative difference differ by rounding only.
    const EQUAL: f64 = 1e-12;
    let (mut splits, mut times) = (vec![0, 0], vec![0.0, 0.0]);
    let passes = |s: usize| costs.transfer(s as f64 * weight);
    let mut crossing = 1;
    for p in 2..=processes as usize {
        let sent = |s: usize| passes(s) + costs.delivery() + times[s];
        let kept = |s: usize| if s + 1 == p { 0.0 } else { passes(s) + costs.rest() + times[p - s] };
        while sent(crossing) < kept(crossing) {
            crossing += 1;
        }
        let time = |s: usize| sent(s).max(kept(s));
        let below = (crossing - 1).max(1);
        let best = [1, below, crossing, p / 2].into_iter().min_by(|&a, &b| time(a).total_cmp(&time(b)).then(a.cmp(&b)));
        let mut split = best.unwrap_or(1);
        let least = time(split);
        if split <= below {
            // where the second argument is constant, fewer blocks are as good
            let good = |s: usize| time(s) <= least * (1.0 + EQUAL);
            let (mut bad, mut low) = (0, split);
            while low - bad > 1 {
                let middle = bad + (low - bad) / 2;
                if good(middle) { low = middle } else { bad = middle }
            }
            split = low;
        }
        splits.push(to_u32(split));
        times.push(least);
    }
    splits.truncate(processes as usize + 1);
    (splits, times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::cases::cases;
    use proptest::prelude::*;

    /// The paper's simplified parameters: o in L, G = 1, items of k bytes.
    fn simplified(latency: f64, gap: f64) -> Costs {
        Costs { latency, overhead: 0.0, gap, per_byte: 1.0, unit: 1.0 }
    }

    /// All splits tried; of the best ones the smallest.
    fn brute(processes: usize, weight: f64, costs: &Costs) -> (Vec<u32>, Vec<f64>) {
        let (mut splits, mut times) = (vec![0, 0], vec![0.0, 0.0]);
        for p in 2..=processes {
            let time = |s: usize| {
                let kept = if s + 1 == p { 0.0 } else { costs.rest() + times[p - s] };
                costs.transfer(s as f64 * weight) + f64::max(costs.delivery() + times[s], kept)
            };
            let best = (1..p).reduce(|a, b| if time(b) < time(a) { b } else { a }).unwrap();
            splits.push(to_u32(best));
            times.push(time(best));
        }
        (splits, times)
    }

    /// Section 4.6: with L = 30 and g = 10, five items must be split into 1 and 4, and 320 into 150
    /// and 170.
    #[test]
    fn splits_that_the_paper_quotes() {
        let splits = tree(320, 1.0, &simplified(30.0, 10.0)).0;
        assert_eq!((splits[5], splits[320]), (1, 150));
    }

    /// Table 3's last row; P = 1024.
    #[test]
    fn times_that_the_paper_prints() {
        let columns = [
            (1, 10, 30, 1_171),
            (1, 100, 300, 2_860),
            (10, 10, 30, 10_358),
            (10, 100, 300, 11_819),
            (100, 10, 30, 102_419),
            (100, 100, 300, 103_688),
        ];
        for (k, gap, latency, printed) in columns {
            let costs = simplified(f64::from(latency), f64::from(gap));
            assert_eq!(tree(1024, f64::from(k), &costs).1[1024], f64::from(printed), "k = {k}, g = {gap}");
            assert_eq!(tree(1024, f64::from(k), &costs), brute(1024, f64::from(k), &costs), "k = {k}, g = {gap}");
        }
    }

    /// Theorem 1 with L = g: the binomial tree is optimal.
    #[test]
    fn binomial_where_latency_and_gap_are_equal() {
        let times = tree(256, 1.0, &simplified(20.0, 20.0)).1;
        for log in 1..=8 {
            assert_eq!(times[1 << log], 20.0 * f64::from(log) + f64::from((1 << log) - 1 - log), "2^{log} processes");
        }
    }

    /// A hundred thousand processes take milliseconds, not the hours of trying all splits.
    #[test]
    fn many_processes() {
        let (splits, times) = tree(100_000, 8.0, &Costs::default());
        assert_eq!((splits.len(), times.len()), (100_001, 100_001));
        assert!(times.is_sorted());
        assert_eq!(super::splits(1, 1.0, &Tuning::default()), [0, 0]);
        assert_eq!(super::splits(0, 1.0, &Tuning::default()), [0]);
    }

    proptest! {
        #![proptest_config(cases(300))]

        /// As good as trying all splits, and by the same splits, where g and L + 2 o are at least
        /// G.
        #[test]
        fn as_good_as_trying_all(
            latency in 1u32..60, overhead in 0u32..20, gap in 1u32..60, per_byte in 0u32..=4, weight in 1u32..40,
        ) {
            // quarters: sums of them are exact
            let costs = Costs {
                latency: f64::from(latency),
                overhead: f64::from(overhead) / 2.0,
                gap: f64::from(gap),
                per_byte: f64::from(per_byte) / 4.0,
                unit: 1.0,
            };
            prop_assert_eq!(tree(120, weight.into(), &costs), brute(120, weight.into(), &costs));
        }

        /// Never slower than what it is compared with, whatever the parameters.
        #[test]
        fn never_slower_than_simple_and_binomial(
            latency in 0u32..60, overhead in 0u32..60, gap in 0u32..60, per_byte in 0u32..=40, weight in 0u32..40,
        ) {
            let costs = Costs {
                latency: latency.into(), overhead: overhead.into(), gap: gap.into(), per_byte: f64::from(per_byte) / 4.0, unit: 3.0,
            };
            let time = |split: &dyn Fn(usize) -> usize| {
                let mut times = vec![0.0, 0.0];
                for p in 2..=200usize {
                    let s = split(p);
                    let kept = if s + 1 == p { 0.0 } else { costs.rest() + times[p - s] };
                    times.push(costs.transfer(s as f64 * f64::from(weight)) + f64::max(costs.delivery() + times[s], kept));
                }
                times
            };
            let (splits, times) = tree(200, weight.into(), &costs);
            prop_assert_eq!(&time(&|p| splits[p] as usize), &times);
            for other in [time(&|_| 1), time(&|p| p / 2)] {
                prop_assert!(times.iter().zip(&other).all(|(a, b)| a <= b));
            }
        }
    }
}
