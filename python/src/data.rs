//! Python objects as data of programs: exactly, or not at all.

use crate::names::python;
use crate::names::{PyNames, is_numpy};
use num_bigint::BigInt;
use ptc::runtime::{Datum, Node};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyMapping, PySequence, PySet,
    PyString, PyTuple,
};
use std::fmt::Write;

/// Maximum nesting of Python data. Reading it recurses, and a list may contain itself.
const MAX_DEPTH: usize = 400;

/// Reads a Python object as data. The error names the place of what cannot be read: `data["orders"][3]`.
pub fn datum(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Datum> {
    let mut reader = Reader { nodes: Vec::new(), names: PyNames::get(value.py())? };
    reader.read(value, 0).map_err(|refusal| refusal.into_error(value.py(), name))?;
    Datum::new(reader.nodes).ok_or_else(|| PyValueError::new_err("the data is larger than 2³² items"))
}

/// A value that is no data, and its place from the inside out.
struct Refusal {
    error: PyErr,
    path: Vec<String>,
}

impl From<PyErr> for Box<Refusal> {
    fn from(error: PyErr) -> Box<Refusal> {
        Box::new(Refusal { error, path: Vec::new() })
    }
}

impl Refusal {
    fn into_error(mut self, py: Python<'_>, name: &str) -> PyErr {
        let mut place = name.to_string();
        for step in self.path.drain(..).rev() {
            place.push_str(&step);
        }
        // Errors of other people's code keep their type, and so their meaning.
        let is_ours =
            self.error.is_instance_of::<PyTypeError>(py) || self.error.is_instance_of::<PyValueError>(py);
        if !is_ours || place.is_empty() {
            return self.error;
        }
        let message = format!("{place}: {}", self.error.value(py));
        let error = match self.error.is_instance_of::<PyTypeError>(py) {
            true => PyTypeError::new_err(message),
            false => PyValueError::new_err(message),
        };
        error.set_cause(py, self.error.cause(py));
        error
    }
}

type Read = Result<(), Box<Refusal>>;

fn refused(message: impl Into<String>) -> Read {
    Err(PyTypeError::new_err(message.into()).into())
}

struct Reader<'py> {
    nodes: Vec<Node>,
    names: &'py PyNames,
}

