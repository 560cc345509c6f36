//! A picture of the window at a simulated moment: opens the real window, brings the level there, saves a PNG, exits.

use super::demos::Demos;
use super::screens::{Levels, Screen, logic_plugin};
use super::session::{Session, VerdictStage};
use super::window::{PlayScreen, WindowSpec, window_plugin};
use crate::blueprint::{Assignment, Blueprint, Edit};
use crate::level::{Level, VerdictRun};
use crate::sim::{Sight, micros_of_s};
use bevy::prelude::*;
use bevy::render::view::screenshot::{Screenshot, ScreenshotCaptured};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// So much simulated time before the moment is watched frame by frame, so that calls are on their way in the picture.
const APPROACH_S: f64 = 1.2;
/// In so many frames.
const APPROACH_FRAMES: u32 = 24;
/// So many frames are drawn before the picture is taken: fonts and layout settle.
const SETTLE_FRAMES: u32 = 5;

/// What is to be pictured.
pub struct Shot {
    /// The level.
    pub level: Level,
    /// Its fleet, as it is to be run.
    pub blueprint: Blueprint,
    /// The simulated moment, in seconds.
    pub at_s: f64,
    /// The PNG file.
    pub out: PathBuf,
    /// The size of the window and of the picture, in pixels.
    pub size: (u32, u32),
    /// The seed of the run.
    pub seed: u64,
    /// What is shown.
    pub screen: ShotScreen,
    /// Changes that a player makes on the way there, each at a moment in seconds.
    pub changes: Vec<(f64, Assignment)>,
}

/// What a picture shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShotScreen {
    /// The play screen at the moment.
    #[default]
    Play,
    /// The verdict over the play screen.
    Verdict,
    /// The help over the play screen.
    Help,
    /// The list of levels.
    Levels,
    /// The component page, its fleets at the moment.
    Components,
}

/// What came of it, told from inside the app.
type Outcome = Arc<Mutex<Option<Result<(), String>>>>;

#[derive(Resource)]
struct Stage {
    shot: Shot,
    frame: u32,
    asked: bool,
    outcome: Outcome,
}

/// Takes the picture.
///
/// # Errors
/// One line where no window can be opened or the file cannot be written.
pub fn shot(shot: Shot) -> Result<(), String> {
    super::require_display()?;
    let outcome = Outcome::default();
    let inside = outcome.clone();
    super::guarded(move || {
        let mut app = App::new();
        window_plugin(&mut app, WindowSpec { size: shot.size, fixed: true, log: "off" });
        logic_plugin(&mut app);
        prepare(&mut app, &shot);
        app.insert_resource(Stage { shot, frame: 0, asked: false, outcome: inside });
        app.add_systems(PreUpdate, direct);
        app.run()
    })?;
    let result = outcome.lock().map_err(|_| "the picture was not taken".to_owned())?.take();
    result.unwrap_or_else(|| Err("the window was closed before the picture was taken".into()))
}

/// Brings the level to just before the moment.
fn prepare(app: &mut App, shot: &Shot) {
    app.world_mut().resource_mut::<PlayScreen>().fixed_frame_s = Some((APPROACH_S / f64::from(APPROACH_FRAMES)) as f32);
    if matches!(shot.screen, ShotScreen::Levels | ShotScreen::Components) {
        app.world_mut().resource_mut::<Levels>().0 = Level::offered();
        if shot.screen == ShotScreen::Components {
            app.insert_resource(Demos::at(shot.at_s));
            app.insert_state(Screen::Components);
        }
        return;
    }
    let mut level = shot.level.clone();
    level.seeds.retain(|seed| *seed != shot.seed);
    level.seeds.insert(0, shot.seed);
    let mut session = Session::with_blueprint(level, shot.blueprint.clone());
    session.level.seeds.clone_from(&shot.level.seeds);
    for (at, change) in &shot.changes {
        session.run_to(micros_of_s(*at));
        session.edit(&Edit::Set(vec![change.clone()]));
        session.end_change();
    }
    // In steps, so that what the panels measure of late is there.
    let from = session.run.now() as f64 / 1e6;
    let until = (shot.at_s - APPROACH_S).max(from);
    for step in [12.0, 8.0, 4.0, 0.0] {
        session.run_to(micros_of_s((until - step).max(from)));
    }
    // The crosses of what was rejected long before have faded by the moment.
    session.run.watched().sights.retain(|(_, sight)| !matches!(sight, Sight::Rejected { .. }));
    if shot.screen == ShotScreen::Verdict {
        let verdict = VerdictRun::new(&session.level, session.blueprint()).finish();
        session.verdict = VerdictStage::Done(Box::new(verdict));
    }
    session.paused = true;
    app.insert_resource(session);
    app.insert_state(Screen::Play);
}

/// Frame by frame: goes on to the moment, lets the picture settle, takes it.
fn direct(
    mut commands: Commands,
    mut stage: ResMut<Stage>,
    session: Option<ResMut<Session>>,
    mut screen: ResMut<PlayScreen>,
) {
    stage.frame += 1;
    if let Some(mut session) = session
        && stage.frame > SETTLE_FRAMES
    {
        let left = f64::from(APPROACH_FRAMES.saturating_sub(stage.frame - SETTLE_FRAMES));
        let until = stage.shot.at_s - APPROACH_S * left / f64::from(APPROACH_FRAMES);
        session.run_to(micros_of_s(until.max(0.0)));
        session.paused = true;
        // What happens on the way there flies as it would if time went by.
        screen.canvas.stepped();
    }
    let last = SETTLE_FRAMES
        + if matches!(stage.shot.screen, ShotScreen::Levels | ShotScreen::Components) { 0 } else { APPROACH_FRAMES };
    if stage.shot.screen == ShotScreen::Help {
        screen.state.help = true;
    }
    if stage.frame > last {
        screen.fixed_frame_s = Some(0.0);
    }
    if stage.frame > last + 1 && !stage.asked {
        stage.asked = true;
        commands.spawn(Screenshot::primary_window()).observe(captured);
    }
}

fn captured(event: On<ScreenshotCaptured>, stage: Res<Stage>, mut exit: MessageWriter<AppExit>) {
    let result = save(&event.image, &stage.shot);
    if let Ok(mut outcome) = stage.outcome.lock() {
        *outcome = Some(result);
    }
    exit.write(AppExit::Success);
}

fn save(image: &Image, shot: &Shot) -> Result<(), String> {
    let image = image.clone().try_into_dynamic().map_err(|error| format!("the window cannot be read: {error}"))?;
    let (width, height) = shot.size;
    if (image.width(), image.height()) != shot.size {
        let (got_width, got_height) = (image.width(), image.height());
        return Err(format!(
            "the window came out as {got_width}x{got_height} and not as {width}x{height}: is the screen large enough?"
        ));
    }
    let out = shot.out.display();
    let saved = image.to_rgb8().save_with_format(&shot.out, image::ImageFormat::Png);
    saved.map_err(|error| format!("{out}: cannot be written: {error}").replace('\n', " "))
}
