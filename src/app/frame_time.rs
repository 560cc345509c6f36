//! How much time passes with a frame.
//!
//! Adds the resource [`FrameTime`]. Whoever moves something on the screen goes by it, so that nothing jumps when somebody
//! comes back to a tab that was hidden, or wakes a machine that slept.

use bevy::prelude::*;
use bevy::time::TimeSystems;
use std::time::Duration;

/// Who has not drawn for so long was away: a tab in the background, or a machine asleep.
const AWAY: Duration = Duration::from_secs(1);
/// Unless it is a slow machine: its frames before took long, too, and time must pass on it all the same.
const SLOWER: u32 = 4;

/// What passes with this frame, in seconds of real time: what has gone by since the one before, but no more than the
/// virtual clock allows, and nothing if nobody can have been looking.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameTime {
    /// In seconds.
    pub s: f64,
}

/// Keeps the time of the frame.
pub fn plugin(app: &mut App) {
    app.init_resource::<FrameTime>().add_systems(First, pass.after(TimeSystems));
}

fn pass(real: Res<Time<Real>>, time: Res<Time<Virtual>>, mut frame: ResMut<FrameTime>, mut before: Local<Duration>) {
    let before = std::mem::replace(&mut *before, real.delta());
    let away = real.delta() > AWAY && real.delta() > before * SLOWER;
    frame.s = if away { 0.0 } else { time.delta_secs_f64() };
}
