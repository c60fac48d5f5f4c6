//! Registries: models by name.

use crate::config::{RegistryConfig, names};
use crate::providers::{ALIASES, COMPATIBLE, Provider, provider};
use crate::{Client, ErrorKind, LlmError, Model, ModelConfig, Pricing};
use ptc_bytecode::nearest;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A registry of models. Hosts may bring their own.
pub trait ModelRegistry: Send + Sync {
    /// Returns the model of a name.
    fn resolve(&self, name: &str) -> Result<Client, LlmError>;
    /// Returns all aliases.
    fn aliases(&self) -> Vec<String>;
    /// Returns the model for hosts that name none.
    fn default_model(&self) -> Option<String>;
    /// Checks that a name means a model, without building a client or looking for a key.
    fn validate(&self, name: &str) -> Result<(), LlmError>;
    /// Returns all names and their models.
    fn list(&self) -> Vec<ModelEntry>;
    /// Returns the source of the cost of this model's replies, without building a client or looking for a key.
    fn pricing(&self, _name: &str) -> Pricing {
        Pricing::Reported
    }
    /// Returns whether a program may choose this model. Text written by models must never choose an address or a key,
    /// so only names that the host gave count, and not `provider:model`.
    fn is_for_programs(&self, name: &str) -> bool {
        self.aliases().iter().any(|alias| alias == name)
    }
}

/// A registry with one model under every name: recorded replies, or a model for tests.
///
/// ```
/// use ptc_model::{Client, Model, ModelRegistry, OneModel, Scripted};
/// let models = OneModel(Client::new(Scripted::new(["(+ 1 2)"])));
/// assert_eq!(models.resolve("haiku")?.name(), "scripted");
/// # Ok::<(), ptc_model::LlmError>(())
/// ```
#[derive(Clone, Debug)]
pub struct OneModel(pub Client);

impl ModelRegistry for OneModel {
    fn resolve(&self, _: &str) -> Result<Client, LlmError> {
        Ok(self.0.clone())
    }

    fn aliases(&self) -> Vec<String> {
        Vec::new()
    }

    fn default_model(&self) -> Option<String> {
        None
    }

    fn validate(&self, _: &str) -> Result<(), LlmError> {
        Ok(())
    }

    fn list(&self) -> Vec<ModelEntry> {
        Vec::new()
    }

    fn pricing(&self, _: &str) -> Pricing {
        self.0.pricing()
    }

    /// True for every name: no other model can be reached.
    fn is_for_programs(&self, _: &str) -> bool {
        true
    }
}

/// A name and its model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelEntry {
    /// Name in the registry.
    pub name: String,
    /// Provider of the model; None for clients of the host.
    pub provider: Option<String>,
    /// Name of the model at the provider; None for clients of the host.
    pub model: Option<String>,
}

/// Reader of environment variables.
type Env = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// A registry of the models in a configuration and of every known provider.
///
/// ```
/// use ptc_model::{Model, ModelRegistry, Registry, Scripted};
/// let registry = Registry::default().client("test", Scripted::new(["1"]));
/// assert_eq!(registry.resolve("test")?.name(), "scripted");
/// assert!(registry.validate("openai:gpt-5").is_ok());
/// let error = registry.validate("tset").unwrap_err();
/// assert_eq!(error.to_string(), "model_not_found: there is no model `tset`; did you mean `test`?");
/// # Ok::<(), ptc_model::LlmError>(())
/// ```
#[derive(Clone)]
pub struct Registry {
    clients: BTreeMap<String, Client>,
    config: RegistryConfig,
    env: Env,
    /// Clients of providers by name, so that runs share connections and certificates are read once.
    made: Arc<Mutex<BTreeMap<String, Client>>>,
}

/// Maximum number of clients kept; those of further names are not shared.
const MAX_MADE: usize = 256;

impl Default for Registry {
    fn default() -> Registry {
        Registry {
            clients: BTreeMap::new(),
            config: RegistryConfig::default(),
            env: Arc::new(|name| std::env::var(name).ok()),
            made: Arc::default(),
        }
    }
}

