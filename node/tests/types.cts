// The types for `require`. Checked by `tsc`, never run.
import ptc = require("ptc-lisp");

const program: ptc.Program = new ptc.Program("(+ 1 2)");
const value: Promise<number> = program.call();
const error: typeof ptc.PtcError = ptc.LimitError;
export = { value, error };
