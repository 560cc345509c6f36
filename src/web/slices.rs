//! A long run in slices, between which the page draws and answers.

use crate::sim::{Micros, Run};
use bevy::platform::time::Instant;
use js_sys::{Function, Promise};
use std::time::Duration;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::MessageChannel;

/// A slice works for so long: shorter than a frame of the screen.
const SLICE: Duration = Duration::from_millis(12);
/// How many events are processed between two looks at the clock.
const EVENTS: u64 = 2_000;

/// Runs up to `until` and tells `on_progress` after each slice which share, from 0 to 1, is done by then.
///
/// # Errors
/// What `on_progress` throws: then the run is left where it is.
pub async fn run(
    run: &mut Run,
    until: Micros,
    done: impl Fn(&Run) -> f64,
    on_progress: Option<&Function>,
) -> Result<(), JsValue> {
    let tell = |share: f64| match on_progress {
        Some(on_progress) => on_progress.call1(&JsValue::UNDEFINED, &share.clamp(0.0, 1.0).into()).map(drop),
        None => Ok(()),
    };
    let page = Page::new()?;
    loop {
        let began = Instant::now();
        while began.elapsed() < SLICE {
            if run.advance(until, EVENTS) {
                return tell(1.0);
            }
        }
        tell(done(run))?;
        page.turn().await?;
    }
}

/// The page, to which the thread is left for a turn. By a message, for timers are slowed down to one a second while the tab is
/// hidden.
struct Page(MessageChannel);

impl Page {
    fn new() -> Result<Self, JsValue> {
        MessageChannel::new().map(Self)
    }

    /// Is over once the page has had its turn.
    async fn turn(&self) -> Result<(), JsValue> {
        let turn = Promise::new(&mut |resolve, _reject| self.0.port1().set_onmessage(Some(&resolve)));
        self.0.port2().post_message(&JsValue::NULL)?;
        JsFuture::from(turn).await.map(drop)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.0.port1().close();
    }
}