/// Meaning of a name.
enum Target<'r> {
    Client(&'r Client),
    Config(&'r ModelConfig),
    Made(Box<ModelConfig>),
}

impl Registry {
    /// Returns a registry of the models in a configuration.
    pub fn new(config: RegistryConfig) -> Registry {
        Registry { config, ..Registry::default() }
    }

    /// Adds a client of the host.
    #[must_use]
    pub fn client(mut self, name: impl Into<String>, model: impl Model + 'static) -> Registry {
        self.clients.insert(name.into(), Client::new(model));
        self
    }

    /// Reads keys and defaults from this function rather than from the environment of the process.
    #[must_use]
    pub fn env(mut self, env: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Registry {
        self.env = Arc::new(env);
        self.made = Arc::default();
        self
    }

    fn var(&self, name: &str) -> Option<String> {
        (self.env)(name).map(|text| text.trim().to_string()).filter(|text| !text.is_empty())
    }

    fn default_provider(&self) -> Option<String> {
        self.config.default_provider.clone().or_else(|| self.var("LLM_DEFAULT_PROVIDER"))
    }

    /// Returns the id of this alias at each provider; the configuration wins.
    fn ids(&self, alias: &str) -> BTreeMap<String, String> {
        match self.config.aliases.get(alias) {
            Some(ids) => ids.clone(),
            None => {
                let rows = ALIASES.iter().filter(|(name, ..)| *name == alias);
                rows.map(|(_, provider, id)| ((*provider).to_string(), (*id).to_string())).collect()
            }
        }
    }

    fn find(&self, name: &str) -> Result<Target<'_>, LlmError> {
        if let Some(client) = self.clients.get(name) {
            return Ok(Target::Client(client));
        }
        if let Some(config) = self.config.models.get(name) {
            return Ok(Target::Config(config));
        }
        match name.split_once(':') {
            Some((prefix, rest)) if !rest.is_empty() => self.of_provider(name, prefix, rest),
            Some(_) => Err(not_found(format!("`{name}` has no model after the colon"), "no_model")),
            None => self.of_alias(name),
        }
    }

    fn of_provider(&self, name: &str, prefix: &str, rest: &str) -> Result<Target<'_>, LlmError> {
        let Some(row) = provider(prefix) else {
            let known = names().collect::<Vec<_>>().join(", ");
            let meant =
                nearest(prefix, names()).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let message = format!("`{name}` has the provider `{prefix}`, which is not one of {known}{meant}");
            return Err(not_found(message, "unknown_provider"));
        };
        if row.name == COMPATIBLE {
            let Some((url, model)) =
                rest.rsplit_once('|').filter(|(url, id)| !url.is_empty() && !id.is_empty())
            else {
                let message = "`openai-compat` needs an address and a model: `openai-compat:http://localhost:8000/v1|qwen3`";
                return Err(not_found(message.to_string(), "no_model"));
            };
            // References are shown wherever models are named, so they must not hold keys.
            if url.contains('?') {
                let message = "an address in a reference must not have a query, which may contain a key; \
                               give the model a name and a `base_url` in the table of models";
                return Err(not_found(message.to_string(), "no_model"));
            }
            let mut config = ModelConfig::new(row.name, model);
            config.base_url = Some(url.to_string());
            return Ok(Target::Made(Box::new(config)));
        }
        let id = self.ids(rest).remove(row.name).unwrap_or_else(|| rest.to_string());
        Ok(Target::Made(Box::new(ModelConfig::new(row.name, id))))
    }

    fn of_alias(&self, name: &str) -> Result<Target<'_>, LlmError> {
        let mut ids = self.ids(name);
        let default = self.default_provider();
        if let Some((row, id)) = default.as_deref().and_then(|default| ids.remove_entry(default)) {
            return Ok(Target::Made(Box::new(ModelConfig::new(row, id))));
        }
        match ids.len() {
            0 => {
                let known = self.aliases();
                let meant = match nearest(name, known.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are {}, and `provider:model`", known.join(", ")),
                };
                Err(not_found(format!("there is no model `{name}`; {meant}"), "unknown_alias"))
            }
            1 => match ids.pop_first() {
                Some((row, id)) => Ok(Target::Made(Box::new(ModelConfig::new(row, id)))),
                None => Err(not_found(format!("there is no model `{name}`"), "unknown_alias")),
            },
            _ => {
                let choices: Vec<String> = ids.keys().map(|row| format!("`{row}:{name}`")).collect();
                let message = format!(
                    "`{name}` is a model of several providers; write {}, or set `LLM_DEFAULT_PROVIDER`",
                    choices.join(" or ")
                );
                Err(not_found(message, "ambiguous_alias"))
            }
        }
    }

    fn build(&self, name: &str, config: &ModelConfig) -> Result<Client, LlmError> {
        let Some(row) = provider(&config.adapter) else {
            let message = format!("`{name}` has the unknown provider `{}`", config.adapter);
            return Err(not_found(message, "unknown_provider"));
        };
        let wanted: Vec<&str> = match &config.key_env {
            Some(variable) => vec![variable],
            None => row.keys.to_vec(),
        };
        let key = wanted.iter().find_map(|variable| self.var(variable));
        if key.is_none() && !(row.open && config.key_env.is_none()) {
            let message =
                format!("`{name}` needs a key in the environment variable `{}`", wanted.join("` or `"));
            return Err(LlmError::new(ErrorKind::MissingKey, message));
        }
        self.connect(name, row, config, key)
    }

    #[cfg(feature = "http")]
    fn connect(
        &self,
        name: &str,
        row: &Provider,
        config: &ModelConfig,
        key: Option<String>,
    ) -> Result<Client, LlmError> {
        use super::providers::Speaks;
        use super::{Api, HttpModel, HttpOptions};
        let api = match row.api {
            Speaks::Anthropic => Api::Anthropic,
            Speaks::Chat => Api::Chat,
            Speaks::Responses => Api::Responses,
            Speaks::Compatible if is_invoked(row, &config.model) => Api::BedrockAnthropic,
            Speaks::Compatible => Api::Compatible,
            Speaks::Gemini => Api::Gemini,
            Speaks::Ollama => Api::Ollama,
        };
        let mut options = HttpOptions::new(api, &config.model);
        options.base_url = match &config.base_url {
            Some(url) => url.clone(),
            None => self.base_url(name, row, &config.model)?,
        };
        options.key = key.map(Into::into);
        options.key_header = config.key_header.clone().or(row.key_header.map(str::to_string));
        for (header, value) in &config.headers {
            options = options.header(header, value.as_str());
        }
        for (header, variable) in &config.header_env {
            let value = self.var(variable).ok_or_else(|| {
                let message =
                    format!("`{name}` needs the header `{header}` in the environment variable `{variable}`");
                LlmError::new(ErrorKind::MissingKey, message)
            })?;
            options = options.header(header, value);
        }
        options.max_tokens = config.max_tokens;
        options.temperature = config.temperature;
        options.prices = config.prices;
        options.reports_cost = config.base_url.is_none() && row.reports_cost;
        if let Some(millis) = config.timeout {
            options.timeout = std::time::Duration::from_millis(millis);
        }
        if let Some(bytes) = config.max_response_bytes {
            options.max_response_bytes = bytes;
        }
        options.json_schema = config.json_schema.unwrap_or(true);
        options.prompt_cache = config.prompt_cache.unwrap_or(false);
        HttpModel::new(options).map(Client::new)
    }

    #[cfg(not(feature = "http"))]
    fn connect(
        &self,
        name: &str,
        row: &Provider,
        _config: &ModelConfig,
        _key: Option<String>,
    ) -> Result<Client, LlmError> {
        let message =
            format!("`{name}` is a model of {}, but this build has no clients (feature `http`)", row.name);
        Err(LlmError::unsupported(message))
    }

    /// Returns the address of a provider, looked up as the provider's own tools do.
    #[cfg(feature = "http")]
    fn base_url(&self, name: &str, row: &Provider, model: &str) -> Result<String, LlmError> {
        Ok(match row.name {
            "ollama" => match self.var("OLLAMA_HOST") {
                Some(host) if host.contains("://") => host,
                Some(host) => format!("http://{host}"),
                None => row.base_url.to_string(),
            },
            crate::providers::AZURE => {
                let endpoint = self.var("AZURE_OPENAI_ENDPOINT").ok_or_else(|| {
                    LlmError::unsupported(format!(
                        "`{name}` needs an address: set the environment variable `AZURE_OPENAI_ENDPOINT` to one like \
                         `https://my-resource.openai.azure.com`"
                    ))
                })?;
                let endpoint = endpoint.trim_end_matches('/');
                match self.var("OPENAI_API_VERSION") {
                    // Only newer versions of the service have an address without a version date.
                    Some(version) => format!("{endpoint}/openai/deployments/{model}?api-version={version}"),
                    None => row.base_url.replace("{endpoint}", endpoint),
                }
            }
            _ => {
                let region = self.var("AWS_REGION").or_else(|| self.var("AWS_DEFAULT_REGION"));
                let url = row.base_url.replace("{region}", region.as_deref().unwrap_or("us-east-1"));
                match is_invoked(row, model) {
                    true => url.trim_end_matches(crate::providers::BEDROCK_CHAT).to_string(),
                    false => url,
                }
            }
        })
    }
}

