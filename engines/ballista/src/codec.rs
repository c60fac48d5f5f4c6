//! Functions in plans: what planning needs of them, and the hashes of their code.

use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use datafusion::arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::TableReference;
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{AggregateUDF, Extension, LogicalPlan, ScalarUDF};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::scalar::ScalarValue;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use datafusion_proto_common::protobuf_common as protobuf;
use prost::Message;
use ptc_datafusion::{Aggregate, Body, Call, Kind, Library, Reference, RowsExec, RowsTable, Scalar};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// First bytes of what this crate writes into plans.
const MARK: &[u8] = b"ptc-fn-1";

/// Maximum bytes of a function in a plan.
const MAX_BYTES: usize = 1 << 20;

/// Where plans are read.
#[derive(Clone, Debug)]
pub enum Side {
    /// Clients and schedulers plan; no code runs there.
    Planner,
    /// Executors find the code of functions in a library.
    Executor(Arc<dyn Library>),
}

impl Side {
    fn body(&self) -> Body {
        match self {
            Side::Planner => Body::Absent,
            Side::Executor(library) => Body::of_library(library.clone()),
        }
    }
}

/// A call in `from`, as plans carry it.
#[derive(Serialize, Deserialize)]
struct Written {
    reference: Reference,
    /// Arguments of a call in `from`.
    arguments: Vec<Vec<u8>>,
    /// Type of a row of a call in `from`.
    rows: Option<String>,
    projection: Option<Vec<u32>>,
}

impl Written {
    fn of(reference: &Reference) -> Written {
        Written { reference: reference.clone(), arguments: Vec::new(), rows: None, projection: None }
    }

    fn of_call(call: &Call, schema: &SchemaRef) -> Result<Written> {
        let argument = |value: &ScalarValue| {
            let value = protobuf::ScalarValue::try_from(value)
                .map_err(|error| DataFusionError::Plan(format!("`{}`: {error}", call.reference.name)))?;
            Ok(value.encode_to_vec())
        };
        let arguments = call.arguments.iter().map(argument).collect::<Result<_>>()?;
        let rows = ptc_arrow::type_text(&DataType::Struct(schema.fields().clone()));
        if rows.is_none() {
            let message = format!("the columns of `{}` cannot be sent to a cluster", call.reference.name);
            return Err(DataFusionError::Plan(message));
        }
        Ok(Written { arguments, rows, ..Written::of(&call.reference) })
    }

    fn write(&self, buf: &mut Vec<u8>) -> Result<()> {
        buf.extend_from_slice(MARK);
        let bytes =
            postcard::to_allocvec(self).map_err(|error| DataFusionError::Internal(error.to_string()))?;
        buf.extend_from_slice(&bytes);
        Ok(())
    }

    /// Reads what [`Written::write`] wrote; None for what others wrote. Anyone may have sent it.
    fn read(buf: &[u8], kind: Kind) -> Result<Option<Written>> {
        let Some(rest) = buf.strip_prefix(MARK) else { return Ok(None) };
        let refused = |why: &str| DataFusionError::Plan(format!("a function in the plan is damaged: {why}"));
        if rest.len() > MAX_BYTES {
            return Err(refused("it is too large"));
        }
        let written: Written = postcard::from_bytes(rest).map_err(|error| refused(&error.to_string()))?;
        if written.reference.kind != kind {
            return Err(refused("it is of another kind"));
        }
        // Not when it is written: errors of writing functions are ignored there.
        if written.reference.is_volatile {
            return Err(DataFusionError::Plan(format!(
                "`{}` is of a file that reads the clock, so a task that is tried again could give another result; \
                 pass the time as an argument",
                written.reference.name
            )));
        }
        // The names of functions go into programs.
        let is_name = |c: char| !c.is_whitespace() && !c.is_control() && !"()[]{}\"';@^`~,\\#".contains(c);
        if !written.reference.target.chars().all(is_name) {
            return Err(refused("its name is not that of a function"));
        }
        if written.reference.returns.is_some() {
            written.reference.return_type()?;
        }
        Ok(Some(written))
    }

    /// Returns the call, and the columns of its rows.
    fn call(self, side: &Side) -> Result<(Call, SchemaRef)> {
        let refused = |why: String| DataFusionError::Plan(format!("a call in the plan is damaged: {why}"));
        let text = self.rows.unwrap_or_default();
        let schema =
            ptc_arrow::parse_schema(&format!("row: {text}")).map_err(|error| refused(error.to_string()))?;
        let DataType::Struct(fields) = schema.field(0).data_type() else {
            return Err(refused("its rows have no columns".to_string()));
        };
        let argument = |bytes: &Vec<u8>| {
            let value =
                protobuf::ScalarValue::decode(&**bytes).map_err(|error| refused(error.to_string()))?;
            ScalarValue::try_from(&value).map_err(|error| refused(error.to_string()))
        };
        let arguments = self.arguments.iter().map(argument).collect::<Result<_>>()?;
        let call = Call { reference: self.reference, body: side.body(), arguments };
        Ok((call, Arc::new(Schema::new(fields.clone()))))
    }
}

