//! The commands that need a window, where there is none: a build without the renderer, or a machine without a display.

use super::*;

/// `shot` with these options, to a file that is then not there. One line in every build.
fn no_picture(arguments: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("picture.png");
    refused(&[&["shot"][..], arguments, &["--out", text(&out)]].concat(), &[]);
    assert!(!out.exists());
}

#[test]
fn a_picture_without_a_window_is_refused() {
    no_picture(&[MORE_REPLICAS, "--at", "1"]);
}

#[test]
fn a_picture_of_what_is_not_there_is_refused() {
    no_picture(&["no-such-level", "--at", "1"]);
    no_picture(&[MORE_REPLICAS, "--at", "1e9"]);
    no_picture(&[MORE_REPLICAS, "--at", "nan"]);
    no_picture(&[MORE_REPLICAS, "--at", "1", "--size", "5x5"]);
    no_picture(&[MORE_REPLICAS, "--at", "1", "--size", "large"]);
    no_picture(&[MORE_REPLICAS, "--at", "1", "--set", "router.nonsense=1"]);
}

#[test]
fn the_game_without_a_window_ends_with_two() {
    for arguments in [&[][..], &["play", MORE_REPLICAS]] {
        let came = run(arguments);
        assert_eq!((came.status, came.out.as_str()), (2, ""), "{arguments:?}");
        assert!(came.err.contains("window"), "{}", came.err);
        // With the renderer, what looks for a display may add a line of its own.
        assert!(cfg!(feature = "window") || came.err.matches('\n').count() == 1, "{}", came.err);
    }
}

#[test]
fn a_level_that_is_not_there_cannot_be_played() {
    refused(&["play", "no-such-level"], &[]);
}
