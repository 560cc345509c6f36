//! The component page: what it shows is what the simulation says, its claims hold, and it can be used by mouse and keyboard.

use warmpath::blueprint::{Assignment, Blueprint, Piece, apply};
use warmpath::level::{Components, Curve, CurveRun, Demo, DemoRun, Level, SideBySide, SideBySideRun};
use warmpath::sim::Report;

fn side_by_side(page: &Components) -> &SideBySide {
    let demos = page.demos.iter();
    demos.filter_map(|demo| if let Demo::SideBySide(it) = demo { Some(it) } else { None }).next().expect("one")
}

fn curve<'a>(page: &'a Components, vary: &str) -> &'a Curve {
    let curves = page.demos.iter().filter_map(|demo| if let Demo::Curve(it) = demo { Some(it) } else { None });
    curves.into_iter().find(|curve| curve.vary == vary).expect("a curve over it")
}

/// Runs a demo to its end in frames of these lengths in seconds, over and over, each with at most so many steps.
fn run_in_frames(demo: &Demo, frames: &[f64], steps: usize) -> DemoRun {
    let mut run = DemoRun::new(demo);
    for frame in frames.iter().cycle().take(1_000_000) {
        if run.done() {
            return run;
        }
        let mut left = steps;
        run.go_on(*frame, || {
            left = left.saturating_sub(1);
            left > 0
        });
    }
    panic!("it does not end");
}

fn sides(demo: &SideBySide, frames: &[f64], steps: usize) -> SideBySideRun {
    match run_in_frames(&Demo::SideBySide(demo.clone()), frames, steps) {
        DemoRun::SideBySide(run) => *run,
        DemoRun::Curve(_) => panic!("another kind"),
    }
}

fn points(demo: &Curve, steps: usize) -> CurveRun {
    match run_in_frames(&Demo::Curve(demo.clone()), &[0.016], steps) {
        DemoRun::Curve(run) => *run,
        DemoRun::SideBySide(_) => panic!("another kind"),
    }
}

fn set(fleet: &Blueprint, changes: &[(&str, &str)]) -> Blueprint {
    let mut fleet = fleet.clone();
    let changes: Vec<Assignment> = changes.iter().map(|(key, value)| Assignment::new(*key, *value)).collect();
    apply(&mut fleet, &changes).expect("in range");
    fleet
}

/// A level of the program run whole with these changes.
fn report(level: &str, changes: &[(&str, &str)]) -> Report {
    let level = Level::by_id(level).expect("a level");
    level.report(&set(&level.blueprint, changes), 1)
}

const MORE_REPLICAS: &str = "more-replicas-slower-answers";
const HOT_PREFIX: &str = "one-replica-owns-the-hot-prefix";

#[test]
fn side_by_side_is_what_a_whole_run_reports_at_any_frame_rate() {
    let page = Components::builtin();
    let demo = side_by_side(&page);
    let (smooth, rough) = (sides(demo, &[0.016], 100), sides(demo, &[0.007, 0.25, 0.041], 3));
    assert_eq!(smooth.sides().len(), 2);
    for ((one, other), line) in smooth.sides().iter().zip(rough.sides()).zip(&demo.sides) {
        // By hand: the level it names, set as it says, warm-up and seed.
        let mut level = Level::by_id(&demo.setup.level.id).expect("a level");
        level.warmup_s = demo.setup.level.warmup_s;
        let whole = level.report(&line.blueprint, demo.setup.seed);
        assert_eq!(one.report.digest, whole.digest);
        assert_eq!(one.report, whole, "{}", line.name);
        assert_eq!(other.report, whole, "{}", line.name);
        assert_eq!(one.hit_rates, other.hit_rates);
        assert_eq!(one.hit_rates.last().map(|(_, share)| *share), whole.hit_rate);
    }
    let traffic = |side: usize| &demo.sides[side].blueprint.traffics;
    assert_eq!(traffic(0), traffic(1), "the same traffic");
    assert_eq!(demo.sides[0].blueprint.replicas, demo.sides[1].blueprint.replicas, "the same replicas");
}

