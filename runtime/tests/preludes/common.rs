//! Shared by the tests: a runtime, a prelude of the guide, and short ways to run programs.

use ptc_runtime::{
    Attach, Effects, ExportRecord, Failure, Grants, Known, Outcome, Prelude, PreludeError, Runtime, Tools,
    Upstream,
};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// The prelude of the authoring guide.
pub const CRM: &str = r#"
(ns crm
  "CRM helpers."              ; optional namespace docstring
  {:visibility :prompt})      ; optional namespace metadata (defaults below)

(def page-size 50)            ; a constant export

(defn- normalize-id           ; PRIVATE helper (defn-): not user-visible
  "Trim and tag a raw id."
  [raw]
  (str "norm:" raw))

(defn get-user                ; PUBLIC export (defn)
  "Return a CRM user by id."
  [id]
  (tool/call {:server "crm" :tool "get_user" :args {:id (normalize-id id)}}))

(defn get-user!
  "Return a CRM user, or abort the program."
  [id]
  (let [res (get-user id)]      ; call the sibling by its BARE name
    (if (res :ok) (res :value) (fail {:reason (res :reason)}))))

(defn list-users
  "List CRM users."
  {:visibility :discoverable}           ; per-export override
  []
  (tool/call {:server "crm" :tool "list_users" :args {}}))
"#;

pub fn runtime() -> Runtime {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::with_core(ptc_preludes::core()).unwrap());
    RUNTIME.clone()
}

pub fn compile(source: &str) -> Result<Prelude, PreludeError> {
    Prelude::compile(&runtime(), source)
}

pub fn compiled(source: &str) -> Prelude {
    compile(source).unwrap_or_else(|error| panic!("{error}\n{source}"))
}

/// Compiles a source that must be refused; returns the reason and the message.
pub fn refused(source: &str) -> (&'static str, String) {
    let error = compile(source).expect_err(source);
    (error.reason(), error.message().to_string())
}

pub fn export(source: &str, reference: &str) -> ExportRecord {
    compiled(source).export(reference).unwrap_or_else(|| panic!("no {reference}")).clone()
}

/// Makes tools with a `call` that replies like upstream servers, echoing its arguments.
pub fn stub() -> Tools {
    Tools::new().with("call", |args| {
        let args = args.json()?;
        let mut answer = BTreeMap::from([("ok", serde_json::json!(true))]);
        answer.insert("value", args);
        Ok(answer)
    })
}

/// Makes tools with a `call` that always fails in a recoverable way.
pub fn failing() -> Tools {
    Tools::new().with("call", |_| Ok(serde_json::json!({"ok": false, "reason": "not_found"})))
}

pub fn attached(source: &str, tools: &Tools) -> Runtime {
    runtime().with_tools(tools.clone()).attach(&compiled(source), &Attach::new()).unwrap()
}

pub fn eval(prelude: &str, program: &str, tools: &Tools) -> Result<Outcome, Failure> {
    attached(prelude, tools).eval(program, &Grants::new())
}

/// Returns the printed value of a program that must succeed.
pub fn value(prelude: &str, program: &str) -> String {
    eval(prelude, program, &stub()).unwrap_or_else(|failure| panic!("{program}\n{failure}")).print().unwrap()
}

/// Returns the reason and first line of a program that must fail.
pub fn fault(prelude: &str, program: &str) -> (&'static str, String) {
    let failure = eval(prelude, program, &stub()).expect_err(program);
    (failure.reason(), failure.diagnostic().message.clone())
}

/// Upstream servers with their tools; None for those not loaded.
pub struct Servers(pub Vec<Server>);

/// Name of a server, and its tools if known.
pub type Server = (&'static str, Option<Vec<(&'static str, Effects)>>);

impl Upstream for Servers {
    fn operation(&self, server: &str, tool: &str) -> Known {
        match self.0.iter().find(|(name, _)| *name == server) {
            None => Known::NoServer,
            Some((_, None)) => Known::NotLoaded,
            Some((_, Some(tools))) => match tools.iter().find(|(name, _)| *name == tool) {
                None => Known::NoTool,
                Some((_, effect)) => Known::Present(*effect),
            },
        }
    }
}

pub fn crm_server() -> Arc<Servers> {
    Arc::new(Servers(vec![("crm", Some(vec![("get_user", Effects::Read), ("list_users", Effects::Write)]))]))
}
