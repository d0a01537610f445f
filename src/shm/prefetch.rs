//! Brings cache lines to this core before it writes them.
//!
//! A line that another core has read must be taken from its cache before it can be written. A
//! process that knows which one it writes next asks for it ahead: by the time it has come that far,
//! the line is here.

use crate::util::memory::LINE;

/// Asks for the lines of so many bytes, to be written. Waits for nothing; any address is valid.
#[inline(always)]
pub fn for_writing(at: *const u8, bytes: usize) {
    (0..bytes).step_by(LINE).for_each(|offset| line_for_writing(at.wrapping_add(offset)));
}

#[inline(always)]
fn line_for_writing(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the instruction changes nothing but caches, and ignores what is not mapped;
    // processors that do not know it do nothing.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) at, options(nostack, preserves_flags, readonly));
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("prfm pstl1keep, [{}]", in(reg) at, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
    let _ = at;
}
