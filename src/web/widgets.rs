//! The labelled widgets on the screen, for tests that click them as a person would: from egui's accessibility tree, so
//! that what a test finds is what a screen reader would find.

use bevy::prelude::{App, IntoScheduleConfigs, PostUpdate, Query};
use bevy_egui::{EguiContext, EguiOutput};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// A widget: its role (such as Button), its label, the number that is set on it, and its rectangle in CSS pixels.
struct Widget {
    role: String,
    label: String,
    value: Option<f64>,
    rect: [f64; 4],
}

thread_local! {
    /// Does anybody ask? The tree costs time, so it is only made from then on.
    static ASKED: Cell<bool> = const { Cell::new(false) };
    static FRAMES: Cell<u32> = const { Cell::new(0) };
    static WIDGETS: RefCell<Vec<Widget>> = const { RefCell::new(Vec::new()) };
}

/// Adds the system that notes the widgets of each frame, once a page has asked for them.
pub fn plugin(app: &mut App) {
    app.add_systems(PostUpdate, note.after(bevy_egui::EguiPostUpdateSet::ProcessOutput));
}

/// How many frames were drawn: a test waits for a few, whatever the speed of the machine.
#[wasm_bindgen]
pub fn frames() -> u32 {
    FRAMES.get()
}

fn note(mut contexts: Query<(&mut EguiContext, &EguiOutput)>) {
    FRAMES.set(FRAMES.get().wrapping_add(1));
    if !ASKED.get() {
        return;
    }
    for (mut context, output) in &mut contexts {
        context.get_mut().enable_accesskit();
        let zoom = f64::from(context.get_mut().zoom_factor());
        let Some(update) = &output.platform_output.accesskit_update else { continue };
        let words: HashMap<_, _> =
            update.nodes.iter().filter_map(|(id, node)| Some((*id, node.label().or(node.value())?))).collect();
        let widgets = update.nodes.iter().filter_map(|(id, node)| {
            // A slider is called by the text that stands over it.
            let named = node.labelled_by().iter().find_map(|by| words.get(by));
            let label = named.or_else(|| words.get(id))?.to_string();
            let bounds = node.bounds()?;
            let rect = [bounds.x0, bounds.y0, bounds.width(), bounds.height()].map(|side| side * zoom);
            Some(Widget { role: format!("{:?}", node.role()), label, value: node.numeric_value(), rect })
        });
        WIDGETS.set(widgets.collect());
    }
}

/// The labelled widgets of the last frame: an array of objects with `role`, `label`, `value` (a number or null), and `x`, `y`,
/// `width` and `height` in CSS pixels. Empty until a frame after the first call.
#[wasm_bindgen]
pub fn widgets() -> JsValue {
    ASKED.set(true);
    let list: Vec<serde_json::Value> = WIDGETS.with_borrow(|widgets| {
        let object = |Widget { role, label, value, rect: [x, y, width, height] }: &Widget| {
            serde_json::json!({
                "role": role, "label": label, "value": value, "x": x, "y": y, "width": width, "height": height
            })
        };
        widgets.iter().map(object).collect()
    });
    js_sys::JSON::parse(&serde_json::Value::from(list).to_string()).unwrap_or_default()
}
