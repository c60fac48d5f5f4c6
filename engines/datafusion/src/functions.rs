//! Files of functions, and their registration with an engine.

use crate::aggregate::Aggregate;
use crate::code::{Body, Code, is_volatile};
use crate::names::{namespace_of, parameters, sql_name};
use crate::reference::{Arity, Kind, OnError, Reference};
use crate::refused::Refused;
use crate::scalar::Scalar;
use crate::table::RowsFunction;
use datafusion::arrow::datatypes::DataType;
use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};
use datafusion::prelude::SessionContext;
use ptc_runtime::{
    ExportRecord, MAX_FILE_BYTES, Prelude, PreludeContent, PreludeInput, Runtime,
    files::{read_at_most, read_text_at_most},
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Names of the functions that make a namespace an aggregate.
const AGGREGATE: [&str; 4] = ["init", "step", "combine", "finish"];

/// Maximum length of a signature file.
const MAX_SIGNATURE: u64 = 4096;

/// Functions of one or more files.
///
/// ```
/// use ptc_datafusion::Functions;
/// use ptc_runtime::{PreludeInput, Runtime};
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let load = |source: &str| Functions::load(&runtime, vec![PreludeInput::source("crm.clj", source)]);
/// let functions = load("(defn net-price [price] (* price 0.8)) (defn large? [n] (> n 100))")?;
/// assert_eq!(functions.iter().map(|function| function.name()).collect::<Vec<_>>(), ["net_price", "large"]);
///
/// let refused = load("(defn owner [id] (:owner (tool/find {:id id})))").unwrap_err();
/// assert!(refused.to_string().contains("`crm/owner` calls the tool `find`"), "{refused}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Functions {
    code: Arc<Code>,
    functions: Vec<Function>,
}

/// One function.
#[derive(Clone, Debug)]
pub struct Function {
    reference: Reference,
    doc: Option<String>,
}

impl Function {
    /// Returns its name in SQL.
    pub fn name(&self) -> &str {
        &self.reference.name
    }

    /// Returns its doc string.
    pub fn doc(&self) -> Option<&str> {
        self.doc.as_deref()
    }

    /// Returns what plans say of it.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }
}

impl Functions {
    /// Loads files of functions, which run within the limits of this runtime. If it [trusts](Runtime::trusted) certain keys,
    /// they must be signed. A source without `(ns …)` gets the name of its file.
    pub fn load(runtime: &Runtime, inputs: Vec<PreludeInput>) -> Result<Functions, Refused> {
        let ready = Functions::compiled(runtime, inputs)?;
        let preludes: Vec<Prelude> = ready.into_iter().map(|(prelude, _)| prelude).collect();
        let code = Arc::new(Code::link(runtime, &preludes)?);
        let mut functions: Vec<Function> = Vec::new();
        let mut known: BTreeMap<String, String> = BTreeMap::new();
        for prelude in &preludes {
            let needed = needed(prelude, &preludes);
            let is_needed = |other: &&Prelude| needed.contains(&other.artifact_hash());
            let is_volatile = preludes.iter().filter(is_needed).any(is_volatile);
            for function in of_prelude(prelude, &needed, is_volatile) {
                let Reference { name, target, .. } = &function.reference;
                if let Some(other) = known.insert(name.clone(), target.clone()) {
                    let message = format!("both `{other}` and `{target}` would be `{name}` in queries");
                    return Err(Refused::new(message).hint("rename one of them"));
                }
                functions.push(function);
            }
        }
        if functions.is_empty() {
            return Err(Refused::new("there are no functions to call").hint(
                "a file of functions has definitions such as `(defn fee [country price] (* price 2))`",
            ));
        }
        Ok(Functions { code, functions })
    }

    /// Compiles or verifies files as [`Functions::load`] does: preludes with what they were made of, each after those it uses.
    pub fn compiled(
        runtime: &Runtime,
        inputs: Vec<PreludeInput>,
    ) -> Result<Vec<(Prelude, PreludeInput)>, Refused> {
        let inputs: Vec<PreludeInput> =
            inputs.into_iter().map(|input| with_namespace(runtime, input)).collect();
        let preludes =
            Prelude::make_ready(runtime, &inputs).map_err(|error| Refused::of_input(error, &inputs))?;
        let given = |prelude: Prelude| {
            let is_same = |input: &&PreludeInput| Some(&*input.origin) == prelude.origin();
            let input = inputs.iter().find(is_same).cloned();
            input.map(|input| (prelude, input))
        };
        Ok(preludes.into_iter().filter_map(given).collect())
    }

