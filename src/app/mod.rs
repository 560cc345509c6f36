//! The app: screens and states, time, the window.
//!
//! [`logic_plugin`] is the game without a window, as tests drive it; the window goes around it.

mod demos;
mod frame_time;
mod observe;
mod picture;
mod remembered;
mod screens;
mod session;
#[cfg(not(target_arch = "wasm32"))]
mod shot;
mod window;

pub use demos::Demos;
pub use picture::FleetCanvas;
pub use remembered::Remembered;
pub use screens::{Levels, Screen, logic_plugin};
pub use session::{Session, VerdictStage};
#[cfg(not(target_arch = "wasm32"))]
pub use shot::{Shot, ShotScreen, shot};

use crate::level::{Level, Link};
use bevy::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use window::{WindowSpec, window_plugin};

/// What the game opens with.
#[derive(Default)]
pub struct Launch {
    /// The level whose play screen it opens at, and what is changed there; none for the list of levels.
    pub link: Option<Link>,
    /// Something that the player should be told.
    pub notice: Option<String>,
}

/// What is written to the log: what the libraries say of a driver or a display is not the player's affair.
const LOG: &str = "warn,wgpu=error,wgpu_hal=error,naga=error,bevy_render=error,bevy_egui=error,winit=error,bevy_winit=error,calloop=error";

/// Opens the game and plays it until its window is closed; on a page it returns at once, and the game goes on.
///
/// # Errors
/// Where no window can be opened, in one line.
pub fn play(launch: Launch) -> Result<AppExit, String> {
    require_display()?;
    guarded(move || {
        let mut app = App::new();
        window_plugin(&mut app, WindowSpec { size: (1280, 720), fixed: false, log: LOG });
        logic_plugin(&mut app);
        let mut remembered = Remembered::usual();
        remembered.notice = launch.notice.or(remembered.notice);
        app.insert_resource(remembered);
        app.world_mut().resource_mut::<Levels>().0 = Level::offered();
        if let Some(Link { level, blueprint }) = launch.link {
            let as_given = blueprint == level.blueprint;
            let session = match as_given {
                true => screens::go_on_drawing(&level, &mut app.world_mut().resource_mut::<Remembered>()),
                false => Session::with_blueprint(level, blueprint),
            };
            app.insert_resource(session);
            app.insert_state(Screen::Play);
        }
        app.run()
    })
}

/// On a system with X11 or Wayland: is there a display to open a window on?
fn require_display() -> Result<(), String> {
    if cfg!(all(unix, not(target_os = "macos"), not(target_os = "android"))) {
        let named = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if !["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"].into_iter().any(named) {
            return Err("no window can be opened: neither DISPLAY nor WAYLAND_DISPLAY is set".into());
        }
    }
    Ok(())
}

/// Has a window been opened? Until then a panic means that none can be.
static OPENED: AtomicBool = AtomicBool::new(false);

/// From the first frame on a panic is one of the program's own, and told in full.
fn note_opened(mut done: Local<bool>) {
    if !*done {
        *done = true;
        OPENED.store(true, Ordering::Relaxed);
        drop(std::panic::take_hook());
    }
}

/// Runs what opens a window. The libraries below panic where they find no display or no graphics device; that is told as
/// the problem it is, in one line.
fn guarded<T>(open: impl FnOnce() -> T) -> Result<T, String> {
    std::panic::set_hook(Box::new(|_| {}));
    let opened = catch_unwind(AssertUnwindSafe(open));
    drop(std::panic::take_hook());
    opened.map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        let text = text.unwrap_or_else(|| "the window system failed".into());
        let text = if text.contains("build event loop") { "the display does not answer".into() } else { text };
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let what = if OPENED.load(Ordering::Relaxed) { "the window failed" } else { "no window can be opened" };
        format!("{what}: {text}")
    })
}
