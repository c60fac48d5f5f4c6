//! Location of the configuration file, and the process environment it is read in.

use super::error::ConfigError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Default path of the file, below the user's configuration directory.
const DEFAULT: &str = "ptc/upstreams.json";

/// Default path in older versions: still read if there is no other.
const OLD_DEFAULT: &str = "ptc_runner_mcp/upstreams.json";

/// Process facts that a configuration depends on: variables, our executable and our listener.
///
/// ```
/// use ptc_upstream::config::Surroundings;
/// let around = Surroundings::of([("HOME", "/people/ada")]);
/// assert_eq!(around.var("HOME"), Some("/people/ada"));
/// ```
#[derive(Clone, Default)]
pub struct Surroundings {
    vars: BTreeMap<String, String>,
    /// Our own executable; a server with the same program would call itself.
    pub executable: Option<PathBuf>,
    /// Host and port we listen on.
    pub listener: Option<(String, u16)>,
}

impl Surroundings {
    /// Returns the surroundings of this process.
    pub fn current() -> Surroundings {
        // A text file cannot name variables that are not text.
        let vars = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Surroundings { vars: vars.collect(), executable: std::env::current_exe().ok(), listener: None }
    }

    /// Creates surroundings with only these variables.
    pub fn of<N: Into<String>, V: Into<String>>(vars: impl IntoIterator<Item = (N, V)>) -> Surroundings {
        let vars = vars.into_iter().map(|(name, value)| (name.into(), value.into()));
        Surroundings { vars: vars.collect(), ..Surroundings::default() }
    }

    /// Returns the value of a variable.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str)
    }

    /// Returns the value of a variable if it is not empty.
    pub(super) fn filled(&self, name: &str) -> Option<&str> {
        self.var(name).filter(|value| !value.is_empty())
    }
}

/// Finds the file to read: the one from the flag, else from the first of these environment variables that is set,
/// else the default if that exists.
///
/// ```
/// use ptc_upstream::config::{Surroundings, find};
/// use std::path::{Path, PathBuf};
/// let around = Surroundings::of([("PTC_UPSTREAMS", "/etc/up.json"), ("HOME", "/nowhere")]);
/// let flag = Path::new("/etc/other/up.json");
/// assert_eq!(find(Some(flag), &["PTC_UPSTREAMS"], &around), Some(flag.into()));
/// assert_eq!(find(None, &["PTC_UPSTREAMS"], &around), Some("/etc/up.json".into()));
/// assert_eq!(find(None, &["PTC_MCP_UPSTREAMS"], &around), None);
/// ```
pub fn find(flag: Option<&Path>, variables: &[&str], around: &Surroundings) -> Option<PathBuf> {
    if let Some(path) = flag {
        return Some(path.to_path_buf());
    }
    if let Some(path) = variables.iter().find_map(|variable| around.filled(variable)) {
        return Some(path.into());
    }
    // The XDG standard says to ignore relative paths.
    let xdg = around.filled("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || around.filled("HOME").map(|home| Path::new(home).join(".config"));
    let folder = xdg.or_else(home)?;
    [DEFAULT, OLD_DEFAULT].into_iter().map(|path| folder.join(path)).find(|path| path.exists())
}

/// Finds the program of a command: an absolute path, or a name on `PATH`.
pub(super) fn command(place: &str, command: &str, around: &Surroundings) -> Result<PathBuf, ConfigError> {
    let error = |message: String| Err(ConfigError::new(place, "command", message));
    let path = Path::new(command);
    let found = if path.is_absolute() {
        which::which_in(path, None::<&str>, "/")
    } else if path.components().count() > 1 {
        return error("must be an absolute path or the name of a program on PATH".into());
    } else {
        which::which_in(command, around.var("PATH"), "/")
    };
    let Ok(found) = found else {
        let how = if path.is_absolute() { "is not a program" } else { "is not on PATH" };
        return error(format!("'{command}' {how}"));
    };
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    if around.executable.as_deref().is_some_and(|own| real(own) == real(&found)) {
        return error(format!("'{command}' is this program, which would call itself forever"));
    }
    Ok(found)
}
