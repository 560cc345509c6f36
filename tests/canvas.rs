//! The canvas against the simulation: what it shows is what the report says, and it can be used without a renderer.
#![cfg(feature = "window")]

use egui::{Event, Modifiers, PointerButton, Pos2, TouchDeviceId, TouchId, TouchPhase, vec2};
use egui_kittest::{Harness, kittest::Queryable};
use warmpath::blueprint::{Blueprint, Part, PartId, Traffic};
use warmpath::canvas::{Canvas, CanvasResponse, FleetPicture, SharedPrefix};
use warmpath::sim::{Run, RunSpec, SECOND};

fn fleet(replicas: usize) -> Blueprint {
    let mut blueprint = Blueprint::router_before(replicas);
    blueprint.traffics.push(Traffic {
        sessions_per_s: replicas as f64,
        steps: 5,
        think_s: 8.0,
        shared: 0.85,
        base_tokens: 500,
        unshared_base_tokens: 20_000,
        ..Traffic::default()
    });
    blueprint.links.push((PartId::new(Part::Traffic, 0), PartId::new(Part::Router, 0)));
    blueprint
}

fn run_of(blueprint: Blueprint) -> Run {
    let mut run = Run::new(RunSpec { blueprint, seed: 7, warmup: 5 * SECOND, recording: None });
    run.watch();
    run
}

/// A canvas that watches a run, a frame at each step of the harness.
struct Watched {
    run: Run,
    canvas: Canvas,
    speed: f64,
    reduced_motion: bool,
    response: CanvasResponse,
}

impl Watched {
    fn frame(&mut self, ui: &mut egui::Ui) {
        let frame_s = if self.speed > 0.0 { 1.0 / 60.0 } else { 0.0 };
        let until = self.run.now() + (f64::from(frame_s) * self.speed * 1e6) as u64;
        self.run.run_to(until);
        let sights: Vec<_> = self.run.watched().sights.drain(..).collect();
        self.canvas.take_sights(sights.into_iter(), self.speed);
        let picture = FleetPicture::of(&self.run);
        let response = self.canvas.show(ui, &picture, frame_s, self.reduced_motion, None);
        self.response.clicked = response.clicked.or(self.response.clicked);
        self.response.hovered = response.hovered;
    }
}

fn harness(replicas: usize, speed: f64) -> Harness<'static, Watched> {
    let mut run = run_of(fleet(replicas));
    run.run_to(20 * SECOND);
    let response = CanvasResponse::default();
    let watched = Watched { run, canvas: Canvas::default(), speed, reduced_motion: false, response };
    Harness::builder().with_size(egui::vec2(732.0, 505.0)).build_ui_state(|ui, watched| watched.frame(ui), watched)
}

/// All that is drawn, without what is only asked for by egui itself.
fn drawn(harness: &Harness<'_, Watched>) -> String {
    format!("{:?}", harness.output().shapes)
}

#[test]
fn a_picture_says_what_the_report_says() {
    let mut run = run_of(fleet(6));
    run.run_to(60 * SECOND);
    let picture = FleetPicture::of(&run);
    let report = run.report();
    assert_eq!(picture.now, run.now());
    assert_eq!(picture.replicas.len(), report.replicas.len());
    for (shown, told) in picture.replicas.iter().zip(&report.replicas) {
        assert_eq!(shown.kv_used, told.cached_tokens);
        assert_eq!((shown.hit_tokens, shown.prompt_tokens), (told.hit_tokens, told.prompt_tokens));
        assert!(shown.prefilling + shown.decoding <= shown.slots);
        assert!(shown.waiting_families.len() as u64 <= shown.waiting);
    }
    assert!(picture.replicas.iter().any(|replica| replica.shared == SharedPrefix::Home));
    assert!(!picture.decisions.is_empty());
    assert_eq!(picture.links.len(), 7);
}

#[test]
fn looking_changes_nothing() {
    let (mut watched, mut alone) = (run_of(fleet(4)), run_of(fleet(4)));
    for second in 1..=30 {
        watched.run_to(second * SECOND);
        let _ = FleetPicture::of(&watched);
    }
    alone.run_to(30 * SECOND);
    assert_eq!(watched.report().digest, alone.report().digest);
}

#[test]
fn every_part_is_found_by_its_name_and_clicked() {
    for replicas in [1, 6, 8, 16, 64] {
        let mut harness = harness(replicas, 1.0);
        harness.run_steps(5);
        harness.get_by_label("Traffic");
        harness.get_by_label("Router");
        let last = format!("Replica {replicas}");
        harness.get_by_label(&last).click();
        harness.run_steps(2);
        assert_eq!(harness.state().response.clicked, Some(PartId::new(Part::Replica, replicas - 1)));
        assert_eq!(harness.state().response.hovered, Some(PartId::new(Part::Replica, replicas - 1)));
    }
}

/// Fingers on the canvas as bevy_egui tells of them: the first is the pointer, too.
struct Hand<'a>(&'a mut Harness<'static, Watched>);