    /// Reads files for [`Functions::load`]: `.ptcp` files, with the signature in `FILE.sig` if there is one, and sources.
    pub fn read(path: &Path) -> Result<PreludeInput, Refused> {
        let origin = path.display().to_string();
        let unreadable = |error: std::io::Error| Refused::new(format!("cannot read `{origin}`: {error}"));
        if path.extension().is_some_and(|extension| extension == "ptcp") {
            let bytes = read_at_most(path, MAX_FILE_BYTES as u64).map_err(unreadable)?;
            let mut signature = path.as_os_str().to_owned();
            signature.push(".sig");
            let signature = match read_text_at_most(Path::new(&signature), MAX_SIGNATURE) {
                Ok(text) => Some(text),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
                Err(error) => return Err(unreadable(error)),
            };
            return Ok(PreludeInput::file(origin.clone(), bytes, signature.as_deref()));
        }
        let source = read_text_at_most(path, MAX_FILE_BYTES as u64).map_err(unreadable)?;
        Ok(PreludeInput::source(origin.clone(), source))
    }

    /// Declares the type of a function's values. Types that are not declared are [inferred](Functions::sql).
    pub fn returns(mut self, name: &str, kind: &DataType) -> Result<Functions, Refused> {
        let Some(text) = ptc_arrow::type_text(kind) else {
            return Err(Refused::new(format!("`{name}` cannot have values of type {kind}")));
        };
        let names: Vec<&str> = self.iter().map(Function::name).collect();
        let hint = format!("the functions are {}", names.join(", "));
        match self.functions.iter_mut().find(|function| function.name() == name) {
            Some(function) => function.reference.returns = Some(text),
            None => return Err(Refused::new(format!("there is no function `{name}`")).hint(hint)),
        }
        Ok(self)
    }

    /// Sets the value of rows whose run fails: by default there is none, and the query fails.
    #[must_use]
    pub fn on_error(mut self, on_error: OnError) -> Functions {
        for function in &mut self.functions {
            function.reference.on_error = on_error;
        }
        self
    }

    /// Returns the functions, in the order of their files.
    pub fn iter(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter()
    }

    pub(crate) fn body(&self) -> Body {
        Body::Ready(self.code.clone())
    }

    /// Registers the functions with an engine. A name that is already that of another function is refused.
    pub fn register(&self, context: &SessionContext) -> Result<(), Refused> {
        self.register_all_but_tables(self, context)
    }

    /// Registers these functions, but as table functions `tables`.
    pub(crate) fn register_all_but_tables(
        &self,
        tables: &Functions,
        context: &SessionContext,
    ) -> Result<(), Refused> {
        let state = context.state();
        for function in &self.functions {
            let name = function.name();
            let scalar = state.scalar_functions().get(name);
            let aggregate = state.aggregate_functions().get(name);
            let is_ours = scalar.is_some_and(|known| known.inner().downcast_ref::<Scalar>().is_some())
                || aggregate.is_some_and(|known| known.inner().downcast_ref::<Aggregate>().is_some());
            let is_taken = scalar.is_some()
                || aggregate.is_some()
                || state.window_functions().contains_key(name)
                || state.table_functions().contains_key(name);
            if is_taken && !is_ours {
                let message =
                    format!("`{}` would replace the engine's function `{name}`", function.reference.target);
                return Err(Refused::new(message).hint("rename it"));
            }
        }
        for (function, table) in self.functions.iter().zip(&tables.functions) {
            let (reference, body) = (function.reference.clone(), self.body());
            match reference.kind {
                Kind::Aggregate => {
                    context.register_udaf(AggregateUDF::new_from_impl(Aggregate::new(reference, body)))
                }
                Kind::Scalar => {
                    let table = RowsFunction { reference: table.reference.clone(), body: body.clone() };
                    context.register_udtf(function.name(), Arc::new(table));
                    context.register_udf(ScalarUDF::new_from_impl(Scalar::new(reference, body)));
                }
            }
        }
        Ok(())
    }