fn write_scalar(node: &ScalarUDF, buf: &mut Vec<u8>) -> Result<bool> {
    let Some(scalar) = node.inner().downcast_ref::<Scalar>() else { return Ok(false) };
    Written::of(scalar.reference()).write(buf)?;
    Ok(true)
}

fn write_aggregate(node: &AggregateUDF, buf: &mut Vec<u8>) -> Result<bool> {
    let Some(aggregate) = node.inner().downcast_ref::<Aggregate>() else { return Ok(false) };
    Written::of(aggregate.reference()).write(buf)?;
    Ok(true)
}

fn read_scalar(buf: &[u8], side: &Side) -> Result<Option<Arc<ScalarUDF>>> {
    let written = Written::read(buf, Kind::Scalar)?;
    Ok(written.map(|it| Arc::new(ScalarUDF::new_from_impl(Scalar::new(it.reference, side.body())))))
}

fn read_aggregate(buf: &[u8], side: &Side) -> Result<Option<Arc<AggregateUDF>>> {
    let written = Written::read(buf, Kind::Aggregate)?;
    Ok(written.map(|it| Arc::new(AggregateUDF::new_from_impl(Aggregate::new(it.reference, side.body())))))
}

/// Logical plans, which clients send to the scheduler.
#[derive(Debug)]
pub struct Logical {
    side: Side,
    others: BallistaLogicalExtensionCodec,
}

impl Logical {
    /// Makes a codec.
    pub fn new(side: Side) -> Logical {
        Logical { side, others: BallistaLogicalExtensionCodec::default() }
    }
}

impl LogicalExtensionCodec for Logical {
    fn try_decode(&self, buf: &[u8], inputs: &[LogicalPlan], ctx: &TaskContext) -> Result<Extension> {
        self.others.try_decode(buf, inputs, ctx)
    }

    fn try_encode(&self, node: &Extension, buf: &mut Vec<u8>) -> Result<()> {
        self.others.try_encode(node, buf)
    }

    fn try_decode_table_provider(
        &self,
        buf: &[u8],
        table: &TableReference,
        schema: SchemaRef,
        ctx: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        let Some(written) = Written::read(buf, Kind::Scalar)? else {
            return self.others.try_decode_table_provider(buf, table, schema, ctx);
        };
        let (call, schema) = written.call(&self.side)?;
        Ok(Arc::new(RowsTable { call, schema }))
    }

    fn try_encode_table_provider(
        &self,
        table: &TableReference,
        node: Arc<dyn TableProvider>,
        buf: &mut Vec<u8>,
    ) -> Result<()> {
        match node.downcast_ref::<RowsTable>() {
            Some(rows) => Written::of_call(&rows.call, &rows.schema)?.write(buf),
            None => self.others.try_encode_table_provider(table, node, buf),
        }
    }

    fn try_decode_file_format(&self, buf: &[u8], ctx: &TaskContext) -> Result<Arc<dyn FileFormatFactory>> {
        self.others.try_decode_file_format(buf, ctx)
    }

    fn try_encode_file_format(&self, buf: &mut Vec<u8>, node: Arc<dyn FileFormatFactory>) -> Result<()> {
        self.others.try_encode_file_format(buf, node)
    }

    fn try_decode_udf(&self, name: &str, buf: &[u8]) -> Result<Arc<ScalarUDF>> {
        match read_scalar(buf, &self.side)? {
            Some(function) => Ok(function),
            None => self.others.try_decode_udf(name, buf),
        }
    }

    fn try_encode_udf(&self, node: &ScalarUDF, buf: &mut Vec<u8>) -> Result<()> {
        match write_scalar(node, buf)? {
            true => Ok(()),
            false => self.others.try_encode_udf(node, buf),
        }
    }

    fn try_decode_udaf(&self, name: &str, buf: &[u8]) -> Result<Arc<AggregateUDF>> {
        match read_aggregate(buf, &self.side)? {
            Some(function) => Ok(function),
            None => self.others.try_decode_udaf(name, buf),
        }
    }

