//! The arguments, as clap reads them.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Learn by playing how a KV-aware inference router works. Without a command: open the game.
#[derive(Parser, Debug)]
#[command(name = "warmpath", version, about, max_term_width = 120)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

#[derive(Subcommand, Debug)]
pub(super) enum Command {
    /// Open the game at a level
    Play(Play),
    /// Run a level without a window and print its report
    Run(Run),
    /// Replay a recorded trace (Mooncake JSON Lines) on a fleet
    Replay(Replay),
    /// Run the product of several settings' values, a row each
    Sweep(Sweep),
    /// Is each level well formed, lost as it is given, lost by its decoys, won by its solution?
    Check(Check),
    /// Print the code (WP1-...) of a fleet that a player could make of a level
    Code(Code),
    /// Save a PNG of the game window at a simulated moment
    Shot(Shot),
}

#[derive(Args, Debug)]
pub(super) struct Play {
    /// A level's file, the id of a level that comes with the program, or a code (WP1-...) of a canvas or a solution
    pub level: String,
}

#[derive(Args, Debug)]
pub(super) struct Run {
    /// A level's file, the id of a level that comes with the program, or a code (WP1-...) of a canvas or a solution
    pub level: String,
    /// A code (WP1-...) for that level: what somebody made of it
    #[arg(long, value_name = "CODE")]
    pub code: Option<String>,
    #[command(flatten)]
    pub settings: Settings,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Args, Debug)]
pub(super) struct Replay {
    /// The trace's file
    pub trace: PathBuf,
    #[command(flatten)]
    pub settings: Settings,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Args, Debug)]
pub(super) struct Sweep {
    /// A level's file, the id of a level that comes with the program, or a code (WP1-...) of a canvas or a solution
    pub level: String,
    /// A setting and its values; repeat it for the product
    #[arg(long = "vary", value_name = "KEY=A,B,C", required = true)]
    pub vary: Vec<String>,
    #[command(flatten)]
    pub settings: Settings,
    /// Print CSV instead of JSON Lines, keys flattened with dots
    #[arg(long)]
    pub csv: bool,
    /// Show no progress
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub(super) struct Check {
    /// Levels' files, or ids of levels that come with the program
    #[arg(required = true)]
    pub levels: Vec<String>,
    /// Print nothing: only the exit status tells
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub(super) struct Code {
    /// A level's file, the id of a level that comes with the program, or a code (WP1-...) of a canvas or a solution
    pub level: String,
    /// With the level's own solution
    #[arg(long)]
    pub solved: bool,
    /// A RON file, bound by the level's locks and budget: a list of key and value pairs, or (fleet: (..), set: [..]) where
    /// parts can be placed
    #[arg(long, value_name = "FILE")]
    pub solution: Option<PathBuf>,
    /// Change a setting as a player would; repeat it for more, applied in order
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

#[derive(Args, Debug)]
pub(super) struct Shot {
    /// A level's file, the id of a level that comes with the program, or a code (WP1-...) of a canvas or a solution
    pub level: String,
    /// The simulated moment, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub at: f64,
    /// The PNG file to write
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// The size of the window
    #[arg(long, value_name = "WxH", default_value = "1280x720")]
    pub size: String,
    /// With the level's own solution
    #[arg(long)]
    pub solved: bool,
    /// Change a setting; repeat it for more, applied in order
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Change a setting as a player would, at a simulated moment on the way; repeat it for more
    #[arg(long = "change", value_name = "SECONDS:KEY=VALUE")]
    pub change: Vec<String>,
    /// Which screen
    #[arg(long, value_enum, default_value_t)]
    pub screen: ShotScreen,
    /// The seed; without it the level's first
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// The screens of which a picture can be taken.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default)]
pub(super) enum ShotScreen {
    /// The play screen
    #[default]
    Play,
    /// The verdict over it
    Verdict,
    /// The help over it
    Help,
    /// The list of levels
    Levels,
    /// The component page, its fleets at the moment; the level is not asked
    Components,
}

#[derive(Args, Debug)]
pub(super) struct Settings {
    /// Change a setting; repeat it for more, applied in order
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// The seed; without it the level's first
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How long to run, in simulated seconds
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub seconds: Option<f64>,
    /// How much of that is warm-up, in simulated seconds
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub warmup: Option<f64>,
    /// A RON file, applied before --set, bound by the level's locks and budget: a list of key and value pairs, or
    /// (fleet: (..), set: [..]) where parts can be placed
    #[arg(long, value_name = "FILE")]
    pub solution: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(super) struct Output {
    /// Print the report as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Show no progress, and without --json print nothing: only the exit status tells
    #[arg(long)]
    pub quiet: bool,
}
