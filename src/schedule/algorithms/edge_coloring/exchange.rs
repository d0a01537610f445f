//! Moves edges between pairs of rounds so that heavy edges share rounds.
//!
//! The edges of two rounds form paths and cycles in which the rounds alternate; each path or cycle
//! may swap its rounds independently (Kempe). Putting the heavier side of each into the same round
//! makes the other round as short as these two can be.

use crate::util::cast::to_u32;

/// No edge.
const NONE: u32 = u32::MAX;

/// Maximum number of sweeps over all pairs.
const SWEEPS: u32 = 4;

/// Elementary steps for an edge of a pair.
const STEPS: u64 = 10;

/// Upper bound of the elementary steps of [`heavy_together`].
pub fn steps(edges: usize, degree: u32) -> u64 {
    2 * STEPS * u64::from(SWEEPS) * edges as u64 * u64::from(degree)
}

/// Changes `colors`, which stays a coloring with the same colors. The sum over colors of the
/// longest edge never grows.
///
/// Cost: O(E d) time per sweep for E edges and d colors, 8 bytes per port and color.
pub fn heavy_together(ports: usize, ends: &[(u32, u32)], lengths: &[u32], degree: u32, colors: &mut [u32]) {
    let degree = degree as usize;
    // the edge of each color at each port
    let mut at = [vec![NONE; ports * degree], vec![NONE; ports * degree]];
    for (e, &(l, r)) in ends.iter().enumerate() {
        at[0][l as usize * degree + colors[e] as usize] = to_u32(e);
        at[1][r as usize * degree + colors[e] as usize] = to_u32(e);
    }
    let mut longest = vec![0u32; degree];
    for (e, &c) in colors.iter().enumerate() {
        longest[c as usize] = longest[c as usize].max(lengths[e]);
    }
    // the edges of each color
    let mut classes: Vec<Vec<u32>> = vec![Vec::new(); degree];
    for (e, &c) in colors.iter().enumerate() {
        classes[c as usize].push(to_u32(e));
    }
    let mut both: Vec<u32> = Vec::new();
    let mut component: Vec<u32> = Vec::new();
    let mut seen = vec![0u32; ends.len()];
    let mut visit = 0;
    for _ in 0..SWEEPS {
        let before: u64 = longest.iter().map(|&l| u64::from(l)).sum();
        for heavy in 0..degree {
            for light in 0..degree {
                if heavy == light || longest[heavy] < longest[light] {
                    continue;
                }
                visit += 1;
                let mut lightest = 0;
                both.clear();
                both.append(&mut classes[heavy]);
                both.append(&mut classes[light]);
                for &first in &both {
                    if seen[first as usize] == visit {
                        continue;
                    }
                    follow(ends, colors, &at, degree, [heavy, light], first, &mut component);
                    let mut sides = [0u32; 2];
                    for &e in &component {
                        seen[e as usize] = visit;
                        let side = &mut sides[usize::from(colors[e as usize] as usize == light)];
                        *side = lengths[e as usize].max(*side);
                    }
                    if sides[1] > sides[0] {
                        swap(ends, colors, &mut at, degree, [heavy, light], &component);
                    }
                    lightest = lightest.max(sides[0].min(sides[1]));
                }
                for &e in &both {
                    classes[colors[e as usize] as usize].push(e);
                }
                longest[heavy] = longest[heavy].max(longest[light]);
                longest[light] = lightest;
            }
        }
        if longest.iter().map(|&l| u64::from(l)).sum::<u64>() == before {
            break;
        }
    }
}

/// Collects the edges of the path or cycle of two colors that contains an edge.
fn follow(
    ends: &[(u32, u32)],
    colors: &[u32],
    at: &[Vec<u32>; 2],
    degree: usize,
    pair: [usize; 2],
    first: u32,
    component: &mut Vec<u32>,
) {
    component.clear();
    component.push(first);
    for start in 0..2 {
        let (mut e, mut side) = (first, start);
        loop {
            let port = if side == 0 { ends[e as usize].0 } else { ends[e as usize].1 } as usize;
            let other = if colors[e as usize] as usize == pair[0] { pair[1] } else { pair[0] };
            e = at[side][port * degree + other];
            if e == NONE {
                break;
            }
            if e == first {
                // a cycle: all of it has been visited
                return;
            }
            component.push(e);
            side = 1 - side;
        }
    }
}

/// Swaps the two colors on a path or cycle.
fn swap(ends: &[(u32, u32)], colors: &mut [u32], at: &mut [Vec<u32>; 2], degree: usize, pair: [usize; 2], component: &[u32]) {
    for &e in component {
        let (l, r) = ends[e as usize];
        for (side, port) in [(0, l), (1, r)] {
            let held = &mut at[side][port as usize * degree + colors[e as usize] as usize];
            if *held == e {
                *held = NONE;
            }
        }
        let color = &mut colors[e as usize];
        *color = to_u32(if *color as usize == pair[0] { pair[1] } else { pair[0] });
        at[0][l as usize * degree + *color as usize] = e;
        at[1][r as usize * degree + *color as usize] = e;
    }
}