    fn try_encode_udaf(&self, node: &AggregateUDF, buf: &mut Vec<u8>) -> Result<()> {
        match write_aggregate(node, buf)? {
            true => Ok(()),
            false => self.others.try_encode_udaf(node, buf),
        }
    }
}

/// Physical plans, which the scheduler sends to executors.
#[derive(Debug)]
pub struct Physical {
    side: Side,
    others: BallistaPhysicalExtensionCodec,
}

impl Physical {
    /// Makes a codec.
    pub fn new(side: Side) -> Physical {
        Physical { side, others: BallistaPhysicalExtensionCodec::default() }
    }
}

impl PhysicalExtensionCodec for Physical {
    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        ctx: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(written) = Written::read(buf, Kind::Scalar)? else {
            return self.others.try_decode(buf, inputs, ctx, converter);
        };
        let projection =
            written.projection.as_ref().map(|places| places.iter().map(|at| *at as usize).collect());
        let (call, rows) = written.call(&self.side)?;
        Ok(Arc::new(RowsExec::new(call, rows, projection)?))
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buf: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let Some(rows) = node.downcast_ref::<RowsExec>() else {
            return self.others.try_encode(node, buf, converter);
        };
        let place = |at: &usize| u32::try_from(*at).unwrap_or(u32::MAX);
        let projection = rows.projection.as_ref().map(|places| places.iter().map(place).collect());
        Written { projection, ..Written::of_call(&rows.call, &rows.rows)? }.write(buf)
    }

    fn try_decode_udf(&self, name: &str, buf: &[u8]) -> Result<Arc<ScalarUDF>> {
        match read_scalar(buf, &self.side)? {
            Some(function) => Ok(function),
            None => self.others.try_decode_udf(name, buf),
        }
    }

    fn try_encode_udf(&self, node: &ScalarUDF, buf: &mut Vec<u8>) -> Result<()> {
        match write_scalar(node, buf)? {
            true => Ok(()),
            false => self.others.try_encode_udf(node, buf),
        }
    }

    fn try_decode_udaf(&self, name: &str, buf: &[u8]) -> Result<Arc<AggregateUDF>> {
        match read_aggregate(buf, &self.side)? {
            Some(function) => Ok(function),
            None => self.others.try_decode_udaf(name, buf),
        }
    }

    fn try_encode_udaf(&self, node: &AggregateUDF, buf: &mut Vec<u8>) -> Result<()> {
        match write_aggregate(node, buf)? {
            true => Ok(()),
            false => self.others.try_encode_udaf(node, buf),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptc_datafusion::{Arity, OnError};

    fn reference() -> Reference {
        Reference {
            name: "fee".into(),
            target: "orders/fee".into(),
            kind: Kind::Scalar,
            artifacts: vec!["ab".repeat(32)],
            arities: vec![Arity { params: vec!["country".into()], rest: false }],
            is_volatile: false,
            returns: Some("list<{a: int}>".into()),
            on_error: OnError::Fail,
        }
    }

    #[test]
    fn functions_survive_a_plan_and_damage_is_an_error() {
        let mut bytes = Vec::new();
        Written::of(&reference()).write(&mut bytes).expect("written");
        let read = Written::read(&bytes, Kind::Scalar).expect("intact").expect("ours");
        assert_eq!(read.reference, reference());
        assert!(Written::read(&bytes, Kind::Aggregate).is_err());
        assert!(Written::read(b"others", Kind::Scalar).expect("not ours").is_none());
        for at in MARK.len()..bytes.len() {
            for with in [0, 1, 0x28, 0x7f, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = with;
                // Another function or an error; never a panic.
                let _ = Written::read(&damaged, Kind::Scalar)
                    .map(|written| written.map(|it| it.call(&Side::Planner)));
                let _ = Written::read(&damaged[..at], Kind::Scalar);
            }
        }
    }

    #[test]
    fn names_that_would_be_programs_are_refused() {
        for target in ["a b", "f) (tool/call", "f;", "\"f\"", "(fn [] 1)"] {
            let mut bytes = Vec::new();
            let reference = Reference { target: target.into(), ..reference() };
            Written::of(&reference).write(&mut bytes).expect("written");
            assert!(Written::read(&bytes, Kind::Scalar).is_err(), "{target}");
        }
    }

    #[test]
    fn functions_that_read_the_clock_are_refused() {
        let mut bytes = Vec::new();
        Written::of(&Reference { is_volatile: true, ..reference() }).write(&mut bytes).expect("written");
        let error = Written::read(&bytes, Kind::Scalar).err().expect("refused");
        assert!(error.to_string().contains("`fee` is of a file that reads the clock"), "{error}");
    }
}
