//! Child processes: starting, watching and stopping them.

use super::stderr;
use crate::config::StdioSettings;
use crate::executor;
use crate::redact::Redactor;
use crate::transport::session::Life;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Time limit for each step of stopping a child.
const PATIENCE: Duration = Duration::from_secs(2);
/// Time limit for the last output of an ending child, and again for its exit status.
pub(super) const LAST_WORDS: Duration = Duration::from_millis(250);
/// Environment variables a child inherits.
const INHERITED: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];

/// Our ends of a child's pipes.
pub(super) struct Pipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    /// Cancelled by the reader when there is no more output.
    pub(super) silent: CancellationToken,
    /// Cancelled when the child's input must be closed.
    pub(super) hang_up: CancellationToken,
}

/// Starts the child. `life` is told when it ends, and tells when it must end.
pub(super) fn start(
    name: &str,
    settings: &StdioSettings,
    redactor: Arc<Redactor>,
    life: &Life,
) -> Result<Pipes, String> {
    let mut child = spawn(command(settings)).map_err(|error| {
        tracing::error!(server = name, command = %settings.command.display(), %error, "upstream.not_started");
        // Programs and clients see this message; they must not learn the directories of this machine.
        let command = settings.command.file_name().unwrap_or_default().to_string_lossy();
        format!("{command}: {error}")
    })?;
    let group = Group(child.id());
    let (Some(stdin), Some(stdout), Some(errors)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err("it has no pipes".to_string());
    };
    let last_line = stderr::drain(name.to_string(), errors, redactor);
    let pipes = Pipes { stdin, stdout, silent: CancellationToken::new(), hang_up: CancellationToken::new() };
    let watch = Watch {
        child,
        group,
        life: life.clone(),
        silent: pipes.silent.clone(),
        hang_up: pipes.hang_up.clone(),
        last_line,
    };
    executor::spawn(watch.run());
    Ok(pipes)
}

fn command(settings: &StdioSettings) -> Command {
    let mut command = Command::new(&settings.command);
    command.args(&settings.args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if !settings.inherit_env {
        command.env_clear();
        for name in INHERITED {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
    }
    for (name, value) in &settings.env {
        command.env(name, value.expose());
    }
    if let Some(folder) = &settings.cd {
        command.current_dir(folder);
    }
    #[cfg(unix)]
    command.process_group(0);
    command.kill_on_drop(true);
    command
}

#[cfg(target_os = "linux")]
fn spawn(command: Command) -> std::io::Result<Child> {
    ur_taking_me_with_you::spawn_dying_with_parent_async(command)
}

#[cfg(not(target_os = "linux"))]
fn spawn(mut command: Command) -> std::io::Result<Child> {
    command.spawn()
}

/// The process group of a child, killed on drop.
struct Group(Option<u32>);

impl Group {
    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        let leader = self.0.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        if let Some(leader) = leader {
            // Fails if the group is empty, which is fine.
            let _ = rustix::process::kill_process_group(leader, signal);
        }
    }

    fn ask_to_end(&self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::TERM);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::KILL);
    }
}

/// Task that waits for the child to end.
struct Watch {
    child: Child,
    group: Group,
    life: Life,
    silent: CancellationToken,
    hang_up: CancellationToken,
    last_line: stderr::LastLine,
}

impl Watch {
    async fn run(mut self) {
        let ended = tokio::select! {
            biased;
            status = self.child.wait() => {
                // Its last output is still in the pipe.
                let _ = timeout(LAST_WORDS, self.silent.cancelled()).await;
                Some(status.ok())
            }
            () = self.silent.cancelled() => timeout(LAST_WORDS, self.child.wait()).await.ok().map(Result::ok),
            () = self.life.stop.cancelled() => None,
            () = self.life.released.cancelled() => timeout(LAST_WORDS, self.child.wait()).await.ok().map(Result::ok),
        };
        let asked_for = ended.is_none() && self.life.stop.is_cancelled();
        if ended.is_some() {
            let _ = timeout(LAST_WORDS, self.last_line.over()).await;
        }
        let _ = self.life.obituary.set(self.obituary(ended, asked_for));
        self.life.dead.cancel();
        if ended.is_none() {
            self.end().await;
        }
        // Processes the child has started die with it.
        drop(self.group);
        self.life.stop.cancel();
        self.life.ended.cancel();
    }

    async fn end(&mut self) {
        self.hang_up.cancel();
        if timeout(PATIENCE, self.child.wait()).await.is_ok() {
            return;
        }
        self.group.ask_to_end();
        if timeout(PATIENCE, self.child.wait()).await.is_ok() {
            return;
        }
        let _ = self.child.kill().await;
    }

    fn obituary(&self, ended: Option<Option<ExitStatus>>, asked_for: bool) -> String {
        let how = match ended {
            _ if asked_for => return "it has been stopped".to_string(),
            Some(Some(status)) => format!("its process has ended ({status})"),
            Some(None) => "its process has ended".to_string(),
            None => "it has closed its output".to_string(),
        };
        match self.last_line.get() {
            None => how,
            Some(line) => format!("{how}; its last line on stderr: {line}"),
        }
    }
}