#[test]
fn curves_are_what_whole_runs_report_however_they_are_cut() {
    let page = Components::builtin();
    for (vary, read) in [
        ("router.spill", (|report: &Report| report.ttft_ms.p99) as fn(&Report) -> Option<f64>),
        ("replicas", |report: &Report| report.hit_rate),
    ] {
        let demo = curve(&page, vary);
        let (run, cut) = (points(demo, 1_000), points(demo, 2));
        assert_eq!(run.points(), cut.points());
        for (line, points) in demo.lines.iter().zip(run.points()) {
            assert_eq!(points.len(), demo.values.len());
            for ((value, _), point) in demo.values.iter().zip(points) {
                let fleet = set(&line.blueprint, &[(vary, &value.to_string())]);
                let report = demo.setup.level.report(&fleet, demo.setup.seed);
                assert_eq!(
                    (point.value, point.failed, point.sent),
                    (read(&report), report.rejected_total, report.sent)
                );
            }
        }
    }
}

#[test]
fn sticky_routing_raises_the_hit_rate_from_about_20_to_75_per_cent_on_every_seed() {
    let page = Components::builtin();
    let demo = side_by_side(&page);
    for seed in 1..=5 {
        let rate = |side: usize| {
            let report = demo.setup.level.report(&demo.sides[side].blueprint, seed);
            assert_eq!(report.rejected_total, 0, "nothing fails that would flatter either");
            report.hit_rate.expect("calls were made")
        };
        let (in_turn, sticky) = (rate(0), rate(1));
        assert!((0.17..=0.24).contains(&in_turn), "round robin {in_turn}");
        assert!((0.70..=0.80).contains(&sticky), "sticky {sticky}");
    }
}

#[test]
fn more_replicas_mean_fewer_hits_in_turn_and_not_when_sticky() {
    let page = Components::builtin();
    let demo = curve(&page, "replicas");
    let run = points(demo, 1_000);
    let rates: Vec<Vec<f64>> =
        run.points().iter().map(|points| points.iter().map(|point| point.value.expect("calls")).collect()).collect();
    assert!(rates[0].windows(2).all(|pair| pair[1] < pair[0]), "in turn it falls all the way: {:?}", rates[0]);
    let at = |replicas: f64| demo.values.iter().position(|(value, _)| *value == replicas).expect("on the curve");
    for (few, twice) in [(4.0, 8.0), (8.0, 16.0), (16.0, 32.0)] {
        let (few, twice) = (rates[0][at(few)], rates[0][at(twice)]);
        assert!(few - twice > 0.1, "{few} to {twice}");
    }
    let (low, high) = rates[1].iter().fold((1.0_f64, 0.0_f64), |(low, high), x| (low.min(*x), high.max(*x)));
    assert!(high - low < 0.03 && low > 0.85, "sticky it stays: {low} to {high}");
    assert!(run.points().iter().flatten().all(|point| point.failed == 0));
}

#[test]
fn where_caches_are_too_small_the_curve_rises_before_it_falls() {
    let rate = |replicas: &str| report(MORE_REPLICAS, &[("replicas", replicas)]).hit_rate.expect("calls");
    let (two, eight, many) = (rate("2"), rate("8"), rate("32"));
    assert!(two + 0.05 < eight && many + 0.05 < eight, "{two}, {eight}, {many}");
}

#[test]
fn the_sweet_spot_of_spilling_lies_between() {
    let page = Components::builtin();
    let demo = curve(&page, "router.spill");
    let run = points(demo, 1_000);
    let best = run.best().expect("points");
    let points = &run.points()[0];
    assert!(best > 2 && best + 3 < points.len(), "{best} is at an end");
    let value = |place: usize| points[place].value.expect("calls");
    for end in [0, points.len() - 2, points.len() - 1] {
        assert!(value(best) * 5.0 < value(end), "{} against {}", value(best), value(end));
    }
    assert_eq!(points[best].failed, 0);
    assert!(points[points.len() - 1].failed > 0, "never to spill drowns the home of the prefix");
    // Spilling late, at the least: one replica takes nearly all of it.
    let never = report(HOT_PREFIX, &[("router.spill", "0")]);
    let home = never.replicas.iter().map(|replica| replica.prompt_tokens).max().unwrap_or(0);
    assert!(home * 2 > never.prompt_tokens);
}

