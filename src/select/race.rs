//! Decides from the times of calls which of several candidates is the fastest, and how many calls
//! that takes.
//!
//! Candidates run in *sweeps*: in each sweep every candidate that is still in the race has a turn,
//! in an order that differs from sweep to sweep, so that neither a disturbance nor a predecessor in
//! the order always hits the same one. A turn is several calls in a row, of which the first half
//! does not count: each candidate starts with what its predecessor has left behind (late processes,
//! queues in the network, windows of TCP, bytes that a network lets pass before it holds senders to
//! their rate), which is gone after some calls or some milliseconds.
//!
//! The time of a call is that of its slowest process. The median of the turns' means decides. Its
//! confidence interval is that of the sign test, between two of the sorted times, and supposes
//! nothing about the noise. A candidate leaves the race when its interval lies above that of the
//! best one. The race is over when the best one is at most [`TOLERANCE`] slower than any other
//! could be, or after [`MOST`] sweeps. This is the selection of the best arm of a multi-armed
//! bandit by elimination (Even-Dar, Mannor, Mansour 2006).
//!
//! A set call, which makes calls of its own, has less patience ([`Race::brief`]). The calls of a
//! turn follow one another without a barrier: a single call behind one is as fast as its messages,
//! while in a row each call also waits for what is late of the one before, as it does in programs.
//! The time of a turn begins at the end of the calls that do not count, on the process where they
//! end last, and ends with the turn, on the process where that ends last. So no process's head
//! start counts, as it would if each took the time from its own end.

use crate::util::cast::{to_usize, whole};
use crate::util::random::Random;

/// Fewest and most calls of a turn.
pub const TURN: [usize; 2] = [2, 8];

/// Time that a turn takes, in seconds, if that many calls do: queues of networks hold some tens of
/// milliseconds of messages before they lose any, and TCP remembers no longer.
const TURN_TIME: f64 = 0.05;

/// Sweeps, after one that only finds out how long calls take, before anything is decided: the
/// fewest whose extremes enclose the median with a probability of more than 0.9.
pub const LEAST: usize = 5;

/// Sweeps after which the medians decide, whatever the noise.
pub const MOST: usize = 60;

/// Fewest calls of a turn of a brief race: the first one does not count.
const BRIEF_TURN: usize = 3;

/// Seconds of calls, and sweeps that count, after which a brief race is over if it is clear which
/// candidate is the fastest: all its times are below all those of the others.
const BRIEF: f64 = 0.25;
const BRIEF_LEAST: usize = 3;

/// The same, whatever the noise: after either of them. If the first sweep takes that long, its
/// single calls decide.
const PATIENCE: f64 = 4.0;
const BRIEF_MOST: usize = 9;

/// Seconds after which it is over with the sweep that is under way, however few have counted.
const LONGEST: f64 = 8.0;

/// A candidate leaves a brief race if it took this many times as long as the fastest one after the
/// second sweep that counts, by its faster turn: one of them may have lost a segment.
const HOPELESS: f64 = 2.0;

/// The most that a wrong choice may cost, as a fraction of the time.
const TOLERANCE: f64 = 0.05;

/// Half of the width of an interval, in standard deviations of the number of times below the
/// median: 95 % of intervals enclose it.
const DEVIATIONS: f64 = 2.0;

/// A race between candidates, numbered from 0. Equal on all processes that make the same calls.
#[derive(Debug, Clone)]
pub struct Race {
    /// The mean times of each candidate's turns, in seconds, on the slowest process.
    times: Vec<Vec<f64>>,
    /// Calls of a turn.
    turn: usize,
    /// Candidates of the current sweep, in the order of their turns.
    order: Vec<usize>,
    /// This process's times of the current sweep's calls.
    sweep: Vec<f64>,
    /// Number of sweeps that counted. `None` in the first one, which does not count.
    sweeps: Option<usize>,
    /// Seconds that all calls of a brief race took so far.
    spent: Option<f64>,
    over: bool,
}