impl Reader<'_> {
    /// Reads what most data consists of, by its exact type; the rest is for [`Reader::read_other`].
    fn read(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> Read {
        if depth > MAX_DEPTH {
            return Err(PyValueError::new_err(format!(
                "data nested deeper than {MAX_DEPTH} levels; does it contain itself?"
            ))
            .into());
        }
        if let Ok(text) = value.cast_exact::<PyString>() {
            self.nodes.push(Node::Str(text.to_str()?.into()));
        } else if let Ok(number) = value.cast_exact::<PyInt>() {
            self.integer(number)?;
        } else if let Ok(number) = value.cast_exact::<PyFloat>() {
            self.nodes.push(Node::Float(number.value()));
        } else if let Ok(map) = value.cast_exact::<PyDict>() {
            self.dict(map, depth)?;
        } else if let Ok(list) = value.cast_exact::<PyList>() {
            let mut count = 0;
            // By index: a list may change while a property of an item runs.
            while let Ok(item) = list.get_item(count) {
                self.read(&item, depth + 1).map_err(|refusal| refusal.inside(&count.to_string()))?;
                count += 1;
            }
            self.nodes.push(Node::Vector(size(count)?));
        } else if value.is_none() {
            self.nodes.push(Node::Nil);
        } else if let Ok(truth) = value.cast_exact::<PyBool>() {
            self.nodes.push(Node::Bool(truth.is_true()));
        } else if let Ok(tuple) = value.cast_exact::<PyTuple>() {
            self.items(tuple.iter(), depth)?;
        } else {
            self.read_other(value, depth)?;
        }
        Ok(())
    }

    fn integer(&mut self, number: &Bound<'_, PyInt>) -> Read {
        match number.extract::<i64>() {
            Ok(small) => self.nodes.push(Node::Int(small)),
            Err(_) => {
                let large: BigInt = number.extract()?;
                self.nodes.push(Node::Big(large.to_string().into()));
            }
        }
        Ok(())
    }

    fn dict(&mut self, map: &Bound<'_, PyDict>, depth: usize) -> Read {
        let mut count = 0;
        for (key, value) in map.iter() {
            self.pair(&key, &value, depth)?;
            count += 1;
        }
        self.nodes.push(Node::Map(size(count)?));
        Ok(())
    }

    fn pair(&mut self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>, depth: usize) -> Read {
        self.read(key, depth + 1).map_err(|refusal| refusal.inside("a key of the map"))?;
        self.read(value, depth + 1).map_err(|refusal| {
            let key = key.repr().map_or_else(|_| "…".to_string(), |text| text.to_string());
            refusal.inside(&key)
        })
    }

    fn items<'py>(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>, depth: usize) -> Read {
        let mut count = 0;
        for item in items {
            self.read(&item, depth + 1).map_err(|refusal| refusal.inside(&count.to_string()))?;
            count += 1;
        }
        self.nodes.push(Node::Vector(size(count)?));
        Ok(())
    }

    /// Adds a map from texts to the values that an object has under these names.
    fn fields<'py>(
        &mut self,
        object: &Bound<'py, PyAny>,
        names: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
        depth: usize,
    ) -> Read {
        let mut count = 0;
        for name in names {
            let name = name?;
            let name = name.cast::<PyString>().map_err(PyErr::from)?;
            self.pair(name, &object.getattr(name)?, depth)?;
            count += 1;
        }
        self.nodes.push(Node::Map(size(count)?));
        Ok(())
    }

    /// Reads an object of the standard library, of a library we know, or of a subclass. The order matters: an
    /// `IntEnum` is an integer, too, and a `datetime` a `date`.
    fn read_other(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> Read {
        let (py, names) = (value.py(), self.names);
        let kind = value.get_type();
        if value.is_instance(names.r#enum(py)?)? {
            return self.read(&value.getattr(python!(py, "value"))?, depth + 1);
        }
        if is_numpy(&kind)? {
            return self.numpy(value, depth);
        }
        if let Ok(text) = value.cast::<PyString>() {
            self.nodes.push(Node::Str(text.to_str()?.into()));
            return Ok(());
        }
        if let Ok(number) = value.cast::<PyInt>() {
            return self.integer(number);
        }
        if let Ok(number) = value.cast::<PyFloat>() {
            self.nodes.push(Node::Float(number.value()));
            return Ok(());
        }
        if value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>() {
            return refused("bytes are no data; decode them, or use `base64.b64encode(value).decode()`");
        }
        if value.is_instance(names.datetime(py)?)? {
            return self.instant(value);
        }
        if value.is_instance(names.date(py)?)? {
            let ordinal: i64 = value.call_method0(python!(py, "toordinal"))?.extract()?;
            let day = i32::try_from(ordinal - ORDINAL_OF_1970).map_err(|_| out_of_range())?;
            self.nodes.push(Node::Day(day));
            return Ok(());
        }
        if value.is_instance(names.timedelta(py)?)? {
            let micros = micros(value)?;
            if micros % 1000 != 0 {
                return refused("a duration of a program has whole milliseconds; round the timedelta first");
            }
            self.nodes.push(Node::Duration(i64::try_from(micros / 1000).map_err(|_| out_of_range())?));
            return Ok(());
        }
        if value.is_instance(names.decimal(py)?)? {
            return self.decimal(value);
        }
        if value.is_instance(names.uuid(py)?)? {
            self.nodes.push(Node::Str(value.str()?.to_str()?.into()));
            return Ok(());
        }
        self.read_compound(value, depth)
    }

    /// Reads an object that has parts.
    fn read_compound(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> Read {
        let py = value.py();
        let kind = value.get_type();
        if let Ok(map) = value.cast::<PyDict>() {
            return self.dict(map, depth);
        }
        if value.is_instance_of::<PySet>() || value.is_instance_of::<PyFrozenSet>() {
            let mut count = 0;
            for item in value.try_iter()? {
                self.read(&item?, depth + 1).map_err(|refusal| refusal.inside("an item of the set"))?;
                count += 1;
            }
            self.nodes.push(Node::Set(size(count)?));
            return Ok(());
        }
        if kind.hasattr(python!(py, "__dataclass_fields__"))? {
            // Only `fields` knows which of them are variables of the class. Whoever has a dataclass has imported it.
            let fields = py.import("dataclasses")?.call_method1(python!(py, "fields"), (&kind,))?;
            let names = fields.try_iter()?.map(|field| field?.getattr(python!(py, "name")));
            return self.fields(value, names, depth);
        }
        // A model of pydantic.
        if kind.hasattr(python!(py, "model_dump"))? {
            return self.read(&value.call_method0(python!(py, "model_dump"))?, depth + 1);
        }
        // A class of attrs.
        if kind.hasattr(python!(py, "__attrs_attrs__"))? {
            let attributes = kind.getattr(python!(py, "__attrs_attrs__"))?;
            let names = attributes.try_iter()?.map(|attribute| attribute?.getattr(python!(py, "name")));
            return self.fields(value, names, depth);
        }
        if value.is_instance_of::<PyTuple>() && kind.hasattr(python!(py, "_fields"))? {
            return self.fields(value, kind.getattr(python!(py, "_fields"))?.try_iter()?, depth);
        }
        if let Ok(map) = value.cast::<PyMapping>() {
            let mut count = 0;
            for item in map.items()?.iter() {
                let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
                self.pair(&key, &value, depth)?;
                count += 1;
            }
            self.nodes.push(Node::Map(size(count)?));
            return Ok(());
        }
        if let Ok(items) = value.cast::<PySequence>() {
            let items: Vec<Bound<'_, PyAny>> = items.try_iter()?.collect::<PyResult<_>>()?;
            return self.items(items.into_iter(), depth);
        }
        refused(no_data(value))
    }

    /// Reads a scalar or an array of numpy.
    fn numpy(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> Read {
        let py = value.py();
        let kind: String = value.getattr("dtype").and_then(|dtype| dtype.getattr("kind")?.extract())?;
        match &*kind {
            "M" | "m" => refused("numpy's dates have no time zone; pass `datetime` objects that have one"),
            "c" => refused("complex numbers are no data; pass their parts"),
            "V" | "S" => refused("structured and byte arrays of numpy are no data; use `tolist()`"),
            // `longdouble` has digits that no float has.
            "f" if value.getattr("itemsize")?.extract::<usize>()? > 8 => {
                refused("a number of this type would lose digits; use `float(value)` if that is right")
            }
            _ => self.read(&value.call_method0(python!(py, "tolist"))?, depth + 1),
        }
    }

    fn instant(&mut self, value: &Bound<'_, PyAny>) -> Read {
        let py = value.py();
        if value.call_method0(python!(py, "utcoffset"))?.is_none() {
            return refused("a datetime without a time zone is no point in time; `value.replace(tzinfo=…)`");
        }
        // A timestamp of pandas counts nanoseconds.
        if value.getattr_opt(python!(py, "nanosecond"))?.is_some_and(|n| n.is_truthy().unwrap_or(true)) {
            return refused("a point in time has whole microseconds; round the timestamp first");
        }
        let since = value.sub(self.names.epoch(py)?)?;
        let micros = i64::try_from(micros(&since)?).map_err(|_| out_of_range())?;
        self.nodes.push(Node::Instant(micros));
        Ok(())
    }

    /// Reads a decimal number that is an integer or exactly a float. Programs have no other decimals.
    fn decimal(&mut self, value: &Bound<'_, PyAny>) -> Read {
        let py = value.py();
        let is_finite: bool = value.call_method0(python!(py, "is_finite"))?.extract()?;
        if is_finite && value.eq(value.call_method0(python!(py, "to_integral_value"))?)? {
            let whole = value.call_method0(python!(py, "__int__"))?;
            return self.integer(whole.cast::<PyInt>().map_err(PyErr::from)?);
        }
        let float: f64 = value.call_method0(python!(py, "__float__"))?.extract()?;
        if is_finite && value.eq(value.get_type().call1((float,))?)? {
            self.nodes.push(Node::Float(float));
            return Ok(());
        }
        let mut text = String::new();
        let _ = write!(text, "{value}");
        refused(format!(
            "Decimal('{text}') is no float exactly; pass `str(value)`, `float(value)` or a whole number of the smallest unit"
        ))
    }
}

impl Refusal {
    fn inside(mut self: Box<Self>, key: &str) -> Box<Refusal> {
        // A very deep path says nothing more.
        if self.path.len() < 12 {
            self.path.push(format!("[{key}]"));
        }
        self
    }
}

/// `date(1970, 1, 1).toordinal()`.
pub const ORDINAL_OF_1970: i64 = 719_163;

/// Returns the microseconds of a `timedelta`.
fn micros(delta: &Bound<'_, PyAny>) -> Result<i128, Box<Refusal>> {
    let py = delta.py();
    let days: i128 = delta.getattr(python!(py, "days"))?.extract()?;
    let seconds: i128 = delta.getattr(python!(py, "seconds"))?.extract()?;
    let micros: i128 = delta.getattr(python!(py, "microseconds"))?.extract()?;
    Ok((days * 86_400 + seconds) * 1_000_000 + micros)
}

fn size(count: usize) -> Result<u32, Box<Refusal>> {
    u32::try_from(count).map_err(|_| PyValueError::new_err("a collection of 2³² items or more").into())
}

fn out_of_range() -> Box<Refusal> {
    PyValueError::new_err("it is out of the range of times that programs know").into()
}

/// Says why an object is no data, and what to pass instead.
fn no_data(value: &Bound<'_, PyAny>) -> String {
    let kind = value.get_type();
    let name = kind.name().map_or_else(|_| "this object".to_string(), |name| name.to_string());
    let module = kind.module().map(|module| module.to_string()).unwrap_or_default();
    let hint = match (&*module, &*name) {
        (module, "DataFrame") if module.starts_with("pandas") => "pass `frame.to_dict(\"records\")`",
        (module, "DataFrame") if module.starts_with("polars") => "pass `frame.to_dicts()`",
        (module, "Table" | "RecordBatch") if module.starts_with("pyarrow") => "pass `table.to_pylist()`",
        (_, "generator" | "map" | "filter" | "zip" | "dict_keys" | "dict_values" | "dict_items") => {
            "pass `list(…)` of it"
        }
        ("datetime", "time") => "pass `value.isoformat()`",
        _ if value.is_callable() => "functions are granted with `tools=`",
        _ => "pass a dict, or a dataclass with these fields",
    };
    format!("an object of type `{name}` is no data; {hint}")
}
