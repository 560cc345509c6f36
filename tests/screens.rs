//! The screens as a person finds them: panels by what is written on them, and the app through its states, without a window.
#![cfg(feature = "window")]

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use egui::accesskit::Role;
use egui_kittest::{Harness, kittest::Queryable};
use std::time::Duration;
use warmpath::app::{Levels, Screen, Session, VerdictStage, logic_plugin};
use warmpath::blueprint::{Address, Assignment, Edit, Part, PartId, Piece, Place};
use warmpath::level::{Level, Progress, VerdictRun};
use warmpath::panels::{
    Action, Deeds, FleetDeeds, Keep, LevelsView, PlayState, PlayerEdit, Speed, Tab, install_theme, show_levels,
    show_play,
};
use warmpath::sim::SECOND;

const MORE_REPLICAS: &str = "more-replicas-slower-answers";
const HOT_PREFIX: &str = "one-replica-owns-the-hot-prefix";

fn level(id: &str) -> Level {
    Level::builtin().into_iter().find(|level| level.id == id).expect("a level that comes with the program")
}

/// The play screen of a session that stands still, and what was done on it so far.
struct Desk {
    session: Session,
    state: PlayState,
    clicked: Option<PartId>,
    done: Deeds,
}

impl Desk {
    fn frame(&mut self, ui: &mut egui::Ui) {
        if !styled(ui) {
            return;
        }
        let view = self.session.view();
        let clicked = self.clicked.take();
        let deeds = show_play(ui, &view, &mut self.state, &mut |_, _| FleetDeeds { clicked, ..FleetDeeds::default() });
        // As the app does it: what was done acts at once.
        for edit in &deeds.edits {
            self.session.edit(edit);
        }
        self.done.edits.extend(deeds.edits);
        self.done.actions.extend(deeds.actions);
    }
}

/// Fonts and style are there from the second frame on.
fn styled(ui: &egui::Ui) -> bool {
    let there = ui.ctx().fonts(|fonts| fonts.definitions().families.len() > 2);
    if !there {
        install_theme(ui.ctx());
        ui.ctx().request_repaint();
    }
    there
}

fn desk(session: Session, size: [f32; 2]) -> Harness<'static, Desk> {
    let desk = Desk { session, state: PlayState::default(), clicked: None, done: Deeds::default() };
    let mut harness = Harness::builder().with_size(size).build_ui_state(|ui, desk: &mut Desk| desk.frame(ui), desk);
    harness.run_steps(4);
    harness
}

/// The play screen of a level at a moment.
fn desk_at(id: &str, at: u64) -> Harness<'static, Desk> {
    let mut session = Session::new(level(id));
    session.run_to(at * SECOND);
    session.paused = true;
    desk(session, [1280.0, 720.0])
}

/// What the inspector sends when a setting is set.
fn changed(key: &str, value: &str) -> PlayerEdit {
    PlayerEdit(Edit::Set(vec![Assignment::new(key, value)]))
}

fn set(session: &mut Session, key: &str, value: &str) {
    // Whatever the level locks: the command line may, too.
    session.level.open.push(Address::parse(key).expect("a key").plain_key().to_owned());
    session.edit(&Edit::Set(vec![Assignment::new(key, value)]));
    assert_eq!(session.refusal, None);
}

fn type_into(harness: &mut Harness<'_, Desk>, name: &str, text: &str) {
    harness.get_by_role_and_label(Role::SpinButton, name).focus();
    harness.run_steps(2);
    // The field is a text field now, with everything in it selected.
    harness.event(egui::Event::Text(text.into()));
    harness.run_steps(2);
    harness.key_press(egui::Key::Enter);
    harness.run_steps(3);
}

#[test]
fn every_level_is_on_the_list_and_opens() {
    let levels = Level::offered();
    let mut harness = Harness::builder().with_size([1280.0, 1400.0]).build_ui_state(
        |ui, opened: &mut Vec<Action>| {
            if styled(ui) {
                let view = LevelsView { levels: &Level::offered(), progress: &Progress::default(), notice: None };
                opened.extend(show_levels(ui, &view).actions);
            }
        },
        Vec::new(),
    );
    harness.run_steps(3);
    for (place, level) in levels.iter().enumerate() {
        harness.get_by_role_and_label(Role::Button, &level.title).click();
        harness.run_steps(2);
        assert_eq!(harness.state().last(), Some(&Action::OpenLevel(place)));
    }
    harness.state_mut().clear();
    harness.key_press(egui::Key::Num2);
    harness.run_steps(2);
    assert_eq!(harness.state().as_slice(), [Action::OpenLevel(1)]);
    harness.get_by_label("No preemption: a call that runs, runs to its end.");
}