impl Race {
    /// Begins a race of `candidates` candidates.
    pub fn new(candidates: usize) -> Race {
        Race::with(candidates, TURN[0], None)
    }

    /// Begins a race that ends as soon as its calls have taken a bounded time, a few sweeps have
    /// counted and it is clear which candidate is the fastest, or one is left; at the latest after
    /// a few sweeps, or with the one in which some seconds have gone by: 16 s in all, unless that
    /// is the first one. Turns of the first sweep are one call, which counts only if it is the only
    /// one.
    pub fn brief(candidates: usize) -> Race {
        Race::with(candidates, 1, Some(0.0))
    }

    fn with(candidates: usize, turn: usize, spent: Option<f64>) -> Race {
        let times = (0..candidates).map(|_| Vec::with_capacity(MOST)).collect();
        let (order, sweep) = (Vec::new(), Vec::new());
        let mut race = Race { times, turn, order, sweep, sweeps: None, spent, over: candidates == 0 };
        race.begin_sweep((0..candidates).collect());
        race
    }

    /// The candidate that makes the next call. The race must not be over.
    pub fn next(&self) -> usize {
        self.order[self.sweep.len() / self.turn]
    }

    /// True if the processes must meet before the next call.
    pub fn meets(&self) -> bool {
        self.spent.is_none() || self.sweep.len().is_multiple_of(self.turn)
    }

    /// Notes the time of the call of [`Race::next`] on this process, in seconds. Returns the times
    /// of the sweep if that was its last call: all processes then agree on their maxima, and pass
    /// them to [`Race::end_sweep`].
    pub fn note(&mut self, time: f64) -> Option<&[f64]> {
        self.sweep.push(time);
        if self.sweep.len() < self.turn * self.order.len() {
            return None;
        }
        if self.spent.is_some() {
            // since the barrier before each turn: when its calls end that do not count, and all
            let ends = |turn: &[f64]| [turn[..turn.len() / 2].iter().sum(), turn.iter().sum()];
            self.sweep = self.sweep.chunks_exact(self.turn).flat_map(ends).collect();
        }
        Some(&self.sweep)
    }

    /// Makes the calls of a sweep once more, whose times the processes could not agree on.
    pub fn repeat_sweep(&mut self) {
        self.sweep.clear();
    }

    /// Ends a sweep, with the maxima over all processes of what [`Race::note`] has returned.
    pub fn end_sweep(&mut self, slowest: &[f64]) {
        let mut running = std::mem::take(&mut self.order);
        let means: Vec<f64> = if let Some(spent) = &mut self.spent {
            let turns = slowest.as_chunks::<2>().0;
            *spent += turns.iter().map(|[_, all]| all).sum::<f64>();
            let counted = (self.turn - self.turn / 2) as f64;
            turns.iter().map(|[before, all]| (all - before) / counted).collect()
        } else {
            let mean = |turn: &[f64]| {
                let counted = &turn[turn.len().div_ceil(2).min(turn.len() - 1)..];
                counted.iter().sum::<f64>() / counted.len() as f64
            };
            slowest.chunks_exact(self.turn).map(mean).collect()
        };
        let Some(sweeps) = &mut self.sweeps else {
            if self.spent.is_some_and(|spent| spent >= PATIENCE) {
                // a single call of each has to do
                running.iter().zip(means).for_each(|(&candidate, mean)| self.times[candidate].push(mean));
                self.over = true;
                return self.begin_sweep(running);
            }
            let fewest = if self.spent.is_some() { BRIEF_TURN } else { TURN[0] };
            let shortest = means.into_iter().fold(f64::INFINITY, f64::min);
            self.turn = to_usize(whole((TURN_TIME / shortest).clamp(fewest as f64, TURN[1] as f64)));
            self.sweeps = Some(0);
            self.begin_sweep(running);
            return;
        };
        for (&candidate, mean) in running.iter().zip(means) {
            self.times[candidate].push(mean);
        }
        *sweeps += 1;
        let sweeps = *sweeps;
        let best = running.iter().copied().min_by(|&a, &b| median(&self.times[a]).total_cmp(&median(&self.times[b])));
        let Some(best) = best else { return };
        if let Some(spent) = self.spent {
            let times = |candidate: usize| self.times[candidate].iter().copied();
            let least = |candidate: usize| times(candidate).fold(f64::INFINITY, f64::min);
            let decides = sweeps >= BRIEF_LEAST && spent >= BRIEF;
            if sweeps == 2 || decides {
                let bound = if decides { times(best).fold(0.0, f64::max) } else { HOPELESS * median(&self.times[best]) };
                running.retain(|&candidate| candidate == best || least(candidate) <= bound);
                self.over = running.len() == 1 || decides && (spent >= PATIENCE || sweeps >= BRIEF_MOST);
            }
            self.over |= spent >= LONGEST;
        }
        if sweeps >= LEAST {
            let (_, slow) = interval(&self.times[best]);
            let fast = |candidate: usize| interval(&self.times[candidate]).0;
            running.retain(|&candidate| candidate == best || fast(candidate) <= slow);
            let settled = running.iter().all(|&other| other == best || slow <= (1.0 + TOLERANCE) * fast(other));
            self.over |= settled || sweeps == MOST;
        }
        self.begin_sweep(running);
    }