/// Returns whether a model is Anthropic's on Bedrock, which has no Chat Completions for those: `anthropic.claude-…`, or
/// `us.anthropic.claude-…` across regions.
#[cfg(feature = "http")]
fn is_invoked(row: &Provider, model: &str) -> bool {
    row.name == crate::providers::BEDROCK && model.split('.').any(|part| part == "anthropic")
}

fn not_found(message: String, cause: &str) -> LlmError {
    LlmError::new(ErrorKind::ModelNotFound, message).cause(cause)
}

impl ModelRegistry for Registry {
    fn resolve(&self, name: &str) -> Result<Client, LlmError> {
        let config = match self.find(name)? {
            Target::Client(client) => return Ok(client.clone()),
            Target::Config(config) => config.clone(),
            Target::Made(config) => *config,
        };
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = made.get(name) {
            return Ok(client.clone());
        }
        let client = self.build(name, &config)?;
        if made.len() < MAX_MADE {
            made.insert(name.to_string(), client.clone());
        }
        Ok(client)
    }

    fn aliases(&self) -> Vec<String> {
        let clients = self.clients.keys().chain(self.config.models.keys()).chain(self.config.aliases.keys());
        let mut all: Vec<String> =
            clients.cloned().chain(ALIASES.iter().map(|(alias, ..)| (*alias).to_string())).collect();
        all.sort();
        all.dedup();
        all
    }

