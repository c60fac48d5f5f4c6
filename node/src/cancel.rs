//! A handle that ends runs from outside.

use napi_derive::napi;
use ptc::Cancel;

/// Ends runs from outside: what `AbortSignal` is to Node.
#[napi(js_name = "Cancel")]
#[derive(Default)]
pub struct JsCancel {
    pub(crate) cancel: Cancel,
}

#[napi]
impl JsCancel {
    #[napi(constructor)]
    pub fn new() -> JsCancel {
        JsCancel::default()
    }

    /// Cancels, for good.
    #[napi]
    pub fn cancel(&self) {
        self.cancel.cancel();
    }
}
