//! What a set of messages costs where each process has one port out and one in, and nothing waits but for ports: IrregPC's costs (a message
//! of `m` bytes takes `tau + m phi`) without its assumption that a round ends for all processes at once.

use std::collections::BinaryHeap;

use mpix_neighbor::graph::Graph;
use mpix_neighbor::schedule::Plan;

/// A number of time that can be ordered; never NaN.
#[derive(PartialEq)]
struct Time(f64);

impl Eq for Time {}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Time) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    /// The earlier is the greater: a `BinaryHeap` hands out the greatest.
    fn cmp(&self, other: &Time) -> std::cmp::Ordering {
        other.0.total_cmp(&self.0)
    }
}

/// Everything is sent at once (IrregPC's AC): each process sends in the order of its edges, a message waits until its receiver has received
/// what came before it, and what its sender would send next waits behind it. `startup` and the result in units of weight.
///
/// Cost: O(edges log processes) time.
pub fn asynchronous(graph: &Graph, startup: f64) -> f64 {
    let processes = graph.processes();
    let mut next: Vec<usize> = (0..processes).map(|p| graph.edges_of(p as u32).start).collect();
    let mut free = vec![0.0f64; processes];
    let mut end = 0.0f64;
    // (when a process may send its next message, which process): the earliest reaches its receiver first
    let mut ready: BinaryHeap<(Time, std::cmp::Reverse<usize>)> =
        (0..processes).map(|p| (Time(0.0), std::cmp::Reverse(p))).collect();
    while let Some((Time(now), std::cmp::Reverse(p))) = ready.pop() {
        let edge = next[p];
        if edge == graph.edges_of(p as u32).end {
            continue;
        }
        next[p] += 1;
        let port = &mut free[graph.target(edge) as usize];
        *port = port.max(now) + startup + f64::from(graph.weight(edge).max(1));
        end = end.max(*port);
        ready.push((Time(*port), std::cmp::Reverse(p)));
    }
    end
}

/// A plan whose rounds do not wait for one another: a message begins when its two processes are done with what they do in earlier rounds.
/// `startup` and the result in units of weight. At most the plan's cost.
pub fn unsynchronized(graph: &Graph, plan: &Plan, startup: f64) -> f64 {
    let sources: Vec<u32> = graph.iter().map(|e| e.0).collect();
    let mut pieces: Vec<_> = plan.pieces.iter().collect();
    pieces.sort_by_key(|p| p.round);
    let (mut out, mut into) = (vec![0.0f64; graph.processes()], vec![0.0f64; graph.processes()]);
    for piece in pieces {
        let (source, target) = (sources[piece.edge as usize] as usize, graph.target(piece.edge as usize) as usize);
        let end = out[source].max(into[target]) + startup + f64::from(piece.length()) / f64::from(plan.scale);
        (out[source], into[target]) = (end, end);
    }
    out.into_iter().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpix_neighbor::schedule::Algorithm;

    #[test]
    fn messages_wait_for_ports() {
        // 0 and 1 send to 2 at once; 1 then sends to 0, but only when 2 has its message
        let graph = Graph::from_edges(3, &[(0, 2, 10), (1, 2, 20), (1, 0, 1)]);
        assert_eq!(asynchronous(&graph, 5.0), 15.0 + 25.0 + 6.0);
        // the other way round: 1 sends to 0 while 2 receives from 0
        let plan = Plan::uncut(Algorithm::Direct, &graph, &[0, 1, 0]);
        assert_eq!(unsynchronized(&graph, &plan, 5.0), 15.0 + 25.0);
        assert_eq!(plan.cost(5.0), 15.0 + 25.0);
    }

    #[test]
    fn rounds_overlap_where_processes_differ() {
        let graph = Graph::from_edges(4, &[(0, 1, 10), (0, 1, 1), (2, 3, 1), (2, 3, 10)]);
        let plan = Plan::uncut(Algorithm::Direct, &graph, &[0, 1, 0, 1]);
        assert_eq!((plan.cost(1.0), unsynchronized(&graph, &plan, 1.0)), (22.0, 13.0));
    }

    #[test]
    fn nothing_costs_nothing() {
        let graph = Graph::from_edges(2, &[]);
        assert_eq!(asynchronous(&graph, 5.0), 0.0);
    }
}
