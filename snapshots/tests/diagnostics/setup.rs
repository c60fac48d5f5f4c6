//! Setups of cases, and errors that programs cannot cause by themselves.

use ptc_bytecode::{Artifact, Diagnostic, decode, encode};
use ptc_compiler::{Options, Scope, compile};
use ptc_runtime::{
    Attach, Cancel, Failure, Grants, Limits, Prelude, Shape, Step, ToolError, ToolShape, Tools,
};
use ptc_snapshots::runtime;
use serde_json::json;
use std::sync::LazyLock;

/// Reported errors of a program.
pub struct Reported {
    pub diagnostics: Vec<Diagnostic>,
    /// Value given to `(fail v)`, as JSON.
    pub failed_with: Option<String>,
}

/// Options for running a program.
#[derive(Clone, Default)]
pub struct Setup {
    limit: Option<fn(&mut Limits)>,
    tools: bool,
    data: bool,
    cancelled: bool,
    printed: bool,
    /// True if numbers and places in the message depend on memory layout or speed.
    masked: bool,
    host: Option<fn(&str) -> Diagnostic>,
}

/// Creates a setup with other limits.
pub fn with(limit: fn(&mut Limits)) -> Setup {
    Setup { limit: Some(limit), ..Setup::default() }
}

/// Creates a setup for an error made by the host.
pub fn host(make: fn(&str) -> Diagnostic) -> Setup {
    Setup { host: Some(make), ..Setup::default() }
}

impl Setup {
    /// Grants two tools: `tool/search` succeeds, `tool/broken` fails.
    pub fn tools(mut self) -> Setup {
        self.tools = true;
        self
    }

    /// Grants `data/rows`.
    pub fn data(mut self) -> Setup {
        self.data = true;
        self
    }

    pub fn cancelled(mut self) -> Setup {
        self.cancelled = true;
        self
    }

    /// Expects the error when the result is printed.
    pub fn printed(mut self) -> Setup {
        self.printed = true;
        self
    }

    pub fn masked(mut self) -> Setup {
        self.masked = true;
        self
    }

    /// Runs `source`, which must fail.
    pub fn run(&self, source: &str) -> Reported {
        if let Some(make) = self.host {
            return Reported { diagnostics: vec![make(source)], failed_with: None };
        }
        let mut limits = Limits { timeout_ms: 120_000, ..Limits::default() };
        if let Some(change) = self.limit {
            change(&mut limits);
        }
        let runtime = runtime().limits(limits);
        let mut tools = Tools::new();
        if self.tools {
            tools = tools
                .with("search", |_| Ok(1))
                .with("broken", |_| Err::<i64, _>(ToolError::new("no such index")));
        }
        let mut grants = Grants::new();
        if self.data {
            grants = grants.json("rows", &format!("{:?}", vec!["text"; 50])).expect("rows");
        }
        let cancel = Cancel::new();
        if self.cancelled {
            cancel.cancel();
            grants = grants.cancel(&cancel);
        }
        let mut told = match runtime.with_tools(tools).eval(source, &grants) {
            Err(failure) => of(failure),
            Ok(outcome) => match outcome.print() {
                Err(fault) if self.printed => {
                    Reported { diagnostics: vec![fault.to_diagnostic()], failed_with: None }
                }
                value => panic!("{:.600}\ndid not fail but gave {value:?}", source),
            },
        };
        if self.masked {
            told.diagnostics.iter_mut().for_each(mask);
        }
        told
    }
}

fn of(failure: Failure) -> Reported {
    let json = failure.value.as_ref().and_then(|value| ptc_runtime::bridge::datum_to_json(value).ok());
    Reported { failed_with: json.map(|json| json.to_string()), diagnostics: failure.diagnostics }
}

/// Masks all numbers except limits, which follow `=`, and removes the place.
fn mask(diagnostic: &mut Diagnostic) {
    let mut out = String::new();
    for word in diagnostic.message.split_inclusive(' ') {
        let is_limit = out.ends_with("= ");
        let is_number = word.trim_end().bytes().all(|b| b.is_ascii_digit()) && word.trim_end().len() > 3;
        out.push_str(if is_number && !is_limit { "<n> " } else { word });
    }
    diagnostic.message = out;
    diagnostic.span = None;
}

/// Returns nested `loop`s whose patterns have defaults; their size doubles with every level.
pub fn growing() -> &'static str {
    static SOURCE: LazyLock<String> = LazyLock::new(|| {
        (0..10).fold("1".to_string(), |inner, _| {
            format!("(loop [{{:keys [a b] :or {{a {inner} b {inner}}}}} {{}} c 1] a)")
        })
    });
    &SOURCE
}

/// Returns the first warning about a program that compiles.
pub fn warned(source: &str) -> Diagnostic {
    runtime().compile(source).expect("compiles").warnings()[0].clone()
}

