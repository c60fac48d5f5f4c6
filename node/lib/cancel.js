"use strict";

const native = require("./native.js");

/** Makes the handle that ends a run when a signal is aborted, and a function that lets go of the signal. */
function cancelOf(signal) {
  const cancel = new native.Cancel();
  if (signal === undefined || signal === null) return { cancel, release: () => {} };
  if (signal.aborted) {
    cancel.cancel();
    return { cancel, signal, release: () => {} };
  }
  const abort = () => cancel.cancel();
  signal.addEventListener("abort", abort, { once: true });
  return { cancel, signal, release: () => signal.removeEventListener("abort", abort) };
}

module.exports = { cancelOf };