#[test]
fn a_goal_shows_its_value_and_its_target() {
    let harness = desk_at(MORE_REPLICAS, 240);
    let value = harness.state().session.report.hit_rate.expect("calls were measured");
    let text = format!("KV hit rate: {:.1} %, at least 75 %, not met", value * 100.0);
    harness.get_by_label(&text);
}

#[test]
fn before_measuring_begins_no_goal_is_met() {
    let harness = desk_at(MORE_REPLICAS, 60);
    harness.get_by_label("Failed calls: –, none, not met");
    let harness = desk_at(MORE_REPLICAS, 180);
    harness.get_by_label("Failed calls: 0, none, met");
}

#[test]
fn a_number_that_is_typed_changes_the_running_fleet() {
    let mut harness = desk_at(MORE_REPLICAS, 30);
    type_into(&mut harness, "Session affinity", "62.5 %");
    let desk = harness.state();
    assert_eq!(desk.done.edits, [changed("router.affinity", "0.625").0]);
    assert_eq!(desk.session.run.blueprint().routers[0].affinity, 0.625);
    assert_eq!(desk.session.marks.len(), 1);
    assert_eq!(desk.session.marks[0].text(), "affinity 0 % → 62.5 %");
}

#[test]
fn a_slider_moves_by_keyboard_and_the_reset_goes_back() {
    let mut harness = desk_at(HOT_PREFIX, 30);
    let given = harness.state().session.blueprint().routers[0].spill;
    harness.get_by_role_and_label(Role::Slider, "Spill when queue reaches").focus();
    harness.run_steps(2);
    harness.key_press(egui::Key::ArrowRight);
    harness.run_steps(2);
    assert_eq!(harness.state().session.blueprint().routers[0].spill, given + 1);
    harness.get_by_label(&format!("Reset Spill when queue reaches to {given}")).click();
    harness.run_steps(2);
    assert_eq!(harness.state().session.blueprint().routers[0].spill, given);
    assert_eq!(harness.state().session.marks.len(), 0, "there and back is no change");
}

#[test]
fn what_is_locked_can_be_read_and_not_changed() {
    let mut harness = desk_at(HOT_PREFIX, 30);
    harness.get_by_label("Requests on the shared prefix: 85 %, locked in this problem");
    assert!(harness.query_by_role_and_label(Role::Slider, "Requests on the shared prefix").is_none());
    harness.state_mut().session.edit(&changed("traffic.shared", "0").0);
    assert_eq!(harness.state().session.blueprint().traffics[0].shared, 0.85);
    assert!(harness.state().session.refusal.is_some());
}

#[test]
fn a_broken_rule_is_warned_of_under_its_setting() {
    let mut session = Session::new(level(HOT_PREFIX));
    session.run_to(20 * SECOND);
    set(&mut session, "router.p99_ms", "2000");
    set(&mut session, "router.p50_ms", "2000");
    set(&mut session, "router.slots", "4");
    set(&mut session, "router.vcpu", "1");
    set(&mut session, "router.cpu_ms", "1000");
    set(&mut session, "traffic.timeout_s", "1.5");
    session.run_to(40 * SECOND);
    let harness = desk(session, [1280.0, 720.0]);
    harness.get_by_label_contains("fewer than needed");
    harness.get_by_label_contains("over 90 % busy");
    harness.get_by_label_contains("healthy calls are cut off");
}

#[test]
fn nothing_is_warned_of_where_no_rule_is_broken() {
    let harness = desk_at(HOT_PREFIX, 40);
    let rules = harness.query_all_by_label_contains("needed now: 0.").count();
    assert_eq!(rules, 2, "of slots and of cores");
    assert!(harness.query_by_label_contains("fewer than needed").is_none());
    assert!(harness.query_by_label_contains("over 90 % busy").is_none());
}

#[test]
fn a_number_out_of_range_is_refused_in_words() {
    let mut harness = desk_at(MORE_REPLICAS, 10);
    type_into(&mut harness, "Latency p99", "1");
    assert_eq!(harness.state().session.blueprint().routers[0].p99_ms, 20.0);
    harness.get_by_label_contains("expected at least the median");
}

