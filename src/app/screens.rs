//! The screens as states, and the systems that carry out what the person does. All of it runs without a window.
//!
//! Adds the state [`Screen`], the resource [`Levels`], the messages [`Action`] and [`PlayerEdit`], and what goes when its
//! screen goes: while a level is played the resource [`Session`], on the component page the resource [`Demos`].

use super::demos::{self, Demos};
use super::frame_time::{self, FrameTime};
use super::remembered::Remembered;
use super::session::{Session, VerdictStage};
use crate::level::{Level, Shared};
use crate::panels::{Action, Keep, PlayerEdit};
use bevy::prelude::*;
use bevy::state::app::StatesPlugin;
use std::time::Duration;

/// A frame works on the simulation no longer than this.
const FRAME_BUDGET: Duration = Duration::from_millis(9);
/// The report and the charts are taken anew so often, in real seconds.
const LOOK_EVERY_S: f64 = 0.2;

/// What is drawn is written so often at most, in real seconds.
const KEEP_EVERY_S: f32 = 1.0;

/// Which screen is shown.
#[derive(States, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Screen {
    /// The list of levels.
    #[default]
    Levels,
    /// A level is played.
    Play,
    /// The component page.
    Components,
}

/// The levels to choose from.
#[derive(Resource, Default)]
pub struct Levels(pub Vec<Level>);

/// The game without window and renderer: states, session, time, changes, verdict. It asks for time and input plugins of
/// the app around it (`MinimalPlugins` will do).
pub fn logic_plugin(app: &mut App) {
    if !app.is_plugin_added::<StatesPlugin>() {
        app.add_plugins(StatesPlugin);
    }
    frame_time::plugin(app);
    app.init_state::<Screen>()
        .init_resource::<Levels>()
        .init_resource::<Remembered>()
        .add_message::<Action>()
        .add_message::<PlayerEdit>()
        .add_message::<Keep>()
        .add_systems(Update, open.run_if(in_state(Screen::Levels).or_else(in_state(Screen::Components))))
        .add_systems(
            Update,
            (leave_components, demos::act, demos::go_on)
                .chain()
                .run_if(in_state(Screen::Components).and_then(resource_exists::<Demos>)),
        )
        .add_systems(OnEnter(Screen::Components), demos::enter)
        .add_systems(OnExit(Screen::Components), |mut commands: Commands| commands.remove_resource::<Demos>())
        .add_systems(
            Update,
            (act, edit_fleet, keep, go_on, judge, look)
                .chain()
                .run_if(in_state(Screen::Play).and_then(resource_exists::<Session>)),
        )
        .add_systems(Last, keep_last.run_if(on_message::<AppExit>))
        .add_systems(
            OnExit(Screen::Play),
            (keep_last, |mut commands: Commands| commands.remove_resource::<Session>()).chain(),
        );
}

fn open(
    mut commands: Commands,
    mut actions: MessageReader<Action>,
    levels: Res<Levels>,
    mut remembered: ResMut<Remembered>,
    mut next: ResMut<NextState<Screen>>,
) {
    for action in actions.read() {
        match action {
            Action::OpenLevel(place) => {
                if let Some(level) = levels.0.get(*place) {
                    commands.insert_resource(go_on_drawing(level, &mut remembered));
                    next.set(Screen::Play);
                }
            }
            Action::OpenComponents => next.set(Screen::Components),
            _ => {}
        }
    }
}

fn leave_components(mut actions: MessageReader<Action>, mut next: ResMut<NextState<Screen>>) {
    if actions.read().any(|action| *action == Action::Back) {
        next.set(Screen::Levels);
    }
}

/// A level as it was last left, if parts are placed in it, or else as it is given.
pub fn go_on_drawing(level: &Level, remembered: &mut Remembered) -> Session {
    let Some(code) = remembered.canvases().current.get(&level.id).filter(|_| level.placing) else {
        return Session::new(level.clone());
    };
    match Shared::parse(code) {
        Ok(Shared { level, blueprint }) => Session::with_blueprint(level, blueprint),
        Err(_) => {
            remembered.change_canvases(|canvases| {
                canvases.set_aside(&level.id);
                true
            });
            Session::new(level.clone())
        }
    }
}

