//! Results of a finished simulation: times of processes, and the message trace.

use super::engine::{IN_PORT, OUT_PORT, RECEIVE_OVERHEAD, SEND_OVERHEAD, Simulation};
use super::result::{Run, Transfer};
use crate::schedule::Schedule;
use crate::util::cast::to_u32;

impl Simulation<'_> {
    fn trace(&self, schedules: &[Schedule]) -> Vec<Transfer> {
        (self.world.messages.iter().enumerate())
            .map(|(i, m)| {
                let at = |activity| self.begin[4 * i + activity as usize];
                let end = |activity| self.end_of(4 * to_u32(i) + activity);
                Transfer {
                    source: m.source,
                    target: m.target,
                    round: schedules[m.source as usize].number((m.send_round - self.world.rounds[m.source as usize]) as usize),
                    bytes: m.bytes,
                    send: at(SEND_OVERHEAD)..end(OUT_PORT),
                    receive: at(IN_PORT) + self.latencies[i]..end(RECEIVE_OVERHEAD),
                }
            })
            .collect()
    }

    pub(super) fn result(&self, schedules: &[Schedule]) -> Run {
        let finish: Vec<f64> = self.states.iter().map(|s| s.finish).collect();
        Run {
            total: finish.iter().copied().fold(0.0, f64::max),
            finish,
            trace: self.options.trace.then(|| self.trace(schedules)),
        }
    }
}
