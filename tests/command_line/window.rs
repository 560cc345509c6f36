//! The commands that need a window, where there is none: a build without the renderer, or a machine without a display.

use super::*;

#[test]
fn a_picture_without_a_window_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("picture.png");
    refused(&["shot", MORE_REPLICAS, "--at", "1", "--out", text(&out)], &[]);
    assert!(!out.exists());
}

/// With the renderer the program may say more than a line while it looks for a display: only the status is fixed there.
#[test]
fn the_game_without_a_window_ends_with_two() {
    if cfg!(feature = "window") {
        println!("skipped: this build has a window, and may find a display of its own");
        return;
    }
    refused(&[], &["window"]);
    refused(&["play", MORE_REPLICAS], &["window"]);
}

#[test]
fn a_wrong_level_is_wrong_for_the_window_too() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("picture.png");
    let came = run(&["shot", "no-such-level", "--at", "1", "--out", text(&out)]);
    assert_eq!((came.status, came.out.as_str()), (2, ""));
}