    /// True if no more calls are needed.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// The median time of each candidate, in seconds. Of one that has left: what it would be now,
    /// had it kept its ratio to the fastest one that has not, since all may have become slower or
    /// faster; and more than that of the fastest one, or it would not have left.
    pub fn medians(&self) -> Vec<f64> {
        let all: Vec<f64> = self.times.iter().map(|times| median(times)).collect();
        let Some(best) = self.order.iter().copied().min_by(|&a, &b| all[a].total_cmp(&all[b])) else { return all };
        let of_best = &self.times[best];
        let now = |(times, &own): (&Vec<f64>, &f64)| {
            let then = median(&of_best[..times.len().min(of_best.len())]);
            match own / then * all[best] {
                now if times.len() < of_best.len() && now.is_finite() => now.max(all[best].next_up()),
                _ => own,
            }
        };
        self.times.iter().zip(&all).map(now).collect()
    }

    fn begin_sweep(&mut self, mut running: Vec<usize>) {
        running.sort_unstable();
        Random::new(self.sweeps.map_or(0, |sweeps| 1 + sweeps as u64)).shuffle(&mut running);
        self.sweep = Vec::with_capacity(self.turn * running.len());
        self.order = running;
    }
}

/// The median of some times; infinite if there are none.
fn median(times: &[f64]) -> f64 {
    crate::model::fit::median(times.to_vec()).unwrap_or(f64::INFINITY)
}

