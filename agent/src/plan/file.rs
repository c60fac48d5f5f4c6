//! Plans in files.

use super::{Plan, PlanError, PlanErrorKind, PlanFuture, PlanStore};
use ptc_runtime::files::{self, Access};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Maximum bytes of a plan's file.
pub const MAX_FILE_BYTES: u64 = 4 << 20;

/// The only version of the format.
const VERSION: u64 = 1;

impl Plan {
    /// Returns the plan as JSON text, with the version of the format.
    pub fn to_json(&self) -> Result<String, PlanError> {
        self.check()?;
        let internal = |error: serde_json::Error| PlanError::new(PlanErrorKind::Invalid, error.to_string());
        let mut value = serde_json::to_value(self).map_err(internal)?;
        value["version"] = VERSION.into();
        let text = serde_json::to_string_pretty(&value).map_err(internal)?;
        match text.len() as u64 {
            0..=MAX_FILE_BYTES => Ok(text + "\n"),
            _ => Err(too_large("the plan")),
        }
    }

    /// Parses a plan from JSON text.
    ///
    /// ```
    /// use ptc_agent::plan::{Plan, PlanErrorKind, PlanStep};
    /// let plan = Plan::new("Report", [PlanStep::new("1", "Load")]);
    /// assert_eq!(Plan::from_json(&plan.to_json()?)?, plan);
    /// assert_eq!(Plan::from_json("{\"version\": 1").unwrap_err().kind, PlanErrorKind::Damaged);
    /// # Ok::<(), ptc_agent::plan::PlanError>(())
    /// ```
    pub fn from_json(text: &str) -> Result<Plan, PlanError> {
        let damaged =
            |why: String| PlanError::new(PlanErrorKind::Damaged, format!("this is not a plan: {why}"));
        let mut value: Value = serde_json::from_str(text).map_err(|error| damaged(error.to_string()))?;
        let version = value.as_object_mut().and_then(|map| map.remove("version"));
        match version.as_ref().and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(other) => {
                let why = format!("it has format version {other}, but only {VERSION} is supported");
                return Err(damaged(why));
            }
            None => return Err(damaged("it does not say `\"version\": 1`".to_string())),
        }
        let plan: Plan = serde_json::from_value(value).map_err(|error| damaged(error.to_string()))?;
        plan.check().map_err(|error| damaged(error.message))?;
        Ok(plan)
    }

    /// Writes the plan to a file, atomically. Folders are created as needed.
    ///
    /// ```
    /// use ptc_agent::plan::{Plan, PlanStep};
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("plans/workflow-001.json");
    /// let plan = Plan::new("Report", [PlanStep::new("1", "Load")]);
    /// plan.save(&path)?; // such as "plans/workflow-001.json"
    /// assert_eq!(Plan::load(&path)?, plan);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), PlanError> {
        let path = path.as_ref();
        let text = self.to_json()?;
        fs::create_dir_all(path.parent().unwrap_or(path))
            .and_then(|()| files::replace(path, &[text.as_bytes()], Access::Usual))
            .map_err(|error| io("written", path, &error))
    }

    /// Reads a plan from a file.
    pub fn load(path: impl AsRef<Path>) -> Result<Plan, PlanError> {
        let path = path.as_ref();
        Plan::of_bytes(&Plan::bytes_of(path)?, path)
    }

    /// Reads the bytes of a file that may be a plan.
    pub(super) fn bytes_of(path: &Path) -> Result<Vec<u8>, PlanError> {
        let io = |error: std::io::Error| io("read", path, &error);
        // Checked before opening: opening a pipe would wait for a writer.
        let found = fs::metadata(path).map_err(io)?;
        if !found.is_file() {
            let message = format!("`{}` is not a file", path.display());
            return Err(PlanError::new(PlanErrorKind::Io, message));
        }
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(io)?;
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(io)?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(too_large(&format!("`{}`", path.display())));
        }
        Ok(bytes)
    }

    /// Parses the plan in a file's bytes.
    pub(super) fn of_bytes(bytes: &[u8], path: &Path) -> Result<Plan, PlanError> {
        let named = |error: PlanError| PlanError {
            message: format!("`{}`: {}", path.display(), error.message),
            ..error
        };
        let text = std::str::from_utf8(bytes).map_err(|_| {
            named(PlanError::new(PlanErrorKind::Damaged, "this is not a plan: it is not UTF-8 text"))
        })?;
        Plan::from_json(text).map_err(named)
    }
}

fn io(verb: &str, path: &Path, error: &std::io::Error) -> PlanError {
    let kind = match error.kind() {
        ErrorKind::NotFound => PlanErrorKind::NotFound,
        _ => PlanErrorKind::Io,
    };
    PlanError::new(kind, format!("the plan `{}` could not be {verb}: {error}", path.display()))
}

fn too_large(what: &str) -> PlanError {
    let message = format!("{what} is larger than {MAX_FILE_BYTES} bytes, the maximum for plans");
    PlanError::new(PlanErrorKind::TooLarge, message)
}

/// Store of plans in a folder: the plan `name` is the file `name.json`.
///
/// ```
/// use ptc_agent::plan::{FilePlans, Plan, PlanStep, PlanStore};
/// # let dir = tempfile::tempdir()?;
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let plans = FilePlans::new(dir.path());
/// plans.save("workflow-001", &mut Plan::new("Report", [PlanStep::new("1", "Load")])).await?;
/// assert_eq!(plans.load("workflow-001").await?.title, "Report");
/// assert!(plans.load("../secrets").await.is_err());
/// # Ok::<(), ptc_agent::plan::PlanError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FilePlans {
    folder: PathBuf,
}

impl FilePlans {
    /// Returns the store of this folder, which is created when the first plan is saved.
    pub fn new(folder: impl Into<PathBuf>) -> FilePlans {
        FilePlans { folder: folder.into() }
    }

    /// Returns the path of a plan. Names never lead out of the folder.
    pub fn path(&self, name: &str) -> Result<PathBuf, PlanError> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_name = !name.is_empty() && name.len() <= 100 && name.chars().all(allowed);
        if !is_name || name.starts_with('.') {
            let shown: String = name.chars().take(60).collect();
            let message = format!(
                "`{shown}` is not a valid name for a plan: use letters, digits, `-`, `_` and `.`, but not \
                 `.` first, such as `workflow-001`"
            );
            return Err(PlanError::new(PlanErrorKind::Invalid, message));
        }
        Ok(self.folder.join(format!("{name}.json")))
    }
}

impl PlanStore for FilePlans {
    fn load<'a>(&'a self, name: &'a str) -> PlanFuture<'a, Plan> {
        Box::pin(async move {
            let path = self.path(name)?;
            blocking(move || Plan::load(path)).await
        })
    }

    fn save<'a>(&'a self, name: &'a str, plan: &'a mut Plan) -> PlanFuture<'a, ()> {
        Box::pin(async move {
            let (path, plan) = (self.path(name)?, plan.clone());
            blocking(move || plan.save(path)).await
        })
    }
}

/// Runs file access on a thread for blocking work.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PlanError> + Send + 'static,
) -> Result<T, PlanError> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.unwrap_or_else(|_| Err(PlanError::new(PlanErrorKind::Io, "the runtime shut down meanwhile")))
}
