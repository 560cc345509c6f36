//! Warmpath.
fn main() {}
