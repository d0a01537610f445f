use mpix_neighbor::graph::Graph;
use mpix_neighbor::schedule::distributed_coloring::run_all;
use mpix_neighbor::schedule::verify::{Goal, verify};
use mpix_neighbor::schedule::*;
struct R(u64);
impl R {
    fn n(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let x = self.0;
        let x = (x ^ (x >> 31)).wrapping_mul(0x9e3779b97f4a7c15);
        ((x >> 33) * n) >> 31
    }
}
// d random permutations (multigraph allowed, self edges dropped by shift)
fn regular(n: u32, d: u32, seed: u64, w: u64) -> Vec<(u32, u32, u32)> {
    let mut r = R(seed);
    let mut v = vec![];
    for k in 0..d {
        let mut p: Vec<u32> = (0..n).collect();
        for i in (1..n as usize).rev() {
            p.swap(i, r.n(i as u64 + 1) as usize);
        }
        for i in 0..n {
            if p[i as usize] != i {
                v.push((i, p[i as usize], if w == 1000 { [1000, 100, 10, 10][(4 * k / d) as usize] } else { 1 }));
            }
        }
    }
    v
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let big = a.get(5).is_some();
    let half = a.get(6).is_some();
    for &(n, d) in &[
        (32u32, 4u32),
        (32, 16),
        (256, 4),
        (256, 8),
        (256, 16),
        (256, 64),
        (4096, 4),
        (4096, 8),
        (4096, 16),
        (4096, 32),
        (4096, 64),
        (1024, 200),
        (65536, 6),
        (65536, 16),
    ] {
        if n > 5000 && !big {
            continue;
        }
        for w in [1, 1000] {
            let g = Graph::from_edges(n, &regular(n, d, 5, w));
            let world = g.neighborhoods();
            let t = Tuning { half_duplex: half, ..Tuning::default() };
            let t0 = std::time::Instant::now();
            let (s, st) = run_all(&world, &t);
            let dt = t0.elapsed();
            let rounds = s.iter().filter(|x| x.rounds() > 0).map(|x| x.number(x.rounds() - 1) + 1).max().unwrap();
            if n < 5000 {
                verify(&world, &s, Goal::Deliver, true).unwrap();
            }
            // cost
            let mut longest = vec![0u32; rounds as usize];
            for (p, x) in s.iter().enumerate() {
                for r in 0..x.rounds() {
                    for o in x.round(r) {
                        if let Op::Send { block: Block::Input(i), .. } = o {
                            let l = &mut longest[x.number(r) as usize];
                            *l = (*l).max(world[p].targets()[*i as usize].weight);
                        }
                    }
                }
            }
            let cost: u64 = longest.iter().map(|&x| x as u64).sum();
            let m = g.max_degree() * if half { 2 } else { 1 };
            let loads = g.loads();
            let lb = loads.0.iter().chain(&loads.1).max().unwrap();
            println!(
                "n {n:6} d {d:3} w {w:4}: rounds {rounds:3} = {:.3} D, steps {:3}, msgs/edge {:.1} words/msg {:.1} cost/load {:.3}  {:?}",
                rounds as f64 / m as f64,
                st.steps,
                st.messages as f64 / g.edges() as f64,
                st.words as f64 / st.messages as f64,
                cost as f64 / *lb as f64,
                dt
            );
        }
    }
}