    fn default_model(&self) -> Option<String> {
        self.config.default_model.clone()
    }

    fn validate(&self, name: &str) -> Result<(), LlmError> {
        self.find(name).map(|_| ())
    }

    fn list(&self) -> Vec<ModelEntry> {
        let entry = |name: String| {
            let (provider, model) = match self.find(&name) {
                Ok(Target::Config(config)) => (Some(config.adapter.clone()), Some(config.model.clone())),
                Ok(Target::Made(config)) => (Some(config.adapter), Some(config.model)),
                _ => (None, None),
            };
            ModelEntry { name, provider, model }
        };
        self.aliases().into_iter().map(entry).collect()
    }

    fn pricing(&self, name: &str) -> Pricing {
        let is_known = |config: &ModelConfig| {
            let row = provider(&config.adapter);
            // A compatible server at another address need not report costs.
            config.prices.is_some() || (config.base_url.is_none() && row.is_some_and(|row| row.reports_cost))
        };
        match self.find(name) {
            Ok(Target::Client(client)) => client.pricing(),
            Ok(Target::Config(config)) if !is_known(config) => Pricing::Unknown,
            Ok(Target::Made(config)) if !is_known(&config) => Pricing::Unknown,
            // An unknown name is reported when it is resolved.
            _ => Pricing::Reported,
        }
    }

    fn is_for_programs(&self, name: &str) -> bool {
        self.clients.contains_key(name)
            || self.config.models.contains_key(name)
            || self.config.aliases.contains_key(name)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("names", &self.aliases()).finish_non_exhaustive()
    }
}