    /// Registers the functions, and plans a query. The type of a function that the query calls, if it was not declared, is
    /// that of its values for the first 1,000 rows it is called with, for which a part of the query runs now.
    pub async fn sql(&self, context: &SessionContext, query: &str) -> datafusion::error::Result<DataFrame> {
        let functions = crate::sample::inferred(self.clone(), context, query).await?;
        functions.register(context)?;
        context.sql(query).await
    }
}

/// Gives a source without a namespace the name of its file.
fn with_namespace(runtime: &Runtime, mut input: PreludeInput) -> PreludeInput {
    let PreludeContent::Source(source) = &input.content else { return input };
    let has_namespace =
        Prelude::outline_of(runtime, source).is_ok_and(|outline| !outline.declares.is_empty());
    if !has_namespace {
        // On the same line, so that errors have the lines of the file.
        let source = format!("(ns {}) {source}", namespace_of(&input.origin));
        input.content = PreludeContent::Source(source.into());
    }
    input
}

/// Returns the hashes of a prelude and of those it uses, each after those it uses.
fn needed(prelude: &Prelude, all: &[Prelude]) -> Vec<String> {
    let mut wanted: BTreeSet<String> = BTreeSet::from([prelude.artifact_hash()]);
    // They are in order, so what a prelude uses comes before it.
    for candidate in all.iter().rev() {
        if wanted.contains(&candidate.artifact_hash()) {
            for used in candidate.uses() {
                let declares =
                    |other: &&Prelude| other.namespaces().iter().any(|ns| ns.name == used.namespace);
                wanted.extend(all.iter().find(declares).map(Prelude::artifact_hash));
            }
        }
    }
    all.iter().map(Prelude::artifact_hash).filter(|hash| wanted.contains(hash)).collect()
}

/// Returns the functions of a prelude.
fn of_prelude(prelude: &Prelude, artifacts: &[String], is_volatile: bool) -> Vec<Function> {
    let reference = |name: String, target: String, kind, arities| Reference {
        name,
        target,
        kind,
        artifacts: artifacts.to_vec(),
        arities,
        is_volatile,
        returns: None,
        on_error: OnError::Fail,
    };
    let mut functions = Vec::new();
    for namespace in prelude.namespaces() {
        let of_namespace = |export: &&ExportRecord| export.namespace == namespace.name;
        let exports: Vec<&ExportRecord> = prelude.exports().iter().filter(of_namespace).collect();
        let named = |name: &str| exports.iter().find(|export| export.symbol == name);
        let step = named("step").filter(|_| named("init").is_some() && named("combine").is_some());
        if let Some(step) = step {
            let name = sql_name(&namespace.name);
            let reference = reference(name, namespace.name.clone(), Kind::Aggregate, of_step(step));
            functions.push(Function { reference, doc: namespace.doc.clone() });
        }
        for export in &exports {
            if export.is_constant() || step.is_some() && AGGREGATE.contains(&&*export.symbol) {
                continue;
            }
            let arities = export.params.iter().map(|params| arity(params)).collect();
            let reference = reference(sql_name(&export.symbol), export.reference(), Kind::Scalar, arities);
            functions.push(Function { reference, doc: export.doc.clone() });
        }
    }
    functions
}

fn arity(params: &[String]) -> Arity {
    let fixed: Vec<String> = params.iter().take_while(|name| *name != "&").cloned().collect();
    Arity { rest: fixed.len() < params.len(), params: parameters(&fixed) }
}

/// Returns the arities of an aggregate: those of `step` without the state.
fn of_step(step: &ExportRecord) -> Vec<Arity> {
    let without_state = |params: &Vec<String>| arity(params.get(1..).unwrap_or_default());
    let takes_rows = |arity: &Arity| arity.rest || !arity.params.is_empty();
    let arities: Vec<Arity> = step.params.iter().map(without_state).filter(takes_rows).collect();
    match arities.is_empty() {
        // A function that was made, as by `partial`: its parameters are not known.
        true => vec![Arity { params: vec!["value".to_string()], rest: false }],
        false => arities,
    }
}
