//! Copies by streaming stores, which go past the caches, and of what was so stored.
//!
//! What a core has written lies changed in its cache. Another core that shares no cache with it
//! waits for each such line, and so does the first one when it writes the line again: between such
//! cores a message that is written to memory itself, and read from there, takes a quarter of the
//! time. Between cores that share a cache it takes up to twice as long.
//!
//! So does a receiver store blocks that no cache could keep until the program reads them: an
//! ordinary store first reads the line that it writes.
//!
//! Source: AMD, Software Optimization Guide for the AMD Zen4 Microarchitecture, on write combining
//! and streaming stores; AMD64 Architecture Programmer's Manual, Volume 3, CPUID Fn8000_001D, and
//! Intel 64 and IA-32 Architectures Software Developer's Manual, CPUID leaf 4, on sizes of caches.

use std::sync::OnceLock;

use crate::util::memory::LINE;

/// True if the processor has streaming stores that this file uses.
pub const AVAILABLE: bool = cfg!(all(target_arch = "x86_64", not(miri)));

/// The processor's clock, in ticks of any length.
#[inline]
pub fn ticks() -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every x86-64 processor has it.
    let now = unsafe { std::arch::x86_64::_rdtsc() };
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let now = 0;
    now
}

/// Ticks since then; `u64::MAX` if the thread has come to a core whose clock is behind.
#[inline]
pub fn since(began: u64) -> u64 {
    ticks().checked_sub(began).unwrap_or(u64::MAX)
}

/// Copies bytes by streaming stores. [`fence`] comes next.
///
/// # Safety
/// Both ends must be valid, and not overlap.
pub unsafe fn store(from: *const u8, into: *mut u8, bytes: usize) {
    let head = into.align_offset(LINE).min(bytes);
    let lines = (bytes - head) / LINE * LINE;
    // SAFETY: the caller vouches for both ends; what lies between head and tail are whole lines.
    unsafe {
        into.copy_from_nonoverlapping(from, head);
        copy_lines::<true>(from.wrapping_add(head), into.wrapping_add(head), lines);
        let done = head + lines;
        into.wrapping_add(done).copy_from_nonoverlapping(from.wrapping_add(done), bytes - done);
    }
}

/// Copies bytes that came by [`store`] out of shared memory: by loads, line by line, as copies by
/// the processor's string instructions take up to 1.5 times as long from there.
///
/// # Safety
/// Both ends must be valid, and not overlap.
pub unsafe fn load(from: *const u8, into: *mut u8, bytes: usize) {
    let lines = bytes / LINE * LINE;
    // SAFETY: the caller vouches for both ends.
    unsafe {
        copy_lines::<false>(from, into, lines);
        into.wrapping_add(lines).copy_from_nonoverlapping(from.wrapping_add(lines), bytes - lines);
    }
}

/// From how many bytes on a message is stored past the caches where it is received: half of the
/// largest cache of this core, which has to keep what is sent, too. `u64::MAX` if nobody knows.
///
/// The first call asks the processor, which takes some microseconds in a virtual machine.
pub fn past_caches() -> u64 {
    static LEAST: OnceLock<u64> = OnceLock::new();
    *LEAST.get_or_init(|| match largest_cache() {
        0 => u64::MAX,
        bytes => bytes / 2,
    })
}

/// Bytes of the largest cache that this core uses; 0 if nobody knows.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn largest_cache() -> u64 {
    const AMD: u32 = 0x8000_001D;
    #[allow(unused_unsafe, reason = "unsafe before Rust 1.94")]
    // SAFETY: every x86-64 processor has the instruction.
    let ask = |leaf: u32, part: u32| unsafe { std::arch::x86_64::__cpuid_count(leaf, part) };
    // of other makers, those processors that have this leaf do not use it
    let leaf = if ask(0x8000_0000, 0).eax >= AMD && ask(AMD, 0).eax & 0x1F != 0 { AMD } else { 4 };
    if leaf == 4 && ask(0, 0).eax < 4 {
        return 0;
    }
    let caches = (0..16).map(|k| ask(leaf, k)).take_while(|cache| cache.eax & 0x1F != 0);
    let bytes = caches.map(|cache| {
        let parts = [cache.ebx & 0xFFF, cache.ebx >> 12 & 0x3FF, cache.ebx >> 22, cache.ecx];
        parts.into_iter().map(|part| u64::from(part) + 1).product()
    });
    bytes.max().unwrap_or(0)
}

/// Bytes of the largest cache that this core uses; 0 if nobody knows.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn largest_cache() -> u64 {
    0
}

/// Lets no later store overtake those of [`store`].
#[inline]
pub fn fence() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every x86-64 processor has it.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Copies whole lines. `STREAMS`: by streaming stores, to an address that is a multiple of
/// [`LINE`].
///
/// # Safety
/// Both ends must be valid, and not overlap.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[expect(clippy::cast_ptr_alignment, reason = "those that need it are a line's")]
unsafe fn copy_lines<const STREAMS: bool>(from: *const u8, into: *mut u8, bytes: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_storeu_si128, _mm_stream_si128};
    for at in (0..bytes).step_by(LINE) {
        let (from, into) = (from.wrapping_add(at).cast::<__m128i>(), into.wrapping_add(at).cast::<__m128i>());
        // SAFETY: the caller vouches for the line at both ends.
        unsafe {
            let words: [__m128i; 4] = std::array::from_fn(|k| _mm_loadu_si128(from.wrapping_add(k)));
            for (k, word) in words.into_iter().enumerate() {
                let into = into.wrapping_add(k);
                if STREAMS { _mm_stream_si128(into, word) } else { _mm_storeu_si128(into, word) }
            }
        }
    }
}

/// Copies bytes.
///
/// # Safety
/// Both ends must be valid, and not overlap.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
unsafe fn copy_lines<const STREAMS: bool>(from: *const u8, into: *mut u8, bytes: usize) {
    // SAFETY: the caller vouches for both ends.
    unsafe { into.copy_from_nonoverlapping(from, bytes) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_have_a_size_that_is_possible() {
        let least = past_caches();
        assert!(least == u64::MAX || (1 << 14..1 << 39).contains(&least), "{least}");
        assert_eq!(least, past_caches());
    }

    #[test]
    fn all_bytes_arrive_and_no_others() {
        let from: Vec<u8> = (0..1000u32).map(|k| (k % 251) as u8 + 1).collect();
        for bytes in (0..200).chain([255, 256, 640, 900]) {
            for (begin, at) in [(0, 0), (1, 3), (16, 64), (7, 60), (64, 1)] {
                let (mut stored, mut loaded) = (vec![0u8; 1100], vec![0u8; 1100]);
                // SAFETY: both are long enough.
                unsafe {
                    store(from[begin..].as_ptr(), stored[at..].as_mut_ptr(), bytes);
                    fence();
                    load(stored[at..].as_ptr(), loaded[begin..].as_mut_ptr(), bytes);
                }
                for (have, at) in [(&stored, at), (&loaded, begin)] {
                    assert_eq!(have[at..at + bytes], from[begin..begin + bytes], "{bytes} bytes");
                    let others = have[..at].iter().chain(&have[at + bytes..]);
                    assert!(others.into_iter().all(|&byte| byte == 0), "{bytes} bytes from {begin} to {at}");
                }
            }
        }
    }

    #[test]
    fn a_clock_that_is_behind_has_taken_longest() {
        let began = ticks();
        assert!(since(began) < u64::MAX);
        assert_eq!(since(u64::MAX), u64::MAX);
        assert_eq!(began > 0, AVAILABLE);
    }
}
