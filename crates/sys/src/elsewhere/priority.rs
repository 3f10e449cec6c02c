//! How urgent a thread is to the scheduler: on systems that are not Linux, as urgent as all.

use crate::Error;

/// Makes the calling thread a real-time thread, or an ordinary one again.
///
/// # Errors
/// When it is to be real-time.
pub fn set_realtime(on: bool) -> Result<(), Error> {
    if on {
        return Err(Error::only_linux("a real-time thread"));
    }
    Ok(())
}
