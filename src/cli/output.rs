//! Standard output and standard error. A reader that went away is not an error.

use std::io::Write;

/// Prints a line on standard output; false if nobody reads any more.
pub fn line(text: &str) -> bool {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush()).is_ok()
}

/// Prints bytes on standard output.
pub fn bytes(text: &[u8]) {
    let mut out = std::io::stdout().lock();
    // Nobody reads any more: there is nobody to tell.
    let _gone = out.write_all(text).and_then(|()| out.flush());
}

/// Prints the one line that says what is wrong with the input.
pub fn error_line(text: &str) {
    let _gone = writeln!(std::io::stderr().lock(), "warmpath: {text}");
}
