//! Time to pack and unpack the faces, edges and corners of boxes of doubles, one of each kind and
//! all 26, beside loops written by hand. Each box lies in an array that is one wider on each side,
//! as in a stencil code: what is packed is its outermost layer, what is unpacked the layer around
//! it. The last group is two faces across the rows at once, by hand: they share cache lines, as the
//! end of one row is beside the beginning of the next one.
//!
//! The sources are included here, as they are no part of the crate's interface.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use datatype::layout::Layout;
use datatype::typemap::{Pieces, Typemap};
use mpix_neighbor::util;
use mpix_neighbor::util::cast::to_int;

#[allow(dead_code, unused_imports)]
#[path = "../src/datatype"]
mod datatype {
    pub mod layout;
    mod loops;
    pub mod typemap;
}

/// First index and length in each dimension, the rows' last.
type Region = [(usize, usize); 3];

/// The regions on the 26 sides of a box of `n` cells in each direction: of the box itself, or of
/// what lies around it.
fn regions(n: usize, inside: bool) -> Vec<Region> {
    let range = |side: usize| match (side, inside) {
        (1, _) => (1, n),
        (0, true) => (1, 1),
        (0, false) => (0, 1),
        (_, true) => (n, 1),
        (_, false) => (n + 1, 1),
    };
    (0..27).filter(|&k| k != 13).map(|k| [range(k / 9), range(k / 3 % 3), range(k % 3)]).collect()
}

/// The region as the subarray that it is.
fn layout_of(region: &Region, width: usize) -> Layout {
    let [z, y, x] = *region;
    let (width, row, plane): (i64, i64, i64) = (to_int(width), to_int(8 * width), to_int(8 * width * width));
    let rows = Pieces::bytes(8).repeated(to_int(x.1), 8).and_then(|p| p.repeated(to_int(y.1), row));
    let all = rows.and_then(|p| p.repeated(to_int(z.1), plane)).unwrap();
    let mut moved = Pieces::default();
    moved.append(&all, to_int::<i64>(z.0) * plane + to_int::<i64>(y.0) * row + to_int::<i64>(8 * x.0)).unwrap();
    Layout::new(Arc::new(Typemap::new(moved, plane * width).unwrap()), 1).unwrap()
}

/// Packs as a program does by hand: two loops for faces across the rows, three for all others.
///
/// # Safety
/// The array must be as wide in each direction, and the buffer as long as the region.
#[inline(never)]
unsafe fn pack_by_hand(array: *const f64, width: usize, region: &Region, into: *mut f64) {
    let [(z0, nz), (y0, ny), (x0, nx)] = *region;
    let mut k = 0;
    for z in z0..z0 + nz {
        for y in y0..y0 + ny {
            let row = (z * width + y) * width;
            // SAFETY: the caller vouches for both.
            unsafe {
                if nx == 1 {
                    *into.add(k) = *array.add(row + x0);
                    k += 1;
                } else {
                    for x in x0..x0 + nx {
                        *into.add(k) = *array.add(row + x);
                        k += 1;
                    }
                }
            }
        }
    }
}

/// The other way.
///
/// # Safety
/// As above.
#[inline(never)]
unsafe fn unpack_by_hand(from: *const f64, array: *mut f64, width: usize, region: &Region) {
    let [(z0, nz), (y0, ny), (x0, nx)] = *region;
    let mut k = 0;
    for z in z0..z0 + nz {
        for y in y0..y0 + ny {
            let row = (z * width + y) * width;
            // SAFETY: the caller vouches for both.
            unsafe {
                if nx == 1 {
                    *array.add(row + x0) = *from.add(k);
                    k += 1;
                } else {
                    for x in x0..x0 + nx {
                        *array.add(row + x) = *from.add(k);
                        k += 1;
                    }
                }
            }
        }
    }
}

