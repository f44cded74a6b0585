//! A store in memory has no disk, and no derived data that could differ from its states.

use async_trait::async_trait;

use super::Memory;
use crate::{Durability, Inspection, Result, StoreHealth};

#[async_trait]
impl StoreHealth for Memory {
    async fn probe_write(&self) -> Result<()> {
        Ok(())
    }

    async fn durability(&self) -> Result<Option<Durability>> {
        Ok(None)
    }

    async fn inspect(&self) -> Result<Inspection> {
        Ok(Inspection::default())
    }
}
