//! The window as it is: a picture of it is not blank. Needs a screen; where there is none, and none is asked for, it says
//! that it is skipped.

#![cfg(feature = "window")]
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::process::Command;

/// Is there a screen to open a window on?
fn screen() -> bool {
    let named = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let there = named("DISPLAY") || named("WAYLAND_DISPLAY") || cfg!(any(windows, target_os = "macos"));
    assert!(there || !named("WARMPATH_NEEDS_SCREEN"), "a screen was promised, and there is none");
    if !there {
        println!("skipped: there is no screen to open a window on");
    }
    there
}

/// The picture that `warmpath shot` takes with these arguments.
fn shot(arguments: &[&str]) -> image::RgbImage {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("shot.png");
    let shot = Command::new(env!("CARGO_BIN_EXE_warmpath"))
        .arg("shot")
        .args(arguments)
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();
    assert!(shot.status.success(), "{}", String::from_utf8_lossy(&shot.stderr));
    image::open(&out).unwrap().into_rgb8()
}

#[test]
fn a_picture_of_the_window_is_not_blank() {
    if !screen() {
        return;
    }
    let picture = shot(&["one-replica-owns-the-hot-prefix", "--at", "60", "--size", "1280x720"]);
    assert_eq!(picture.dimensions(), (1280, 720));
    let colours: BTreeSet<[u8; 3]> = picture.pixels().map(|pixel| pixel.0).collect();
    assert!(colours.len() > 200, "a play screen has many colours, this picture {}", colours.len());
    // Each part of the screen has something on it: brief, fleet, charts, inspector.
    for (name, x, y, width, height) in [
        ("brief", 0, 50, 250, 600),
        ("fleet", 260, 50, 710, 480),
        ("charts", 260, 550, 710, 160),
        ("inspector", 990, 50, 280, 600),
    ] {
        let part = image::imageops::crop_imm(&picture, x, y, width, height).to_image();
        let colours: BTreeSet<[u8; 3]> = part.pixels().map(|pixel| pixel.0).collect();
        assert!(colours.len() > 20, "the {name} is nearly blank: {} colours", colours.len());
    }
    // The gold of the shared prefix is where this level is about it.
    let gold = picture.pixels().filter(|pixel| pixel.0 == [0xf2, 0xc1, 0x4e]).count();
    assert!(gold > 50, "{gold} pixels of gold");
}

#[test]
fn a_picture_of_the_component_page_shows_its_fleets() {
    if !screen() {
        return;
    }
    let picture = shot(&["more-replicas-slower-answers", "--screen", "components", "--at", "300"]);
    // Tokens that were found and tokens that were computed, in bars: the fleets have run.
    let close = |a: [u8; 3], b: [u8; 3]| a.iter().zip(b).all(|(a, b)| a.abs_diff(b) < 12);
    for (what, colour) in [("found", [0x38, 0xc8, 0x8b]), ("computed", [0x82, 0x6e, 0xc1])] {
        let pixels = picture.pixels().filter(|pixel| close(pixel.0, colour)).count();
        assert!(pixels > 2_000, "{pixels} pixels of tokens {what}");
    }
}