/// Runs a program over rows with an id, a total and a status; returns its error or its first warning.
pub fn over_rows(source: &str) -> Diagnostic {
    let rows = r#"[{"id": 1, "total": 5, "status": "paid"}, {"id": 2, "total": 7, "status": "open"}]"#;
    let grants = Grants::new().json("rows", rows).expect("JSON");
    match runtime().eval(source, &grants) {
        Ok(outcome) => outcome.warnings()[0].clone(),
        Err(failure) => first(failure),
    }
}

/// Runs a program with `tool/orders`, which declares its arguments and result.
pub fn shaped(source: &str) -> Diagnostic {
    let order =
        json!({"type": "object", "properties": {"id": {"type": "integer"}, "total": {"type": "number"}}});
    let takes = json!({
        "type": "object", "required": ["customer"],
        "properties": {"customer": {"type": "string"}, "limit": {"type": "integer"}},
    });
    let answers = json!({"type": "array", "items": order});
    let shape = ToolShape::new(Shape::of_json_schema(&takes), Shape::of_json_schema(&answers));
    let tools = Tools::new().with("orders", |_| Ok(json!([{"id": 1, "total": 5}]))).shaped("orders", shape);
    match runtime().with_tools(tools).eval(source, &Grants::new()) {
        Ok(outcome) => outcome.warnings()[0].clone(),
        Err(failure) => first(failure),
    }
}

/// Answers a call twice.
pub fn answered_twice(_: &str) -> Diagnostic {
    let runtime = runtime();
    let program = runtime.compile("(tool/a {})").expect("compiles");
    let mut run = runtime.start(&program).expect("starts");
    let Step::NeedsTools(calls) = run.step() else { panic!("it waits") };
    run.resume(&calls[0].id, &1).expect("answered");
    first(run.resume(&calls[0].id, &1).expect_err("answered twice"))
}

pub fn bad_json(_: &str) -> Diagnostic {
    Grants::new().json("rows", "{\"a\": [1, 2,\n 3").expect_err("not JSON")
}

pub fn damaged_artifact(_: &str) -> Diagnostic {
    let mut bytes = encode(&Artifact::default());
    *bytes.last_mut().expect("bytes") ^= 1;
    decode(&bytes).expect_err("damaged")
}

pub fn no_artifact(_: &str) -> Diagnostic {
    decode(b"(+ 1 2)").expect_err("no artifact")
}

pub fn cut_snapshot(_: &str) -> Diagnostic {
    first(runtime().load(&[1, 2, 3], &Grants::new()).expect_err("cut short"))
}

pub fn snapshot_of_nothing(_: &str) -> Diagnostic {
    let runtime = runtime();
    let mut run = runtime.start(&runtime.compile("1").expect("compiles")).expect("starts");
    run.step();
    first(run.snapshot().expect_err("ended"))
}

pub fn library_with_a_call(source: &str) -> Diagnostic {
    let options = Options { library: true, ..Options::default() };
    let errors = compile(source, &Scope::default(), &Limits::default(), options).expect_err("not a library");
    errors.into_iter().next().expect("an error")
}

/// Returns the error of a source that is not a valid prelude.
pub fn no_prelude(source: &str) -> Diagnostic {
    Prelude::compile(&runtime(), source).expect_err("no prelude").diagnostic().clone()
}

/// Attaches a prelude with requirements that the run does not meet.
pub fn not_attached(source: &str) -> Diagnostic {
    let prelude = Prelude::compile(&runtime(), source).expect("a prelude");
    first(runtime().attach(&prelude, &Attach::new()).err().expect("not granted"))
}

/// Runs a program that calls a tool reserved for preludes.
pub fn private_tool(source: &str) -> Diagnostic {
    first(runtime().with_tools(private_tools()).eval(source, &Grants::new()).expect_err("private"))
}

/// Runs a prelude whose private tool refuses its arguments.
pub fn private_arguments(source: &str) -> Diagnostic {
    let prelude = Prelude::compile(&runtime(), source).expect("a prelude");
    let runtime = runtime().with_tools(private_tools()).attach(&prelude, &Attach::new()).expect("granted");
    let refused = runtime.eval("(store/put 7)", &Grants::new()).expect_err("refused");
    // The place is in the program, while the text shown with the error is the prelude's.
    Diagnostic { span: None, ..first(refused) }
}

fn private_tools() -> Tools {
    Tools::new().with("store_put", |_| Ok(1)).private("store_put", |args| {
        let is_text = args.json()?["id"].is_string();
        is_text.then_some(()).ok_or(ToolError::new("`id` must be a string"))
    })
}

fn first(failure: Failure) -> Diagnostic {
    failure.diagnostics.into_iter().next().expect("an error")
}
