//! How much time passes with a frame.
//!
//! Adds the resource [`FrameTime`]. Whoever moves something on the screen goes by it, so that nothing jumps when somebody
//! comes back to a tab that was hidden, or wakes a machine that slept.

use bevy::prelude::*;
use bevy::time::TimeSystems;
use std::time::Duration;

/// Who has not drawn for so long was away: a tab in the background, or a machine asleep.
const AWAY: Duration = Duration::from_secs(1);

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

fn pass(real: Res<Time<Real>>, time: Res<Time<Virtual>>, mut frame: ResMut<FrameTime>, mut late: Local<bool>) {
    // One late frame is an absence; one after another is a slow machine, on which time must pass all the same.
    let was_late = std::mem::replace(&mut *late, real.delta() > AWAY);
    frame.s = if *late && !was_late { 0.0 } else { time.delta_secs_f64() };
}
