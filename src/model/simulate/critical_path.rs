//! Results of a finished simulation: critical path, message trace, and times of processes.

use super::engine::{IN_PORT, NOTHING, OUT_PORT, RECEIVE_OVERHEAD, SEND_OVERHEAD, Simulation};
use super::result::{Run, Step, StepKind, Transfer};
use crate::schedule::Schedule;
use crate::util::cast::to_u32;

/// The kinds of the four activities of a message, in the order of their numbers.
const KINDS: [StepKind; 4] = [StepKind::SendOverhead, StepKind::OutPort, StepKind::InPort, StepKind::ReceiveOverhead];

impl Simulation<'_> {
    fn path(&self, last: u32) -> Vec<Step> {
        let mut path = Vec::new();
        let (mut node, mut next) = (last, NOTHING);
        while node != NOTHING {
            let message = &self.world.messages[node as usize / 4];
            let (source, target) = (message.source, message.target);
            let kind = KINDS[node as usize % 4];
            let process = if matches!(kind, StepKind::SendOverhead | StepKind::OutPort) { source } else { target };
            let step = |kind, from, until| Step { process, kind, source, target, from, until };
            let end = self.end_of(node);
            // in the time between two activities, a message is in the network or a port rests
            if next != NOTHING && self.begin[next as usize] > end {
                let between = if next == node + 1 { StepKind::Latency } else { StepKind::Gap };
                path.push(step(between, end, self.begin[next as usize]));
            }
            path.push(step(kind, self.begin[node as usize], end));
            (next, node) = (node, self.causes[node as usize]);
        }
        path.reverse();
        path.retain(|s| s.until > s.from);
        path
    }

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
        let last = self.states.iter().reduce(|a, b| if b.did.finish > a.did.finish { b } else { a });
        Run {
            total: last.map_or(0.0, |s| s.did.finish),
            path: last.map_or_else(Vec::new, |s| self.path(s.end)),
            processes: self.states.iter().map(|s| s.did).collect(),
            trace: self.options.trace.then(|| self.trace(schedules)),
        }
    }
}
