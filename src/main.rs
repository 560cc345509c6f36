//! The program: everything is in the library.

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    use clap::Parser;
    warmpath::cli::main(warmpath::cli::Arguments::parse())
}

/// On a page nothing runs until JavaScript calls what the library exports.
#[cfg(target_arch = "wasm32")]
fn main() {
    use warmpath as _;
}