impl Hand<'_> {
    /// So many frames pass between two things that a hand does.
    const FRAMES: usize = 2;

    fn tell(&mut self, finger: u64, phase: TouchPhase, pos: Pos2) {
        let touch = Event::Touch { device_id: TouchDeviceId(1), id: TouchId(finger), phase, pos, force: None };
        let button = |pressed| {
            let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
            Event::PointerButton { pos, button, pressed, modifiers }
        };
        let mut events = vec![touch];
        if finger == 1 {
            events.extend(match phase {
                TouchPhase::Start => vec![Event::PointerMoved(pos), button(true)],
                TouchPhase::Move => vec![Event::PointerMoved(pos)],
                TouchPhase::End => vec![button(false), Event::PointerGone],
                TouchPhase::Cancel => vec![Event::PointerGone],
            });
        }
        self.0.input_mut().events.extend(events);
        self.0.run_steps(Self::FRAMES);
    }

    fn down(&mut self, finger: u64, at: Pos2) {
        self.tell(finger, TouchPhase::Start, at);
    }

    /// From one place to another, in some steps.
    fn drag(&mut self, finger: u64, from: Pos2, to: Pos2) {
        const STEPS: u8 = 4;
        for step in 1..=STEPS {
            self.tell(finger, TouchPhase::Move, from.lerp(to, f32::from(step) / f32::from(STEPS)));
        }
    }

    fn up(&mut self, finger: u64, at: Pos2) {
        self.tell(finger, TouchPhase::End, at);
    }
}

/// Two fingers go apart, from 40 to 160 points about this place, and stay down.
fn spread(hand: &mut Hand<'_>, about: Pos2) {
    let (near, far) = (vec2(20.0, 0.0), vec2(80.0, 0.0));
    hand.down(1, about - near);
    hand.down(2, about + near);
    hand.drag(1, about - near, about - far);
    hand.drag(2, about + near, about + far);
}

#[test]
fn two_fingers_look_closer_at_what_is_between_them() {
    let mut harness = harness(6, 1.0);
    harness.run_steps(5);
    let router = |harness: &Harness<'_, Watched>| harness.get_by_label("Router").rect();
    let before = router(&harness);
    spread(&mut Hand(&mut harness), before.center());
    let after = router(&harness);
    assert!(after.width() > 2.5 * before.width(), "{before:?} is now {after:?}");
    assert!(after.center().distance(before.center()) < 8.0, "{before:?} is now {after:?}");

    // Both go aside: so does what is between them.
    let (far, aside) = (vec2(80.0, 0.0), vec2(40.0, 12.0));
    let mut hand = Hand(&mut harness);
    hand.drag(1, before.center() - far, before.center() - far + aside);
    hand.drag(2, before.center() + far, before.center() + far + aside);
    let moved = router(&harness).center() - after.center();
    assert!((moved - aside).length() < 2.0, "moved by {moved}");
    assert_eq!(harness.state().response.clicked, None);
}

#[test]
fn one_finger_drags_the_canvas_also_by_a_part_and_taps_one() {
    let mut harness = harness(6, 1.0);
    harness.run_steps(5);
    let about = harness.get_by_label("Router").rect().center();
    let mut hand = Hand(&mut harness);
    spread(&mut hand, about);
    hand.up(2, about + vec2(80.0, 0.0));
    hand.up(1, about - vec2(80.0, 0.0));

    let before = harness.get_by_label("Router").rect();
    let (from, aside) = (before.center(), vec2(60.0, 20.0));
    let mut hand = Hand(&mut harness);
    hand.down(1, from);
    hand.drag(1, from, from + aside);
    hand.up(1, from + aside);
    let moved = harness.get_by_label("Router").rect().center() - from;
    assert!((moved - aside).length() < 2.0, "moved by {moved}");
    assert_eq!(harness.state().response.clicked, None, "a drag is no tap");

    let at = harness.get_by_label("Router").rect().center();
    let mut hand = Hand(&mut harness);
    hand.down(1, at);
    hand.up(1, at);
    assert_eq!(harness.state().response.clicked, Some(PartId::new(Part::Router, 0)));
}

#[test]
fn a_finger_that_rests_while_the_other_pinches_taps_nothing() {
    let mut harness = harness(6, 1.0);
    harness.run_steps(5);
    let at = harness.get_by_label("Router").rect().center();
    let mut hand = Hand(&mut harness);
    hand.down(1, at);
    hand.down(2, at + vec2(40.0, 0.0));
    hand.drag(2, at + vec2(40.0, 0.0), at + vec2(80.0, 0.0));
    hand.up(2, at + vec2(80.0, 0.0));
    hand.up(1, at);
    assert_eq!(harness.state().response.clicked, None);
}

#[test]
fn a_paused_picture_stands_still() {
    let mut harness = harness(6, 1.0);
    harness.run_steps(60);
    harness.state_mut().speed = 0.0;
    harness.run_steps(2);
    let before = drawn(&harness);
    harness.run_steps(20);
    assert_eq!(drawn(&harness), before);
}

#[test]
fn what_is_drawn_is_bounded_at_any_speed() {
    for speed in [1.0, 16.0, 256.0] {
        let mut harness = harness(6, speed);
        harness.run_steps(60);
        // For each replica 32 slots, 32 blocks and 24 of the queue at most, and some 20 for the rest of its card; dots are
        // two shapes each, at most eight on each of seven links.
        let shapes = harness.output().shapes.len();
        assert!(shapes < 6 * (32 + 32 + 24 + 20) + 2 * 8 * 7 + 100, "{shapes} shapes at {speed}x");
    }
}

#[test]
fn a_run_that_starts_again_is_seen_from_its_start() {
    let mut harness = harness(3, 1.0);
    harness.run_steps(30);
    harness.state_mut().run = run_of(fleet(5));
    harness.run_steps(30);
    harness.get_by_label("Replica 5");
    harness.state_mut().reduced_motion = true;
    harness.run_steps(30);
}
