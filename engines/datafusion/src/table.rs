//! Table functions: the rows of a value. The plan has the call, and the rows are made where the plan runs.

use crate::code::Body;
use crate::evaluate::{Arguments, check_arguments, each};
use crate::reference::{OnError, Reference};
use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use datafusion::scalar::ScalarValue;
use ptc_arrow::{Columns, Value, infer};
use std::fmt;
use std::sync::Arc;

/// A call with constants.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function.
    pub reference: Reference,
    /// Its code.
    pub body: Body,
    /// Its arguments.
    pub arguments: Vec<ScalarValue>,
}

impl Call {
    /// Runs the call: the rows of its value.
    fn rows(&self) -> Result<Vec<Value>> {
        let code = self.body.code(&self.reference)?;
        let names = self.reference.arguments(self.arguments.len())?;
        let columns: Vec<ArrayRef> =
            self.arguments.iter().map(|value| value.to_array()).collect::<Result<_>>()?;
        let arguments = Arguments::new(&self.reference, names, &columns, 1)?;
        let mut rows = Vec::new();
        each(&code, &self.reference, &arguments, |row, result| {
            match (result, self.reference.on_error) {
                (Ok(Value::List(items)), _) => rows = items,
                (Ok(Value::Nil), _) | (Err(_), OnError::Null) => {}
                (Ok(one), _) => rows.push(one),
                (Err(why), OnError::Fail) => return Err(arguments.failed(&self.reference, row, &why)),
            }
            Ok(())
        })?;
        Ok(rows)
    }

    /// Returns the columns of its rows: as declared, otherwise as the rows have them.
    fn schema(&self) -> Result<SchemaRef> {
        let kinds: Vec<DataType> = self.arguments.iter().map(ScalarValue::data_type).collect();
        check_arguments(&self.reference, &kinds)?;
        if self.reference.returns.is_some() {
            let kind = self.reference.return_type()?;
            let item = match &kind {
                DataType::List(item) => item.data_type(),
                other => other,
            };
            return Ok(Arc::new(match item {
                DataType::Struct(fields) => Schema::new(fields.clone()),
                other => {
                    Schema::new(vec![datafusion::arrow::datatypes::Field::new("value", other.clone(), true)])
                }
            }));
        }
        let schema = infer(&self.rows()?).map_err(|conflict| self.failed(&conflict.to_string()))?;
        Ok(Arc::new(schema))
    }

    fn failed(&self, why: &str) -> DataFusionError {
        DataFusionError::Execution(format!("`{}`: {why}", self.reference.name))
    }

    fn batch(&self, schema: &SchemaRef) -> Result<RecordBatch> {
        let mut columns = Columns::new(schema.clone(), ptc_arrow::OnError::LeaveOut)
            .map_err(|misfit| self.failed(&misfit.to_string()))?;
        for (row, value) in self.rows()?.into_iter().enumerate() {
            columns
                .push(value)
                .map_err(|misfit| self.failed(&format!("row {} of its value: {misfit}", row + 1)))?;
        }
        Ok(columns.finish()?)
    }
}

/// A table function: a function whose value is rows.
#[derive(Debug)]
pub(crate) struct RowsFunction {
    pub reference: Reference,
    pub body: Body,
}

impl TableFunctionImpl for RowsFunction {
    fn call_with_args(&self, args: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        let constant = |expr: &Expr| {
            let simplifier = ExprSimplifier::new(SimplifyContext::default());
            match simplifier.simplify(expr.clone())? {
                Expr::Literal(value, _) => Ok(value),
                other => Err(DataFusionError::Plan(format!(
                    "`{0}(…)` in `from` takes constants, but `{other}` is none; for each row of a table, write \
                     `unnest({0}(…))` in `select`",
                    self.reference.name
                ))),
            }
        };
        let arguments = args.exprs().iter().map(constant).collect::<Result<Vec<_>>>()?;
        let call = Call { reference: self.reference.clone(), body: self.body.clone(), arguments };
        let schema = call.schema()?;
        Ok(Arc::new(RowsTable { call, schema }))
    }
}

/// The rows of a call as a table.
#[derive(Debug)]
pub struct RowsTable {
    /// The call.
    pub call: Call,
    /// Columns of the rows.
    pub schema: SchemaRef,
}

#[async_trait]
impl TableProvider for RowsTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = RowsExec::new(self.call.clone(), self.schema.clone(), projection.cloned())?;
        Ok(Arc::new(plan))
    }
}

/// The step of a plan that makes the rows of a call.
#[derive(Debug)]
pub struct RowsExec {
    /// The call.
    pub call: Call,
    /// Columns of its rows.
    pub rows: SchemaRef,
    /// Columns that are wanted, by their places; None for all.
    pub projection: Option<Vec<usize>>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl RowsExec {
    /// Makes a step. Fails for a projection to columns that do not exist.
    pub fn new(call: Call, rows: SchemaRef, projection: Option<Vec<usize>>) -> Result<RowsExec> {
        let schema = match &projection {
            Some(places) => Arc::new(rows.project(places)?),
            None => rows.clone(),
        };
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema.clone()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        Ok(RowsExec { call, rows, projection, schema, properties: Arc::new(properties) })
    }
}

impl DisplayAs for RowsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arguments: Vec<String> = self.call.arguments.iter().map(ToString::to_string).collect();
        write!(f, "RowsExec: {}({})", self.call.reference.name, arguments.join(", "))
    }
}

impl ExecutionPlan for RowsExec {
    fn name(&self) -> &str {
        "RowsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (call, rows, projection) = (self.call.clone(), self.rows.clone(), self.projection.clone());
        let made = async move {
            let batch = call.batch(&rows)?;
            Ok(match projection {
                Some(places) => batch.project(&places)?,
                None => batch,
            })
        };
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), futures_util::stream::once(made))))
    }
}
