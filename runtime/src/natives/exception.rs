//! Natives that make exceptions and read those a program caught.

use super::args::arg;
use ptc_vm::{Call, Stop, Value};

/// `(ex-info message data cause?)`
pub fn ex_info(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (message, data) = (arg(call, 1), arg(call, 2));
    if !matches!(call.heap.unveil(message), Value::Str(_) | Value::Nil) {
        return Err(call.wrong_type(1, "a string"));
    }
    if !matches!(call.heap.unveil(data), Value::Map(_)) {
        return Err(call.misfit(2, "a map").hint("`(ex-info \"no rows\" {:table \"orders\"})`").into());
    }
    let cause = cause(call, 3)?;
    call.heap.make_exception("ExceptionInfo", message, data, cause)
}

/// `(Exception. message? cause?)` and other classes: the name of the builtin gives the class.
pub fn exception(call: &mut Call<'_>) -> Result<Value, Stop> {
    let message = arg(call, 1);
    let (message, cause) = match call.heap.unveil(message) {
        // `(Exception. cause)` has the message of its cause.
        Value::Exception(inner) => (call.heap.exception_part(inner, "message"), call.heap.unveil(message)),
        Value::Str(_) | Value::Nil => (message, cause(call, 2)?),
        _ => return Err(call.wrong_type(1, "a string")),
    };
    call.heap.make_exception(call.name().trim_end_matches('.'), message, Value::Nil, cause)
}

/// Returns the argument that caused another exception, or nil.
fn cause(call: &Call<'_>, at: usize) -> Result<Value, Stop> {
    match call.args.get(at - 1).map(|cause| call.heap.unveil(*cause)) {
        None => Ok(Value::Nil),
        Some(cause @ (Value::Nil | Value::Exception(_))) => Ok(cause),
        Some(_) => Err(call.wrong_type(at, "an exception")),
    }
}

/// `(ex-message exception)`
pub fn ex_message(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(part(call, "message"))
}

/// `(ex-data exception)`
pub fn ex_data(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(part(call, "data"))
}

/// `(ex-cause exception)`
pub fn ex_cause(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(part(call, "cause"))
}

fn part(call: &Call<'_>, name: &str) -> Value {
    match call.heap.unveil(arg(call, 1)) {
        Value::Exception(exception) => call.heap.exception_part(exception, name),
        _ => Value::Nil,
    }
}

/// `(%catches exception "Class")`
pub fn catches(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (Value::Exception(exception), Value::Str(class)) = (call.heap.unveil(arg(call, 1)), arg(call, 2))
    else {
        return Ok(Value::False);
    };
    let kind = match call.heap.exception_part(exception, "kind") {
        Value::Keyword(kind) => call.heap.str(kind),
        _ => "",
    };
    Ok(Value::bool(ptc_bytecode::catches(call.heap.str(class), kind)))
}