#[test]
fn keys_work_everywhere_but_while_somebody_types() {
    let mut harness = desk_at(MORE_REPLICAS, 10);
    for (key, action) in [
        (egui::Key::Space, Action::TogglePause),
        (egui::Key::Period, Action::StepEvent),
        (egui::Key::Num5, Action::SetSpeed(Speed::Max)),
        (egui::Key::R, Action::Restart),
        (egui::Key::N, Action::NextSeed),
        (egui::Key::V, Action::Verdict),
        (egui::Key::L, Action::Back),
    ] {
        harness.key_press(key);
        harness.run_steps(2);
        assert_eq!(harness.state().done.actions.last(), Some(&action), "{key:?}");
    }
    let before = harness.state().done.actions.len();
    harness.get_by_role_and_label(Role::SpinButton, "Queue capacity").focus();
    harness.run_steps(2);
    for key in [egui::Key::Num5, egui::Key::R, egui::Key::V, egui::Key::Space] {
        harness.key_press(key);
        harness.run_steps(2);
    }
    assert_eq!(harness.state().done.actions.len(), before);
}

#[test]
fn keys_lead_to_the_settings_and_to_less_motion() {
    let mut harness = desk_at(MORE_REPLICAS, 10);
    harness.key_press(egui::Key::S);
    harness.run_steps(3);
    assert_eq!(harness.state().state.focus.as_deref(), Some("router.slots"));
    let before = harness.state().session.blueprint().routers[0].slots;
    harness.key_press(egui::Key::ArrowRight);
    harness.run_steps(2);
    assert!(harness.state().session.blueprint().routers[0].slots > before);
    harness.event(egui::Event::Text("?".into()));
    harness.run_steps(4);
    harness.key_press(egui::Key::M);
    harness.run_steps(2);
    assert!(harness.state().state.reduced_motion && harness.state().state.help);
    harness.key_press(egui::Key::Enter);
    harness.run_steps(3);
    assert!(!harness.state().state.help, "the button that closes the help has the keyboard");
}

#[test]
fn the_top_bar_has_every_time_control() {
    let mut harness = desk_at(MORE_REPLICAS, 10);
    for (name, action) in [
        ("Run", Action::TogglePause),
        ("Step", Action::StepEvent),
        ("Restart", Action::Restart),
        ("64×", Action::SetSpeed(Speed::SixtyFour)),
        ("Verdict", Action::Verdict),
        ("Seed 1 of 3", Action::NextSeed),
        ("Back to the problems", Action::Back),
    ] {
        harness.get_by_role_and_label(Role::Button, name).click();
        harness.run_steps(2);
        assert_eq!(harness.state().done.actions.last(), Some(&action), "{name}");
    }
}

#[test]
fn hints_come_one_at_a_time() {
    let mut harness = desk_at(MORE_REPLICAS, 10);
    let hints = harness.state().session.level.hints.clone();
    for (place, hint) in hints.iter().enumerate() {
        assert!(harness.query_by_label(hint).is_none());
        harness.get_by_label(&format!("Hint {} of {}", place + 1, hints.len())).click();
        harness.run_steps(3);
        harness.get_by_label(hint);
    }
}

#[test]
fn the_inspector_shows_the_part_that_was_clicked() {
    let mut harness = desk_at(HOT_PREFIX, 60);
    harness.state_mut().clicked = Some(PartId::new(Part::Replica, 3));
    harness.run_steps(2);
    harness.get_by_label("Replica 4");
    harness.get_by_label_contains("Prefill speed");
    harness.key_press(egui::Key::CloseBracket);
    harness.run_steps(2);
    harness.get_by_label("Replica 5");
    harness.get_by_role_and_label(Role::Button, "Traffic").click();
    harness.run_steps(2);
    harness.get_by_label_contains("Think time");
}

