//! Data that is read once and granted to many programs.

use crate::diagnostic::{Told, before};
use crate::packed::{Packed, pack};
use crate::reader;
use napi_derive::napi;
use ptc::Grants;
use ptc::runtime::{Failure, Frozen};

/// Data that was read once, and that any number of programs read without a copy.
#[napi(js_name = "FrozenCore")]
pub struct JsFrozen {
    pub(crate) frozen: Frozen,
}

#[napi]
impl JsFrozen {
    /// Reads packed data.
    #[napi]
    pub fn make(numbers: &[f64], text: String) -> napi::Result<JsFrozen> {
        Ok(JsFrozen { frozen: reader::frozen(numbers, &text)? })
    }

    /// Size in memory, in bytes.
    #[napi(getter)]
    pub fn bytes(&self) -> f64 {
        self.frozen.bytes() as f64
    }

    /// Returns the data.
    #[napi]
    pub fn thaw(&self) -> Told<Packed> {
        let datum = self.frozen.to_datum(usize::MAX).map_err(Failure::from);
        before(datum.map(|datum| pack(&datum)))
    }
}

/// Data that programs read as `data/<name>`.
#[napi(js_name = "Grants")]
#[derive(Default)]
pub struct JsGrants {
    pub(crate) grants: Grants,
}

#[napi]
impl JsGrants {
    #[napi(constructor)]
    pub fn new() -> JsGrants {
        JsGrants::default()
    }

    /// Grants data under a name.
    #[napi]
    pub fn add(&mut self, name: String, numbers: &[f64], text: String) -> napi::Result<()> {
        let frozen = reader::frozen(numbers, &text)?;
        self.insert(&name, frozen);
        Ok(())
    }

    /// Grants data that was read before.
    #[napi]
    pub fn share(&mut self, name: String, frozen: &JsFrozen) {
        self.insert(&name, frozen.frozen.clone());
    }
}

impl JsGrants {
    fn insert(&mut self, name: &str, frozen: Frozen) {
        self.grants = std::mem::take(&mut self.grants).frozen(name, frozen);
    }
}
