//! The far end: accepts connections, and counts them.

use crate::messages::{Far, Near};
use crate::plan::Plan;
use session::{Control, Error, Session};
use std::time::Duration;
use sys::clock;

/// How often the control connection and the streams are looked at.
const LOOK: Duration = Duration::from_millis(5);
/// A connection that the client has opened is accepted within this time.
const LATE: Duration = Duration::from_secs(1);
/// Beyond the time of its connections a client has this long to end the run.
const GRACE: Duration = Duration::from_secs(30);

/// Serves the run that the client of `session` set up.
///
/// # Errors
/// Those of the control connection.
pub(crate) fn serve(control: &mut Control, session: &Session, plan: &Plan) -> Result<(), Error> {
    if let Err(reason) = plan.check() {
        return control.send(&Far::Refused(reason));
    }
    control.send(&Far::Ready)?;
    let mut accepted = 0;
    let deadline = clock::now() + plan.gap.0 * plan.connections + GRACE;
    loop {
        // Each is closed as soon as it is counted.
        while session.next_stream(LOOK).is_some() {
            accepted += 1;
        }
        match control.recv(LOOK) {
            Ok(Near::Finish) => {
                // The last may still be on its way to us.
                while accepted < plan.connections && session.next_stream(LATE).is_some() {
                    accepted += 1;
                }
                return control.send(&Far::Accepted(accepted));
            }
            Err(Error::Timeout { .. }) if clock::now() < deadline => {}
            Err(error) => return Err(error),
        }
    }
}
