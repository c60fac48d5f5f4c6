//! Which models an agent of the command line asks.

use crate::args::ModelArgs;
use crate::input::read_program;
use crate::problem::Problem;
use crate::quantity::counted;
use ptc_agent::RunOptions;
use ptc_agent::tools::LlmRef;
use ptc_bytecode::Code;
use ptc_model::{
    Client, LlmError, ModelEntry, ModelRegistry, OneModel, Pricing, Recorder, Registry, RegistryConfig,
    Replay,
};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The table that is there when nobody names one.
const TABLE: &str = "ptc.toml";

/// The models of a table, and of every known provider. No key is looked for before a model is asked.
pub fn registry(file: Option<&Path>) -> Result<Registry, Problem> {
    let named = file.map(Path::to_path_buf).or_else(|| {
        let named = std::env::var_os("PTC_MODELS").filter(|name| !name.is_empty());
        named.map(PathBuf::from).or_else(|| Some(PathBuf::from(TABLE)).filter(|table| table.is_file()))
    });
    let Some(file) = named else { return Ok(Registry::default()) };
    let config = RegistryConfig::from_toml(&read_program(&file)?).map_err(|error| {
        Problem::new(Code::InvalidConfig, format!("{}: {}", file.display(), error.to_string().trim()))
    })?;
    Ok(Registry::new(config))
}

/// The run with the models that were asked for. `own` is the model the agent names itself.
pub fn choose(run: RunOptions, args: &ModelArgs, own: Option<&LlmRef>) -> Result<RunOptions, Problem> {
    let registry = registry(args.models.as_deref())?;
    let chosen = args.llm.clone().or_else(|| registry.default_model().filter(|_| own.is_none()));
    if let Some(name) = &chosen {
        registry.validate(name).map_err(|error| told(&error))?;
    }
    let run = run.models(registry);
    Ok(match chosen {
        Some(name) => run.llm(name.as_str()),
        None => run,
    })
}

/// A model that cannot be had, with what to do.
pub fn told(error: &LlmError) -> Problem {
    let mut problem = Problem::new(Code::InvalidConfig, format!("{}: {}", error.reason(), error.message));
    problem.0.hint = hint(error.reason()).map(str::to_string);
    problem
}

/// The run with every reply from a cassette, whatever models its agents name.
pub fn replaying(run: RunOptions, file: &Path) -> Result<(RunOptions, Replay), Problem> {
    let replay = Replay::open(file).map_err(|error| Problem::new(Code::InvalidConfig, error.to_string()))?;
    Ok((only(run, replay.clone()), replay))
}

/// The run with this model, whatever models its agents name.
pub fn only(run: RunOptions, model: impl ptc_model::Model + 'static) -> RunOptions {
    let client = Client::new(model);
    run.llm(LlmRef::from(client.clone())).models(OneModel(client))
}

/// The run with everything that models are asked written to a cassette.
pub fn recording(run: RunOptions, file: &Path, own: Option<&LlmRef>) -> Result<RunOptions, Problem> {
    let client = run.resolve_llm(own, None).map_err(|error| told(&error))?;
    let recorder = Recorder::create(client.clone(), file)
        .map_err(|error| Problem::new(Code::InvalidConfig, error.to_string()))?;
    let own = LlmRef::client(recorder.also(client));
    let models = RecordedModels { models: run.models.clone(), recorder };
    Ok(run.llm(own).models(models))
}

/// Other models, whose answers are written down.
struct RecordedModels {
    models: Arc<dyn ModelRegistry>,
    recorder: Recorder<Client>,
}

impl ModelRegistry for RecordedModels {
    fn resolve(&self, name: &str) -> Result<Client, LlmError> {
        Ok(Client::new(self.recorder.also(self.models.resolve(name)?)))
    }

    fn aliases(&self) -> Vec<String> {
        self.models.aliases()
    }

    fn default_model(&self) -> Option<String> {
        self.models.default_model()
    }

    fn validate(&self, name: &str) -> Result<(), LlmError> {
        self.models.validate(name)
    }

    fn list(&self) -> Vec<ModelEntry> {
        self.models.list()
    }

    fn pricing(&self, name: &str) -> Pricing {
        self.models.pricing(name)
    }
}

/// The class of a provider's failure, its status, and how often it was asked. A cassette has neither.
pub fn attempts(fail: &ptc_agent::Fail) -> Option<String> {
    let text = |name: &str| fail.details.get(name).and_then(Value::as_str);
    let number = |name: &str| fail.details.get(name).and_then(Value::as_u64);
    let attempts = number("attempts").filter(|_| fail.reason == "llm_error" && !fail.from_program)?;
    let class = text("class").filter(|_| text("cause") != Some("cassette_mismatch"))?;
    let status = number("status").map_or(String::new(), |status| format!(", status {status}"));
    Some(format!("{class}{status}, {}", counted(attempts, "attempt")))
}

/// Hint on what to do about a failure, at a command line.
pub fn hint(reason: &str) -> Option<&'static str> {
    Some(match reason {
        "llm_required" => {
            "name a model with --llm, such as --llm anthropic:haiku, or set default_model in the table of models"
        }
        "model_not_found" => "--llm takes a name of the table (--models), an alias, or provider:model",
        "llm_error" => "the message comes from the client or the provider; choose another model with --llm",
        "model_refused" => "change the prompt or its data, or name another model with --llm",
        "reply_filtered" => "change the prompt or its data, or relax the provider's filter",
        "reply_cut" => "raise max_tokens of the model in the table of models, or give the agent more turns",
        "max_turns_exceeded" | "budget_exhausted" => {
            "see what the turns did with --verbose; --max-turns allows more"
        }
        "turn_budget_exhausted" => {
            "raise turn_budget in the agent, which also counts the turns of child agents"
        }
        "mission_timeout" => "--mission-timeout 5m gives it more time",
        "validation_error" => "the model's result did not fit the signature; see its turns with --verbose",
        "consecutive_failures" => "see what failed with --verbose",
        "cost_budget_exceeded" => "raise max_cost_usd in the agent",
        "memory_exceeded" => "raise memory_limit in the agent, or set memory_strategy = \"rollback\"",
        "max_depth_exceeded" => "raise max_depth in the agent",
        "cancelled" => "--checkpoint DIR keeps what was done, for --resume DIR",
        _ => return None,
    })
}
