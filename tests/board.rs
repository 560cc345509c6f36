//! Fleets drawn as a person draws them: by mouse and by keyboard on the whole play screen, without a window.
#![cfg(feature = "window")]

use egui::{Event, Key, Modifiers, PointerButton, Pos2, Rect, pos2, vec2};
use egui_kittest::{Harness, kittest::Queryable};
use warmpath::app::{FleetCanvas, Session};
use warmpath::blueprint::{Blueprint, Edit, Part, PartId, Piece, Place};
use warmpath::level::{Level, Shared};
use warmpath::panels::{Action, Deeds, PlayState, install_theme, show_play};
use warmpath::sim::SECOND;

const TRAFFIC: PartId = PartId::new(Part::Traffic, 0);
const ROUTER: PartId = PartId::new(Part::Router, 0);

const fn replica(index: usize) -> PartId {
    PartId::new(Part::Replica, index)
}

/// Where the board is seen in a window of 1280 by 720.
const BOARD: Rect = Rect { min: pos2(252.0, 96.0), max: pos2(983.0, 544.0) };

/// The play screen of a session, its canvas included: what is done acts at once, as the app lets it.
struct Desk {
    session: Session,
    state: PlayState,
    canvas: FleetCanvas,
    done: Deeds,
}

impl Desk {
    fn frame(&mut self, ui: &mut egui::Ui) {
        if ui.ctx().fonts(|fonts| fonts.definitions().families.len() <= 2) {
            install_theme(ui.ctx());
            ui.ctx().request_repaint();
            return;
        }
        self.canvas.take_sights(&mut self.session);
        if let Some(about) = self.session.take_about() {
            self.state.choose(&about);
        }
        let (session, canvas) = (&self.session, &mut self.canvas);
        let mut fleet = |ui: &mut egui::Ui, state: &mut PlayState| canvas.show(ui, session, state, 1.0 / 60.0);
        let deeds = show_play(ui, &session.view(), &mut self.state, &mut fleet);
        for edit in &deeds.edits {
            self.session.edit(edit);
        }
        for action in &deeds.actions {
            match action {
                Action::Undo => self.session.undo(),
                Action::Redo => self.session.redo(),
                _ => {}
            }
        }
        self.done.actions.extend(deeds.actions);
        self.done.edits.extend(deeds.edits);
    }

    fn fleet(&self) -> &Blueprint {
        self.session.blueprint()
    }
}

