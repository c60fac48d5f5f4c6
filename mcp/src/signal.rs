//! Signals that end the process, and the one that makes it read its files again.

/// Waits until the process is asked to end: Ctrl-C, or on Unix a SIGTERM.
pub async fn asked_to_end() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    // If signals cannot be caught, they end the process as usual.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The SIGHUPs that the process gets. While one of these exists, the signal does not end the process.
#[derive(Debug)]
pub struct HangUps {
    /// None if the signal cannot be caught.
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl Default for HangUps {
    fn default() -> HangUps {
        HangUps::new()
    }
}

impl HangUps {
    /// Begins to catch the signal.
    pub fn new() -> HangUps {
        HangUps {
            #[cfg(unix)]
            signal: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()).ok(),
        }
    }

    /// Waits for the next SIGHUP; forever on systems without it.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = &mut self.signal {
            if signal.recv().await.is_some() {
                return;
            }
            self.signal = None;
        }
        std::future::pending().await
    }
}
