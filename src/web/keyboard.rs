//! The on-screen keyboard: it is there while text is edited by touch.
//!
//! bevy_egui brings it when a finger is lifted from a field that is edited already; a field for a number is edited only
//! because of that finger.

use bevy::input::mouse::MouseButtonInput;
use bevy::input::touch::TouchInput;
use bevy::prelude::{App, IntoScheduleConfigs, MessageReader, PostUpdate, PreUpdate, Query, Res, ResMut, Resource};
use bevy_egui::{EguiInput, EguiOutput, EguiPostUpdateSet, EguiPreUpdateSet, text_agent::update_text_agent};

#[derive(Resource, Default)]
struct Keyboard {
    /// Was it a finger that touched the page last?
    touched: bool,
    shown: bool,
}

/// Adds the systems that show the keyboard and put it away.
pub fn plugin(app: &mut App) {
    app.init_resource::<Keyboard>()
        .add_systems(PreUpdate, keep_focus.after(EguiPreUpdateSet::ProcessInput).before(EguiPreUpdateSet::BeginPass))
        .add_systems(PostUpdate, follow.after(EguiPostUpdateSet::ProcessOutput));
}

/// What is typed on it goes to a field of the page, not to the canvas; the game is in focus none the less.
fn keep_focus(keyboard: Res<Keyboard>, mut inputs: Query<&mut EguiInput>) {
    if keyboard.shown {
        for mut input in &mut inputs {
            input.focused = true;
        }
    }
}

fn follow(
    mut keyboard: ResMut<Keyboard>,
    mut touches: MessageReader<TouchInput>,
    mut clicks: MessageReader<MouseButtonInput>,
    outputs: Query<&EguiOutput>,
) {
    if clicks.read().count() > 0 {
        keyboard.touched = false;
    }
    if touches.read().count() > 0 {
        keyboard.touched = true;
    }
    let wanted = keyboard.touched && outputs.iter().any(|output| output.platform_output.ime.is_some());
    if wanted != keyboard.shown {
        keyboard.shown = wanted;
        update_text_agent(wanted);
    }
}
