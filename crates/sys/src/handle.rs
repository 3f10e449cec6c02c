//! What a socket is to the functions of this crate: a descriptor, or what Windows has in its place.

#[cfg(unix)]
pub use std::os::fd::{AsFd as AsHandle, BorrowedFd as Handle};
#[cfg(windows)]
pub use std::os::windows::io::{AsSocket as AsHandle, BorrowedSocket as Handle};

/// The handle of `of`.
#[cfg(unix)]
pub fn handle(of: &impl AsHandle) -> Handle<'_> {
    of.as_fd()
}

/// The handle of `of`.
#[cfg(windows)]
pub fn handle(of: &impl AsHandle) -> Handle<'_> {
    of.as_socket()
}

/// A type without values has a handle as well, so that what uses it compiles.
#[cfg(not(target_os = "linux"))]
macro_rules! never {
    ($type:ty) => {
        #[cfg(unix)]
        impl std::os::fd::AsFd for $type {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                match self.0 {}
            }
        }

        #[cfg(windows)]
        impl std::os::windows::io::AsSocket for $type {
            fn as_socket(&self) -> std::os::windows::io::BorrowedSocket<'_> {
                match self.0 {}
            }
        }
    };
}

#[cfg(not(target_os = "linux"))]
pub(crate) use never;
