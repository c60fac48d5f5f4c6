//! Types of functions from their values. Planning needs them before any row is there, so the query is planned with a type that
//! may be wrong, to find the rows that a function is called with; it then runs over the first of them.

use crate::aggregate::Folding;
use crate::code::Body;
use crate::evaluate::{Arguments, each};
use crate::functions::Functions;
use crate::reference::{Kind, OnError, Reference};
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::expr::WindowFunctionDefinition;
use datafusion::logical_expr::{Accumulator, Expr, LogicalPlan, LogicalPlanBuilder};
use datafusion::prelude::SessionContext;
use ptc_arrow::{Value, infer};
use std::collections::BTreeSet;

/// Maximum rows that a function is tried with.
const ROWS: usize = 1000;

/// Infers the types of the functions that a query calls and that were not declared.
pub(crate) async fn inferred(
    mut functions: Functions,
    context: &SessionContext,
    query: &str,
) -> Result<Functions> {
    let text = query.to_lowercase();
    let unknown = |functions: &Functions| -> BTreeSet<String> {
        let unknown = functions.iter().filter(|function| function.reference().returns.is_none());
        unknown.map(|function| function.name().to_string()).filter(|name| text.contains(name)).collect()
    };
    loop {
        let names = unknown(&functions);
        if names.is_empty() {
            return Ok(functions);
        }
        let plan = provisional_plan(&functions, &names, context, query).await?;
        let Some(call) = innermost_call(&plan, &names)? else {
            // It is called in `from` only, where its value is there when it is planned, or not at all.
            return Ok(functions);
        };
        let (name, kind) = (call.name.clone(), type_of(&functions, call, context).await?);
        functions = functions.returns(&name, &kind)?;
    }
}

/// Plans the query with some type that it can be planned with.
async fn provisional_plan(
    functions: &Functions,
    names: &BTreeSet<String>,
    context: &SessionContext,
    query: &str,
) -> Result<LogicalPlan> {
    let kinds = [
        DataType::Float64,
        DataType::Utf8,
        DataType::Boolean,
        DataType::Date32,
        DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        DataType::new_list(DataType::Float64, true),
        DataType::new_list(DataType::Utf8, true),
    ];
    let mut first = None;
    for kind in kinds {
        let mut typed = functions.clone();
        for name in names {
            typed = typed.returns(name, &kind)?;
        }
        // The type of a table is inferred from its rows.
        typed.register_all_but_tables(functions, context)?;
        match context.state().create_logical_plan(query).await {
            Ok(plan) => return Ok(plan),
            Err(error) => first = first.or(Some(error)),
        }
    }
    let error = first.unwrap_or_else(|| DataFusionError::Plan("the query cannot be planned".to_string()));
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    Err(error.context(format!(
        "planning failed before the type of {} was known; if that is why, declare it, as in `{}: {{net: int}}`",
        names.join(" and "),
        names.first().unwrap_or(&"fee")
    )))
}

/// A call whose rows are known.
struct Call {
    name: String,
    is_aggregate: bool,
    arguments: Vec<Expr>,
    input: LogicalPlan,
}

