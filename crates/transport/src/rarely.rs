//! State that most machines never have.
//!
//! A simulation holds tens of thousands of connections, and most of them lose nothing. What only losses need lies apart, and takes
//! memory when it is written for the first time; until then it reads as what it is at rest.

use std::ops::{Deref, DerefMut};

/// What a state is as long as nothing has happened.
pub(crate) trait Rest: Sized + 'static {
    /// It.
    const REST: Self;
    /// The same, to be read: `&Self::REST`.
    const AT_REST: &'static Self;
}

/// A `T` that is at rest until it is written. To write what changes nothing costs memory: look first.
#[derive(Debug)]
pub(crate) struct Rarely<T>(Option<Box<T>>);

impl<T> Rarely<T> {
    /// At rest.
    pub(crate) const fn new() -> Self {
        Self(None)
    }

    /// At rest again.
    pub(crate) fn reset(&mut self) {
        self.0 = None;
    }

    /// What there is, if it was ever written.
    #[inline]
    pub(crate) fn written(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }
}

impl<T> Default for Rarely<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Rest> Deref for Rarely<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or(T::AT_REST)
    }
}

impl<T: Rest> DerefMut for Rarely<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_with(|| Box::new(T::REST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Rest for u64 {
        const REST: Self = 7;
        const AT_REST: &'static Self = &Self::REST;
    }

    #[test]
    fn it_takes_memory_when_it_is_written() {
        let mut state = Rarely::<u64>::new();
        assert_eq!((*state, state.written()), (7, None));
        *state += 1;
        assert_eq!((*state, state.written()), (8, Some(&mut 8)));
        state.reset();
        assert_eq!((*state, state.written()), (7, None));
    }
}