#[test]
fn a_verdict_says_won_or_not_and_what_failed() {
    let level = level(HOT_PREFIX);
    let mut session = Session::new(level.clone());
    session.paused = true;
    let verdict = VerdictRun::new(&level, &level.blueprint).finish();
    session.verdict = VerdictStage::Done(Box::new(verdict));
    let mut harness = desk(session, [1280.0, 720.0]);
    harness.get_by_label("Not yet");
    harness.get_by_label_contains("calls rejected");
    harness.get_by_label_contains("all at replica 1");
    harness.get_by_label("beyond the goals");
    assert!(harness.query_by_label("Debrief").is_none());
    harness.get_by_label("Try again").click();
    harness.run_steps(2);
    assert_eq!(harness.state().done.actions.last(), Some(&Action::Restart));
    harness.key_press(egui::Key::Escape);
    harness.run_steps(2);
    assert_eq!(harness.state().done.actions.last(), Some(&Action::CloseVerdict));
}

#[test]
fn a_verdict_that_is_won_ends_with_the_debrief() {
    let level = level(MORE_REPLICAS);
    let mut session = Session::new(level.clone());
    for change in &level.solution.set {
        set(&mut session, &change.key, &change.value);
    }
    let verdict = VerdictRun::new(&level, session.blueprint()).finish();
    assert!(verdict.passed);
    session.verdict = VerdictStage::Done(Box::new(verdict));
    let harness = desk(session, [1280.0, 720.0]);
    harness.get_by_label("Won");
    harness.get_by_label("DEBRIEF");
    assert!(harness.query_all_by_label_contains(", met").count() >= 3);
}

#[test]
fn the_help_lists_the_keys_and_what_is_left_out() {
    let mut harness = desk_at(MORE_REPLICAS, 10);
    harness.get_by_role_and_label(Role::Button, "Help").click();
    harness.run_steps(8);
    harness.get_by_label("again from 0:00, with the settings as they are");
    harness.get_by_label("No preemption: a call that runs, runs to its end.");
    harness.get_by_label("Close").click();
    harness.run_steps(3);
    assert!(!harness.state().state.help);
}

#[test]
fn every_size_shows_every_panel() {
    for size in [[1280.0, 720.0], [1920.0, 1080.0], [900.0, 600.0], [420.0, 800.0], [320.0, 480.0]] {
        let mut session = Session::new(level(HOT_PREFIX));
        session.run_to(60 * SECOND);
        let mut harness = desk(session, size);
        for (tab, _) in Tab::ALL {
            harness.state_mut().state.tab = tab;
            harness.run_steps(2);
            let inside = harness.get_by_role_and_label(Role::Button, "Verdict").rect();
            assert!(inside.right() <= size[0] && inside.left() >= 0.0, "{size:?}");
        }
        harness.state_mut().state.tab = Tab::Brief;
        harness.run_steps(2);
        harness.get_by_label_contains("TTFT p99: ");
        harness.state_mut().state.tab = Tab::Settings;
        harness.run_steps(2);
        harness.get_by_role_and_label(Role::Slider, "Spill when queue reaches");
    }
}

/// The app without a window, its clock stepped by hand.
fn app(frame: Duration) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, logic_plugin));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
    app.insert_resource(Levels(Level::offered()));
    app.update();
    app
}

fn open(app: &mut App, id: &str) {
    let place = Level::offered().iter().position(|level| level.id == id).expect("a level");
    app.world_mut().write_message(Action::OpenLevel(place));
    app.update();
    app.update();
    assert_eq!(*app.world().resource::<State<Screen>>().get(), Screen::Play);
}

fn until(app: &mut App, frames: u32, what: impl Fn(&Session) -> bool) {
    for _ in 0..frames {
        if what(app.world().resource::<Session>()) {
            return;
        }
        app.update();
    }
    panic!("it did not come to that within {frames} frames");
}

#[test]
fn a_level_is_opened_watched_changed_and_won() {
    let mut app = app(Duration::from_millis(16));
    assert_eq!(*app.world().resource::<State<Screen>>().get(), Screen::Levels);
    open(&mut app, MORE_REPLICAS);
    app.world_mut().write_message(Action::SetSpeed(Speed::SixtyFour));
    until(&mut app, 2_000, |session| session.run.now() > 130 * SECOND);
    assert!(app.world().resource::<Session>().goals.iter().any(|goal| !goal.met), "it fails as it is given");
    app.world_mut().write_message(changed("router.affinity", "1"));
    app.update();
    assert_eq!(app.world().resource::<Session>().run.blueprint().routers[0].affinity, 1.0);
    app.world_mut().write_message(Action::Verdict);
    until(&mut app, 20_000, |session| matches!(session.verdict, VerdictStage::Done(_)));
    let session = app.world().resource::<Session>();
    let VerdictStage::Done(verdict) = &session.verdict else { panic!("no verdict") };
    assert!(verdict.passed);
    assert_eq!(verdict.reports.len(), session.level.seeds.len());
    app.world_mut().write_message(Action::Back);
    app.update();
    app.update();
    assert_eq!(*app.world().resource::<State<Screen>>().get(), Screen::Levels);
    assert!(app.world().get_resource::<Session>().is_none(), "a session goes with its screen");
}