#[test]
fn what_is_said_of_the_other_parts_holds() {
    // Single questions: there is nothing that a router could find.
    for affinity in ["0", "1"] {
        let report = report(MORE_REPLICAS, &[("traffic.steps", "1"), ("router.affinity", affinity)]);
        assert_eq!(report.hit_rate, Some(0.0));
    }
    // What two replicas would hold apart is in one place.
    let small = report(MORE_REPLICAS, &[("replicas", "8")]).hit_rate;
    let large = [("replicas", "4"), ("replica.kv_tokens", "290000"), ("replica.prefill_tokens_per_s", "140000")];
    assert!(report(MORE_REPLICAS, &large).hit_rate > small.map(|rate| rate + 0.1));
    // It decodes no faster: with long answers two small ones do more.
    let long = [("traffic.output_tokens", "1500"), ("traffic.steps", "4"), ("router.affinity", "1")];
    let two = report(MORE_REPLICAS, &[&long[..], &[("replicas", "2"), ("replica.kv_tokens", "300000")]].concat());
    let one = [("replicas", "1"), ("replica.kv_tokens", "600000"), ("replica.prefill_tokens_per_s", "140000")];
    let one = report(MORE_REPLICAS, &[&long[..], &one].concat());
    assert!(two.throughput_rps > one.throughput_rps.map(|rate| rate * 1.3), "{two:?} {one:?}");
    assert_eq!(Components::builtin().cards.len(), Piece::ALL.len());
}

#[cfg(feature = "window")]
mod on_screen {
    use super::*;
    use bevy::prelude::*;
    use bevy::time::TimeUpdateStrategy;
    use egui::accesskit::Role;
    use egui_kittest::{Harness, kittest::Queryable};
    use std::time::Duration;
    use warmpath::app::{Demos, Levels, Screen, Session, logic_plugin};
    use warmpath::level::Progress;
    use warmpath::panels::{
        Action, ComponentsState, ComponentsView, LevelsView, install_theme, show_components, show_levels,
    };

    const LONG: Duration = Duration::from_secs(5);

    /// The page as the app has it.
    #[derive(Default)]
    struct Page {
        demos: Demos,
        levels: Vec<Level>,
        state: ComponentsState,
        done: Vec<Action>,
        /// How long a frame is, in seconds.
        frame_s: f64,
    }

    impl Page {
        fn frame(&mut self, ui: &mut egui::Ui) {
            let there = ui.ctx().fonts(|fonts| fonts.definitions().families.len() > 2);
            if !there {
                install_theme(ui.ctx());
                ui.ctx().request_repaint();
                return;
            }
            let progress = Progress::default();
            let view = ComponentsView {
                page: &self.demos.page,
                levels: &self.levels,
                progress: &progress,
                demos: self.demos.runs(),
            };
            let deeds = show_components(ui, &view, &mut self.state);
            for action in &deeds.actions {
                if let Action::RestartDemo(place) = action {
                    self.demos.restart(*place);
                }
            }
            self.done.extend(deeds.actions);
            self.demos.attend(&self.state.on_screen);
            self.demos.go_on(self.frame_s, LONG);
        }
    }