/// The confidence interval of the median. There must be a time.
fn interval(times: &[f64]) -> (f64, f64) {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    // the k-th smallest and the k-th largest, from 0
    let k = (0..n / 2).take_while(|&k| 2.0 * (k + 1) as f64 <= n as f64 - DEVIATIONS * (n as f64).sqrt()).count();
    (sorted[k], sorted[n - 1 - k])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs a race in which call `n` of all, by `candidate`, takes `time(n, candidate)`. Returns
    /// the candidate with the lowest median, and the number of calls.
    fn run(candidates: usize, time: impl FnMut(usize, usize) -> f64) -> (usize, usize) {
        run_race(Race::new(candidates), candidates, time)
    }

    fn run_race(mut race: Race, candidates: usize, mut time: impl FnMut(usize, usize) -> f64) -> (usize, usize) {
        let mut calls = 0;
        while !race.is_over() {
            let taken = time(calls, race.next());
            calls += 1;
            if let Some(sweep) = race.note(taken) {
                let slowest = sweep.to_vec();
                race.end_sweep(&slowest);
            }
        }
        let medians = race.medians();
        let best = (0..candidates).min_by(|&a, &b| medians[a].total_cmp(&medians[b])).unwrap();
        (best, calls)
    }

    /// Noise like that of a machine: a factor of 1 to 1 + `width`, mostly small, and one call in
    /// `outliers` that takes up to ten times as long.
    fn noisy(random: &mut Random, time: f64, width: f64, outliers: u32) -> f64 {
        let usual = time * (1.0 + width * random.unit() * random.unit());
        if random.below(outliers) == 0 { usual * (1.0 + 9.0 * random.unit()) } else { usual }
    }

    #[test]
    fn intervals_are_between_sorted_times() {
        let times = |n: u32| (0..n).rev().map(f64::from).collect::<Vec<_>>();
        for (n, expected) in [(1, (0.0, 0.0)), (5, (0.0, 4.0)), (9, (1.0, 7.0)), (16, (4.0, 11.0)), (30, (9.0, 20.0))] {
            assert_eq!(interval(&times(n)), expected, "{n} times");
        }
    }

    #[test]
    fn clear_differences_take_few_calls() {
        let (best, calls) = run(6, |_, candidate| [61.0, 80.0, 70.0, 47.5, 55.0, 52.0][candidate]);
        assert_eq!((best, calls), (3, 2 * (1 + LEAST) * 6));
        assert_eq!(run(1, |_, _| 1.0), (0, 2 * (1 + LEAST)));
        // without noise, equal ones are as good as one another
        assert_eq!(run(2, |_, _| 1.0).1, 2 * 2 * (1 + LEAST));
        // turns of short calls have more of them
        assert_eq!(run(2, |_, candidate| 0.01 + 0.001 * candidate as f64).1, 2 * (2 + 5 * LEAST));
        assert_eq!(run(2, |_, candidate| 1e-6 * (1 + candidate) as f64).1, 2 * (2 + 8 * LEAST));
    }

    #[test]
    fn a_sweep_without_agreement_is_made_once_more() {
        for mut race in [Race::new(3), Race::brief(3)] {
            let sweep = |race: &mut Race| {
                let mut order = Vec::new();
                loop {
                    order.push(race.next());
                    if let Some(times) = race.note(1.0) {
                        return (order, times.to_vec());
                    }
                }
            };
            for _ in 0..3 {
                let first = sweep(&mut race);
                race.repeat_sweep();
                assert_eq!(sweep(&mut race), first);
                race.end_sweep(&first.1);
            }
        }
    }

    /// A brief race spends a quarter of a second, or four sweeps where calls are long.
    #[test]
    fn brief_races_are_brief() {
        let brief = |times: &[f64]| run_race(Race::brief(times.len()), times.len(), |_, candidate| times[candidate]);
        // long calls: three in a turn, but for the first one
        assert_eq!(brief(&[0.2, 0.11, 0.2]), (1, (1 + 3 * 3) * 3));
        // clear losers leave after the second turn that counts
        assert_eq!(brief(&[0.2, 0.11, 0.3]), (1, (1 + 2 * 3) * 3 + 3 * 2));
        assert_eq!(brief(&[0.2, 1.0]), (0, (1 + 2 * 3) * 2));
        assert_eq!(brief(&[0.001, 0.003]), (0, (1 + 2 * 8) * 2));
        // one call of each, where these take as long as patience lasts
        assert_eq!(brief(&[10.0, 9.0, 8.0, 12.0]), (2, 4));
        assert_eq!(brief(&[2.0, 1.9]), (1, 2 + 3 * 2));
        assert_eq!(brief(&[2.0, 2.6, 1.9]), (2, 3));
        // one slow call says nothing
        for slow in 2..20 {
            let time = |call: usize, candidate: usize| if call == slow { 3.0 } else { [0.19, 0.1][candidate] };
            assert_eq!(run_race(Race::brief(2), 2, time), (1, (1 + 3 * 3) * 2));
        }
        for slow in 4..20 {
            let time = |call: usize, candidate: usize| if call == slow { 0.2 } else { [0.004, 0.002][candidate] };
            assert_eq!(run_race(Race::brief(2), 2, time).0, 1, "call {slow}");
        }
        // eight calls of a turn as soon as it is known that they are short
        assert_eq!(brief(&[1e-5, 1.9e-5, 1.5e-5]), (0, 3 + 8 * (3 + 3 * (LEAST - 1))));
        // equal ones: until patience ends, or it is known that they are
        assert_eq!(brief(&[0.3, 0.3]).1, (1 + 3 * 3) * 2);
        assert_eq!(brief(&[0.03, 0.03]).1, (1 + LEAST * 3) * 2);
        // as much noise as there can be
        let (mut spent, mut random) = (0.0, Random::new(1));
        let (_, calls) = run_race(Race::brief(2), 2, |_, _| {
            let time = 1e-3 * (1.0 + random.unit());
            spent += time;
            time
        });
        assert!(spent < BRIEF + 2.0 * 8.0 * 2e-3 && calls < 2 + 16 * MOST, "{spent} s, {calls} calls");
    }

    /// Three single calls of each choose wrong in 12 % of these cases, and in 20 % of those with
    /// three candidates. No race takes much longer than patience lasts.
    #[test]
    fn brief_choices_are_good_under_noise() {
        for times in [&[1.0, 1.15][..], &[1.1, 1.0, 1.2]] {
            let mut wrong = 0;
            for case in 0..400 {
                let (mut random, mut spent) = (Random::new(case), 0.0);
                let (best, _) = run_race(Race::brief(times.len()), times.len(), |_, candidate| {
                    let time = noisy(&mut random, 0.03 * times[candidate], 0.5, 20);
                    spent += time;
                    time
                });
                wrong += u32::from(times[best] > 1.08);
                assert!(spent < PATIENCE + 2.0, "{spent} s");
            }
            assert!(wrong <= 20, "{wrong} of 400 wrong, {times:?}");
        }
    }

    /// In each call behind a barrier one process of candidate 0 ends early, and then waits for the
    /// other: its calls take no longer for that.
    #[test]
    fn a_head_start_does_not_count() {
        let mut races = [Race::brief(2), Race::brief(2)];
        while !races[0].is_over() {
            let (candidate, meets) = (races[0].next(), races[0].meets());
            let since = races[0].sweep.len() % races[0].turn;
            assert_eq!(meets, since == 0);
            let early = match (candidate, since) {
                (0, 0) => -0.1,
                (0, 1) => 0.1,
                _ => 0.0,
            };
            let usual = [0.2, 0.22][candidate];
            let sweeps = [usual, usual + early];
            let sweeps = [0, 1].map(|p| races[p].note(sweeps[p]).map(<[f64]>::to_vec));
            if let [Some(a), Some(b)] = &sweeps {
                let slowest: Vec<f64> = a.iter().zip(b).map(|(a, b)| a.max(*b)).collect();
                races.iter_mut().for_each(|race| race.end_sweep(&slowest));
            }
        }
        let medians = races[1].medians();
        assert!((medians[0] - 0.2).abs() < 1e-9 && (medians[1] - 0.22).abs() < 1e-9, "{medians:?}");
    }

    /// The choice is seldom one that takes 12 % longer than the best, and more noise takes more
    /// calls.
    #[test]
    fn the_choice_is_good_under_noise() {
        let mut spent = Vec::new();
        for (width, outliers, allowed) in [(0.02, 1000, 0), (0.2, 50, 0), (0.8, 10, 2), (2.0, 5, 12)] {
            let (mut wrong, mut all) = (0, 0);
            for case in 0..200 {
                let mut random = Random::new(case);
                let times: Vec<f64> = (0..5).map(|_| 1.0 + f64::from(random.below(8)) / 8.0).collect();
                let (best, calls) = run(5, |_, candidate| noisy(&mut random, times[candidate], width, outliers));
                let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
                wrong += u32::from(times[best] > 1.12 * fastest);
                all += calls;
            }
            assert!(wrong <= allowed, "{wrong} of 200 wrong with noise of {width}");
            spent.push(all);
        }
        assert!(spent.is_sorted() && spent[3] > 2 * spent[0], "{spent:?}");
    }

    /// A machine that is busy for a while slows all candidates alike.
    #[test]
    fn busy_periods_do_not_decide() {
        for period in [3, 7, 20, 45] {
            let times = [1.3, 1.0, 1.2, 1.5];
            let busy = |call: usize| if call / period % 3 == 1 { 4.0 } else { 1.0 };
            let mut random = Random::new(period as u64);
            let (best, _) = run(4, |call, candidate| noisy(&mut random, times[candidate] * busy(call), 0.1, 100));
            assert_eq!(best, 1, "period {period}");
        }
    }

    /// All get slower after one has left: that does not make it the fastest.
    #[test]
    fn who_has_left_does_not_win() {
        let mut race = Race::new(3);
        while !race.is_over() {
            // two that take turns at being faster, so that neither wins soon
            let (sweep, candidate) = (race.sweeps.unwrap_or(0), race.next());
            let usual = if candidate == 2 { 1.3 } else { 1.0 + 0.1 * ((sweep + candidate) % 2) as f64 };
            if let Some(times) = race.note(if sweep < 8 { usual } else { 2.0 * usual }) {
                let slowest = times.to_vec();
                race.end_sweep(&slowest);
            }
        }
        let medians = race.medians();
        assert!(race.times[2].len() < MOST && race.times[0].len() == MOST);
        assert!(medians[2] > medians[0].min(medians[1]) && medians[2] < 3.0, "{medians:?}");
    }

    /// A candidate slows down the call after its own: that call does not count as slow.
    #[test]
    fn a_predecessor_does_not_decide() {
        // candidate 2 slows the call after it
        let mut before = 0;
        let (best, _) = run(4, |_, candidate| {
            let time = [1.3, 1.2, 1.6, 1.0][candidate] + if before == 2 && candidate != 2 { 2.0 } else { 0.0 };
            before = candidate;
            time
        });
        assert_eq!(best, 3);
    }

    /// A network that lets some bytes pass at once, and holds a sender to a rate after that: the
    /// candidate that sends more is faster in its first calls only.
    #[test]
    fn a_burst_does_not_decide() {
        const RATE: f64 = 25e6;
        let (mut tokens, bytes, latency) = (128e3, [26e3, 54e3], [1.2e-3, 0.9e-3]);
        let (best, _) = run(2, |_, candidate| {
            let time = f64::max(latency[candidate], (bytes[candidate] - tokens) / RATE);
            tokens = f64::min(128e3, tokens - bytes[candidate] + time * RATE);
            time
        });
        assert_eq!(best, 0);
    }

    proptest! {
        #[test]
        fn the_number_of_calls_is_bounded(
            candidates in 1usize..8,
            times in prop::collection::vec(prop_oneof![Just(0.0), 1e-9f64..1e3], 1..50),
        ) {
            let (best, calls) = run(candidates, |call, _| times[call % times.len()]);
            prop_assert!(best < candidates);
            let bounds = 2 * (1 + LEAST) * candidates..=(2 + 8 * MOST) * candidates;
            prop_assert!(bounds.contains(&calls), "{}", calls);
        }

        /// Processes that agree on the times of sweeps make the same calls, whatever each measured.
        #[test]
        fn processes_stay_in_step(candidates in 2usize..6, seed in any::<u64>(), brief in any::<bool>()) {
            let mut random = Random::new(seed);
            let new = if brief { Race::brief } else { Race::new };
            let mut races = [new(candidates), new(candidates)];
            while !races[0].is_over() {
                prop_assert!(!races[1].is_over());
                prop_assert_eq!((races[0].next(), races[0].meets()), (races[1].next(), races[1].meets()));
                let sweeps = races.each_mut().map(|race| race.note(random.unit()).map(<[f64]>::to_vec));
                if let [Some(a), Some(b)] = &sweeps {
                    let slowest: Vec<f64> = a.iter().zip(b).map(|(a, b)| a.max(*b)).collect();
                    races.iter_mut().for_each(|race| race.end_sweep(&slowest));
                }
            }
            prop_assert_eq!(races[0].medians(), races[1].medians());
        }
    }
}