struct Person(Harness<'static, Desk>);

impl Person {
    fn at(level: Level, size: [f32; 2]) -> Self {
        let desk = Desk {
            session: Session::new(level),
            state: PlayState::default(),
            canvas: FleetCanvas::default(),
            done: Deeds::default(),
        };
        let mut harness = Harness::builder().with_size(size).build_ui_state(|ui, desk: &mut Desk| desk.frame(ui), desk);
        harness.run_steps(4);
        Self(harness)
    }

    fn at_canvas() -> Self {
        Self::at(Level::canvas(), [1280.0, 720.0])
    }

    fn desk(&self) -> &Desk {
        self.0.state()
    }

    fn fleet(&self) -> &Blueprint {
        self.desk().fleet()
    }

    /// The middle of what has this name.
    fn find(&self, label: &str) -> Pos2 {
        self.0.get_by_label(label).rect().center()
    }

    /// The middle of the part of this name on the board.
    fn part(&self, name: &str) -> Pos2 {
        let all = self.0.get_all_by_label(name).map(|node| node.rect().center());
        all.into_iter().find(|at| BOARD.contains(*at)).expect("it is on the board")
    }

    fn button(&mut self, pos: Pos2, pressed: bool, modifiers: Modifiers) {
        let button = PointerButton::Primary;
        self.0.input_mut().events.push(Event::PointerButton { pos, button, pressed, modifiers });
        self.0.run_steps(2);
    }

    fn pointer(&mut self, pos: Pos2) {
        self.0.input_mut().events.push(Event::PointerMoved(pos));
        self.0.run_steps(2);
    }

    fn drag_with(&mut self, from: Pos2, to: Pos2, modifiers: Modifiers) {
        self.0.input_mut().events.push(Event::ModifiersChanged(modifiers));
        self.pointer(from);
        self.button(from, true, modifiers);
        for step in 1..=4 {
            self.pointer(from.lerp(to, step as f32 / 4.0));
        }
        self.button(to, false, modifiers);
        self.0.input_mut().events.push(Event::ModifiersChanged(Modifiers::NONE));
        self.0.run_steps(2);
    }

    fn drag(&mut self, from: Pos2, to: Pos2) {
        self.drag_with(from, to, Modifiers::NONE);
    }

    fn click(&mut self, at: Pos2) {
        self.pointer(at);
        self.button(at, true, Modifiers::NONE);
        self.button(at, false, Modifiers::NONE);
    }

    fn press(&mut self, key: Key, modifiers: Modifiers) {
        self.0.key_press_modifiers(modifiers, key);
        self.0.run_steps(3);
    }

    fn link(&mut self, from: &str, to: &str) {
        let (from, to) = (self.find(&format!("Link from {from}")), self.part(to));
        self.drag(from, to);
    }

    /// Drags a router, traffic and two replicas onto the board and links them.
    fn draw_a_fleet(&mut self) {
        for (piece, at) in [
            ("Place: Traffic", pos2(330.0, 320.0)),
            ("Place: Inference router", pos2(520.0, 320.0)),
            ("Place: Replica", pos2(800.0, 220.0)),
            ("Place: Replica", pos2(800.0, 420.0)),
        ] {
            let from = self.find(piece);
            self.drag(from, at);
        }
        self.link("Traffic", "Router");
        self.link("Router", "Replica 1");
        self.link("Router", "Replica 2");
    }
}

#[test]
fn a_fleet_is_drawn_by_mouse_and_runs() {
    let mut person = Person::at_canvas();
    person.draw_a_fleet();
    let fleet = person.fleet();
    assert_eq!(fleet.links, [(TRAFFIC, ROUTER), (ROUTER, replica(0)), (ROUTER, replica(1))]);
    person.0.get_by_label("28 credits spent, no budget");
    let session = &mut person.0.state_mut().session;
    session.run_to(60 * SECOND);
    let report = session.report.clone();
    assert!(report.hit_rate.is_some_and(|rate| rate > 0.5) && report.answered > 100, "{report:?}");
    assert_eq!(report.rejected_total, 0);
    // The very fleet from the command line's side: the code that is exported, run afresh.
    let shared = Shared::parse(person.0.state_mut().session.code()).expect("its own code");
    let mut run = shared.level.start(&shared.blueprint, 1);
    run.run_to(60 * SECOND);
    assert_eq!(run.report().digest, report.digest);
}

#[test]
fn everything_is_taken_back_and_made_again() {
    let mut person = Person::at_canvas();
    person.draw_a_fleet();
    let drawn = person.fleet().clone();
    for _ in 0..7 {
        person.press(Key::Z, Modifiers::COMMAND);
    }
    assert_eq!(*person.fleet(), Blueprint::default());
    assert_eq!(person.desk().session.view().undoable, None);
    for _ in 0..7 {
        person.press(Key::Y, Modifiers::COMMAND);
    }
    assert_eq!(*person.fleet(), drawn);
    let undo = person.find("Undo");
    person.click(undo);
    assert_eq!(person.fleet().links.len(), 2);
    let redo = person.find("Redo");
    person.click(redo);
    assert_eq!(*person.fleet(), drawn);
}

#[test]
fn parts_are_moved_framed_duplicated_and_deleted() {
    let mut person = Person::at_canvas();
    person.draw_a_fleet();
    let before = person.fleet().places.clone();
    let from = person.part("Replica 2");
    person.drag(from, from + vec2(40.0, 20.0));
    let moved = &person.fleet().places;
    assert_eq!(moved[&replica(1)], Place(before[&replica(1)].0 + 40, before[&replica(1)].1 + 20));
    assert_eq!(person.desk().state.selected, replica(1), "the inspector shows what the hand is on");
    // A frame around both replicas.
    person.drag_with(pos2(640.0, 130.0), pos2(970.0, 520.0), Modifiers::SHIFT);
    assert_eq!(person.desk().state.choice.parts, [replica(0), replica(1)].into());
    person.press(Key::D, Modifiers::COMMAND);
    assert_eq!(person.fleet().replicas.len(), 4);
    assert_eq!(person.fleet().next_of(ROUTER).count(), 4, "a twin is linked as its model is");
    assert_eq!(person.desk().state.choice.parts, [replica(2), replica(3)].into());
    person.press(Key::Delete, Modifiers::NONE);
    assert_eq!(person.fleet().replicas.len(), 2);
    assert_eq!(person.desk().session.view().credits, 28, "they are refunded");
}

#[test]
fn a_link_is_clicked_and_taken_away() {
    let mut person = Person::at_canvas();
    person.draw_a_fleet();
    let between = person.find("Link from Traffic") + vec2(45.0, 0.0);
    person.click(between);
    assert_eq!(person.desk().state.choice.link, Some((TRAFFIC, ROUTER)));
    person.press(Key::Delete, Modifiers::NONE);
    assert_eq!(person.fleet().next_of(TRAFFIC).count(), 0);
    assert_eq!(person.fleet().missing(TRAFFIC), Some("leads nowhere: link it to a router, a balancer or a replica"));
}

#[test]
fn a_link_that_makes_no_sense_says_why_at_once() {
    let mut person = Person::at_canvas();
    person.draw_a_fleet();
    person.link("Router", "Traffic");
    person.0.get_by_label("Traffic only sends: nothing can be linked to it.");
    person.link("Router", "Replica 1");
    person.0.get_by_label("They are linked already.");
    assert_eq!(person.fleet().links.len(), 3);
}

#[test]
fn a_fleet_is_drawn_by_keyboard_alone() {
    let mut person = Person::at_canvas();
    for piece in ["Place: Traffic", "Place: Inference router", "Place: Replica"] {
        person.0.get_by_label(piece).focus();
        person.0.run_steps(2);
        person.press(Key::Enter, Modifiers::NONE);
        person.0.get_by_label(piece).focus();
        person.0.run_steps(1);
        // Leaves the control, so that keys are the board's.
        person.press(Key::Escape, Modifiers::NONE);
    }
    assert_eq!(person.desk().state.selected, replica(0));
    // From replica back to the router, to be linked to the replica; then traffic to the router.
    person.press(Key::OpenBracket, Modifiers::NONE);
    person.press(Key::K, Modifiers::NONE);
    person.press(Key::CloseBracket, Modifiers::NONE);
    person.press(Key::K, Modifiers::NONE);
    person.press(Key::CloseBracket, Modifiers::NONE);
    person.press(Key::K, Modifiers::NONE);
    person.press(Key::CloseBracket, Modifiers::NONE);
    person.press(Key::K, Modifiers::NONE);
    assert_eq!(person.fleet().links, [(TRAFFIC, ROUTER), (ROUTER, replica(0))]);
    let before = person.fleet().places[&ROUTER];
    person.press(Key::ArrowUp, Modifiers::SHIFT);
    assert_eq!(person.fleet().places[&ROUTER], Place(before.0, before.1 - 100));
}

#[test]
fn nothing_can_be_put_where_it_is_not_seen_again() {
    let mut person = Person::at_canvas();
    let from = person.find("Place: Replica");
    // Let go over the charts it is not placed; at the edge of the board it stands inside.
    person.drag(from, pos2(700.0, 650.0));
    assert_eq!(person.fleet().replicas.len(), 0);
    let session = &mut person.0.state_mut().session;
    session.edit(&Edit::Place { piece: Piece::Replica, at: Place(-5_000, 99_999) });
    session.edit(&Edit::Move { parts: vec![replica(0)], by: (-900_000, 900_000) });
    person.0.run_steps(2);
    person.press(Key::Num0, Modifiers::NONE);
    let seen = person.0.get_by_label("Replica 1").rect();
    assert!(BOARD.contains_rect(seen), "{seen}");
}

#[test]
fn a_change_of_the_running_fleet_is_a_mark() {
    let mut person = Person::at_canvas();
    person.draw_a_fleet();
    person.0.state_mut().session.run_to(30 * SECOND);
    let from = person.find("Place: Large replica");
    person.drag(from, pos2(420.0, 480.0));
    person.link("Router", "Replica 3");
    person.press(Key::Z, Modifiers::COMMAND);
    let texts: Vec<String> = person.desk().session.marks.iter().map(|mark| mark.text()).collect();
    assert_eq!(texts, ["Replica 3 placed", "Router → Replica 3 linked", "undone: Router → Replica 3 linked"]);
    let from = person.part("Replica 1");
    person.drag(from, from + vec2(30.0, 0.0));
    assert_eq!(person.desk().session.marks.len(), 3, "a card that is moved changes nothing that runs");
}

#[test]
fn a_part_is_linked_to_all_replicas_at_once_and_to_none() {
    let mut person = Person::at_canvas();
    person.draw_a_fleet();
    let session = &mut person.0.state_mut().session;
    session.edit(&Edit::UnlinkAll { from: ROUTER });
    assert_eq!(session.blueprint().links, [(TRAFFIC, ROUTER)]);
    session.edit(&Edit::LinkAll { from: ROUTER });
    assert_eq!(session.blueprint().links, [(TRAFFIC, ROUTER), (ROUTER, replica(0)), (ROUTER, replica(1))]);
    session.edit(&Edit::LinkAll { from: replica(0) });
    assert!(session.refusal.is_some());
}

#[test]
fn a_run_that_has_ended_is_not_that_of_another_fleet() {
    let mut person = Person::at_canvas();
    person.draw_a_fleet();
    let session = &mut person.0.state_mut().session;
    session.run_to(session.end());
    assert!(session.over() && session.report.answered > 0);
    session.edit(&Edit::Delete { parts: vec![replica(1)] });
    assert_eq!((session.run.now(), session.paused, session.report.answered), (0, true, 0));
}

#[test]
fn where_nothing_is_to_be_won_no_verdict_is_asked_for() {
    let mut person = Person::at_canvas();
    person.draw_a_fleet();
    person.press(Key::F, Modifiers::NONE);
    person.press(Key::V, Modifiers::NONE);
    assert!(!person.desk().done.actions.contains(&Action::Verdict));
    let mut person = Person::at(Level::by_id("agents-on-a-budget").expect("a level"), [1280.0, 720.0]);
    person.press(Key::V, Modifiers::NONE);
    assert!(person.desk().done.actions.contains(&Action::Verdict));
}
