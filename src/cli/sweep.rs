//! `warmpath sweep`: the product of several settings' values, a run each.

use super::args::Sweep as Arguments;
use super::drive::{Progress, find, set_fleet};
use super::run::shorten;
use super::{InputError, Outcome, output};
use crate::blueprint::{Assignment, Blueprint, SettingError, apply};
use crate::level::Level;
use crate::sim::dotted;
use serde_json::{Map, Value};
use std::num::NonZero;

/// The most rows of a sweep.
const MOST_ROWS: usize = 100_000;

/// One run of the sweep: its varied settings and the fleet they make.
struct Row {
    set: Vec<Assignment>,
    blueprint: Blueprint,
}

/// Runs the product of the values and prints a row each.
pub fn sweep(arguments: &Arguments) -> Result<Outcome, InputError> {
    let found = find(&arguments.level)?;
    let fleet = set_fleet(&found, &arguments.settings)?;
    let mut level = found.level;
    shorten(&mut level, &arguments.settings)?;
    let seed = arguments.settings.seed.unwrap_or_else(|| level.first_seed());
    // Every fleet is made before the first is run: wrong input prints nothing else.
    let rows = rows(&fleet, &arguments.vary)?;
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let mut progress = Progress::new(&level.id, arguments.quiet);
    let mut flat = Vec::new();
    for (done, batch) in rows.chunks(threads).enumerate() {
        let reports: Vec<Map<String, Value>> = std::thread::scope(|scope| {
            let handles: Vec<_> = batch.iter().map(|row| scope.spawn(|| report(&level, row, seed))).collect();
            handles.into_iter().filter_map(|handle| handle.join().ok()).collect()
        });
        for report in reports {
            if arguments.csv {
                flat.push(flatten(report));
            } else if !output::line(&Value::Object(report).to_string()) {
                return Ok(Outcome::Done);
            }
        }
        progress.show(((done + 1) * threads) as u64, rows.len() as u64);
    }
    drop(progress);
    if arguments.csv {
        print_csv(&flat)?;
    }
    Ok(Outcome::Done)
}

/// The product of the values, the last key varying fastest.
fn rows(fleet: &Blueprint, vary: &[String]) -> Result<Vec<Row>, SettingError> {
    let mut product: Vec<Vec<Assignment>> = vec![Vec::new()];
    for text in vary {
        let Assignment { key, value } = Assignment::parse(text).map_err(|error| SettingError {
            key: "--vary".into(),
            expected: "KEY=A,B,C".into(),
            ..error
        })?;
        let key = key.as_str();
        let values: Vec<&str> = value.split(',').map(str::trim).collect();
        if product.len().saturating_mul(values.len()) > MOST_ROWS {
            let expected = format!("at most {MOST_ROWS} rows in all");
            return Err(SettingError { key: "--vary".into(), expected, found: "more".into() });
        }
        product = product
            .into_iter()
            .flat_map(|row| {
                values.iter().map(move |value| {
                    let mut row = row.clone();
                    row.push(Assignment::new(key, *value));
                    row
                })
            })
            .collect();
    }
    product
        .into_iter()
        .map(|set| {
            let mut blueprint = fleet.clone();
            apply(&mut blueprint, &set)?;
            Ok(Row { set, blueprint })
        })
        .collect()
}

/// Runs one row.
fn report(level: &Level, row: &Row, seed: u64) -> Map<String, Value> {
    let report = level.report(&row.blueprint, seed);
    let set: Map<String, Value> = row.set.iter().map(|change| (change.key.clone(), json(&change.value))).collect();
    let mut map = Map::new();
    map.insert("set".into(), set.into());
    if let Ok(Value::Object(report)) = serde_json::to_value(report) {
        map.extend(report);
    }
    map
}

/// A value as JSON: a number where it is one.
fn json(value: &str) -> Value {
    value.parse::<f64>().map_or_else(|_| value.into(), |x| crate::blueprint::Value::Number(x).to_json())
}

/// Keys with dots instead of objects and arrays within each other, and values as cells.
fn flatten(report: Map<String, Value>) -> Vec<(String, String)> {
    let cell = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    dotted(&Value::Object(report)).into_iter().map(|(key, value)| (key, cell(value))).collect()
}

/// Prints the rows under the union of their keys, in the order in which these first come.
fn print_csv(rows: &[Vec<(String, String)>]) -> Result<(), InputError> {
    let mut header: Vec<&str> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for (key, _) in rows.iter().flatten() {
        places.entry(key.as_str()).or_insert_with(|| {
            header.push(key);
            header.len() - 1
        });
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&header)?;
    for row in rows {
        let mut cells = vec![""; header.len()];
        for (key, cell) in row {
            cells[places[key.as_str()]] = cell;
        }
        writer.write_record(&cells)?;
    }
    output::bytes(&writer.into_inner().map_err(|error| InputError(error.to_string()))?);
    Ok(())
}