/// Two faces across the rows, element by element.
///
/// # Safety
/// As above; both regions must be of the same shape.
#[inline(never)]
unsafe fn unpack_two(from: [*const f64; 2], array: *mut f64, width: usize, regions: [&Region; 2]) {
    let [[z, y, x], [_, _, other]] = regions.map(|r| *r);
    let mut k = 0;
    for z in z.0..z.0 + z.1 {
        for y in y.0..y.0 + y.1 {
            let row = (z * width + y) * width;
            // SAFETY: the caller vouches for both.
            unsafe {
                *array.add(row + x.0) = *from[0].add(k);
                *array.add(row + other.0) = *from[1].add(k);
            }
            k += 1;
        }
    }
}

fn boxes(c: &mut Criterion) {
    for n in [8usize, 16, 64] {
        let width = n + 2;
        let mut array = vec![1.0f64; width * width * width];
        let mut buffer = vec![0.0f64; 26 * n * n];
        let (array, buffer) = (array.as_mut_ptr(), buffer.as_mut_ptr());
        let all = |inside| regions(n, inside).into_iter().map(|r| (layout_of(&r, width), r)).collect::<Vec<_>>();
        let (inside, around) = (all(true), all(false));
        let kind = |name: &str, side: usize| (name.to_owned(), vec![inside[side].clone()], vec![around[side].clone()]);
        // by their place among the 26
        let kinds = [
            kind("planes", 4),
            kind("rows of planes", 10),
            kind("across the rows", 12),
            kind("edge along a row", 1),
            kind("edge across rows", 3),
            kind("edge across planes", 9),
            kind("corner", 0),
            ("all 26".to_owned(), inside.clone(), around.clone()),
        ];
        let mut group = c.benchmark_group(format!("{n}^3 doubles"));
        for (name, inside, around) in &kinds {
            let bytes: usize = inside.iter().map(|(layout, _)| layout.bytes()).sum();
            group.throughput(Throughput::Bytes(bytes as u64));
            let walk = |list: &[(Layout, Region)], one: &dyn Fn(&Layout, &Region, *mut f64)| {
                list.iter().fold(black_box(buffer), |at, (layout, region)| {
                    one(layout, region, at);
                    at.wrapping_byte_add(layout.bytes())
                });
            };
            // SAFETY: array and buffer are as large as the regions need.
            let pack =
                |l: &Layout, _: &Region, at: *mut f64| unsafe { l.pack(black_box(array.cast::<u8>().cast_const()), at.cast()) };
            // SAFETY: as above.
            let unpack =
                |l: &Layout, _: &Region, at: *mut f64| unsafe { l.unpack(at.cast::<u8>().cast_const(), black_box(array).cast()) };
            // SAFETY: as above.
            let by_hand = |_: &Layout, r: &Region, at: *mut f64| unsafe { pack_by_hand(black_box(array), width, r, at) };
            // SAFETY: as above.
            let back = |_: &Layout, r: &Region, at: *mut f64| unsafe { unpack_by_hand(at, black_box(array), width, r) };
            group.bench_function(BenchmarkId::new("pack", name), |b| b.iter(|| walk(inside, &pack)));
            group.bench_function(BenchmarkId::new("pack by hand", name), |b| b.iter(|| walk(inside, &by_hand)));
            group.bench_function(BenchmarkId::new("unpack", name), |b| b.iter(|| walk(around, &unpack)));
            group.bench_function(BenchmarkId::new("unpack by hand", name), |b| b.iter(|| walk(around, &back)));
        }
        let two = [&around[12], &around[13]];
        group.throughput(Throughput::Bytes(16 * (n * n) as u64));
        let second = buffer.wrapping_add(n * n);
        group.bench_function(BenchmarkId::new("unpack", "both across the rows"), |b| {
            // SAFETY: as above.
            b.iter(|| unsafe {
                two[0].0.unpack(black_box(buffer).cast::<u8>().cast_const(), array.cast());
                two[1].0.unpack(second.cast::<u8>().cast_const(), array.cast());
            });
        });
        group.bench_function(BenchmarkId::new("unpack at once, by hand", "both across the rows"), |b| {
            // SAFETY: as above.
            b.iter(|| unsafe { unpack_two([black_box(buffer), second], array, width, [&two[0].1, &two[1].1]) });
        });
        group.finish();
    }
}

criterion_group!(benches, boxes);
criterion_main!(benches);