/// Finds a call of one of these functions that gets nothing of the others: in the arguments or below.
fn innermost_call(plan: &LogicalPlan, names: &BTreeSet<String>) -> Result<Option<Call>> {
    for input in plan.inputs() {
        if let Some(call) = innermost_call(input, names)? {
            return Ok(Some(call));
        }
    }
    let mut found: Option<(String, bool, Vec<Expr>)> = None;
    let mut inner: Option<Call> = None;
    for expr in plan.expressions() {
        // Children before their parents, so the first is an innermost one.
        expr.apply(|expr| {
            if let Some(subquery) = subquery(expr) {
                inner = innermost_call(subquery, names)?;
                if inner.is_some() {
                    return Ok(TreeNodeRecursion::Stop);
                }
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        if inner.is_some() {
            return Ok(inner);
        }
        if found.is_none() {
            found = innermost_expr(&expr, names)?;
        }
    }
    let Some((name, is_aggregate, arguments)) = found else { return Ok(None) };
    let input = match plan.inputs()[..] {
        [] => LogicalPlanBuilder::empty(true).build()?,
        [input] => input.clone(),
        [left, right, ..] => LogicalPlanBuilder::from(left.clone()).cross_join(right.clone())?.build()?,
    };
    Ok(Some(Call { name, is_aggregate, arguments, input }))
}

fn subquery(expr: &Expr) -> Option<&LogicalPlan> {
    match expr {
        Expr::ScalarSubquery(subquery) => Some(subquery.subquery.as_ref()),
        Expr::InSubquery(within) => Some(within.subquery.subquery.as_ref()),
        Expr::Exists(exists) => Some(exists.subquery.subquery.as_ref()),
        _ => None,
    }
}

/// Name, kind and arguments of a call that has no other such call in its arguments.
fn innermost_expr(expr: &Expr, names: &BTreeSet<String>) -> Result<Option<(String, bool, Vec<Expr>)>> {
    let mut found = None;
    expr.apply(|expr| {
        let called = match expr {
            Expr::ScalarFunction(call) => Some((call.name(), false, &call.args)),
            Expr::AggregateFunction(call) => Some((call.func.name(), true, &call.params.args)),
            Expr::WindowFunction(call) => match &call.fun {
                WindowFunctionDefinition::AggregateUDF(function) => {
                    Some((function.name(), true, &call.params.args))
                }
                WindowFunctionDefinition::WindowUDF(_) => None,
            },
            _ => None,
        };
        // The last that is visited on the way down is the innermost of its branch.
        if let Some((name, is_aggregate, args)) = called
            && names.contains(name)
        {
            found = Some((name.to_string(), is_aggregate, args.clone()));
            for arg in args {
                if let Some(inner) = innermost_expr(arg, names)? {
                    found = Some(inner);
                }
            }
            return Ok(TreeNodeRecursion::Stop);
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

/// Runs a function over the first rows that it is called with: the type of its values.
async fn type_of(functions: &Functions, call: Call, context: &SessionContext) -> Result<DataType> {
    let declare = |error: DataFusionError| {
        error.context(format!(
            "the type of `{0}` could not be inferred; declare it, as in `{0}: int`",
            call.name
        ))
    };
    let Some(function) = functions.iter().find(|function| function.name() == call.name) else {
        return Err(DataFusionError::Internal(format!("there is no function `{}`", call.name)));
    };
    let (reference, body) = (function.reference(), functions.body());
    let arguments = call.arguments.iter().enumerate().map(|(at, arg)| arg.clone().alias(format!("a{at}")));
    let plan = LogicalPlanBuilder::from(call.input.clone()).limit(0, Some(ROWS))?;
    let plan = match call.arguments.is_empty() {
        true => plan,
        false => plan.project(arguments)?,
    };
    let rows = async { context.execute_logical_plan(plan.build()?).await?.collect().await };
    let mut values = Vec::new();
    let mut folding = match reference.kind {
        Kind::Aggregate if call.is_aggregate => {
            let lenient = Reference { on_error: OnError::Null, ..reference.clone() };
            Some(Folding::new(lenient, body.clone(), DataType::Null))
        }
        _ => None,
    };
    for batch in rows.await.map_err(declare)? {
        let columns: &[ArrayRef] = if call.arguments.is_empty() { &[] } else { batch.columns() };
        match &mut folding {
            Some(folding) => folding.update_batch(columns)?,
            None => run(&body, reference, columns, batch.num_rows(), &mut values)?,
        }
    }
    if let Some(folding) = folding {
        values.push(folding.value()?);
    }
    let schema = infer(&values).map_err(|conflict| {
        let message = format!("`{}` has values of several types: {conflict}", call.name);
        declare(DataFusionError::Plan(message))
    })?;
    let is_value = schema.fields().len() == 1 && schema.field(0).name() == "value";
    let are_maps = values.iter().any(|value| matches!(value, Value::Map(_)));
    Ok(match is_value && !are_maps {
        true => schema.field(0).data_type().clone(),
        false => DataType::Struct(schema.fields().clone()),
    })
}

/// Adds the values of rows. Those that fail say nothing about the type; the query meets them again.
fn run(
    body: &Body,
    reference: &Reference,
    columns: &[ArrayRef],
    rows: usize,
    values: &mut Vec<Value>,
) -> Result<()> {
    let names = reference.arguments(columns.len())?;
    let arguments = Arguments::new(reference, names, columns, rows)?;
    let code = body.code(reference)?;
    each(&code, reference, &arguments, |_, result| {
        values.extend(result);
        Ok(())
    })
}