fn act(mut actions: MessageReader<Action>, mut session: ResMut<Session>, mut next: ResMut<NextState<Screen>>) {
    for action in actions.read() {
        match *action {
            Action::OpenLevel(_) | Action::OpenComponents | Action::RestartDemo(_) => {}
            Action::Back => next.set(Screen::Levels),
            Action::TogglePause => session.toggle_pause(),
            Action::StepEvent => session.step(),
            Action::SetSpeed(speed) => session.speed = speed,
            Action::Restart => {
                let seed = session.seed;
                session.restart(seed);
            }
            Action::NextSeed => {
                let seed = session.seed + 1;
                session.restart(seed);
            }
            Action::Undo => session.undo(),
            Action::Redo => session.redo(),
            Action::Verdict => session.ask_verdict(),
            Action::CloseVerdict => session.verdict = VerdictStage::None,
        }
    }
}

/// The one door through which the player changes the running fleet.
fn edit_fleet(mut edits: MessageReader<PlayerEdit>, mut session: ResMut<Session>) {
    for PlayerEdit(edit) in edits.read() {
        session.edit(edit);
    }
}

/// What is drawn is kept soon after each change; and canvases are saved, opened and deleted.
fn keep(
    mut keeps: MessageReader<Keep>,
    mut session: ResMut<Session>,
    mut remembered: ResMut<Remembered>,
    time: Res<Time>,
    mut wait_s: Local<f32>,
) {
    *wait_s -= time.delta_secs();
    if session.unkept && *wait_s <= 0.0 {
        *wait_s = KEEP_EVERY_S;
        keep_current(&mut session, &mut remembered);
    }
    for keep in keeps.read() {
        let done = match keep {
            Keep::Begin => Ok(()),
            Keep::Save(name) => {
                let code = session.code().to_owned();
                let mut saved = Ok(());
                remembered.change_canvases(|canvases| {
                    saved = canvases.save(name, code);
                    saved.is_ok()
                });
                saved
            }
            Keep::Delete(name) => {
                remembered.change_canvases(|canvases| canvases.saved.remove(name).is_some());
                Ok(())
            }
            Keep::Open(name) => match remembered.canvases().saved.get(name).cloned() {
                Some(code) => open_code(&code, &mut session, &mut remembered),
                None => Err(format!("Nothing is saved as {name}.")),
            },
            Keep::Import(code) => open_code(code, &mut session, &mut remembered),
        };
        session.share_notice = done.err();
    }
}

/// Opens a code in the place of what is played; that stays kept.
fn open_code(code: &str, session: &mut Session, remembered: &mut Remembered) -> Result<(), String> {
    let Shared { level, blueprint } = Shared::parse(code).map_err(|error| error.to_string())?;
    if level.id == session.level.id {
        session.open(blueprint, level.budget);
        return Ok(());
    }
    keep_current(session, remembered);
    *session = Session::with_blueprint(level, blueprint);
    session.unkept = session.level.placing;
    Ok(())
}

fn keep_current(session: &mut Session, remembered: &mut Remembered) {
    if std::mem::take(&mut session.unkept) && session.level.placing {
        let (level, code) = (session.level.id.clone(), session.code().to_owned());
        remembered.change_canvases(|canvases| canvases.keep(&level, code));
    }
}

/// The last changes are kept when the screen is left or the window closes.
fn keep_last(session: Option<ResMut<Session>>, mut remembered: ResMut<Remembered>) {
    if let Some(mut session) = session {
        keep_current(&mut session, &mut remembered);
    }
}

fn go_on(mut session: ResMut<Session>, frame: Res<FrameTime>) {
    if matches!(session.verdict, VerdictStage::None) {
        session.go_on(frame.s, FRAME_BUDGET);
    }
}

fn judge(mut session: ResMut<Session>, mut remembered: ResMut<Remembered>) {
    if session.judge(FRAME_BUDGET)
        && let VerdictStage::Done(verdict) = &session.verdict
    {
        let changes = session.blueprint().changes_from(&session.level.blueprint);
        remembered.add(&session.level.id, verdict, &changes);
    }
}

fn look(mut session: ResMut<Session>, frame: Res<FrameTime>, mut since: Local<f64>) {
    *since += frame.s;
    if *since >= LOOK_EVERY_S && !session.paused {
        *since = 0.0;
        session.look();
    }
}
