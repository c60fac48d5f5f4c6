//! Values between Node and programs: a list of numbers and one text.
//!
//! A call into Node for each part of a value costs more than the part. So each side writes a whole value down, and the
//! other reads it: tags and numbers in one array, and all texts one after the other. `lib/data.js` is the other side.

use napi::bindgen_prelude::{Either, Float64Array};
use napi_derive::napi;
use ptc::runtime::{Datum, Node};
use std::collections::HashMap;

/// What a number in the array begins. Texts stand with their length in UTF-16 units, which is what Node counts.
pub mod tag {
    pub const NIL: f64 = 0.0;
    pub const TRUE: f64 = 1.0;
    pub const FALSE: f64 = 2.0;
    /// An integer that a float holds exactly, and the integer.
    pub const INT: f64 = 3.0;
    pub const FLOAT: f64 = 4.0;
    /// Another integer, and the length of its digits.
    pub const BIG: f64 = 5.0;
    pub const STR: f64 = 6.0;
    /// A text that will repeat, such as a key, and its length.
    pub const NAME: f64 = 7.0;
    /// Such a text once more, and its index.
    pub const AGAIN: f64 = 8.0;
    pub const VECTOR: f64 = 9.0;
    pub const MAP: f64 = 10.0;
    pub const SET: f64 = 11.0;
    /// A point in time: milliseconds, and microseconds beyond them.
    pub const INSTANT: f64 = 12.0;
}

/// Largest integer up to which a float holds all of them.
const MAX_SAFE: i64 = (1 << 53) - 1;

/// A value on its way. To programs, collections stand before their items; from programs, after them.
#[napi(object)]
pub struct Packed {
    pub numbers: Either<Vec<f64>, Float64Array>,
    pub text: String,
}

/// Numbers up to which an ordinary array is made sooner than one with memory of its own.
const FEW: usize = 32;

/// Packs a value of a program.
pub fn pack(datum: &Datum) -> Packed {
    let mut writer = Writer { numbers: Vec::with_capacity(datum.nodes().len() * 2), ..Writer::default() };
    for node in datum.nodes() {
        writer.write(node);
    }
    Packed::new(writer.numbers, writer.text)
}

impl Packed {
    pub fn new(numbers: Vec<f64>, text: String) -> Packed {
        let numbers = if numbers.len() <= FEW { Either::A(numbers) } else { Either::B(numbers.into()) };
        Packed { numbers, text }
    }

    pub fn numbers(&self) -> &[f64] {
        match &self.numbers {
            Either::A(numbers) => numbers,
            Either::B(numbers) => numbers,
        }
    }
}

#[derive(Default)]
struct Writer<'d> {
    numbers: Vec<f64>,
    text: String,
    names: HashMap<&'d str, usize>,
}

impl<'d> Writer<'d> {
    fn write(&mut self, node: &'d Node) {
        match node {
            Node::Nil => self.numbers.push(tag::NIL),
            Node::Bool(true) => self.numbers.push(tag::TRUE),
            Node::Bool(false) => self.numbers.push(tag::FALSE),
            Node::Int(number) if number.unsigned_abs() <= MAX_SAFE.unsigned_abs() => {
                self.numbers.extend([tag::INT, *number as f64]);
            }
            Node::Int(number) => self.text(tag::BIG, &number.to_string()),
            Node::Big(digits) => self.text(tag::BIG, digits),
            Node::Float(number) => self.numbers.extend([tag::FLOAT, *number]),
            Node::Str(text) | Node::Symbol(text) | Node::Regex(text) | Node::Opaque(text) => {
                self.text(tag::STR, text);
            }
            Node::Keyword(name) => self.name(name),
            Node::Day(_) => self.text(tag::STR, &printed(node)),
            Node::Instant(micros) => {
                let (millis, rest) = (micros.div_euclid(1000), micros.rem_euclid(1000));
                self.numbers.extend([tag::INSTANT, millis as f64, rest as f64]);
            }
            Node::Duration(millis) => self.write_duration(*millis),
            Node::Vector(count) => self.numbers.extend([tag::VECTOR, f64::from(*count)]),
            Node::Map(count) => self.numbers.extend([tag::MAP, f64::from(*count)]),
            Node::Set(count) => self.numbers.extend([tag::SET, f64::from(*count)]),
        }
    }

    /// A duration is its milliseconds.
    fn write_duration(&mut self, millis: i64) {
        match millis.unsigned_abs() <= MAX_SAFE.unsigned_abs() {
            true => self.numbers.extend([tag::INT, millis as f64]),
            false => self.text(tag::BIG, &millis.to_string()),
        }
    }

    fn text(&mut self, tag: f64, text: &str) {
        self.numbers.extend([tag, units(text) as f64]);
        self.text.push_str(text);
    }

    /// Records repeat their keys, and their texts should be made once.
    fn name(&mut self, name: &'d str) {
        let next = self.names.len();
        match self.names.get(name) {
            Some(index) => self.numbers.extend([tag::AGAIN, *index as f64]),
            None => {
                self.names.insert(name, next);
                self.text(tag::NAME, name);
            }
        }
    }
}

fn units(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// Returns the text of a calendar day, such as `2031-04-03`.
fn printed(day: &Node) -> String {
    let text = ptc::runtime::bridge::datum_to_json(&Datum::scalar(day.clone()));
    text.ok().and_then(|text| text.as_str().map(str::to_string)).unwrap_or_default()
}