    fn page(size: [f32; 2]) -> Harness<'static, Page> {
        let page = Page { levels: Level::builtin(), frame_s: 0.1, ..Page::default() };
        let mut harness = Harness::builder().with_size(size).build_ui_state(|ui, page: &mut Page| page.frame(ui), page);
        harness.run_steps(4);
        harness
    }

    #[test]
    fn the_list_of_problems_leads_to_the_page_by_mouse_and_by_key() {
        let levels = Level::builtin();
        let mut harness = Harness::builder().with_size([1280.0, 720.0]).build_ui_state(
            |ui, done: &mut Vec<Action>| {
                if ui.ctx().fonts(|fonts| fonts.definitions().families.len() > 2) {
                    let view = LevelsView { levels: &levels, progress: &Progress::default(), notice: None };
                    done.extend(show_levels(ui, &view).actions);
                } else {
                    install_theme(ui.ctx());
                    ui.ctx().request_repaint();
                }
            },
            Vec::new(),
        );
        harness.run_steps(3);
        harness.get_by_role_and_label(Role::Button, "Components · AI pipeline").click();
        harness.run_steps(2);
        harness.key_press(egui::Key::C);
        harness.run_steps(2);
        assert_eq!(harness.state().as_slice(), [Action::OpenComponents; 2]);
    }

    #[test]
    fn what_the_page_shows_in_the_end_is_what_whole_runs_report() {
        let mut harness = page([1280.0, 4_000.0]);
        assert_eq!(harness.state().state.on_screen, [true, true, true]);
        harness.run_steps(130);
        assert!(harness.state().demos.runs().iter().all(|run| run.as_ref().is_some_and(DemoRun::done)));
        assert!(!harness.state().demos.move_on());
        let page = Components::builtin();
        let demo = side_by_side(&page);
        for side in &demo.sides {
            let rate = demo.setup.level.report(&side.blueprint, demo.setup.seed).hit_rate.expect("calls");
            harness.get_by_label(&format!("{}: KV hit rate {:.1} %", side.name, rate * 100.0));
        }
        let demo = curve(&page, "router.spill");
        let fleet = set(&demo.lines[0].blueprint, &[("router.spill", "16")]);
        let p99 = demo.setup.level.report(&fleet, demo.setup.seed).ttft_ms.p99.expect("calls");
        harness.get_by_label_contains(&format!("16 {:.2} s", p99 / 1e3));
        harness.get_by_label_contains(". Best: ");
        harness.get_by_label_contains("Hollow: calls failed (never ");
    }

    #[test]
    fn hit_rates_count_up_and_begin_anew() {
        let mut harness = page([1280.0, 720.0]);
        let now = |harness: &Harness<'static, Page>| match &harness.state().demos.runs()[0] {
            Some(DemoRun::SideBySide(run)) => run.now_s(),
            _ => panic!("it runs"),
        };
        harness.run_steps(20);
        let before = now(&harness);
        assert!(before > 60.0, "{before}");
        harness.get_by_role_and_label(Role::Button, "Run again").click();
        harness.run_steps(3);
        assert!(now(&harness) < before / 2.0);
        assert_eq!(harness.state().done, [Action::RestartDemo(0)]);
        harness.run_steps(10);
        harness.key_press(egui::Key::R);
        harness.run_steps(1);
        assert_eq!(harness.state().done, [Action::RestartDemo(0); 2]);
    }

    #[test]
    fn the_keyboard_reaches_what_the_mouse_does() {
        let mut harness = page([1280.0, 720.0]);
        let focused =
            |harness: &Harness<'static, Page>| harness.get_by_role_and_label(Role::Button, "Run again").is_focused();
        for _ in 0..20 {
            if focused(&harness) {
                break;
            }
            harness.key_press(egui::Key::Tab);
            harness.run_steps(2);
        }
        assert!(focused(&harness));
        harness.key_press(egui::Key::Enter);
        harness.run_steps(2);
        assert_eq!(harness.state().done, [Action::RestartDemo(0)]);
        // What has the keyboard is brought onto the screen.
        harness.key_press(egui::Key::Tab);
        harness.run_steps(60);
        let problem = harness.get_by_role_and_label(Role::Button, "More replicas, slower answers");
        assert!(problem.is_focused());
        assert!(problem.rect().top() >= 44.0 && problem.rect().bottom() <= 720.0, "{:?}", problem.rect());
    }

    #[test]
    fn only_what_is_on_the_screen_runs() {
        let mut harness = page([1280.0, 720.0]);
        let begun = |harness: &Harness<'static, Page>| -> Vec<bool> {
            harness.state().demos.runs().iter().map(Option::is_some).collect()
        };
        harness.run_steps(5);
        assert_eq!(begun(&harness), [true, false, false]);
        let mut there = [true, false, false];
        for _ in 0..12 {
            harness.key_press(egui::Key::PageDown);
            harness.run_steps(40);
            for (there, on_screen) in there.iter_mut().zip(&harness.state().state.on_screen) {
                *there |= on_screen;
            }
        }
        assert_eq!((there, begun(&harness)), ([true; 3], vec![true; 3]));
        assert_eq!(harness.state().state.on_screen, [false; 3], "the last part has none");
        assert!(!harness.state().demos.move_on());
        assert_eq!(harness.state().state.here, 4);
        harness.key_press(egui::Key::Home);
        harness.run_steps(40);
        assert!(harness.state().state.on_screen[0]);
        assert_eq!(harness.state().state.here, 0);
    }

    #[test]
    fn every_part_has_its_price_its_settings_and_its_words() {
        let harness = page([1280.0, 8_000.0]);
        let page = Components::builtin();
        for card in &page.cards {
            harness.get_by_label(&card.name.replace(" %", "\u{a0}%"));
            let price =
                if card.piece.credits() == 0 { "free".to_owned() } else { format!("{} credits", card.piece.credits()) };
            harness.get_by_role_and_label(Role::Button, &format!("{}, {price}", card.piece.name()));
            for text in card.notes.iter().map(|note| &note.says).chain([&card.does]) {
                harness.get_by_label(&text.replace(" %", "\u{a0}%"));
            }
            for row in &card.settings {
                assert!(harness.query_all_by_label(row.setting.name).count() > 0, "{}", row.setting.key);
                let help = row.setting.help.replace(" %", "\u{a0}%");
                assert!(harness.query_all_by_label(&help).count() > 0, "{}", row.setting.key);
            }
        }
        harness.get_by_label("zone ai");
        for kv in ["300,000 tokens", "600,000 tokens"] {
            harness.get_by_label(kv);
        }
    }

    #[test]
    fn a_problem_is_opened_from_the_page_by_mouse_and_by_keyboard() {
        let mut harness = page([1280.0, 8_000.0]);
        let place = |id: &str| Level::builtin().iter().position(|level| level.id == id).expect("a level");
        harness.get_by_role_and_label(Role::Button, "One replica owns the hot prefix").click();
        harness.run_steps(2);
        assert_eq!(harness.state().done, [Action::OpenLevel(place(HOT_PREFIX))]);
        harness.get_by_role_and_label(Role::Button, "More replicas, slower answers").focus();
        harness.run_steps(2);
        harness.key_press(egui::Key::Enter);
        harness.run_steps(2);
        assert_eq!(harness.state().done.last(), Some(&Action::OpenLevel(place(MORE_REPLICAS))));
    }

    #[test]
    fn the_index_leads_to_each_part_and_the_keys_lead_back() {
        for size in [[1280.0, 720.0], [390.0, 844.0]] {
            let mut harness = page(size);
            harness.get_by_role_and_label(Role::Button, "Replica, 10 credits").click();
            harness.run_steps(60);
            assert_eq!(harness.state().state.here, 3, "{size:?}");
            harness.key_press(egui::Key::Num2);
            harness.run_steps(60);
            assert_eq!(harness.state().state.here, 1, "{size:?}");
            for key in [egui::Key::Escape, egui::Key::L] {
                harness.key_press(key);
                harness.run_steps(2);
            }
            harness.get_by_role_and_label(Role::Button, "Back to the problems").click();
            harness.run_steps(2);
            assert_eq!(harness.state().done, [Action::Back; 3]);
        }
    }

    #[test]
    fn nothing_stands_beyond_the_edge_of_any_window() {
        for size in [[1280.0, 8_000.0], [1920.0, 8_000.0], [900.0, 9_000.0], [390.0, 12_000.0], [320.0, 14_000.0]] {
            let harness = page(size);
            let mut seen = 0;
            for role in [Role::Label, Role::Button] {
                for node in harness.query_all_by_role(role) {
                    let rect = node.rect();
                    assert!(rect.left() >= 0.0 && rect.right() <= size[0] + 0.5, "{size:?} {rect:?}");
                    seen += 1;
                }
            }
            assert!(seen > 100, "{seen}");
        }
    }

    #[test]
    fn the_app_opens_the_page_runs_it_and_leaves_it() {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, logic_plugin));
        app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(50)));
        app.insert_resource(Levels(Level::builtin()));
        app.update();
        let screen = |app: &App| *app.world().resource::<State<Screen>>().get();
        app.world_mut().write_message(Action::OpenComponents);
        app.update();
        app.update();
        assert_eq!(screen(&app), Screen::Components);
        app.world_mut().resource_mut::<Demos>().attend(&[true, true, false]);
        for _ in 0..4_000 {
            if !app.world().resource::<Demos>().move_on() {
                break;
            }
            app.update();
        }
        let demos = app.world().resource::<Demos>();
        let done: Vec<bool> = demos.runs().iter().map(|run| run.as_ref().is_some_and(DemoRun::done)).collect();
        assert_eq!(done, [true, true, false]);
        let page = Components::builtin();
        let demo = side_by_side(&page);
        let Some(DemoRun::SideBySide(run)) = &demos.runs()[0] else { panic!("it ran") };
        for (side, line) in run.sides().iter().zip(&demo.sides) {
            assert_eq!(side.report, demo.setup.level.report(&line.blueprint, demo.setup.seed));
        }
        app.world_mut().write_message(Action::RestartDemo(0));
        app.update();
        assert!(app.world().resource::<Demos>().move_on());
        app.world_mut().write_message(Action::Back);
        app.update();
        app.update();
        assert_eq!(screen(&app), Screen::Levels);
        assert!(app.world().get_resource::<Demos>().is_none(), "its fleets go with the page");
        app.world_mut().write_message(Action::OpenComponents);
        app.update();
        app.update();
        app.world_mut().write_message(Action::OpenLevel(1));
        app.update();
        app.update();
        assert_eq!(screen(&app), Screen::Play);
        assert_eq!(app.world().resource::<Session>().level.id, Level::builtin()[1].id);
    }
}