#[test]
fn pause_step_and_restart() {
    let mut app = app(Duration::from_millis(16));
    open(&mut app, HOT_PREFIX);
    until(&mut app, 200, |session| session.run.now() > SECOND);
    app.world_mut().write_message(Action::TogglePause);
    app.update();
    let paused = app.world().resource::<Session>().run.now();
    app.update();
    assert_eq!(app.world().resource::<Session>().run.now(), paused);
    app.world_mut().write_message(Action::StepEvent);
    app.update();
    let stepped = app.world().resource::<Session>().run.now();
    assert!(stepped > paused && stepped < paused + SECOND, "30 calls a second: something happens soon");
    app.world_mut().write_message(changed("router.spill", "8"));
    app.world_mut().write_message(Action::Restart);
    app.update();
    let session = app.world().resource::<Session>();
    assert!(session.run.now() < SECOND && !session.paused);
    app.update();
    assert_eq!(app.world().resource::<Session>().run.blueprint().routers[0].spill, 8);
}

#[test]
fn who_comes_back_finds_the_game_as_it_was_left() {
    let mut app = app(Duration::from_millis(16));
    open(&mut app, HOT_PREFIX);
    until(&mut app, 200, |session| session.run.now() > SECOND);
    let frame = |app: &mut App, took: Duration| {
        app.insert_resource(TimeUpdateStrategy::ManualDuration(took));
        app.update();
        app.world().resource::<Session>().run.now()
    };
    let left = app.world().resource::<Session>().run.now();
    assert_eq!(frame(&mut app, Duration::from_secs(60)), left, "a tab that was hidden for a minute");
    let next = frame(&mut app, Duration::from_millis(16));
    assert!(next.abs_diff(left + 8 * 16_000) <= 1, "from {left} to {next}");
    // A machine on which each frame takes so long is slow, but not stuck.
    assert_eq!(frame(&mut app, Duration::from_secs(2)), next);
    assert!(frame(&mut app, Duration::from_secs(2)) > next);
}

#[test]
fn a_run_ends_where_the_level_ends_and_is_the_same_at_any_speed_and_frame_rate() {
    let digest = |frame: u64, speed: Speed| {
        let mut app = app(Duration::from_millis(frame));
        open(&mut app, HOT_PREFIX);
        app.world_mut().write_message(Action::SetSpeed(speed));
        until(&mut app, 20_000, |session| session.over());
        let session = app.world().resource::<Session>();
        assert!(session.paused);
        assert_eq!(session.run.now(), session.end());
        session.report.digest.clone()
    };
    let fast = digest(16, Speed::Max);
    assert_eq!(digest(7, Speed::SixtyFour), fast);
    assert_eq!(digest(120, Speed::SixtyFour), fast);
    // And that of a run without a window.
    let level = level(HOT_PREFIX);
    let mut run = level.start(&level.blueprint, level.seeds[0]);
    run.run_to((level.seconds * 1e6) as u64);
    assert_eq!(run.report().digest, fast);
}

#[test]
fn a_win_is_saved_and_on_the_list_when_the_game_opens_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("saves");
    let mut first = app(Duration::from_millis(16));
    first.insert_resource(remembered(&path));
    open(&mut first, MORE_REPLICAS);
    first.world_mut().write_message(changed("router.affinity", "1"));
    first.update();
    first.world_mut().write_message(Action::Verdict);
    until(&mut first, 2_000, |session| matches!(session.verdict, VerdictStage::Done(_)));
    drop(first);

    let remembered = remembered(&path);
    assert_eq!(remembered.notice, None);
    let level = &remembered.progress().levels[MORE_REPLICAS];
    assert!(level.won);
    let best = level.best.as_ref().expect("a best try");
    assert_eq!(best.changes, [("router.affinity".to_owned(), "1".to_owned())]);
    let harness = Harness::builder().with_size([1280.0, 720.0]).build_ui(|ui| {
        if styled(ui) {
            let view = LevelsView { levels: &Level::builtin(), progress: remembered.progress(), notice: None };
            show_levels(ui, &view);
        }
    });
    harness.get_by_role_and_label(Role::Button, "More replicas, slower answers, won");
    harness.get_by_role_and_label(Role::Button, "One replica owns the hot prefix");
}

