//! For developers: opens the game, or pictures any of its screens.
//!
//! `screens play [LEVEL]`, or `screens SCREEN LEVEL SECONDS FILE WxH [AT KEY VALUE]...` with `SCREEN` one of `play`,
//! `verdict`, `help`, `levels`; each AT KEY VALUE is a change made at that simulated second.

#[cfg(feature = "window")]
fn main() {
    use warmpath::app::{Launch, Shot, ShotScreen, play, shot};
    use warmpath::level::Level;

    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |place: usize| words.get(place).map_or("", String::as_str);
    let mut levels = Level::builtin();
    let place = levels.iter().position(|level| level.id == word(1)).unwrap_or(0);
    if words.len() < 5 {
        let level = (words.len() > 1).then(|| levels.swap_remove(place));
        play(Launch { level });
        return;
    }
    let level = levels.swap_remove(place);
    let (width, height) = word(4).split_once('x').unwrap_or(("1280", "720"));
    let changes = words[5..].chunks_exact(3);
    let changes = changes.map(|c| (c[0].parse().unwrap_or(0.0), c[1].clone(), c[2].clone())).collect::<Vec<_>>();
    let screen = match word(0) {
        "verdict" => ShotScreen::Verdict,
        "help" => ShotScreen::Help,
        "levels" => ShotScreen::Levels,
        _ => ShotScreen::Play,
    };
    let picture = Shot {
        seed: level.seeds.first().copied().unwrap_or(0),
        at_s: word(2).parse().unwrap_or(0.0),
        out: word(3).into(),
        size: (width.parse().unwrap_or(1280), height.parse().unwrap_or(720)),
        level,
        screen,
        changes,
    };
    if let Err(problem) = shot(picture) {
        eprintln!("{problem}");
        std::process::exit(2);
    }
}

#[cfg(not(feature = "window"))]
fn main() {}
