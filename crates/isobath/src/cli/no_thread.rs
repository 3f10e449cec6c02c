//! What is said when the system gives no thread. A scope of threads panics then ([`std::thread::Scope::spawn`]); but a
//! machine without memory, or a limit of processes, is no defect of this program and deserves a line like every other
//! error. The record stays as it is after a kill: readable.

use std::any::Any;
use std::io::Write;
use std::panic;

/// How the standard library's message begins.
const MESSAGE: &str = "failed to spawn thread: ";

/// Ends the program with one line and [`super::FAILED`] where it would have panicked for want of a thread.
pub(super) fn end_in_order(name: &'static str) {
    let ordinary = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let Some(reason) = reason(info.payload()) else {
            return ordinary(info);
        };
        // With stderr closed there is nobody to tell.
        let _ = writeln!(
            std::io::stderr(),
            "{name}: the system gives no more threads ({reason}) - free memory, or raise its limits (ulimit -v, -u)"
        );
        std::process::exit(super::FAILED.into());
    }));
}

/// Why there is no thread, if this is what a panic says.
fn reason(payload: &dyn Any) -> Option<String> {
    let said = payload.downcast_ref::<String>()?;
    let error = said.strip_prefix(MESSAGE)?;
    let message = error.split("message: \"").nth(1);
    let message = message.and_then(|rest| rest.split('"').next());
    Some(message.unwrap_or(error).to_owned())
}