#[test]
fn what_is_drawn_is_kept_saved_opened_and_imported() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let begin = || {
        let mut app = app(Duration::from_millis(16));
        app.insert_resource(remembered(folder.path()));
        open(&mut app, Level::CANVAS);
        app
    };
    let send = |app: &mut App, keep: Keep| {
        app.world_mut().write_message(keep);
        app.update();
        app.world().resource::<Session>().share_notice.clone()
    };
    let place = |app: &mut App, piece: Piece| {
        app.world_mut().write_message(PlayerEdit(Edit::Place { piece, at: Place(700, 700) }));
        app.update();
    };
    let replicas = |app: &App| app.world().resource::<Session>().blueprint().replicas.len();
    let mut first = begin();
    place(&mut first, Piece::Replica);
    place(&mut first, Piece::LargeReplica);
    assert_eq!(send(&mut first, Keep::Save("two".into())), None);
    place(&mut first, Piece::Replica);
    // The window is closed in the middle of it.
    first.world_mut().write_message(AppExit::Success);
    first.update();
    drop(first);

    let mut again = begin();
    assert_eq!(replicas(&again), 3, "it is as it was left");
    assert_eq!(send(&mut again, Keep::Open("two".into())), None);
    assert_eq!(replicas(&again), 2);
    for (action, expected) in [(Action::Undo, 3), (Action::Redo, 2)] {
        again.world_mut().write_message(action);
        again.update();
        assert_eq!(replicas(&again), expected, "what it took the place of is not lost");
    }
    let code = again.world_mut().resource_mut::<Session>().code().to_owned();
    place(&mut again, Piece::Replica);
    assert!(send(&mut again, Keep::Import("WP1-nonsense".into())).is_some_and(|why| !why.contains('\n')));
    assert_eq!(replicas(&again), 3, "a bad code changes nothing");
    assert_eq!(send(&mut again, Keep::Import(code)), None);
    assert_eq!(replicas(&again), 2);
    assert!(send(&mut again, Keep::Save("  ".into())).is_some());
    assert_eq!(send(&mut again, Keep::Delete("two".into())), None);
    assert!(send(&mut again, Keep::Open("two".into())).is_some());
}

#[test]
fn a_problem_may_have_fewer_replicas_than_it_gives() {
    let mut session = Session::new(level(MORE_REPLICAS));
    session.edit(&changed("replicas", "5").0);
    assert_eq!((session.refusal.clone(), session.blueprint().replicas.len()), (None, 5));
    assert_eq!(session.view().credits, 0);
    session.undo();
    assert_eq!(session.blueprint().replicas.len(), 8);
}

#[test]
fn a_setting_of_a_problem_is_taken_back_and_made_again() {
    let mut app = app(Duration::from_millis(16));
    open(&mut app, HOT_PREFIX);
    app.world_mut().write_message(changed("router.spill", "16"));
    for _ in 0..20 {
        app.update();
    }
    let spill = |app: &App| app.world().resource::<Session>().run.blueprint().routers[0].spill;
    for (action, expected) in [(Action::Undo, 0), (Action::Undo, 0), (Action::Redo, 16), (Action::Redo, 16)] {
        app.world_mut().write_message(action);
        app.update();
        assert_eq!(spill(&app), expected);
    }
    let session = app.world().resource::<Session>();
    let marks: Vec<String> = session.marks.iter().map(|mark| mark.text()).collect();
    assert_eq!(marks.last().map(String::as_str), Some("spill 0 → 16"), "{marks:?}");
    assert_eq!(session.refusal, None);
}

/// What is remembered in the files of a folder.
fn remembered(folder: &std::path::Path) -> warmpath::app::Remembered {
    use warmpath::level::FileStore;
    let file = |name: &str| Box::new(FileStore::at(folder.join(name)));
    warmpath::app::Remembered::from_stores(file("progress.json"), file("canvases.json"))
}
