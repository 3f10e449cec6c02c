//! Memory that will be needed soon.

/// Octets that a processor fetches at a time.
const LINE: usize = 64;

/// Asks the processor to fetch all of `value` while it does something else: whoever looks at many things in no order waits for memory most of
/// the time otherwise. Changes nothing, and does nothing on processors where it is not known how.
#[inline]
pub fn prefetch<T>(value: &T) {
    let first = std::ptr::from_ref(value).cast::<i8>();
    // From the beginning of the line that it begins in.
    let within = first.addr() % LINE;
    let lines = (within + size_of::<T>()).div_ceil(LINE);
    for number in 0..lines {
        line(first.wrapping_sub(within).wrapping_add(number * LINE));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn line(at: *const i8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: the instruction is a hint, which reads and writes nothing that a program can see, whatever the address.
    #[expect(unsafe_code, reason = "the hint has no safe form")]
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(at);
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
const fn line(_: *const i8) {}
