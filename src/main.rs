//! The program: everything is in the library.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    warmpath::cli::main(warmpath::cli::Arguments::parse())
}
